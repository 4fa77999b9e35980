package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Scenario load: how long messages wait at a quarter, half and four fifths of what a system can do at most.

const (
	// loadSeconds are those of a row with -n 60000.
	loadSeconds = 15
	// warmShare is which part of the messages is not counted: the first tenth, in which connections open.
	warmShare = 10
)

func loads(n int) []scenario {
	const title = "one message a transaction, at random moments, so many of the system's own peak (C): from its commit to its handler's start"
	var all []scenario
	for _, e := range places() {
		s := scenario{"load", e.engine, title, nil, nil}
		for _, q := range mainQueues(e.engine) {
			s.systems = append(s.systems, ofPeak(q, max(n/4/q.divisor, fewest), singleQueue, func(peak float64) (parts []system) {
				for _, percent := range []int{25, 50, 80} {
					rate := peak * float64(percent) / 100
					parts = append(parts, system{fmt.Sprint(percent, " %"), int(rate * loadSeconds * float64(n) / 60_000), atRate(q.open, rate)})
				}
				return parts
			})...)
		}
		all = append(all, s)
	}
	return all
}

// queue is pawl or one of the peers, with the settings that are best for it.
type queue struct {
	name    string
	divisor int
	open    queueOpener
}

// mainQueues are pawl and those peers that are nearest to it.
func mainQueues(engine string) []queue {
	all := []queue{{"pawl", 1, pawlPostgres}}
	if engine == "sqlite" {
		all[0].open = pawlSQLite
	}
	for _, p := range peersOn(engine) {
		switch p.Name {
		case "River tuned", "Watermill tuned", "backlite tuned", "visibility timeout", "status column":
			all = append(all, queue{p.Name, min(p.Divisor, 6), openPeer(p)})
		}
	}
	return all
}

// ofPeak are a queue's peak with n messages, and what is measured at parts of it. parts is also asked with a peak of 0, for
// the names.
func ofPeak(q queue, n int, peak func(queueOpener) measurement, parts func(peak float64) []system) []system {
	var most float64
	all := []system{{q.name + ": peak", n, func(ctx context.Context, r *run) error {
		err := peak(q.open)(ctx, r)
		most = r.figures[colRate]
		return err
	}}}
	for i, part := range parts(0) {
		all = append(all, system{q.name + ": " + part.name, 0, func(ctx context.Context, r *run) error {
			if most == 0 {
				return errors.New("its peak was not measured")
			}
			now := parts(most)[i]
			r.n = now.n
			return now.run(ctx, r)
		}})
	}
	return all
}

// atRate measures a queue to which so many messages a second come, whether those before are through or not.
func atRate(open queueOpener, rate float64) measurement {
	return func(ctx context.Context, r *run) error {
		t, times, err := newTimedTrial(ctx, r, open, r.n)
		if err != nil {
			return err
		}
		defer t.Close()
		stop := t.start(ctx)
		defer stop()
		r.written = r.n
		took, err := r.measured(ctx, r.n, func() error {
			return errors.Join(t.arrive(ctx, rate, times), r.connected(ctx), t.await(ctx, r.n))
		})
		if err != nil {
			return err
		}
		r.rate(colRate, r.n, took)
		r.fromCommit(times[len(times)/warmShare:])
		return errors.Join(stop(), t.audit(r, r.n))
	}
}

// arrive enqueues messages at random moments, each in a transaction of its own. called is when it was to be: who finds all
// producers at work waits, and that counts.
func (t *trial) arrive(ctx context.Context, rate float64, times []moments) error {
	next := time.Now()
	for i := range times {
		next = next.Add(untilNext(rate))
		times[i].called = next
	}
	return parallel(writers, len(times), func(int) error {
		id := t.numbers.take(1)[0]
		m := &times[id-1]
		time.Sleep(time.Until(m.called))
		err := t.EnqueueTx(ctx, id)
		m.returned = time.Now()
		return err
	})
}

// connected records how many connections a system has when all its messages have come.
func (r *run) connected(ctx context.Context) error {
	if r.server == nil {
		return nil
	}
	var n int
	err := r.server.admin.QueryRow(ctx, connectionsOfOurs, application).Scan(&n)
	r.figures[colConnections] = float64(n)
	return err
}

// fromCommit records how long enqueueing took, and how long after that handlers began.
func (r *run) fromCommit(times []moments) {
	var commit, after []float64
	for _, m := range times {
		commit = append(commit, milliseconds(m.returned.Sub(m.called)))
		after = append(after, milliseconds(max(0, m.started.Sub(m.returned))))
	}
	r.figures[colCommit] = quantile(commit, 0.5)
	for column, q := range map[string]float64{colPlainP50: 0.5, colP99: 0.99, colP999: 0.999, colMax: 1} {
		r.figures[column] = quantile(after, q)
	}
}
