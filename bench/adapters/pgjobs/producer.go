package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/bravellian/pawl"
)

// producer enqueues jobs.
type producer struct {
	p       *pawl.Pawl
	cfg     *config
	stats   *stats
	seq     int64
	padding string
}

// overhead is about what a job has beside its padding, in bytes of JSON.
const overhead = 75

// produce enqueues as cfg says, until ctx ends.
func produce(ctx context.Context, p *pawl.Pawl, cfg *config, st *stats, d *depth, tokens io.Reader) {
	pr := &producer{p: p, cfg: cfg, stats: st, padding: strings.Repeat("x", max(0, cfg.payload-overhead))}
	switch {
	case cfg.mode == depthTarget:
		pr.keepDepth(ctx, d)
	case cfg.pacing == paceByHarness:
		pr.byTokens(ctx, tokens)
	default:
		pr.byRate(ctx)
	}
}

// byTokens enqueues what lines "ENQUEUE n" ask for. A line is read once what the last one asked for is
// stored: what the database cannot take waits in the pipe.
func (pr *producer) byTokens(ctx context.Context, tokens io.Reader) {
	pr.stats.targetRate.Store(int64(pr.cfg.rate))
	lines := make(chan int)
	go func() { // reading cannot be interrupted
		defer close(lines)
		for in := bufio.NewScanner(tokens); in.Scan(); {
			var n int
			if _, err := fmt.Sscanf(in.Text(), "ENQUEUE %d", &n); err == nil {
				lines <- n
			}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case n, ok := <-lines:
			if !ok {
				return
			}
			pr.enqueueAll(ctx, n)
		}
	}
}

// byRate enqueues rateNow jobs a second of the time that really passed. What a slow call left undone
// is made up for.
func (pr *producer) byRate(ctx context.Context) {
	credit, last := 0.0, time.Now()
	for pr.wait(ctx) {
		now, rate := time.Now(), pr.cfg.rateNow()
		credit += rate * now.Sub(last).Seconds()
		last = now
		if rate == 0 {
			credit = 0
		}
		pr.stats.targetRate.Store(int64(rate))
		pr.enqueueAll(ctx, int(credit))
		credit -= float64(int(credit))
	}
}

// keepDepth enqueues for as long as fewer jobs wait than they should: what was counted last, and what
// this process has enqueued and completed since.
func (pr *producer) keepDepth(ctx context.Context, d *depth) {
	for pr.wait(ctx) {
		for ctx.Err() == nil {
			c := d.get()
			waiting := int64(c.ready) + pr.stats.enqueued.Load() - c.enqueued - (pr.stats.completed.Load() - c.completed)
			missing := pr.cfg.targetDepth - int(waiting)
			if missing <= 0 {
				break
			}
			if !pr.enqueue(ctx, min(missing, pr.cfg.batchMax)) {
				break
			}
		}
	}
}

// wait waits for the next tick, and returns false when ctx ended.
func (pr *producer) wait(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pr.cfg.batchEvery):
		return true
	}
}

// enqueueAll enqueues n jobs, in as many calls as it takes.
func (pr *producer) enqueueAll(ctx context.Context, n int) {
	for n > 0 && ctx.Err() == nil {
		batch := min(n, pr.cfg.batchMax)
		pr.enqueue(ctx, batch)
		n -= batch
	}
}

// enqueue enqueues n jobs by one call. If that fails they are not counted and not tried again.
func (pr *producer) enqueue(ctx context.Context, n int) bool {
	began := time.Now()
	bodies := make([]job, n)
	for i := range bodies {
		pr.seq++
		bodies[i] = job{Seq: pr.seq, ProducedAt: began, Padding: pr.padding}
	}
	if _, err := jobs.EnqueueBatch(ctx, pr.p, bodies); err != nil {
		if ctx.Err() == nil {
			fmt.Fprintf(os.Stderr, "[pawl] %d jobs not enqueued: %v\n", n, err)
		}
		return false
	}
	took := time.Since(began)
	pr.stats.enqueued.Add(int64(n))
	pr.stats.call.record(took)
	for range n {
		pr.stats.produce.record(took / time.Duration(n))
	}
	return true
}
