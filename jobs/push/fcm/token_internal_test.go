package pushfcm

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bongsu/jobs/push"
)

// bank gives tokens t1, t2, … each for an hour, after delay; refuse instead where
// it is set.
type bank struct {
	mu     sync.Mutex
	given  int
	life   time.Duration
	delay  time.Duration
	refuse *push.Result
}

func (b *bank) grant(ctx context.Context) (access, *push.Result) {
	asked := time.Now()
	select {
	case <-time.After(b.delay):
	case <-ctx.Done():
		return access{}, waitFor(push.Timeout, "token_cancelled", "")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.given++
	if b.refuse != nil {
		return access{}, b.refuse
	}
	return newAccess("t"+string(rune('0'+b.given)), asked, asked.Add(b.life)), nil
}

func (b *bank) set(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

// inBubble runs a test of tokens in virtual time.
func inBubble(t *testing.T, b *bank, run func(t *testing.T, tokens *tokens)) {
	synctest.Test(t, func(t *testing.T) {
		if b.life == 0 {
			b.life = time.Hour
		}
		tokens := newTokens(b.grant)
		defer tokens.close()
		run(t, tokens)
	})
}

// want wants this token, or this code of a refusal, from get.
func want(t *testing.T, tokens *tokens, token, code string) {
	t.Helper()
	got, refused, err := tokens.get(t.Context())
	if err != nil || got != token || (refused != nil) != (code != "") || refused != nil && refused.Code != code {
		t.Errorf("got %q, %+v and %v, want %q or %q", got, refused, err, token, code)
	}
}

func TestTokenIsKept(t *testing.T) {
	inBubble(t, &bank{delay: time.Second}, func(t *testing.T, tokens *tokens) {
		want(t, tokens, "t1", "")
		time.Sleep(54 * time.Minute)
		want(t, tokens, "t1", "")
		synctest.Wait()
		want(t, tokens, "t1", "")
		time.Sleep(time.Minute) // five before its end: the next is fetched behind
		start := time.Now()
		want(t, tokens, "t1", "")
		if time.Since(start) > 0 {
			t.Error("a call waited for the next token although the old one was good")
		}
		time.Sleep(2 * time.Second)
		want(t, tokens, "t2", "")
	})
}

func TestTokenThatLivesShort(t *testing.T) {
	b := &bank{life: time.Minute}
	inBubble(t, b, func(t *testing.T, tokens *tokens) {
		want(t, tokens, "t1", "")
		time.Sleep(29 * time.Second)
		want(t, tokens, "t1", "")
		time.Sleep(26 * time.Second) // within 6 s of its end nobody uses it any more
		want(t, tokens, "t2", "")
	})
}

func TestOneExchangeForMany(t *testing.T) {
	b := &bank{delay: time.Second}
	inBubble(t, b, func(t *testing.T, tokens *tokens) {
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() { want(t, tokens, "t1", "") })
		}
		all.Wait()
		for range 100 {
			all.Go(func() {
				if got, _, err := tokens.replace(t.Context(), "t1"); got != "t2" || err != nil {
					t.Errorf("instead of a refused token came %q and %v", got, err)
				}
			})
		}
		all.Wait()
		if b.given != 2 {
			t.Errorf("%d exchanges", b.given)
		}
	})
}

func TestFailedExchangeIsNotRepeatedAtOnce(t *testing.T) {
	b := &bank{refuse: &push.Result{Outcome: push.Settings, Code: "invalid_grant"}}
	inBubble(t, b, func(t *testing.T, tokens *tokens) {
		for range 10 {
			want(t, tokens, "", "invalid_grant")
		}
		if b.given != 1 {
			t.Errorf("%d exchanges for ten calls", b.given)
		}
		b.set(func() { b.refuse = nil })
		time.Sleep(negative - time.Millisecond)
		want(t, tokens, "", "invalid_grant")
		time.Sleep(time.Millisecond)
		want(t, tokens, "t2", "")
	})
}

