package ui

import "testing"

func TestNum(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 12034: "12,034", 1234567: "1,234,567", -1000: "-1,000", -999: "-999"} {
		if got := Num(n); got != want {
			t.Errorf("Num(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestSpan(t *testing.T) {
	for n, want := range map[int64]string{-1: "0 s", 8: "8 s", 60: "1 min", 200: "3 min 20 s", 3600: "1 h", 7500: "2 h 5 min", 273600: "3 d 4 h"} {
		if got := Span(n); got != want {
			t.Errorf("Span(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestMillis(t *testing.T) {
	for n, want := range map[int64]string{0: "0 ms", 32: "32 ms", 999: "999 ms", 3020: "3.02 s"} {
		if got := Millis(n); got != want {
			t.Errorf("Millis(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestUTC(t *testing.T) {
	for stamp, want := range map[string]string{
		"2026-12-01T05:11:00Z":     "2026-12-01 05:11:00 UTC",
		"2026-12-01T05:11:00.123Z": "2026-12-01 05:11:00.123 UTC",
		"soon":                     "soon",
	} {
		if got := UTC(stamp); got != want {
			t.Errorf("UTC(%q) = %q, want %q", stamp, got, want)
		}
	}
}

func TestOf(t *testing.T) {
	if got := Of(1, "device", "devices") + ", " + Of(2000, "device", "devices"); got != "1 device, 2,000 devices" {
		t.Error(got)
	}
}
