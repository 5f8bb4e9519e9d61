package main

import (
	"context"
	"errors"
	"log/slog"
	"syscall"
	"testing"
	"time"

	"bongsu/db/childproc"
	"bongsu/jobs/redisserver"
)

// A private server that was killed for its memory is there again under the
// same URL, and one that was asked to stop stays away.
func TestKeeperStartsAKilledServerAgain(t *testing.T) {
	c := Config{DataDir: t.TempDir()}
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	k, url, err := keepRedis(t.Context(), c, log)
	if err != nil {
		t.Fatal(err)
	}
	client, err := redisClient(url, Limits{RedisDial: time.Second, RedisRead: time.Second, RedisWrite: time.Second, RedisPool: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.Set(t.Context(), "kept", "42", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if err := client.ConfigSet(t.Context(), "appendfsync", "always").Err(); err != nil {
		t.Fatal(err)
	}
	first := k.server.(*redisserver.Server)
	if err := syscall.Kill(first.Pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-first.Done()
	deadline := time.Now().Add(30 * time.Second)
	for client.Get(t.Context(), "kept").Val() != "42" {
		if time.Now().After(deadline) {
			t.Fatal("the server is not back after 30 s")
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err := k.stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := client.Ping(t.Context()).Err(); err == nil {
		t.Error("the server still answers after stop")
	}
	if held, err := childproc.Held(c.DataDir + "/redis"); err != nil || held {
		t.Errorf("the directory is held: %v, %v", held, err)
	}
}

// stop does not wait for a server that cannot be started again.
func TestKeeperStopsWhileItRestarts(t *testing.T) {
	dead := make(chan struct{})
	close(dead)
	tried := make(chan struct{}, 1)
	k := keep(deadServer{dead}, func(context.Context) (server, error) {
		select {
		case tried <- struct{}{}:
		default:
		}
		return nil, errors.New("no memory")
	}, slog.New(slog.DiscardHandler))
	<-tried
	if err := k.stop(t.Context()); err != nil {
		t.Error(err)
	}
}

type deadServer struct{ done chan struct{} }

func (d deadServer) Done() <-chan struct{}      { return d.done }
func (d deadServer) Stop(context.Context) error { return nil }
