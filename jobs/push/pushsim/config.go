package pushsim

import (
	"errors"
	"fmt"
	"time"
)

// Config is how a stand-in starts. The zero Config is a faultless vendor that
// answers at once and accepts any bearer token.
type Config struct {
	Addr      string // where to listen; empty: a free port of 127.0.0.1
	Token     string // the bearer token to expect, others get 401; empty: any
	Seed      uint64 // fixes which calls TransientShare and Jitter hit
	KeepCalls bool   // keep each call for Server.Calls; costs memory with every call
	Switches         // what can also be changed while it runs
}

// Switches is what can be changed while the stand-in runs.
type Switches struct {
	Outage         bool          // 503 to all
	Refuse         bool          // 401 to all
	Forbid         bool          // 403 to all
	Redirect       string        // 302 to this URL, to all; empty: off
	RateLimit      time.Duration // 429 to all, with this Retry-After in whole seconds; 0: off
	Latency        time.Duration // from the whole call read to its answer
	Jitter         time.Duration // the latency varies by up to this, evenly, both ways
	TransientShare float64       // share of the calls to good tokens that get 503, 0 to 1
	HonourKeys     bool          // a repeated Idempotency-Key is not a second delivery
	FCM            FCMSwitches   // of FCM's part alone
	WebPush        WebPushSwitches
}

// Default is what the vendor command starts with: 30±10 ms, nothing fails.
func Default() Config {
	return Config{
		Addr:     "127.0.0.1:9090",
		Switches: Switches{Latency: 30 * time.Millisecond, Jitter: 10 * time.Millisecond},
	}
}

// Check tells what cannot be: negative times, a share outside 0 to 1.
func (s Switches) Check() error {
	switch {
	case s.Latency < 0 || s.Jitter < 0 || s.RateLimit < 0:
		return errors.New("pushsim: a time is negative")
	case !(s.TransientShare >= 0 && s.TransientShare <= 1):
		return fmt.Errorf("pushsim: transient share %v is not between 0 and 1", s.TransientShare)
	}
	return errors.Join(s.FCM.check(), s.WebPush.check())
}

// delay is the latency of one call; draw is evenly spread over all uint64.
func (s *Switches) delay(draw uint64) time.Duration {
	if s.Jitter == 0 {
		return s.Latency
	}
	return s.Latency + time.Duration((2*unit(draw)-1)*float64(s.Jitter))
}

// unit maps a draw to [0, 1).
func unit(draw uint64) float64 { return float64(draw>>11) / (1 << 53) }
