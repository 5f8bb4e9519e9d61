package push

import "time"

// Schedule is how long a delivery waits after its first, second, … charged
// failure. After the last delay one more attempt is made; then it has failed.
type Schedule []time.Duration

// DefaultSchedule is 2, 6 and 18 s: four charged attempts within 26 s.
var DefaultSchedule = Schedule{2 * time.Second, 6 * time.Second, 18 * time.Second}

// Attempts is how many charged failures end a delivery.
func (s Schedule) Attempts() int { return len(s) + 1 }

// Delay gives the wait after the charged-th charged failure (1 is the first),
// spread by up to 5 % later and never earlier. spread is in [0, 1). ok is
// false where the schedule has ended: the delivery has failed.
func (s Schedule) Delay(charged int, spread float64) (d time.Duration, ok bool) {
	if charged < 1 || charged > len(s) {
		return 0, false
	}
	return s.spread(charged-1, spread), true
}

// Wait gives the wait after an answer that is not charged: what the vendor
// asked for, or where it named nothing the schedule's step for the charged
// failures so far (0 or more); spread later as Delay does, never earlier.
func (s Schedule) Wait(charged int, retryAfter time.Duration, spread float64) time.Duration {
	if retryAfter > 0 {
		return later(retryAfter, spread)
	}
	if len(s) == 0 {
		return 0
	}
	return s.spread(min(max(charged, 0), len(s)-1), spread)
}

func (s Schedule) spread(i int, spread float64) time.Duration {
	return later(s[i], spread)
}

// spreadShare is how far retries are spread, so that many that failed at once do
// not come back at once. It is small, since over three retries it adds up.
const spreadShare = 0.05

func later(d time.Duration, spread float64) time.Duration {
	return d + time.Duration(float64(d)*spreadShare*spread)
}
