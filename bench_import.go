package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
)

// importRate is the limit of the notice that is sent beside an import, in calls a
// second, and importAlone how long it is watched without one.
const (
	importRate  = 2_000
	importAlone = 5 * time.Second
)

// imports measures device lists: against a plain COPY of the same rows into a table
// with the same indexes, what they take of memory, and what a notice beside one
// keeps of its rate.
func (b *bench) imports(ctx context.Context) error {
	n := b.sizes.rows
	before, err := peakMemory(b.product.Pid())
	if err != nil {
		return err
	}
	copied, err := b.plainCopy(ctx, n)
	if err != nil {
		return err
	}
	took, err := b.importList(ctx, n, 0)
	if err != nil {
		return err
	}
	peak, err := peakMemory(b.product.Pid())
	if err != nil {
		return err
	}
	b.report.atMost("import", fmt.Sprintf("import of %d rows, through a plain COPY of them", n), took.Seconds()/copied.Seconds(), "", 3, 2,
		"%.1f s from the first byte of the upload to done, and %.1f s", took.Seconds(), copied.Seconds())
	b.report.atMost("import_memory", "memory of the process above what it took before", (peak-before)/mebi, "MiB", 100, 50, "")
	return b.importBeside(ctx, n)
}

// importBeside imports another list while a notice goes to the devices of the first.
func (b *bench) importBeside(ctx context.Context, n int) error {
	if _, err := b.api.submit(ctx, b.content(nil)); err != nil {
		return err
	}
	rate := func(f func() error) (float64, error) {
		from, err := b.sim.counts(ctx)
		began := time.Now()
		if err == nil {
			err = f()
		}
		to, e := b.sim.counts(ctx)
		return float64(to.Calls-from.Calls) / time.Since(began).Seconds(), errors.Join(err, e)
	}
	alone, err := rate(func() error { return sleepFor(ctx, importAlone) })
	if err != nil {
		return err
	}
	beside, err := rate(func() error { _, err := b.importList(ctx, n, n); return err })
	if err != nil {
		return err
	}
	b.report.atLeast("import_beside", fmt.Sprintf("calls beside an import, of a notice limited to %d/s", importRate), beside/importRate, "", 0.7, 0.95,
		"%.0f/s, alone %.0f/s", beside, alone)
	return nil
}

func sleepFor(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// importList uploads a list of the rows from first on and waits until it is done.
func (b *bench) importList(ctx context.Context, n, first int) (time.Duration, error) {
	began := time.Now()
	body, to := io.Pipe()
	go func() {
		w := bufio.NewWriterSize(to, 1<<16)
		fmt.Fprintln(w, "token,platform,user,tags,consent,installation")
		for i := first; i < first+n; i++ {
			fmt.Fprintf(w, "%s,android,user-%d,news|sport,true,installation-%d\n", listToken(i), i%300_000, i)
		}
		to.CloseWithError(w.Flush())
	}()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.api.base+"/api/v1/imports", body)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+b.api.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	_ = resp.Body.Close()
	location := resp.Header.Get("Location")
	if resp.StatusCode != http.StatusAccepted {
		return 0, fmt.Errorf("the list was answered with %s", resp.Status)
	}
	for {
		var i struct {
			State   string
			Created int
		}
		if err := askJSON(ctx, http.MethodGet, b.api.base+location, b.api.token, nil, &i); err != nil {
			return 0, err
		}
		switch {
		case i.State == "done" && i.Created == n:
			return time.Since(began), nil
		case i.State != "pending" && i.State != "running":
			return 0, fmt.Errorf("the import is %s with %d of %d devices", i.State, i.Created, n)
		}
		if err := sleepFor(ctx, 100*time.Millisecond); err != nil {
			return 0, err
		}
	}
}

// listToken is the token of one row: like a vendor's, in no order.
func listToken(i int) string { return fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, i))) }

// plainCopy copies the same rows into a table with the indexes of the devices, and
// drops it.
func (b *bench) plainCopy(ctx context.Context, n int) (time.Duration, error) {
	conn, err := b.pool.Acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, "CREATE TABLE bench_device (LIKE device INCLUDING ALL)"); err != nil {
		return 0, err
	}
	now := time.Now()
	rows := pgx.CopyFromFunc(copiedRows(n))
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"bench_device"},
		[]string{"token", "token_hash", "platform", "person", "tags", "consent", "installation"}, rows)
	took := time.Since(now)
	if err != nil {
		return 0, err
	}
	_, err = conn.Exec(ctx, "DROP TABLE bench_device")
	return took, err
}

func copiedRows(n int) func() ([]any, error) {
	i := 0
	tags := []string{"news", "sport"}
	return func() ([]any, error) {
		if i == n {
			return nil, nil
		}
		token := listToken(i)
		hash := sha256.Sum256([]byte(token))
		row := []any{token, hash[:], "android", fmt.Sprintf("user-%d", i%300_000), tags, true, fmt.Sprintf("installation-%d", i)}
		i++
		return row, nil
	}
}
