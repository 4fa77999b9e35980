package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Scenarios W and Y: the fleet of V with a hundredth of it busy.

const (
	busyFiles   = fleetFiles / 100
	busyServers = fleetServers / 100
	// loading is how long there has been a load when something else is measured.
	loading = 5 * time.Second
	// busyFor is how long, at n = 60 000.
	busyFor = 10 * time.Second
	// perStoreOutstanding is how many messages a busy store has waiting at most.
	perStoreOutstanding = 2000
)

func busyFleets(n int) []scenario {
	size := fmt.Sprintf("%d SQLite files and %d databases", fleetFiles, fleetServers)
	took := max(2*time.Second, busyFor*time.Duration(min(n, 60_000))/60_000)
	var all []scenario
	for _, b := range []struct {
		name           string
		files, servers int
	}{{fmt.Sprintf("%d files and %d databases", busyFiles, busyServers), busyFiles, busyServers}, {"1 file", 1, 0}, {"1 database", 0, 1}} {
		busy := some(b.files, b.servers)
		all = append(all, scenario{"W", "postgres", size + ", busy: " + b.name, []string{colRate}, []system{
			{"all in a fleet", n, busyFleet(everything, busy, took)},
			{"the busy ones in a fleet", n, busyFleet(busy, busy, took)},
			{"a pawl.New for each busy one", n, busyAlone(busy, took)},
		}})
	}
	return all
}

func coldFleets(int) []scenario {
	title := fmt.Sprintf("%d SQLite files and %d databases, one message to each of %d cold ones, and one while it is warm, from commit to the handler's start", fleetFiles, fleetServers, 4*coldStores)
	return []scenario{{"Y", "postgres", title, nil, []system{
		{"the others idle", 4 * coldStores, coldFleet(false)},
		{"1 % busy", 4 * coldStores, coldFleet(true)},
	}}}
}

// busyFleet measures what a fleet of dbs handles of what is enqueued into busy.
func busyFleet(all, busy chooser, took time.Duration) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		e, err := r.server.ensemble(ctx)
		if err != nil {
			return err
		}
		l := newLoad(busy(e))
		dbs := all(e)
		_, end, err := runFleet(ctx, dbs, engines(), func(f *fleet.Fleet) { handleAll(f, l.note) })
		if err != nil {
			return err
		}
		if len(dbs) > len(l.dbs) {
			time.Sleep(settling)
		}
		if err := l.measured(ctx, r, took); err != nil {
			return err
		}
		return end()
	}
}

// busyAlone does so with a pawl.New of each.
func busyAlone(busy chooser, took time.Duration) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		e, err := r.server.ensemble(ctx)
		if err != nil {
			return err
		}
		l := newLoad(busy(e))
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		var running sync.WaitGroup
		for _, d := range busy(e) {
			db, err := handleOf(d)
			if err != nil {
				return err
			}
			defer db.Close()
			p, err := pawl.New(db, pawl.Options{})
			if err != nil {
				return err
			}
			handle(p, func() { l.note(d.Key) })
			running.Go(func() { _ = p.Run(ctx) })
		}
		time.Sleep(time.Second)
		err = l.measured(ctx, r, took)
		stop()
		running.Wait()
		return err
	}
}

// load is what is enqueued and handled in some stores.
type load struct {
	dbs     []fleet.Database
	handled map[string]*atomic.Int64
}

func newLoad(dbs []fleet.Database) *load {
	l := &load{dbs, map[string]*atomic.Int64{}}
	for _, d := range dbs {
		l.handled[d.Key] = new(atomic.Int64)
	}
	return l
}

func (l *load) note(key string) {
	if n := l.handled[key]; n != nil {
		n.Add(1)
	}
}

func (l *load) sum() (n int64) {
	for _, one := range l.handled {
		n += one.Load()
	}
	return n
}

