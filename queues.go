package main

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"bongsu/jobs"
	"bongsu/web"
)

// queues lets the pages look into the queues without web knowing jobs.
type queues struct{ inspector *jobs.Inspector }

func (q queues) Queues(ctx context.Context) ([]web.Queue, error) {
	infos, err := q.inspector.Queues(ctx)
	var list []web.Queue
	for _, i := range infos {
		list = append(list, web.Queue(i))
	}
	return list, err
}

func (q queues) Tasks(ctx context.Context, queue, state string, page, size int) ([]web.Task, error) {
	infos, err := q.inspector.Tasks(ctx, queue, state, page, size)
	var list []web.Task
	for _, i := range infos {
		list = append(list, web.Task(i))
	}
	return list, err
}

func (q queues) RunTask(ctx context.Context, queue, id string) error {
	return webGone(q.inspector.RunTask(ctx, queue, id))
}

func (q queues) DeleteTask(ctx context.Context, queue, id string) error {
	return webGone(q.inspector.DeleteTask(ctx, queue, id))
}

// memoryOf gives a look at the memory of the Redis behind c.
func memoryOf(c redis.UniversalClient) func(context.Context) (web.Memory, error) {
	return func(ctx context.Context) (web.Memory, error) {
		used, most, err := jobs.Memory(ctx, c)
		return web.Memory{Used: used, Max: most}, err
	}
}

func webGone(err error) error {
	if errors.Is(err, jobs.ErrTaskGone) {
		return web.ErrTaskGone
	}
	return err
}
