package redistest

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestStopStartEmptyAndFreeze(t *testing.T) {
	r := New(t)
	opts, err := redis.ParseURL(r.URL())
	if err != nil {
		t.Fatal(err)
	}
	opts.MaxRetries = -1
	opts.ContextTimeoutEnabled = true
	c := redis.NewClient(opts)
	defer c.Close()
	if err := c.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	r.Stop()
	if err := c.Ping(t.Context()).Err(); err == nil {
		t.Error("a stopped server answers")
	}
	r.Start()
	if got := c.Get(t.Context(), "k").Val(); got != "v" {
		t.Errorf("after Stop and Start the key is %q, want v", got)
	}
	r.Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := c.Ping(ctx).Err(); err == nil {
		t.Error("a frozen server answers")
	}
	r.Thaw()
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Errorf("after Thaw: %v", err)
	}
	r.StartEmpty()
	if n := c.DBSize(t.Context()).Val(); n != 0 {
		t.Errorf("after StartEmpty it holds %d keys, want none", n)
	}
}