// begin has the stores filled, each through a handle of its own, until end is
// called, which waits until everything is handled.
func (l *load) begin(ctx context.Context) (end func() error) {
	producing, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	errs := make([]error, len(l.dbs))
	for i, d := range l.dbs {
		running.Go(func() { errs[i] = l.produce(producing, ctx, d) })
	}
	return func() error {
		stop()
		running.Wait()
		return errors.Join(errs...)
	}
}

// produce fills a store until ctx ends, and waits until all is handled.
func (l *load) produce(ctx, whole context.Context, d fleet.Database) error {
	db, err := handleOf(d)
	if err != nil {
		return err
	}
	defer db.Close()
	o, batch, handled := parts.NewOutbox(db, worker.Options{}), messages(batchSize), l.handled[d.Key]
	enqueued := handled.Load()
	for ctx.Err() == nil {
		if enqueued-handled.Load() > perStoreOutstanding-batchSize {
			time.Sleep(500 * time.Microsecond)
			continue
		}
		if _, err := o.EnqueueBatch(whole, batch); err != nil {
			return err
		}
		enqueued += batchSize
	}
	for since := time.Now(); handled.Load() < enqueued; time.Sleep(time.Millisecond) {
		if time.Since(since) > 2*stall {
			return fmt.Errorf("stalled: %s: %d enqueued, %d handled", d.Key, enqueued, handled.Load())
		}
	}
	time.Sleep(100 * time.Millisecond)
	if n := handled.Load(); n != enqueued {
		return fmt.Errorf("%s: %d enqueued, %d handled", d.Key, enqueued, n)
	}
	return nil
}

// measured counts for a while, once every store has begun.
func (l *load) measured(ctx context.Context, r *run, took time.Duration) error {
	end := l.begin(ctx)
	for since := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		lazy := 0
		for _, n := range l.handled {
			if n.Load() == 0 {
				lazy++
			}
		}
		if lazy == 0 {
			break
		}
		if time.Since(since) > 2*stall {
			return fmt.Errorf("%d stores have not begun", lazy)
		}
	}
	time.Sleep(took / 5)
	stop, err := r.startProfile()
	if err != nil {
		return err
	}
	client, start, before := clientCPU(), time.Now(), l.sum()
	time.Sleep(took)
	n, spent := l.sum()-before, time.Since(start)
	r.rate(colRate, int(n), spent)
	r.figures[colClient] = float64(clientCPU()-client) / microsecond / float64(max(n, 1))
	stop()
	return end()
}

const (
	// coldStores is how many stores of each kind get a message.
	coldStores = 95
	// coldFor is how long the messages come in, longer than a store's longest pause.
	coldFor = 40 * time.Second
	// warmFor is for how long a store that counts as warm had nothing to do, at most.
	warmFor = 10 * time.Second
)

// coldFleet measures how long a message waits in a store that nobody has written
// to for long: half of them are enqueued through a handle of their own, half
// through the fleet's router.
func coldFleet(busy bool) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		e, err := r.server.ensemble(ctx)
		if err != nil {
			return err
		}
		l := newLoad(some(busyFiles, busyServers)(e))
		var mu sync.Mutex
		var shots []*shot
		for _, warm := range []bool{false, true} {
			for i := range 2 * coldStores {
				shots = append(shots, &shot{d: e.files[busyFiles+i], kind: kind{true, i%2 == 0, warm}},
					&shot{d: e.servers[busyServers+i], kind: kind{false, i%2 == 0, warm}})
			}
		}
		waiting := atomic.Int64{}
		f, end, err := runFleet(ctx, everything(e), engines(), func(f *fleet.Fleet) {
			handleAll(f, l.note)
			f.Handle("warm", func(context.Context, *outbox.Message) error { return nil })
			f.Handle("cold", func(_ context.Context, m *outbox.Message) error {
				now := time.Now()
				mu.Lock()
				defer mu.Unlock()
				shots[binary.BigEndian.Uint64(m.Payload)].started = now
				waiting.Add(-1)
				return nil
			})
		})
		if err != nil {
			return err
		}
		time.Sleep(settling)
		quiet := func() error { return nil }
		if busy {
			quiet = l.begin(ctx)
			time.Sleep(loading)
		}
		half := len(shots) / 2 // the cold ones
		if _, err := r.measured(ctx, r.n, func() error { return fire(ctx, f, shots, 0, half, &waiting) }); err != nil {
			return err
		}
		if err := fire(ctx, f, shots, half, len(shots), &waiting); err != nil {
			return err
		}
		if err := errors.Join(quiet(), end()); err != nil {
			return err
		}
		for _, s := range shots {
			if s.err != nil {
				return s.err
			}
		}
		waits(r, shots)
		return nil
	}
}

