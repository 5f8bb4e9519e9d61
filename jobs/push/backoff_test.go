package push_test

import (
	"testing"
	"time"

	"bongsu/jobs/push"
)

func TestDelay(t *testing.T) {
	s := push.DefaultSchedule
	for _, c := range []struct {
		charged int
		want    time.Duration
		ok      bool
	}{
		{-1, 0, false},
		{0, 0, false},
		{1, 2 * time.Second, true},
		{2, 6 * time.Second, true},
		{3, 18 * time.Second, true},
		{4, 0, false},
		{5, 0, false},
	} {
		for _, spread := range []float64{0, 0.5, 0.999999} {
			got, ok := s.Delay(c.charged, spread)
			if ok != c.ok || got < c.want || got > c.want+c.want/20 {
				t.Errorf("Delay(%d, %v) = %v, %v; want %v and up to a twentieth more, %v", c.charged, spread, got, ok, c.want, c.ok)
			}
		}
	}
	if n := s.Attempts(); n != 4 {
		t.Errorf("%d attempts, want 4", n)
	}
}

func TestDelaySpreads(t *testing.T) {
	early, _ := push.DefaultSchedule.Delay(1, 0)
	late, _ := push.DefaultSchedule.Delay(1, 0.5)
	if early != 2*time.Second || late != 2050*time.Millisecond {
		t.Errorf("got %v and %v, want 2s and 2.05s", early, late)
	}
}

func TestWait(t *testing.T) {
	for _, c := range []struct {
		name     string
		schedule push.Schedule
		charged  int
		asked    time.Duration
		want     time.Duration
	}{
		{"as the vendor asked", push.DefaultSchedule, 0, 7 * time.Second, 7 * time.Second},
		{"as the vendor asked, whatever was charged", push.DefaultSchedule, 3, time.Second, time.Second},
		{"an hour", push.DefaultSchedule, 0, time.Hour, time.Hour},
		{"nothing asked", push.DefaultSchedule, 0, 0, 2 * time.Second},
		{"nothing asked, one charged", push.DefaultSchedule, 1, 0, 6 * time.Second},
		{"nothing asked, three charged", push.DefaultSchedule, 3, 0, 18 * time.Second},
		{"nothing asked, more charged than steps", push.DefaultSchedule, 9, 0, 18 * time.Second},
		{"less than none charged", push.DefaultSchedule, -1, 0, 2 * time.Second},
		{"no schedule", nil, 0, 0, 0},
		{"no schedule, asked", nil, 0, time.Second, time.Second},
	} {
		for _, spread := range []float64{0, 0.5, 0.999999} {
			got := c.schedule.Wait(c.charged, c.asked, spread)
			if got < c.want || got > c.want+c.want/20 {
				t.Errorf("%s, spread %v: %v, want %v and up to a twentieth more", c.name, spread, got, c.want)
			}
		}
	}
}
