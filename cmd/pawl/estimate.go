package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/inspect"
)

const estimateWidth = 10

// gauge draws which part of something is done.
func gauge(done, total int64) string {
	filled := 0
	if total > 0 {
		filled = int(min(done, total) * estimateWidth / total)
	}
	return strings.Repeat("█", filled) + strings.Repeat("·", estimateWidth-filled)
}

// remaining returns how long n things take at a rate: "", or ", about 1m20s".
func remaining(n int64, perSecond float64) string {
	const tooLong = 1000 * time.Hour
	if n <= 0 || perSecond <= 0 {
		return ""
	}
	took := time.Duration(float64(n) / perSecond * float64(time.Second))
	switch {
	case float64(n)/perSecond > tooLong.Seconds():
		return ""
	case took < time.Second:
		took = time.Second
	}
	return ", about " + engine.Exact(took.Round(time.Second))
}

// backlog is how many messages wait for a worker or are held by one.
type backlog struct {
	n    int64
	more bool // there may be more
}

// The bounds of one count of waiting messages, and how often and how long to count.
const (
	waitingRuns  = 10_000
	waitingLanes = 1000
	waitingEvery = 2 * time.Second
	waitingLimit = time.Second
)

// countWaiting counts the messages of queues that wait or are held, at a cost that does
// not grow with their number.
func countWaiting(ctx context.Context, db engine.DB, queues []string) (w backlog, err error) {
	amounts, err := inspect.Amounts(ctx, db, op.BacklogMessages{Queues: queues, Runs: waitingRuns, Messages: 1, Lanes: waitingLanes})
	w.n, w.more = inspect.Of(amounts, "ready", "in_flight")
	return w, err
}

// countdown estimates how many messages are left between two counts, by how many were
// handled since.
type countdown struct {
	count   func(context.Context) (backlog, error)
	handled func() int64

	mu    sync.Mutex
	known bool
	last  backlog
	then  int64 // handled at the last count
}

// run counts until ctx ends.
func (c *countdown) run(ctx context.Context) {
	tick := time.NewTicker(waitingEvery)
	defer tick.Stop()
	for ; ctx.Err() == nil; c.wait(ctx, tick) {
		then := c.handled()
		limited, cancel := context.WithTimeout(ctx, waitingLimit)
		w, err := c.count(limited)
		cancel()
		if err == nil {
			c.mu.Lock()
			c.known, c.last, c.then = true, w, then
			c.mu.Unlock()
		}
	}
}

func (c *countdown) wait(ctx context.Context, tick *time.Ticker) {
	select {
	case <-ctx.Done():
	case <-tick.C:
	}
}

// text returns what is left as a bar and an estimate, after handled messages at a rate;
// "" while it is not known.
func (c *countdown) text(handled int64, perSecond float64) (bar, left string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known {
		return "", ""
	}
	n := max(0, c.last.n-(handled-c.then))
	if c.last.more {
		return "", fmt.Sprintf("; at least %d left", n)
	}
	return gauge(handled, handled+n) + " ", fmt.Sprintf("; %d left%s", n, remaining(n, perSecond))
}
