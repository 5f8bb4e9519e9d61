package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"bongsu/db"
	"bongsu/db/devicelist"
)

// importer works on device lists: it reads a list into rows, lets the last row of
// each device win, and brings the rows into the devices, part by part. Each part is
// one commit together with how far it has come, so that another can go on from
// there.
type importer struct {
	db    *db.DB
	log   *slog.Logger
	lease time.Duration
	may   db.EndpointRule // nil: any endpoint
}

// Sizes of the parts.
const (
	stageRows  = 5_000
	writeRows  = 5_000
	disableMax = 5_000
)

// importPayload is what the task of an import carries.
type importPayload struct {
	ID   int64 `json:"id"`
	Ring int64 `json:"ring"`
}

func (p importPayload) String() string { return fmt.Sprintf("import %d ring %d", p.ID, p.Ring) }

// importTask works on an import until it ends, waits for a person, or time is over;
// then it is rung again. Running it again finds that somebody else holds the
// import, or goes on from the last commit.
func (w *Worker) importTask(ctx context.Context, p importPayload) (n int, err error) {
	ctx, cancel := w.workTime(ctx)
	defer cancel()
	x := &importer{db: w.cfg.Imports, log: w.log, lease: w.cfg.Lease, may: w.cfg.CheckEndpoint}
	return 0, x.run(ctx, p)
}

func (x *importer) run(ctx context.Context, p importPayload) error {
	work, err := x.db.BeginImport(ctx, p.ID, p.Ring, x.lease)
	if err != nil {
		return err
	}
	held, release := context.WithCancelCause(ctx)
	beat, begun := make(chan struct{}), work // what holds the lease never changes
	go func() {
		defer close(beat)
		x.hold(held, release, begun)
	}()
	err = x.work(held, &work)
	release(nil)
	<-beat
	return x.end(ctx, work, err)
}

// hold prolongs the lease until ctx ends, and ends it where the lease is lost.
func (x *importer) hold(ctx context.Context, lost context.CancelCauseFunc, w db.ImportWork) {
	tick := time.NewTicker(x.lease / 4)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err := x.db.HoldImport(ctx, w, x.lease); errors.Is(err, db.ErrStale) {
				lost(db.ErrStale)
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// end says what became of the work: a list that cannot be read fails its import,
// and work that was interrupted is given back.
func (x *importer) end(ctx context.Context, w db.ImportWork, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), x.lease)
	defer cancel()
	var format *devicelist.FormatError
	switch {
	case err == nil:
		x.log.Info("a part of an import was done", "import", w.ID, "phase", w.Phase)
		return nil
	case errors.As(err, &format):
		x.log.Info("a list could not be read", "import", w.ID, "code", format.Code, "row", format.Row)
		return x.db.FailImport(ctx, w, format.Code, format.Message)
	case errors.Is(err, db.ErrNotFound):
		x.log.Error("a part of an upload is gone", "import", w.ID, "error", err)
		return x.db.FailImport(ctx, w, "upload_gone", "a part of the uploaded file is gone. Upload the file again")
	case errors.Is(err, db.ErrStale):
		return err
	}
	return errors.Join(err, x.db.YieldImport(ctx, w))
}

// work takes an import from phase to phase.
func (x *importer) work(ctx context.Context, w *db.ImportWork) error {
	for {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		var err error
		switch w.Phase {
		case "reading":
			err = x.read(ctx, w)
		case "matching":
			err = x.db.MatchImport(ctx, w)
		case "writing":
			if err = x.write(ctx, w); err != nil {
				return err
			}
			if !w.FullList {
				return x.db.FinishImport(ctx, *w)
			}
			err = x.db.EndWriting(ctx, w)
		case "counting":
			return x.db.CountMissing(ctx, w)
		case "disabling":
			return x.disable(ctx, w)
		}
		if err != nil {
			return err
		}
	}
}