// kind is what latencies are told apart by.
type kind struct{ file, routed, warm bool }

func (k kind) String() string {
	name := "server"
	if k.file {
		name = "file"
	}
	if k.routed {
		name += ", routed"
	}
	if k.warm {
		name += ", warm"
	}
	return name
}

// kinds are all there are, in the order of the table's columns.
func kinds() (all []kind) {
	for _, warm := range []bool{false, true} {
		for _, file := range []bool{true, false} {
			all = append(all, kind{file, false, warm}, kind{file, true, warm})
		}
	}
	return all
}

// shot is a message to a store that had none for long or, if it is warm, for a moment.
type shot struct {
	kind
	d                  fleet.Database
	committed, started time.Time
	err                error
}

// fire enqueues some of the shots at random moments, and waits until they are handled.
func fire(ctx context.Context, f *fleet.Fleet, shots []*shot, from, to int, waiting *atomic.Int64) error {
	waiting.Add(int64(to - from))
	var all sync.WaitGroup
	for i, s := range shots[from:to] {
		all.Go(func() {
			_ = engine.Sleep(ctx, time.Duration(rand.Int64N(int64(coldFor))))
			body := payload()
			binary.BigEndian.PutUint64(body, uint64(from+i))
			s.err = s.warmUp(ctx, f)
			if s.err == nil {
				s.err = s.send(ctx, f, outbox.Message{Topic: "cold", Payload: body})
			}
			if s.err != nil {
				waiting.Add(-1)
			}
		})
	}
	all.Wait()
	for since := time.Now(); waiting.Load() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(since) > 2*stall {
			return fmt.Errorf("%d messages were not handled", waiting.Load())
		}
	}
	return ctx.Err()
}

// warmUp gives a store that is to be warm something to do, and lets it rest for a while.
func (s *shot) warmUp(ctx context.Context, f *fleet.Fleet) error {
	if !s.warm {
		return nil
	}
	p, err := f.Pawl(ctx, s.d.Key)
	if err != nil {
		return err
	}
	if _, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: "warm", Payload: payload()}); err != nil {
		return err
	}
	return engine.Sleep(ctx, time.Duration(rand.Int64N(int64(warmFor))))
}

func (s *shot) send(ctx context.Context, f *fleet.Fleet, m outbox.Message) error {
	if s.routed {
		p, err := f.Pawl(ctx, s.d.Key)
		if err != nil {
			return err
		}
		_, err = p.Outbox.Enqueue(ctx, m)
		s.committed = time.Now()
		return err
	}
	db, err := handleOf(s.d)
	if err != nil {
		return err
	}
	_, err = parts.NewOutbox(db, worker.Options{}).Enqueue(ctx, m)
	s.committed = time.Now()
	return errors.Join(err, db.Close())
}

// waits records the quantiles of each kind.
func waits(r *run, shots []*shot) {
	for _, kind := range kinds() {
		var all []float64
		for _, s := range shots {
			if s.kind == kind {
				all = append(all, milliseconds(max(0, s.started.Sub(s.committed))))
			}
		}
		r.figures[kind.String()+" "+colPlainP50] = quantile(all, 0.5)
		r.figures[kind.String()+" "+colP90] = quantile(all, 0.9)
		r.figures[kind.String()+" "+colP99] = quantile(all, 0.99)
	}
}