func TestRetryAfterOfTheTokenEndpoint(t *testing.T) {
	b := &bank{refuse: &push.Result{Outcome: push.Wait, Code: "busy", RetryAfter: time.Minute}}
	inBubble(t, b, func(t *testing.T, tokens *tokens) {
		want(t, tokens, "", "busy")
		time.Sleep(20 * time.Second)
		_, refused, _ := tokens.get(t.Context())
		if refused == nil || refused.RetryAfter != 40*time.Second || b.given != 1 {
			t.Errorf("20 s later got %+v after %d exchanges, want 40 s left", refused, b.given)
		}
	})
}

func TestOldTokenOutlastsAFailedExchange(t *testing.T) {
	b := &bank{}
	inBubble(t, b, func(t *testing.T, tokens *tokens) {
		want(t, tokens, "t1", "")
		b.set(func() { b.refuse = waitFor(push.VendorError, "down", "") })
		time.Sleep(56 * time.Minute)
		for range 10 {
			want(t, tokens, "t1", "")
			synctest.Wait()
		}
		if b.given != 2 {
			t.Errorf("%d exchanges, want no more than one failed", b.given)
		}
		time.Sleep(4 * time.Minute)
		want(t, tokens, "", "down")
	})
}

func TestReplacedTokenIsProof(t *testing.T) {
	b := &bank{}
	inBubble(t, b, func(t *testing.T, tokens *tokens) {
		want(t, tokens, "t1", "")
		for _, step := range []struct {
			after    time.Duration
			old, new string
		}{
			{0, "t1", "t2"},
			{0, "t1", "t2"}, // a call that was late: the other one is fresh already
			{fresh - time.Second, "t2", ""},
			{time.Second, "t2", "t3"},
		} {
			time.Sleep(step.after)
			got, refused, err := tokens.replace(t.Context(), step.old)
			if got != step.new || refused != nil || err != nil {
				t.Errorf("%+v: got %q, %+v and %v", step, got, refused, err)
			}
		}
	})
}

func TestReplaceWhileExchangesFail(t *testing.T) {
	b := &bank{}
	inBubble(t, b, func(t *testing.T, tokens *tokens) {
		want(t, tokens, "t1", "")
		b.set(func() { b.refuse = &push.Result{Outcome: push.Settings, Code: "invalid_grant"} })
		for range 10 {
			got, refused, err := tokens.replace(t.Context(), "t1")
			if got != "" || refused == nil || refused.Code != "invalid_grant" || err != nil {
				t.Errorf("got %q, %+v and %v", got, refused, err)
			}
		}
		if b.given != 2 {
			t.Errorf("%d exchanges", b.given)
		}
	})
}

func TestLimitHoldsForTheToken(t *testing.T) {
	b := &bank{delay: time.Hour}
	inBubble(t, b, func(t *testing.T, tokens *tokens) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		_, refused, err := tokens.get(ctx)
		if err != nil || refused == nil || refused.Outcome != push.Wait || refused.Reason != push.Timeout || refused.Doubt {
			t.Errorf("got %+v and %v, want to wait", refused, err)
		}
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("it took %v", took)
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		if _, refused, err := tokens.get(gone); err == nil || refused != nil {
			t.Errorf("a caller that went away got %+v and %v", refused, err)
		}
		if b.given != 0 {
			t.Errorf("%d exchanges were finished", b.given)
		}
	})
}

// TestClose: who waits is told, and nobody begins another exchange.
func TestClose(t *testing.T) {
	b := &bank{delay: time.Hour}
	inBubble(t, b, func(t *testing.T, tokens *tokens) {
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { want(t, tokens, "", "token_closed") })
		}
		synctest.Wait()
		tokens.close()
		all.Wait()
		want(t, tokens, "", "token_closed")
		if b.given != 0 {
			t.Errorf("%d exchanges", b.given)
		}
	})
}
