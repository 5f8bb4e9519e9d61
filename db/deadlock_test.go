package db

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// Three processes record for the same two notices, over the same devices and
// into the same counter rows, in any order, while devices register again and
// the sweep goes on. None may fail because of another.
func TestWritersOfTheSameRowsNeverFailEachOther(t *testing.T) {
	a := newScene(t, 2000)
	b := startScene(t, a.db, "second")
	for _, r := range b.rings {
		must(a.db.TakeRange(t.Context(), r, 0))(t)
	}
	l := testLimits
	l.Worker = true
	workers := must(Open(t.Context(), a.db.pool.Config().ConnString(), l))(t)
	defer workers.Close()
	var atWork atomic.Int32
	atWork.Store(3)
	together(6, func(i int) {
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		if i < 3 {
			defer atWork.Add(-1)
			if err := exchangeAll(workers, a, b, rng); err != nil {
				t.Errorf("worker %d: %v", i, err)
			}
			return
		}
		for atWork.Load() > 0 {
			var err error
			if i == 3 {
				_, err = workers.FreeLeases(t.Context(), a.term, time.Millisecond, false, 50)
			} else {
				err = putSome(a, rng)
			}
			if err != nil {
				t.Errorf("writer %d: %v", i, err)
				return
			}
		}
	})
	for _, s := range []*scene{a, b} {
		if c := s.counts(); c.Sent+c.Failed+c.Skipped+c.Retrying != 2000 {
			t.Fatalf("counts: %+v", c)
		}
	}
}

// putSome registers some devices again, in any order.
func putSome(s *scene, rng *rand.Rand) error {
	in := make([]DeviceInput, 50)
	for i, p := range rng.Perm(2000)[:len(in)] {
		in[i] = DeviceInput{Token: fmt.Sprintf("ok-%d", p+1), Platform: "android"}
	}
	_, err := s.db.PutDevices(s.Context(), in, someone)
	return err
}

// exchangeAll claims of both notices and records, each time in one transaction
// with the next claims, in any order, until nothing waits for its first attempt.
func exchangeAll(db *DB, a, b *scene, rng *rand.Rand) error {
	var results []Result
	for {
		wants := []Want{{Scope: "http", Notice: a.id, Last: 2000, Limit: 20}, {Scope: "http", Notice: b.id, Last: 2000, Limit: 20}}
		rng.Shuffle(len(wants), func(i, j int) { wants[i], wants[j] = wants[j], wants[i] })
		wants[0].After = rng.Int64N(1000)
		rng.Shuffle(len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
		_, batches, err := db.Exchange(a.Context(), results, wants, testLease, 0)
		if err != nil {
			return err
		}
		results = nil
		for _, c := range slices.Concat(batches[0].Claims, batches[1].Claims) {
			outcome := []string{OutcomeSent, OutcomeDead, OutcomeDead, OutcomeTransient}[rng.IntN(4)]
			r := resultOf(c, outcome)
			r.Delay = time.Hour
			results = append(results, r)
		}
		if len(results) > 0 {
			continue
		}
		var left bool
		err = db.pool.QueryRow(a.Context(), `SELECT EXISTS (SELECT FROM delivery WHERE status = 'pending' AND wake_at IS NULL)`).Scan(&left)
		if err != nil || !left {
			return err
		}
	}
}
