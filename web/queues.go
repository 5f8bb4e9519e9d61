package web

import (
	"context"
	"errors"
	"time"
)

// ErrTaskGone is what a QueueInspector answers for a task that is not there any
// more, or is not in a state in which it can be run or deleted.
var ErrTaskGone = errors.New("task is gone or is being worked on")

// QueueInspector lets the pages look into the queues. Its errors mean that the
// queue could not be asked, except ErrTaskGone.
type QueueInspector interface {
	Queues(ctx context.Context) ([]Queue, error)
	// Tasks lists one page of tasks in a state: active, pending, scheduled, retry
	// or archived. Pages count from 1.
	Tasks(ctx context.Context, queue, state string, page, size int) ([]Task, error)
	RunTask(ctx context.Context, queue, id string) error
	DeleteTask(ctx context.Context, queue, id string) error
}

// Queue is the state of one queue, as the queue itself counts it.
type Queue struct {
	Name                                        string
	Pending, Active, Scheduled, Retry, Archived int
	Processed, Failed                           int // today, by the queue's own day
	Paused                                      bool
	Latency                                     time.Duration // age of the oldest pending task
	MemoryBytes                                 int64
}

// Task is one task of a queue.
type Task struct {
	ID, Queue, Type, State string
	Payload                string // what it carries; never a device's token
	Retried, MaxRetry      int
	LastError              string
	LastFailedAt, NextAt   time.Time // zero: none
}

// within asks for at most limit: the queue's own client knows no context. Where
// the answer comes later, nobody hears it.
func within[T any](ctx context.Context, limit time.Duration, ask func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		defer cancel()
		v, err := ask(ctx)
		done <- answer{v, err}
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
		select {
		case a := <-done:
			return a.value, a.err
		default:
			var none T
			return none, ctx.Err()
		}
	}
}
