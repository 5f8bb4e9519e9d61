package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// ErrTaskGone says that a task is not there any more, or is being worked on.
var ErrTaskGone = errors.New("the task is gone or is being worked on")

// Inspector looks into asynq's own state, for the Queues page. Its archive holds
// tasks that met a bug or a panic; what became of deliveries is in the ledger.
type Inspector struct {
	inspector *asynq.Inspector
}

// QueueInfo is the state of one queue.
type QueueInfo struct {
	Name                                        string
	Pending, Active, Scheduled, Retry, Archived int
	Processed, Failed                           int // today, by the queue's own day
	Paused                                      bool
	Latency                                     time.Duration // age of the oldest pending task
	MemoryBytes                                 int64
}

// TaskInfo is one task of a queue.
type TaskInfo struct {
	ID, Queue, Type, State string
	Payload                string
	Retried, MaxRetry      int
	LastError              string
	LastFailedAt, NextAt   time.Time
}

// NewInspector makes an Inspector over c.
func NewInspector(c redis.UniversalClient) *Inspector {
	return &Inspector{asynq.NewInspectorFromRedisClient(c)}
}

// Queues gives the state of the queues. One that Redis does not know yet, or
// not any more, is empty.
func (i *Inspector) Queues(context.Context) ([]QueueInfo, error) {
	var list []QueueInfo
	for _, name := range []string{queuePush, queueRetry, queueImport} {
		q, err := queueInfo(i.inspector, name)
		if err != nil {
			return nil, err
		}
		if q == nil {
			list = append(list, QueueInfo{Name: name})
			continue
		}
		list = append(list, QueueInfo{Name: name, Pending: q.Pending, Active: q.Active, Scheduled: q.Scheduled, Retry: q.Retry,
			Archived: q.Archived, Processed: q.Processed, Failed: q.Failed, Paused: q.Paused, Latency: q.Latency, MemoryBytes: q.MemoryUsage})
	}
	return list, nil
}

// Tasks lists one page of the tasks of a queue in a state: active, pending,
// scheduled, retry or archived. Pages count from 1.
func (i *Inspector) Tasks(_ context.Context, queue, state string, page, size int) ([]TaskInfo, error) {
	lists := map[string]func(string, ...asynq.ListOption) ([]*asynq.TaskInfo, error){
		"active": i.inspector.ListActiveTasks, "pending": i.inspector.ListPendingTasks,
		"scheduled": i.inspector.ListScheduledTasks, "retry": i.inspector.ListRetryTasks,
		"archived": i.inspector.ListArchivedTasks,
	}
	list, ok := lists[state]
	if !ok {
		return nil, errors.New("no such state of a task: " + state)
	}
	tasks, err := list(queue, asynq.Page(page), asynq.PageSize(size))
	if errors.Is(err, asynq.ErrQueueNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := make([]TaskInfo, len(tasks))
	for n, t := range tasks {
		out[n] = TaskInfo{ID: t.ID, Queue: t.Queue, Type: t.Type, State: t.State.String(), Payload: string(t.Payload),
			Retried: t.Retried, MaxRetry: t.MaxRetry, LastError: t.LastErr, LastFailedAt: t.LastFailedAt, NextAt: t.NextProcessAt}
	}
	return out, nil
}

// RunTask has a waiting or archived task run at once; ErrTaskGone.
func (i *Inspector) RunTask(_ context.Context, queue, id string) error {
	return gone(i.inspector.RunTask(queue, id))
}

// DeleteTask removes a task that is not being worked on; ErrTaskGone.
func (i *Inspector) DeleteTask(_ context.Context, queue, id string) error {
	return gone(i.inspector.DeleteTask(queue, id))
}

func gone(err error) error {
	if errors.Is(err, asynq.ErrTaskNotFound) || errors.Is(err, asynq.ErrQueueNotFound) {
		return ErrTaskGone
	}
	return err
}
