package pushfcm_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"bongsu/jobs/push"
	pushfcm "bongsu/jobs/push/fcm"
)

// TestAnswers has every row of the table by status and body, over HTTP/2.
func TestAnswers(t *testing.T) {
	tokens := serveTokens(t, nil)
	for _, a := range answers() {
		t.Run(a.Name, func(t *testing.T) {
			url := h2c(t, func(w http.ResponseWriter, r *http.Request) {
				if _, err := io.Copy(io.Discard, r.Body); err != nil {
					t.Error(err)
				}
				for line := range strings.Lines(a.Header) {
					name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
					w.Header().Set(name, value)
				}
				w.WriteHeader(a.Status)
				_, _ = io.WriteString(w, a.Body)
			})
			v := newVendor(t, pushfcm.Config{Key: keyFor(t, tokens.url), URL: url, Timeout: 30 * time.Second})
			r, err := v.Send(t.Context(), message("answers-token"))
			if a.NoAnswer {
				var na *push.NoAnswerError
				if !errors.As(err, &na) || !na.Written || !na.Timeout || na.Code == "" || r != (push.Result{}) {
					t.Errorf("got %+v and %#v, want no answer, written", r, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.RetryAfter < a.AtLeast || r.RetryAfter > a.AtMost {
				t.Errorf("retry after %v, want %v to %v", r.RetryAfter, a.AtLeast, a.AtMost)
			}
			if !strings.Contains(r.Message, a.Want.Message) || len(r.Message) > 500 {
				t.Errorf("message %q, want %q in it", r.Message, a.Want.Message)
			}
			want := a.Want
			want.Status, want.Message, want.RetryAfter = a.Status, r.Message, r.RetryAfter
			if r != want {
				t.Errorf("got  %+v\nwant %+v", r, want)
			}
		})
	}
}
