package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/hibiken/asynq"

	"bongsu/db"
)

// mux says which handler runs a task. A payload that cannot be read and a panic
// set the task aside in asynq's archive, for a person to look at. Any other
// trouble ends the task without error: the ledger knows what is still to do, and
// the feeder rings again.
func (w *Worker) mux() *asynq.ServeMux {
	mux := asynq.NewServeMux()
	mux.Handle(typeRange, handler(w, w.rangeTask))
	mux.Handle(typeRetry, handler(w, w.retryTask))
	mux.Handle(typeTest, handler(w, w.testTask))
	mux.Handle(typeImport, handler(w, w.importTask))
	return mux
}

// handler reads a task's payload strictly, runs f, and writes the task's line in
// the log.
func handler[P fmt.Stringer](w *Worker, f func(ctx context.Context, p P) (int, error)) asynq.Handler {
	return asynq.HandlerFunc(func(ctx context.Context, t *asynq.Task) error {
		var p P
		if err := json.Unmarshal(t.Payload(), &p); err != nil {
			return fmt.Errorf("the payload of %s cannot be read: %w: %w", t.Type(), err, asynq.SkipRetry)
		}
		start := time.Now()
		n, err := f(ctx, p)
		log := w.log.With("task", t.Type(), "of", p.String(), "calls", n, "took_ms", time.Since(start).Milliseconds())
		switch {
		case errors.Is(err, db.ErrStale):
			log.Debug("a task had nothing to do")
		case err != nil && w.draining.Err() == nil:
			log.Warn("a task ended early and will be rung again", "error", err)
		default:
			log.Debug("a task was done")
		}
		return nil
	})
}

// taskFailed logs a task that asynq sets aside.
func (w *Worker) taskFailed(_ context.Context, t *asynq.Task, err error) {
	w.log.Error("a task was set aside", "task", t.Type(), "payload", string(t.Payload()), "error", err)
}

// asynqLog lets asynq write to our log.
type asynqLog struct{ log *slog.Logger }

func (l asynqLog) Debug(args ...any) { l.log.Debug("asynq", "says", fmt.Sprint(args...)) }
func (l asynqLog) Info(args ...any)  { l.log.Debug("asynq", "says", fmt.Sprint(args...)) }
func (l asynqLog) Warn(args ...any)  { l.log.Warn("asynq", "says", fmt.Sprint(args...)) }
func (l asynqLog) Error(args ...any) { l.log.Warn("asynq", "says", fmt.Sprint(args...)) }
func (l asynqLog) Fatal(args ...any) { l.log.Error("asynq", "says", fmt.Sprint(args...)) }
