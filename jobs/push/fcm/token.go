package pushfcm

import (
	"context"
	"errors"
	"sync"
	"time"

	"bongsu/jobs/push"
	"bongsu/jobs/push/wire"
)

const (
	early       = 5 * time.Minute  // before its end a token is exchanged for the next
	margin      = 10 * time.Second // before its end a token is not used any more
	defaultLife = 5 * time.Minute  // of a token that does not say
	negative    = 5 * time.Second  // how long a failed exchange is not tried again
	fresh       = 30 * time.Second // how long a token that replaced a refused one is proof
	never       = 1e4 * time.Hour  // longer than a closed vendor is kept
)

// access is an access token and its times.
type access struct {
	token  string
	renew  time.Time // from here on the next one is fetched
	ends   time.Time // from here on it is not used
	proven time.Time // until here a refusal of it is not for its age
}

func newAccess(token string, asked, expiry time.Time) access {
	life := expiry.Sub(asked)
	if expiry.IsZero() || life <= 0 {
		life = defaultLife
	}
	return access{
		token: token,
		renew: asked.Add(life - min(early, life/2)),
		ends:  asked.Add(life - min(margin, life/10)),
	}
}

// tokens keeps the access token: one exchange at a time for however many calls,
// in the background while the old token is good, and a pause after a failed one.
type tokens struct {
	grant func(context.Context) (access, *push.Result)
	life  context.Context // of the vendor
	end   context.CancelFunc
	left  sync.WaitGroup

	mu      sync.Mutex
	current access // its token is empty where there is none
	under   *exchange
	refused *push.Result // why the last exchange failed; nil: it did not
	until   time.Time    // until then refused stands
	closed  bool
}

// exchange is one that is under way.
type exchange struct {
	done   chan struct{}
	forced bool // a refused token is to be replaced; guarded by tokens.mu
}

func newTokens(grant func(context.Context) (access, *push.Result)) *tokens {
	t := &tokens{grant: grant}
	t.life, t.end = context.WithCancel(context.Background())
	return t
}

// get gives a token that is good by the clock. Where there is none it waits for
// one until ctx ends. Without one the result says why, or the error.
func (t *tokens) get(ctx context.Context) (string, *push.Result, error) {
	t.mu.Lock()
	for {
		now := time.Now()
		refused := t.standing(now)
		if t.current.token != "" && now.Before(t.current.ends) {
			if !now.Before(t.current.renew) && refused == nil {
				t.start(false)
			}
			defer t.mu.Unlock()
			return t.current.token, nil, nil
		}
		if refused != nil {
			t.mu.Unlock()
			return "", refused, nil
		}
		under := t.start(false)
		t.mu.Unlock()
		select {
		case <-under.done:
		case <-ctx.Done():
			r, err := tooLate(ctx)
			return "", r, err
		}
		t.mu.Lock()
	}
}

// replace gives another token than the one that was refused. It is empty, without
// a reason, where the refused one is proof enough: it replaced another just now.
func (t *tokens) replace(ctx context.Context, old string) (string, *push.Result, error) {
	t.mu.Lock()
	if t.current.token == old {
		if time.Now().Before(t.current.proven) {
			defer t.mu.Unlock()
			return "", nil, nil
		}
		t.current = access{}
		if t.standing(time.Now()) == nil {
			t.start(true)
		}
	}
	t.mu.Unlock()
	return t.get(ctx)
}

// standing gives the last exchange's failure while none is to be tried again, with
// what is left of the time that the endpoint asked for. t.mu is held.
func (t *tokens) standing(now time.Time) *push.Result {
	if t.refused == nil || !now.Before(t.until) {
		return nil
	}
	r := *t.refused
	if r.RetryAfter > 0 {
		r.RetryAfter = t.until.Sub(now)
	}
	return &r
}

// start begins an exchange, or joins the one under way. t.mu is held.
func (t *tokens) start(forced bool) *exchange {
	if t.under == nil {
		t.under = &exchange{done: make(chan struct{})}
		under := t.under
		t.left.Go(func() { t.run(under) })
	}
	t.under.forced = t.under.forced || forced
	return t.under
}

func (t *tokens) run(under *exchange) {
	got, refused := t.grant(t.life)
	t.mu.Lock()
	defer t.mu.Unlock()
	defer close(under.done)
	t.under = nil
	if t.closed {
		return
	}
	now := time.Now()
	if refused == nil {
		if under.forced {
			got.proven = now.Add(fresh)
		}
		t.current = got
	} else {
		t.until = now.Add(max(negative, refused.RetryAfter))
	}
	t.refused = refused
}

// tooLate says what the end of ctx means for a send that waits for a token: a limit
// is a pause, since nothing was sent; a caller that went away gets the error.
func tooLate(ctx context.Context) (*push.Result, error) {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return waitFor(push.Timeout, "token_timeout", "the token endpoint has not answered in time"), nil
	}
	return nil, wire.NoAnswer(ctx, ctx.Err(), false, wire.Hider{})
}

// close ends an exchange under way and begins none any more.
func (t *tokens) close() {
	t.mu.Lock()
	t.closed = true
	t.refused, t.until = waitFor(push.Unreachable, "token_closed", "this key is not in use any more"), time.Now().Add(never)
	t.mu.Unlock()
	t.end()
	t.left.Wait()
}
