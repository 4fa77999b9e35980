package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/bench/internal/peers"
	durable "github.com/bravellian/pawl/flow" // flow is what scenario N measures
	"github.com/bravellian/pawl/outbox"
)

// Scenario parked: how soon a flow goes on that has waited, while many others still wait, and what it costs
// that these wait.

const (
	// parkedOf is how many flows wait for each 60 000 of -n.
	parkedOf      = 1_000_000
	wokenPerSec   = 300
	wokenSeconds  = 10 // of a repetition with -n 60000
	fewestWoken   = wokenPerSec
	parkedIdleFor = 10 * time.Second
	// nap is how long flows sleep that are woken by their time.
	nap = 2 * time.Second
	// forLong is how long the others sleep.
	forLong = 30 * 24 * time.Hour
)

func parkedFlows(n int) []scenario {
	title := fmt.Sprintf("flows that wait, of which %d a second go on, beside others that wait on", wokenPerSec)
	woken := max(fewestWoken, min(n, 60_000)*wokenPerSec*wokenSeconds/60_000)
	others := int(int64(n) * parkedOf / 60_000)
	var all []scenario
	for _, e := range places() {
		all = append(all, scenario{"parked", e.engine, title, nil, []system{
			{"a signal alone", woken, wokenFlows(e.open, 0, false)},
			{"a signal", woken, wokenFlows(e.open, others, false)},
			{"its time alone", woken, wokenFlows(e.open, 0, true)},
			{"its time", woken, wokenFlows(e.open, others, true)},
		}})
	}
	return all
}

// wokenFlows wakes flows by signals or, if they sleep, begins some that sleep shortly.
func wokenFlows(open opener, others int, sleep bool) measurement {
	return func(ctx context.Context, r *run) error {
		m := pickupFrom(openParked(open, others, sleep), nil, pace{wokenPerSec, 1}, func(r *run, times []moments) error {
			if sleep {
				for i := range times {
					times[i].started = times[i].started.Add(-nap)
				}
			}
			return r.waits(times)
		})
		err := m(ctx, r)
		r.written += others
		return err
	}
}

// waits records how long after the call flows went on.
func (r *run) waits(times []moments) error {
	if err := r.latencies(times, colCommit, colWoken); err != nil {
		return err
	}
	whole, err := untilBegun(times)
	if err == nil {
		r.figures[colP999] = quantile(whole, 0.999)
	}
	return err
}

// await is the body of a flow that waits.
type await struct {
	Number int64         // 0: one of those that wait on
	Nap    time.Duration // how long it sleeps; 0: it waits for a signal
}

// parkedQueue is flows that wait, as a peers.Queue: what it enqueues are signals, or flows that sleep.
type parkedQueue struct {
	worker, starter *pawl.Pawl // the starter has a handle of its own, as another process has
	fl              *durable.Flow[await, int64]
	waked           *durable.Signal[int64]
	sleep           bool
	flows           []outbox.MessageID // by their numbers, less 1
	handle          func(number int64)
	stop            func() error
	close           []func()
}

// openParked begins flows, those to be woken among others at random, and watches what waiting costs.
func openParked(open opener, others int, sleep bool) queueOpener {
	return func(ctx context.Context, r *run) (peers.Queue, error) {
		q := &parkedQueue{sleep: sleep, waked: durable.NewSignal[int64]("go on"), flows: make([]outbox.MessageID, r.n), handle: func(int64) {}}
		q.fl = durable.New("parked", q.work)
		for _, p := range []**pawl.Pawl{&q.worker, &q.starter} {
			db, done, err := open(ctx, r)
			if err != nil {
				return nil, err
			}
			q.close = append(q.close, done)
			if *p, err = pawl.New(db, pawl.Options{Concurrency: 256}); err != nil {
				return nil, err
			}
		}
		q.fl.Handle(q.worker)
		running, cancel := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- q.worker.Run(running) }()
		q.stop = sync.OnceValue(func() error { cancel(); return <-ended })
		return q, q.park(ctx, r, others)
	}
}

// work is the function of the flows.
func (q *parkedQueue) work(f *durable.Run, in await) (int64, error) {
	if in.Nap > 0 {
		if err := f.Sleep("nap", in.Nap); err != nil {
			return 0, err
		}
	} else if _, err := durable.Wait[int64](f, "go on"); err != nil {
		return 0, err
	}
	q.handle(in.Number)
	return in.Number, nil
}

