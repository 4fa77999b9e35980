package metrics

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/internal/registry"
	"github.com/bravellian/pawl/internal/throttle"
)

// rest stands for the topics of messages that were counted, but not looked at for
// their topic.
const rest = "_rest"

// reading is what a database said when it was last asked.
type reading struct {
	at   time.Time
	err  error
	idle bool // nothing was due then

	messages  map[place]float64
	oldest    map[pair]float64 // by queue and topic, seconds
	unhandled map[pair]float64
	attempts  map[pair][2]float64 // by queue and topic, those that succeeded and those that failed
	truncated map[string]bool
	counts    op.BacklogCount
	limits    []throttle.Limit
	clockOff  float64 // seconds
}

// place is where messages lie.
type place struct{ queue, topic, state string }

// read asks a database, in one request if that can be. Each look is bounded by what it looks at, all of them
// together by ctx.
func (c *Collector) read(ctx context.Context, db engine.DB) reading {
	r := reading{at: time.Now()}
	runs := int64(c.opts.Runs)
	backlog, amounts := inspect.ListAmounts(op.BacklogMessages{Runs: runs, Messages: int64(c.opts.Messages), Failed: int64(c.opts.Messages), Lanes: maxLanes})
	calls, limits := throttle.Listing()
	troubled, trouble := inspect.ListTrouble()
	list, workers := registry.Listing()
	calls = append(append(calls, troubled...), list, backlog, engine.One(op.BacklogCounts{Most: runs}, &r.counts))
	if r.err = engine.ReadAll(ctx, db, calls...); r.err != nil {
		return r
	}
	n := &r.counts
	r.limits, r.messages, r.oldest, r.truncated = limits(), map[place]float64{}, map[pair]float64{}, map[string]bool{
		"ready": false, "scheduled": false, "retrying": false, "unhandled": false, "paused": false, "in_flight": false, "failed": false,
		"joins": max(n.JoinsPending, n.JoinsCompleted, n.JoinsFailed, n.JoinsCancelled) >= runs, "timers": max(n.TimersDue, n.TimersScheduled, n.TimersExpired) >= runs,
	}
	r.unhandled, r.attempts = map[pair]float64{}, map[pair][2]float64{}
	lately, all := trouble(), inspect.Workers(workers())
	for _, w := range all.Alive() {
		r.clockOff = max(r.clockOff, w.ClockAhead.Abs().Seconds())
	}
	for _, a := range amounts(all.WithoutHandler(lately)) {
		c.backlog(&r, &a)
	}
	for i := range lately {
		c.failing(&r, &lately[i])
	}
	return r
}

// backlog takes one amount. Different names may share a label.
func (c *Collector) backlog(r *reading, a *inspect.Amount) {
	r.truncated[a.State] = r.truncated[a.State] || a.More
	if a.Count == 0 {
		return
	}
	queue, label := c.queues.label(a.Queue), rest
	if a.Topic != "" {
		label = c.topics.label(a.Topic)
	}
	r.messages[place{queue, label, a.State}] += float64(a.Count)
	k := pair{queue, label}
	switch {
	case a.State == "ready" && a.Topic != "":
		r.oldest[k] = max(r.oldest[k], a.Oldest.Seconds())
	case a.State == "unhandled":
		r.unhandled[k] = max(r.unhandled[k], a.Oldest.Seconds())
	}
}

// failing takes what lately became of the attempts of a topic of which some failed.
func (c *Collector) failing(r *reading, t *inspect.Trouble) {
	if all, failed := t.Last5.Attempts(); all > 0 {
		k := pair{c.queues.label(t.Queue), c.topics.label(t.Topic)}
		n := r.attempts[k]
		r.attempts[k] = [2]float64{n[0] + float64(all-failed), n[1] + float64(failed)}
	}
}

// grace is how much longer than its time limit a database is waited for, so that its
// own answer that it took too long is heard.
const grace = 100 * time.Millisecond

// maxConcurrent is how many stores are asked at once: each may take a connection.
const maxConcurrent = 4

// reads sees to it that databases are asked when somebody wants to know, and not
// more often.
type reads struct{ turn sync.Mutex }

// refresh asks the stores whose numbers are old, those first that were asked longest
// ago, as far as the time allows. It returns in time also if a database does not.
func (r *reads) refresh(c *Collector, all []*store) {
	r.turn.Lock()
	defer r.turn.Unlock()
	var due []*store
	for _, s := range all {
		if s.due(c.opts.MinInterval) {
			due = append(due, s)
		}
	}
	if len(due) == 0 {
		return
	}
	slices.SortStableFunc(due, func(a, b *store) int { return a.asked().Compare(b.asked()) })
	ctx, cancel := context.WithTimeout(context.Background(), c.opts.Timeout)
	var next atomic.Int64
	var readers sync.WaitGroup
	for range min(maxConcurrent, len(due)) {
		readers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(due) {
					return
				}
				due[i].ask(ctx, c)
			}
		})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer cancel()
		readers.Wait()
	}()
	patience := time.NewTimer(c.opts.Timeout + grace)
	defer patience.Stop()
	select {
	case <-done:
	case <-patience.C:
	}
}
