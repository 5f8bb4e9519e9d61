package main

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
)

// calmFor is how long a word with Redis that failed is held back before its error
// is given. asynq asks again at once when asking fails, and would use up a
// processor for as long as Redis is away.
const calmFor = 200 * time.Millisecond

// calm holds back what fails for want of Redis. What Redis itself answers, an error
// too, is given at once.
type calm struct{}

func (calm) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (calm) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { return held(ctx, next(ctx, cmd)) }
}

func (calm) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { return held(ctx, next(ctx, cmds)) }
}

// held gives err, after a while where it is not Redis's own word.
func held(ctx context.Context, err error) error {
	var said redis.Error
	if err == nil || errors.As(err, &said) {
		return err
	}
	select {
	case <-time.After(calmFor):
	case <-ctx.Done():
	}
	return err
}
