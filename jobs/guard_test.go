package jobs

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bongsu/db"
	"bongsu/jobs/push"
)

// judged runs a guard over answers and gives what each device's outcome became,
// in the order of recording, and why the vendor was paused.
func judged(t *testing.T, answers ...verdict) (outcomes map[int64]push.Outcome, paused string) {
	t.Helper()
	outcomes = make(map[int64]push.Outcome)
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // what is held is recorded by another goroutine
		g := &guard{
			pause: func(_, detail string) { paused = detail },
			record: func(v verdict) {
				mu.Lock()
				defer mu.Unlock()
				outcomes[v.claim.DeviceID] = v.result.Outcome
			},
		}
		for _, a := range answers {
			g.judge(a)
		}
		time.Sleep(2 * suspectWait)
		synctest.Wait()
	})
	return outcomes, paused
}

// answer is device's answer to a call that was begun at second start.
func answer(device int64, start int, outcome push.Outcome) verdict {
	return verdict{claim: db.Claim{DeviceID: device}, started: time.Unix(int64(1000+start), 0),
		result: push.Result{Outcome: outcome, Status: 403}}
}

// long is the answer with a call that took so many seconds.
func (v verdict) long(seconds int) verdict {
	v.took = time.Duration(seconds) * time.Second
	return v
}

func TestGuard(t *testing.T) {
	const sent, suspect, settings = push.Sent, push.Suspect, push.Settings
	for _, c := range []struct {
		name    string
		answers []verdict
		want    map[int64]push.Outcome
		paused  bool
	}{
		{"one 403 alone is the device's", []verdict{answer(1, 1, suspect)},
			map[int64]push.Outcome{1: suspect}, false},
		{"four in a row are the devices'", []verdict{answer(1, 1, suspect), answer(2, 2, suspect), answer(3, 3, suspect), answer(4, 4, suspect)},
			map[int64]push.Outcome{1: suspect, 2: suspect, 3: suspect, 4: suspect}, false},
		{"five in a row are ours", []verdict{answer(1, 1, suspect), answer(2, 2, suspect), answer(3, 3, suspect), answer(4, 4, suspect), answer(5, 5, suspect), answer(6, 6, suspect)},
			map[int64]push.Outcome{1: settings, 2: settings, 3: settings, 4: settings, 5: settings, 6: settings}, true},
		{"a later success ends the row", []verdict{answer(1, 1, suspect), answer(2, 2, suspect), answer(3, 3, suspect), answer(4, 4, suspect), answer(9, 5, sent), answer(5, 6, suspect)},
			map[int64]push.Outcome{1: suspect, 2: suspect, 3: suspect, 4: suspect, 9: sent, 5: suspect}, false},
		{"a success begun before does not", []verdict{answer(1, 1, suspect), answer(2, 2, suspect), answer(9, 0, sent), answer(3, 3, suspect), answer(4, 4, suspect), answer(5, 5, suspect)},
			map[int64]push.Outcome{1: settings, 2: settings, 9: sent, 3: settings, 4: settings, 5: settings}, true},
		{"of two calls at once nobody knows which was judged first", []verdict{answer(1, 1, suspect).long(5), answer(9, 2, sent).long(4),
			answer(2, 3, suspect), answer(3, 4, suspect), answer(4, 5, suspect), answer(5, 6, suspect), answer(6, 7, suspect)},
			map[int64]push.Outcome{1: settings, 9: sent, 2: settings, 3: settings, 4: settings, 5: settings, 6: settings}, true},
		{"but the row is ended", []verdict{answer(1, 1, suspect).long(5), answer(9, 2, sent).long(4),
			answer(2, 3, suspect), answer(3, 4, suspect), answer(4, 5, suspect), answer(5, 6, suspect)},
			map[int64]push.Outcome{1: suspect, 9: sent, 2: suspect, 3: suspect, 4: suspect, 5: suspect}, false},
		{"one under way with the last refusal does not make us welcome", []verdict{answer(1, 1, settings).long(5), answer(9, 2, sent), answer(2, 3, suspect)},
			map[int64]push.Outcome{1: settings, 9: sent, 2: settings}, true},
		{"one device's five are its own", []verdict{answer(1, 1, suspect), answer(1, 2, suspect), answer(1, 3, suspect), answer(1, 4, suspect), answer(1, 5, suspect)},
			map[int64]push.Outcome{1: suspect}, false},
		{"a 401 is ours at once", []verdict{answer(1, 1, suspect), answer(2, 2, settings)},
			map[int64]push.Outcome{1: settings, 2: settings}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, paused := judged(t, c.answers...)
			if len(got) != len(c.want) {
				t.Errorf("recorded %v, want %v", got, c.want)
			}
			for device, want := range c.want {
				if got[device] != want {
					t.Errorf("device %d became %s, want %s", device, got[device], want)
				}
			}
			if (paused != "") != c.paused {
				t.Errorf("paused: %q", paused)
			}
			if strings.Contains(paused, "\n") {
				t.Errorf("the reason has more than one line: %q", paused)
			}
		})
	}
}

// Whoever lets the vendor go on while our credentials are still refused sees it
// paused again, by the first 403.
func TestGuardPausesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pauses := 0
		g := &guard{record: func(verdict) {}}
		late := func() {} // what else comes in while the ledger is asked to pause
		g.pause = func(_, _ string) { pauses++; late() }
		under := time.Now() // a call that is under way when the vendor is paused
		time.Sleep(time.Second)
		say := func(device int64, started time.Time, outcome push.Outcome) {
			g.judge(verdict{claim: db.Claim{DeviceID: device}, started: started, result: push.Result{Outcome: outcome, Status: 403}})
		}
		late = func() {
			late = func() {}
			for device := range int64(suspects) {
				say(100+device, under, push.Suspect)
			}
		}
		for device := range int64(suspects) {
			say(device, time.Now(), push.Suspect)
		}
		say(7, under, push.Suspect)
		say(7, under, push.Settings)
		if pauses != 1 {
			t.Errorf("paused %d times by one row", pauses)
		}
		time.Sleep(time.Minute)
		say(8, time.Now(), push.Suspect)
		if pauses != 2 {
			t.Errorf("paused %d times, want again after a minute", pauses)
		}
		time.Sleep(time.Minute)
		say(9, time.Now(), push.Sent)
		say(10, time.Now(), push.Suspect)
		time.Sleep(time.Minute)
		if pauses != 2 {
			t.Errorf("paused %d times, though a call has had another answer", pauses)
		}
		say(11, time.Now(), push.Settings)
		if pauses != 3 {
			t.Errorf("paused %d times, want by a 401 at once", pauses)
		}
	})
}
