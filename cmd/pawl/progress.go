package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/worker"
)

// progress shows what a worker does.
type progress struct {
	stats   func() worker.Counts
	running func() int64 // commands or webhooks
	live    *terminal.Live
	logs    io.Writer
	json    bool
	quiet   bool
	grace   time.Duration
	left    func(context.Context) (backlog, error) // counts what a drain has left; nil: nobody watches one
}

const (
	liveEvery  = 200 * time.Millisecond
	plainEvery = time.Minute
)

// start shows progress until stop is called, which prints the summary.
func (p *progress) start(ctx context.Context) (stop func()) {
	if p.quiet {
		return func() {}
	}
	began := time.Now()
	over := make(chan struct{})
	var down *countdown
	var running sync.WaitGroup
	counting, stopCounting := context.WithCancel(context.WithoutCancel(ctx))
	if p.left != nil && p.live.On() {
		down = &countdown{count: p.left, handled: func() int64 { n := p.stats(); return n.Handled() }}
		running.Go(func() { down.run(counting) })
	}
	running.Go(func() { p.show(ctx, over, down) })
	return func() {
		close(over)
		stopCounting()
		running.Wait()
		p.live.Clear()
		p.summary(time.Since(began))
	}
}

func (p *progress) show(ctx context.Context, over <-chan struct{}, down *countdown) {
	every := plainEvery
	if p.live.On() {
		every = liveEvery
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	var speed meter
	asked := ctx.Done()
	for {
		select {
		case <-over:
			return
		case <-asked:
			asked = nil
			p.stopping()
		case now := <-tick.C:
			n := p.stats()
			rate := speed.rate(n.Handled(), now)
			text := fmt.Sprintf("%d handled (%.0f/s), %d retried, %d failed for good, %d running", n.Handled(), rate, n.Retried, n.Failed, p.running())
			if down != nil {
				bar, left := down.text(n.Handled(), rate)
				text = bar + text + left
			}
			if p.live.On() {
				p.live.Show(text)
			} else if !p.json && speed.moved {
				fmt.Fprintln(p.logs, text)
			}
		}
	}
}

func (p *progress) stopping() {
	if n := p.running(); n > 0 && !p.json {
		fmt.Fprintf(p.logs, "stopping: %d running, waiting up to %s; interrupt again to exit at once\n", n, engine.Exact(p.grace))
	}
}

func (p *progress) summary(took time.Duration) {
	n := p.stats()
	if !p.json {
		fmt.Fprintf(p.logs, "%d done, %d retried, %d failed for good in %.1fs\n", n.Acked, n.Retried, n.Failed, took.Seconds())
		return
	}
	line, err := encodeJSON(struct {
		Done    int64   `json:"done"`
		Retried int64   `json:"retried"`
		Failed  int64   `json:"failed"`
		Seconds float64 `json:"seconds"`
	}{n.Acked, n.Retried, n.Failed, took.Seconds()})
	if err == nil {
		_, _ = p.logs.Write(line)
	}
}

// meter turns a growing count into a smoothed rate.
type meter struct {
	count   int64
	at      time.Time
	perSec  float64
	moved   bool // since the last time
	started bool
}

func (m *meter) rate(count int64, now time.Time) float64 {
	if m.started {
		fresh := float64(count-m.count) / max(now.Sub(m.at).Seconds(), 1e-3)
		m.perSec += 0.3 * (fresh - m.perSec)
	}
	m.moved = count != m.count
	m.count, m.at, m.started = count, now, true
	return m.perSec
}
