package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

// What must hold of the whole run.
const (
	retrySchedule = 26 * time.Second // 2 s, 6 s and 18 s
	aboveSchedule = 15 * time.Second
	runLimit      = 3 * time.Minute // the demo gives up then
)

// content is the notice of the incident. Each run has devices of its own, so
// that the same text is another notice.
func (d *demo) content() map[string]any {
	return map[string]any{
		"title":    "Service interruption tonight",
		"body":     "From 23:00 to 01:00 payments cannot be made. Everything else works as always.",
		"audience": map[string]any{"tags": []string{d.tag}},
	}
}

// An incident is what one run of it showed.
type incident struct {
	first, again apiNotice
	status       [2]int // of the two submits
	took         [2]time.Duration
	idle, busy   answers
	crash        *crash // nil: nobody was killed
	final        apiNotice
	whole        time.Duration // from the first submit to the end
	uneven       int           // looks at which the parts did not add up
}

// run sends the notice, waits for its end, replays what failed, and gives the
// table.
func (d *demo) run(ctx context.Context, kill bool) (*demoTable, error) {
	if _, err := d.pool.Exec(ctx, sampleTable); err != nil {
		return nil, err
	}
	var x incident
	err := poll(ctx, time.Minute, 50*time.Millisecond, "the worker is ready", func() (bool, error) { return d.workerIsReady(ctx) })
	if err != nil {
		return nil, err
	}
	if err := d.send(ctx, &x, kill); err != nil {
		return nil, err
	}
	if err := d.waitIdle(ctx); err != nil {
		return nil, err
	}
	if x.idle, err = d.measureAnswers(ctx, "idle", nil); err != nil {
		return nil, err
	}
	if err := d.forgetMeasuring(ctx); err != nil {
		return nil, err
	}
	t := &demoTable{}
	x.rows(t)
	if err := d.deviceRows(ctx, t, &x); err != nil {
		return nil, err
	}
	if x.crash != nil {
		x.crash.rows(t, d.limits.Lease)
	}
	limit := retrySchedule + aboveSchedule
	t.add("the whole, from the submit to the end", x.whole <= limit, "at most "+seconds(limit), "%s", seconds(x.whole))
	return t, d.replayRows(ctx, t)
}

// workerIsReady tells whether a worker has reported to the ledger.
func (d *demo) workerIsReady(ctx context.Context) (ready bool, err error) {
	select {
	case <-d.worker.Done():
		return false, fmt.Errorf("the worker did not start; see %s", d.logPath)
	default:
	}
	err = d.pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM worker WHERE seen_at > now() - interval '10 seconds')").Scan(&ready)
	return ready, err
}

// waitIdle waits until no notice is under way.
func (d *demo) waitIdle(ctx context.Context) error {
	return poll(ctx, time.Minute, 50*time.Millisecond, "nothing is under way", func() (bool, error) { return d.isIdle(ctx) })
}

// isIdle tells whether no notice is under way.
func (d *demo) isIdle(ctx context.Context) (idle bool, err error) {
	err = d.pool.QueryRow(ctx, "SELECT NOT EXISTS (SELECT FROM notice WHERE settled_at IS NULL)").Scan(&idle)
	return idle, err
}

// send submits the notice twice and follows it to its end. On the way it
// measures answers, and kills the worker where kill is set.
func (d *demo) send(ctx context.Context, x *incident, kill bool) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, runLimit, fmt.Errorf("the run did not end within %s", runLimit))
	defer cancel()
	fmt.Fprintf(d.app.stderr, "submitting the notice to %s devices twice\n", thousands(demoDevices))
	began := time.Now()
	if x.first, x.status[0], x.took[0], err = d.api.submit(ctx, d.content()); err != nil {
		return err
	}
	if x.again, x.status[1], x.took[1], err = d.api.submit(ctx, d.content()); err != nil {
		return err
	}
	d.notice = x.first.ID
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() (err error) {
		x.busy, err = d.measureAnswers(ctx, "while sending", &traffic{sim: d.sim, until: demoGood * 95 / 100})
		return err
	})
	if kill {
		x.crash = &crash{}
		all.Go(func() error { return d.crash(ctx, x.crash) })
	}
	all.Go(func() error { return d.follow(ctx, x, began) })
	return all.Wait()
}

// follow shows the notice's progress until it is finished.
func (d *demo) follow(ctx context.Context, x *incident, began time.Time) error {
	return poll(ctx, runLimit, 50*time.Millisecond, "the notice is finished", func() (bool, error) {
		n, err := d.api.notice(ctx, x.first.ID)
		if err != nil {
			return false, err
		}
		if n.Counts.parts() != n.Counts.Total {
			x.uneven++
		}
		d.say.show(n, demoDevices, x.note())
		x.final, x.whole = n, time.Since(began)
		return n.State == "finished", nil
	})
}

// note says what is going on besides sending.
func (x *incident) note() string {
	if x.crash == nil {
		return ""
	}
	return x.crash.note()
}

// rows adds what the submits showed.
func (x *incident) rows(t *demoTable) {
	t.add("answer to the first submit", x.status[0] == http.StatusAccepted, "202", "%d after %s", x.status[0], inMillis(x.took[0]))
	same := "another notice"
	if x.first.ID == x.again.ID {
		same = "the same notice"
	}
	t.add("answer to the second submit", x.status[1] == http.StatusOK && x.first.ID == x.again.ID,
		"200, the same notice", "%d after %s, %s", x.status[1], inMillis(x.took[1]), same)
	x.idle.row(t, fmt.Sprintf("median of %d submits, idle", answersWanted))
	x.busy.row(t, fmt.Sprintf("median of %d submits, while sending", answersWanted))
	c := x.final.Counts
	t.add("parts add up to the whole", x.uneven == 0 && c.Total == demoDevices, thousands(demoDevices)+", at each look",
		"%s, %d looks at which they did not", thousands(c.Total), x.uneven)
}
