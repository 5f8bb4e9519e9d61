package main

import (
	"context"
	"log/slog"
	"time"
)

// A server is a private server as the keeper sees it. The keeper's test has a
// process of its own instead.
type server interface {
	Done() <-chan struct{}
	Stop(ctx context.Context) error
}

// restartPause is how long the keeper waits before each start, so that a
// server that cannot live does not take a core.
const restartPause = time.Second

// A keeper starts a private server again when it ends unasked: it may have been
// killed for its memory. It comes back under the same URL.
type keeper struct {
	server server // owned by loop until done is closed
	again  func(context.Context) (server, error)
	log    *slog.Logger
	cancel context.CancelFunc
	done   chan struct{}
}

// keep watches over s until stop. again starts it anew.
func keep(s server, again func(context.Context) (server, error), log *slog.Logger) *keeper {
	ctx, cancel := context.WithCancel(context.Background())
	k := &keeper{server: s, again: again, log: log, cancel: cancel, done: make(chan struct{})}
	go k.loop(ctx)
	return k
}

func (k *keeper) loop(ctx context.Context) {
	defer close(k.done)
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.server.Done():
		}
		if ctx.Err() != nil {
			return
		}
		k.log.Error("private server ended unasked and is started again")
		_ = k.server.Stop(ctx) // frees its directory
		if !k.restart(ctx) {
			return
		}
	}
}

// restart tries until the server is back, and reports false when ctx ends.
func (k *keeper) restart(ctx context.Context) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(restartPause):
		}
		s, err := k.again(ctx)
		if err == nil {
			k.server = s
			return true
		}
		if ctx.Err() == nil {
			k.log.Error("private server did not start again", "error", err)
		}
	}
}

// stop ends the watch and stops the server.
func (k *keeper) stop(ctx context.Context) error {
	k.cancel()
	<-k.done
	return k.server.Stop(ctx)
}
