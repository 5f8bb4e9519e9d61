package main

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bongsu/jobs/redisserver/redistest"
)

// A client of the workers that asks again and again asks a few times a second while
// Redis is away, and as fast as ever where Redis answers, an error too.
func TestAwayRedisIsAskedCalmly(t *testing.T) {
	r := redistest.New(t)
	c, err := redisClient(r.URL(), limitsOf(Config{}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.AddHook(calm{})
	asks := func() (n int) {
		for end := time.Now().Add(time.Second); time.Now().Before(end); n++ {
			_, _ = c.Get(t.Context(), "none").Result()
		}
		return n
	}
	if n := asks(); n < 100 {
		t.Errorf("%d times a second, and Redis is there", n)
	}
	if err := c.Do(t.Context(), "nonsense").Err(); err == nil || errors.Is(err, redis.Nil) {
		t.Errorf("nonsense: %v", err)
	}
	r.Stop()
	if n := asks(); n > 10 {
		t.Errorf("%d times a second, and Redis is away", n)
	}
	r.Start()
	if _, err := c.Get(t.Context(), "none").Result(); !errors.Is(err, redis.Nil) {
		t.Errorf("back: %v", err)
	}
}
