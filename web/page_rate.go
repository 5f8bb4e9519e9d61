package web

import (
	"fmt"
	"time"
)

// sample is how much was done at a moment, in the database's time.
type sample struct {
	done int64
	at   time.Time
}

// window holds two earlier samples, so that a rate is taken over 5 to 10 s. It
// travels in the address of the next look: the server remembers nothing.
type window struct{ older, newer sample }

const windowStep = 5 * time.Second

// parseWindow reads what text wrote. What is not one is the zero window.
func parseWindow(s string) window {
	var w window
	var a, b int64
	if n, err := fmt.Sscanf(s, "%d.%d-%d.%d", &w.older.done, &a, &w.newer.done, &b); n != 4 || err != nil {
		return window{}
	}
	w.older.at, w.newer.at = time.UnixMilli(a), time.UnixMilli(b)
	return w
}

func (w window) text() string {
	return fmt.Sprintf("%d.%d-%d.%d", w.older.done, w.older.at.UnixMilli(), w.newer.done, w.newer.at.UnixMilli())
}

// next gives the rate per second between the older sample and now, and the
// window for the look after this one. A window that is empty, from the future
// or of more than a minute ago begins anew, with a rate of 0.
func (w window) next(now sample) (rate float64, next window) {
	age := now.at.Sub(w.older.at)
	if w.older.at.IsZero() || age < 0 || age > time.Minute || now.at.Before(w.newer.at) {
		return 0, window{now, now}
	}
	if age > 0 {
		rate = max(float64(now.done-w.older.done)/age.Seconds(), 0)
	}
	if now.at.Sub(w.newer.at) >= windowStep {
		return rate, window{w.newer, now}
	}
	return rate, w
}
