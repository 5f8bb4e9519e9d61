package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"bongsu/db/childproc"
)

// cpuTimes is how much processor time each part has taken.
type cpuTimes struct{ product, postgres, vendor, redis time.Duration }

// cpuTimes reads what the parts have taken so far. Of PostgreSQL's processes
// those count that live now: connections stay open for minutes.
func (b *bench) cpuTimes() (t cpuTimes, err error) {
	for _, part := range []struct {
		sum  *time.Duration
		pids []int
	}{
		{&t.product, []int{b.product.Pid()}},
		{&t.vendor, []int{b.standIn.Pid()}},
		{&t.postgres, childproc.InDir("postgres", b.pgDir)},
		{&t.redis, childproc.InDir("redis-server", b.redisDir)},
	} {
		for _, pid := range part.pids {
			d, err := cpuTime(pid)
			if err != nil {
				return t, err
			}
			*part.sum += d
		}
		if *part.sum == 0 {
			return t, fmt.Errorf("no processor time of processes %v", part.pids)
		}
	}
	return t, nil
}

// since tells what was taken between two readings.
func (t cpuTimes) since(before cpuTimes) string {
	return fmt.Sprintf("processor time: product %.1f s, PostgreSQL %.1f s, stand-in %.1f s, Redis %.1f s",
		(t.product - before.product).Seconds(), (t.postgres - before.postgres).Seconds(),
		(t.vendor - before.vendor).Seconds(), (t.redis - before.redis).Seconds())
}

// cpuTime is what a process has taken, its own and the system's on its behalf.
// One that has just ended has taken nothing.
func cpuTime(pid int) (time.Duration, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if os.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	// The name, in brackets, may hold anything; after it come fields 3 and on.
	_, rest, _ := strings.Cut(string(raw[strings.LastIndexByte(string(raw), ')'):]), " ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("process %d: its stat has %d fields", pid, len(fields))
	}
	var sum time.Duration
	for _, field := range fields[11:13] { // utime and stime, in hundredths
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(n) * 10 * time.Millisecond
	}
	return sum, nil
}