// park begins flows and waits until they wait.
func (q *parkedQueue) park(ctx context.Context, r *run, others int) error {
	bodies := make([]await, others)
	if q.sleep {
		for i := range bodies {
			bodies[i].Nap = forLong
		}
	} else {
		for i := range q.flows {
			bodies = append(bodies, await{Number: int64(i + 1)})
		}
		rand.Shuffle(len(bodies), func(i, j int) { bodies[i], bodies[j] = bodies[j], bodies[i] })
	}
	if len(bodies) == 0 {
		return nil
	}
	before, err := r.spent(ctx)
	if err != nil {
		return err
	}
	size, err := r.size(ctx)
	if err != nil {
		return err
	}
	start := time.Now()
	if err := errors.Join(q.begin(ctx, bodies), q.allParked(ctx, len(bodies))); err != nil {
		return err
	}
	took := time.Since(start)
	after, err := r.spent(ctx)
	if err != nil {
		return err
	}
	grown, err := r.size(ctx)
	if err != nil {
		return err
	}
	n := float64(len(bodies))
	r.rate(colParked, len(bodies), took)
	r.figures[colParkedSize] = float64(grown-size) / n
	if r.server != nil {
		r.figures[colParkedWAL] = float64(after.server.wal-before.server.wal) / n
	}
	return r.idly(ctx)
}

// begin begins flows at once: they share statements.
func (q *parkedQueue) begin(ctx context.Context, bodies []await) error {
	var next atomic.Int64
	return parallel(producers*batchSize, len(bodies), func(int) error {
		in := bodies[next.Add(1)-1]
		id, err := q.fl.Start(ctx, q.starter, in)
		if in.Number > 0 {
			q.flows[in.Number-1] = id
		}
		return err
	})
}

// allParked returns when n flows wait.
func (q *parkedQueue) allParked(ctx context.Context, n int) error {
	last, since := int64(0), time.Now()
	for {
		c, err := q.starter.Outbox.Count(ctx)
		if err != nil || c.Scheduled == int64(n) {
			return err
		}
		if c.Scheduled != last {
			last, since = c.Scheduled, time.Now()
		}
		if time.Since(since) > stall {
			return fmt.Errorf("%w: stalled: of %d flows %d wait", errLost, n, c.Scheduled)
		}
		time.Sleep(time.Second) // it counts them all
	}
}

// idly records what this process and the server do while flows wait and nothing happens.
func (r *run) idly(ctx context.Context) error {
	if r.server != nil { // as autovacuum would in a while
		if _, err := r.server.admin.Exec(ctx, "VACUUM"); err != nil {
			return err
		}
	}
	time.Sleep(time.Second) // what is under way ends
	before, err := r.spent(ctx)
	if err != nil {
		return err
	}
	start := time.Now()
	time.Sleep(parkedIdleFor)
	took := time.Since(start)
	after, err := r.spent(ctx)
	if err != nil {
		return err
	}
	r.figures[colClientShare] = 100 * (after.client - before.client).Seconds() / took.Seconds()
	if r.server != nil {
		r.figures[colServerShare] = 100 * (after.server.cpu - before.server.cpu).Seconds() / took.Seconds()
		r.figures[colIdleWAL] = float64(after.server.wal-before.server.wal) / took.Seconds()
	}
	return nil
}

// size is the bytes of tables and indexes, or of the files.
func (r *run) size(ctx context.Context) (n int64, err error) {
	if r.server == nil {
		return folderSize(r.dir), nil
	}
	err = r.server.admin.QueryRow(ctx, `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
 WHERE c.relkind = 'r' AND c.relnamespace = $1::regnamespace`, schema).Scan(&n)
	return n, err
}

func (q *parkedQueue) Enqueue(ctx context.Context, ids []int64) error {
	var errs []error
	for _, id := range ids {
		errs = append(errs, q.EnqueueTx(ctx, id))
	}
	return errors.Join(errs...)
}

func (q *parkedQueue) EnqueueTx(ctx context.Context, id int64) error {
	if q.sleep {
		_, err := q.fl.Start(ctx, q.starter, await{Number: id, Nap: nap})
		return err
	}
	return q.waked.Send(ctx, q.starter, q.flows[id-1], id)
}

// Run goes on with the worker that parked the flows: it is idle.
func (q *parkedQueue) Run(ctx context.Context, handle func(id int64)) error {
	q.handle = handle
	<-ctx.Done()
	return q.stop()
}

// Settled asks the database.
func (q *parkedQueue) Settled(ctx context.Context) (bool, error) {
	c, err := q.starter.Outbox.Count(ctx)
	return c.Ready+c.InProgress+c.Retrying == 0, err
}

func (q *parkedQueue) Close() {
	_ = q.stop()
	for _, done := range q.close {
		done()
	}
}
