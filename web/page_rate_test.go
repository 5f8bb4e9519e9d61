package web

import (
	"testing"
	"time"
)

func TestRateIsTakenOverFiveToTenSeconds(t *testing.T) {
	start := time.UnixMilli(1_800_000_000_000)
	w := window{}
	var rate float64
	for second := range 60 {
		rate, w = parseWindow(w.text()).next(sample{int64(second) * 100, start.Add(time.Duration(second) * time.Second)})
		if second > 0 && rate != 100 {
			t.Fatalf("at second %d the rate is %g", second, rate)
		}
	}
	// Nothing moves from here on: within 10 s the rate is 0.
	for second := range 11 {
		rate, w = w.next(sample{5900, start.Add(time.Duration(60+second) * time.Second)})
	}
	if rate != 0 {
		t.Errorf("the rate is still %g", rate)
	}
}

func TestWindowThatCannotBeBeginsAnew(t *testing.T) {
	now := sample{10, time.UnixMilli(1_800_000_000_000)}
	for _, text := range []string{"", "x", "5.1-6.2", window{sample{5, now.at.Add(time.Second)}, sample{6, now.at}}.text(), "-9.x-1.2"} {
		rate, next := parseWindow(text).next(now)
		if rate != 0 || next != (window{now, now}) {
			t.Errorf("%q: rate %g, next %v", text, rate, next)
		}
	}
}
