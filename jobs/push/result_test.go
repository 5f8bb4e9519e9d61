package push_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"bongsu/jobs/push"
)

func TestResultOf(t *testing.T) {
	answer := push.Result{Outcome: push.Sent, Status: 200, MessageID: "m"}
	for _, c := range []struct {
		name string
		err  error
		want push.Result
	}{
		{"an answer", nil, answer},
		{"written, cut", &push.NoAnswerError{Written: true, Code: "reset", Err: io.EOF},
			push.Result{Outcome: push.Transient, Reason: push.Unreachable, Code: "reset", Message: "no answer: EOF", Doubt: true}},
		{"written, in time", &push.NoAnswerError{Written: true, Timeout: true, Code: "timeout", Err: io.EOF},
			push.Result{Outcome: push.Transient, Reason: push.Timeout, Code: "timeout", Message: "no answer: EOF", Doubt: true}},
		{"refused", &push.NoAnswerError{Code: "refused", Err: io.EOF},
			push.Result{Outcome: push.Transient, Reason: push.Unreachable, Code: "refused", Message: "no answer: EOF"}},
		{"wrapped", fmt.Errorf("send: %w", &push.NoAnswerError{Timeout: true, Err: io.EOF}),
			push.Result{Outcome: push.Transient, Reason: push.Timeout, Message: "send: no answer: EOF"}},
		{"another error", errors.New("odd"),
			push.Result{Outcome: push.Transient, Reason: push.Unreachable, Message: "odd"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := push.ResultOf(answer, c.err); got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestResultOfKeepsCharactersWhole(t *testing.T) {
	for pad := range 4 {
		err := errors.New(strings.Repeat("x", pad) + strings.Repeat("말", 400))
		m := push.ResultOf(push.Result{}, err).Message
		if !utf8.ValidString(m) || len(m) > 500 || len(m) < 498 {
			t.Errorf("%d bytes, valid %v", len(m), utf8.ValidString(m))
		}
	}
}

func TestDefinite(t *testing.T) {
	for _, c := range []struct {
		r    push.Result
		want bool
	}{
		{push.Result{Outcome: push.Permanent, Status: 400}, true},
		{push.Result{Outcome: push.Transient, Status: 503}, true},
		{push.Result{Outcome: push.Transient, Reason: push.Unreachable}, false},
		{push.Result{Outcome: push.Transient, Reason: push.Timeout, Doubt: true}, false},
	} {
		if got := c.r.Definite(); got != c.want {
			t.Errorf("%+v is definite: %v, want %v", c.r, got, c.want)
		}
	}
}
