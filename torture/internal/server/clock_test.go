//go:build linux || darwin

package server

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// D-298: the clock of the server steps forward and back, and its standbys have the same one.
func TestClock(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), t.TempDir(), map[string]string{"fsync": "off"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	if !s.Clock() {
		t.Skip("libfaketime is not installed")
	}
	ahead := func() time.Duration {
		t.Helper()
		c, err := pgx.Connect(t.Context(), s.URL())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close(context.WithoutCancel(t.Context())) }()
		var now time.Time
		if err := c.QueryRow(t.Context(), `SELECT clock_timestamp()`).Scan(&now); err != nil {
			t.Fatal(err)
		}
		return time.Until(now).Round(time.Minute)
	}
	want := func(d time.Duration) {
		t.Helper()
		if got := ahead(); got != d {
			t.Errorf("the server's clock is %v ahead, not %v", got, d)
		}
	}
	want(0)
	for _, to := range []time.Duration{5 * time.Minute, -2 * time.Minute, 10 * time.Minute} {
		if err := s.SetClock(to); err != nil {
			t.Fatal(err)
		}
		want(to)
	}
	if err := s.Failover(t.Context(), true, 0); err != nil {
		t.Fatal(err)
	}
	want(10 * time.Minute)
}

// What libfaketime left of processes that are gone is removed, and nothing of others.
func TestClockLeavesNothing(t *testing.T) {
	t.Parallel()
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	c := &clock{made: time.Now()}
	for name, file := range map[string]struct {
		pid  int
		age  time.Duration
		want bool
	}{
		"of a process that is gone": {gone.Process.Pid, 0, true},
		"of one that runs":          {os.Getpid(), 0, false},
		"of an earlier run":         {gone.Process.Pid, time.Hour, false},
	} {
		path := filepath.Join(t.TempDir(), fmt.Sprint("sem.faketime_sem_", file.pid))
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, c.made.Add(-file.age)); err != nil {
			t.Fatal(err)
		}
		if got := c.leftover(path); got != file.want {
			t.Errorf("%s: %v, want %v", name, got, file.want)
		}
	}
}
