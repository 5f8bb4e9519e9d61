package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// answersWanted is how many submits a median is of.
const answersWanted = 50

// Answers are what submits took, each beside a one-row INSERT and commit in the
// same database at the same time.
type answers struct {
	submits, inserts []time.Duration
}

// sampleTable is where the rows go that submits are compared with.
const sampleTable = `
	CREATE SCHEMA IF NOT EXISTS demo;
	CREATE TABLE IF NOT EXISTS demo.sample (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, note text NOT NULL)`

// measureAnswers takes answersWanted pairs, each while sending tells that it
// goes on; nil: at any time. It returns earlier with those that it has when
// over tells so, and with none after an error.
func (d *demo) measureAnswers(ctx context.Context, name string, traffic *traffic) (all answers, err error) {
	for i := 0; len(all.submits) < answersWanted; i++ {
		if traffic != nil {
			if flows, err := traffic.await(ctx); err != nil || !flows {
				return all, err
			}
		}
		insert, submit, err := d.pair(ctx, fmt.Sprintf("Measuring: %s, %d", name, i+1))
		if err != nil {
			return all, err
		}
		if traffic == nil || traffic.flowed() {
			all.inserts, all.submits = append(all.inserts, insert), append(all.submits, submit)
		}
	}
	return all, nil
}

// pair takes the time of one INSERT and of one submit to nobody.
func (d *demo) pair(ctx context.Context, title string) (insert, submit time.Duration, err error) {
	began := time.Now()
	if _, err := d.pool.Exec(ctx, "INSERT INTO demo.sample (note) VALUES ($1)", title); err != nil {
		return 0, 0, err
	}
	insert = time.Since(began)
	_, status, submit, err := d.api.submit(ctx, map[string]any{
		"title": title, "body": measuringBody, "audience": map[string]any{"tags": []string{d.tag + "-nobody"}},
	})
	if err == nil && status != http.StatusAccepted {
		err = fmt.Errorf("a new notice was answered with %d", status)
	}
	return insert, submit, err
}

// measuringBody is the text of the notices that only measure.
const measuringBody = "To nobody. The demo takes this notice out again."

// forgetMeasuring takes the notices to nobody that measured the answers out of the
// ledger once they have ended, so that the list shows what was played, and says so. They
// have no deliveries. The log of acts keeps that they were accepted.
func (d *demo) forgetMeasuring(ctx context.Context) error {
	if err := d.waitIdle(ctx); err != nil {
		return err
	}
	tx, err := d.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // after the commit it does nothing
	var n int64
	for _, notices := range []string{ // what belongs to the notices, and then they
		"notice_counter WHERE notice_id", "notice_reason WHERE notice_id", "notice_pace WHERE notice_id",
		"notice_range WHERE notice_id", "notice WHERE id",
	} {
		tag, err := tx.Exec(ctx, "DELETE FROM "+notices+" = ANY (ARRAY(SELECT id FROM notice WHERE body = $1 AND settled_at IS NOT NULL))", measuringBody)
		if err != nil {
			return err
		}
		n = tag.RowsAffected()
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	fmt.Fprintf(d.app.stderr, "took the %d notices to nobody that measured the answers out of the list again; the log of acts keeps them\n", n)
	return nil
}

// limit is what the median of the submits must stay within.
func (a answers) limit() time.Duration {
	return max(5*median(a.inserts), 10*time.Millisecond)
}

// row adds the median to the table.
func (a answers) row(t *demoTable, what string) {
	n := len(a.submits)
	if n < answersWanted {
		t.add(what, false, fmt.Sprintf("median of %d", answersWanted), "only %d fell into that time", n)
		return
	}
	m := median(a.submits)
	t.add(what, m <= a.limit(), fmt.Sprintf("at most %s (INSERT: %s)", inMillis(a.limit()), inMillis(median(a.inserts))), "%s", inMillis(m))
}

// median is the middle of list, which must not be empty.
func median(list []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func inMillis(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
