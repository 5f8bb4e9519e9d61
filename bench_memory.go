package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

const mebi = 1 << 20

// forgetPeak makes the product's peak begin anew, and keeps the one so far. The
// hash of a password alone takes 64 MiB for a moment, which would hide what a
// run takes.
func (b *bench) forgetPeak() error {
	peak, err := peakMemory(b.product.Pid())
	if err != nil {
		return err
	}
	b.peak = max(b.peak, peak)
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", b.product.Pid()), []byte("5"), 0)
}

// memory reports the peaks of the product's process during the last run and of
// Redis so far.
func (b *bench) memory(ctx context.Context, when, suffix string) error {
	process, err := peakMemory(b.product.Pid())
	if err != nil {
		return err
	}
	info, err := b.redis.Info(ctx, "memory").Result()
	if err != nil {
		return err
	}
	peak, err := redisPeak(info)
	if err != nil {
		return err
	}
	b.report.atMost("memory"+suffix, "memory of the process "+when, process/mebi, "MiB", 200, 100, "while they were told")
	b.report.atMost("memory_ever"+suffix, "memory of the process since its start, "+when, max(process, b.peak)/mebi, "MiB", 200, 100,
		"the same with a sign-in before it, whose password's hash takes 64 MiB for a moment")
	b.report.atMost("redis"+suffix, "Redis memory "+when, peak/mebi, "MiB", 50, 20, "")
	return nil
}

// peakMemory is the most that a process has held in memory, in bytes.
func peakMemory(pid int) (float64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(raw)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmHWM:" {
			kib, err := strconv.ParseFloat(fields[1], 64)
			return kib * 1024, err
		}
	}
	return 0, errors.New("the process's status has no VmHWM")
}

// redisPeak reads the peak, in bytes, out of Redis's INFO.
func redisPeak(info string) (float64, error) {
	for line := range strings.Lines(info) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "used_memory_peak:"); ok {
			return strconv.ParseFloat(text, 64)
		}
	}
	return 0, errors.New("redis told no used_memory_peak")
}