// read stages the list from where it was left: what is staged already is passed over.
func (x *importer) read(ctx context.Context, w *db.ImportWork) error {
	list, err := devicelist.NewReader(&uploadReader{ctx: ctx, db: x.db, upload: w.Upload, chunks: w.Chunks})
	if err != nil {
		return err
	}
	head := list.Head()
	if err := x.db.DescribeImport(ctx, *w, head.Columns, head.Ignored); err != nil {
		return err
	}
	rows, checks := make([]db.ImportRow, 0, stageRows), db.NewEndpointChecks(x.may)
	for {
		row, err := list.Next()
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return err
		}
		if !ended && row.Number > w.ReadTo {
			r := importRow(row)
			if err := r.CheckEndpoint(ctx, checks, devicelist.Show); err != nil {
				return err
			}
			rows = append(rows, r)
		}
		if len(rows) == stageRows || ended && len(rows) > 0 {
			if err := x.db.StageImport(ctx, w, rows, rows[len(rows)-1].Number, list.Offset()); err != nil {
				return err
			}
			rows = rows[:0]
		}
		if ended {
			return x.db.EndReading(ctx, w)
		}
	}
}

// importRow makes of a row of the list one for the ledger.
func importRow(r devicelist.Row) db.ImportRow {
	row := db.ImportRow{Number: r.Number, Cells: r.Cells, Input: db.DeviceInput{Token: r.Token, Platform: r.Platform,
		Vendor: r.Vendor, Environment: r.Environment, P256dh: r.P256dh, Auth: r.Auth,
		User: r.User, Tags: r.Tags, Consent: r.Consent, Installation: r.Installation}}
	if len(r.Problems) > 0 {
		p := r.Problems[0]
		row.Reject = &db.ImportReject{Column: p.Column, Value: p.Value, Reason: string(p.Reason), Message: p.Message}
		for _, p := range r.Problems[1:] {
			row.Reject.Message += "; " + p.Column + " " + p.Message
		}
	}
	row.Check(devicelist.Show)
	return row
}

// write brings all rows into the devices. A row that the database refuses, for a
// cause that no check knows, is looked for and taken out.
func (x *importer) write(ctx context.Context, w *db.ImportWork) error {
	for w.WriteTo < w.ReadTo {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		_, err := x.db.WriteImport(ctx, w, writeRows)
		if err == nil {
			continue
		}
		if ours(err) || ctx.Err() != nil {
			return err
		}
		x.log.Warn("a part of a list was refused and is tried row by row", "import", w.ID, "from", w.WriteTo, "error", err)
		if err := x.writeOneByOne(ctx, w, min(w.WriteTo+writeRows, w.ReadTo)); err != nil {
			return err
		}
	}
	return nil
}

func (x *importer) writeOneByOne(ctx context.Context, w *db.ImportWork, to int64) error {
	for w.WriteTo < to {
		_, err := x.db.WriteImport(ctx, w, 1)
		if err != nil && !ours(err) && ctx.Err() == nil {
			err = x.db.RejectRow(ctx, w, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ours says whether an error is about us or the database, and not about a row.
func ours(err error) bool { return errors.Is(err, db.ErrStale) || db.Unavailable(err) }

func (x *importer) disable(ctx context.Context, w *db.ImportWork) error {
	for {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		more, err := x.db.DisableMissing(ctx, w, disableMax)
		if err != nil || !more {
			return err
		}
	}
}

// uploadReader reads an upload part by part out of the ledger.
type uploadReader struct {
	ctx    context.Context //nolint:containedctx // a reader has no other way to take one
	db     *db.DB
	upload int64
	chunks int
	next   int
	rest   []byte
}

func (r *uploadReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.next == r.chunks {
			return 0, io.EOF
		}
		data, err := r.db.UploadChunk(r.ctx, r.upload, r.next)
		if err != nil {
			return 0, err
		}
		r.rest = data
		r.next++
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
