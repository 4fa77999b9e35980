package fleet

import (
	"context"
	"errors"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// class is how much work a simulated store has.
type class uint8

const (
	cold   class = iota // one message in an hour
	warm                // one every few seconds
	hot                 // many a second
	routed              // cold, but this process enqueues into it
	sickPoll
	sickFast
	sickSlice
	sickHandler
	hung // on a server that accepts connections and never answers
	classes
)

func (c class) sick() bool { return c >= sickPoll }

// gaps are the mean times between messages.
var gaps = [classes]time.Duration{
	cold: time.Hour, warm: 5 * time.Second, hot: 50 * time.Millisecond,
	sickSlice: 10 * time.Minute, sickHandler: time.Hour,
}

// costs are how long exchanges with a database take.
type costs struct{ open, poll, claim, settle time.Duration }

var (
	fileCosts   = costs{open: 0, poll: 20 * time.Microsecond, claim: 500 * time.Microsecond, settle: 500 * time.Microsecond}
	serverCosts = costs{open: 5 * time.Millisecond, poll: 2 * time.Millisecond, claim: 3 * time.Millisecond, settle: 3 * time.Millisecond}
)

const (
	simBatch     = 100                   // messages of a claim
	simHandler   = 10 * time.Millisecond // mean time of a handler
	simStuck     = 30 * time.Second      // how long a handler hangs
	simIdleCheck = 50 * time.Millisecond // as worker loops do
	simHeartbeat = 10 * time.Second
	simConnect   = 5 * time.Second
	simListener  = 1 // connections of a turn besides those that come and go
)

// fakeStore is a store without database. Its messages are not stored: rng says when the next
// one comes, and next is when the oldest that is not claimed did.
type fakeStore struct {
	mu      sync.Mutex
	class   class
	open    uint8 // connections
	idle    uint8 // those of them that nobody uses
	working bool
	errs    uint32
	claimed uint32
	turns   uint32
	found   int64 // how many turns had begun when a poll found work; 0: it does not wait
	next    int64 // since the beginning of the simulation
	success int64 // when the database last answered
	rng     uint64

	firstPoll int64
}

const never = math.MaxInt64

// random returns the next number of splitmix64, in (0, 1].
func (f *fakeStore) random() float64 {
	f.rng += 0x9e3779b97f4a7c15
	return float64(mix(f.rng)>>11+1) / (1 << 53)
}

// gap returns the time until the next message.
func (f *fakeStore) gap() int64 {
	mean := gaps[f.class]
	if mean == 0 {
		return never
	}
	return int64(-math.Log(f.random()) * float64(mean))
}

// take returns when the oldest messages came that are there.
func (f *fakeStore) take(now int64, most int) (came []int64) {
	for len(came) < most && f.next <= now {
		came = append(came, f.next)
		if gap := f.gap(); gap == never {
			f.next = never
		} else {
			f.next += gap
		}
	}
	f.claimed += uint32(len(came))
	return came
}

// fakeWork does the work of a fleet in stores without databases, and records what a
// schedule has to keep.
type fakeWork struct {
	f       *Fleet
	ctx     context.Context // of the simulation
	began   time.Time
	outage  int64 // until when no database answers
	costs   costs
	stores  []fakeStore
	handler outbox.Handler
	hurdles // what was found wrong

	delays [classes]delays
	polls  atomic.Int64
	turns  atomic.Int64
	waited atomic.Int64 // the most turns that began while a store waited
	worked atomic.Int64 // stores that had a turn

	connections, handlers, slices gauge
}

// gauge is a number that must not exceed a limit.
type gauge struct{ now, most atomic.Int64 }

func (g *gauge) add(n int64) {
	now := g.now.Add(n)
	for most := g.most.Load(); now > most && !g.most.CompareAndSwap(most, now); most = g.most.Load() {
	}
}

// hurdles collects what went wrong.
type hurdles struct {
	mu   sync.Mutex
	list []string
}

func (h *hurdles) wrong(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.list) < 20 {
		h.list = append(h.list, what)
	}
}

func (w *fakeWork) now() int64 { return int64(time.Since(w.began)) }

func indexOf(key string) int {
	i, _ := strconv.Atoi(key)
	return i
}

func (w *fakeWork) of(s *Store) *fakeStore { return &w.stores[indexOf(s.Key)] }

var errFake = errors.New("connection refused")

// poll asks a store for work.
func (w *fakeWork) poll(ctx context.Context, s *Store) (found pollResult, err error) {
	w.polls.Add(1)
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	f := w.of(s)
	if f.firstPoll == 0 {
		f.firstPoll = w.now()
	}
	release, err := w.connect(ctx, s, f)
	if err != nil {
		return found, err
	}
	defer release()
	switch f.class {
	case sickPoll:
		<-ctx.Done()
		return found, ctx.Err()
	case sickFast:
		return found, errFake
	}
	if err := engine.Sleep(ctx, w.costs.poll); err != nil {
		return found, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := w.now(); f.next > now {
		return found, nil
	}
	f.found = w.turns.Load() + 1
	return pollResult{ok: true}, nil
}

// connect takes a connection from a store's pool, or opens one.
func (w *fakeWork) connect(ctx context.Context, s *Store, f *fakeStore) (release func(), err error) {
	if s.isFile() {
		return func() {}, nil
	}
	f.mu.Lock()
	reused := f.idle > 0
	if reused {
		f.idle--
	}
	f.mu.Unlock()
	if !reused {
		if err := w.dial(ctx, s, f); err != nil {
			return nil, err
		}
	}
	return func() {
		f.mu.Lock()
		f.idle++
		f.mu.Unlock()
	}, nil
}

func (w *fakeWork) dial(ctx context.Context, s *Store, f *fakeStore) error {
	if w.now() < w.outage {
		return errFake
	}
	if f.class == hung {
		go w.dialSilent(s)
		<-ctx.Done()
		return ctx.Err()
	}
	gate := gateOf(s)
	if err := gate.Enter(ctx); err != nil {
		return err
	}
	w.connections.add(1)
	if err := engine.Sleep(ctx, w.costs.open); err != nil {
		w.connections.add(-1)
		gate.Leave()
		return err
	}
	f.mu.Lock()
	f.open++
	f.mu.Unlock()
	return nil
}

// dialSilent goes on when the caller has given up, as the pool of pgx does.
func (w *fakeWork) dialSilent(s *Store) {
	ctx, cancel := context.WithTimeout(w.ctx, simConnect)
	defer cancel()
	gate := gateOf(s)
	if gate.Enter(ctx) != nil {
		return
	}
	w.connections.add(1)
	<-ctx.Done()
	w.connections.add(-1)
	gate.Leave()
}

// hangUp closes connections.
func (w *fakeWork) hangUp(s *Store, n uint8) {
	for range n {
		w.connections.add(-1)
		gateOf(s).Leave()
	}
}

func (w *fakeWork) closeIdle(s *Store) {
	f := w.of(s)
	f.mu.Lock()
	n := f.idle
	f.open -= n
	f.idle = 0
	f.mu.Unlock()
	w.hangUp(s, n)
}

func (w *fakeWork) cleanUp(context.Context, *Store) error { return nil }
func (w *fakeWork) moved(context.Context, *Store) bool    { return false }

func (w *fakeWork) leave(context.Context, *Store) {}

func (w *fakeWork) stats(s *Store) worker.Counts {
	f := w.of(s)
	f.mu.Lock()
	defer f.mu.Unlock()
	return worker.Counts{Claimed: int64(f.claimed), Errors: int64(f.errs), LastSuccess: w.began.Add(time.Duration(f.success))}
}

// begin records the beginning of a turn.
func (w *fakeWork) begin(s *Store, f *fakeStore) {
	turns := w.turns.Add(1)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.working {
		w.wrong("two turns at once: " + s.Key)
	}
	f.working = true
	if f.turns++; f.turns == 1 {
		w.worked.Add(1)
	}
	if f.found > 0 && !f.class.sick() {
		for most := w.waited.Load(); turns-f.found > most && !w.waited.CompareAndSwap(most, turns-f.found); most = w.waited.Load() {
		}
	}
	f.found = 0
}

func (w *fakeWork) end(f *fakeStore) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.working = false
	if f.next <= w.now() {
		f.found = w.turns.Load() + 1 // it had to stop
	}
}

// slice works on a store as the loop of an outbox does.
func (w *fakeWork) slice(ctx context.Context, s *Store, t worker.TimeSlice) error {
	f := w.of(s)
	w.begin(s, f)
	defer w.end(f)
	w.slices.add(1)
	defer w.slices.add(-1)
	for range simListener {
		release, err := w.connect(ctx, s, f)
		if err != nil {
			return err
		}
		defer release()
	}
	loop := fakeLoop{w: w, s: s, f: f, t: t, active: time.Now(), more: true}
	for ctx.Err() == nil && !loop.over() {
		if err := loop.iterate(ctx); err != nil {
			f.mu.Lock()
			f.errs++
			f.mu.Unlock()
			_ = engine.Sleep(ctx, time.Second)
		}
	}
	return nil
}

// fakeLoop is a slice that runs.
type fakeLoop struct {
	w       *fakeWork
	s       *Store
	f       *fakeStore
	t       worker.TimeSlice
	active  time.Time
	more    bool // there may be more work
	claimed bool
}

// over is worker.Loop's rule.
func (l *fakeLoop) over() bool {
	if l.claimed && !l.t.Continue() {
		return true
	}
	return !l.more && time.Since(l.active) >= l.t.IdleTimeout()
}

// iterate claims a batch and handles it, or waits.
func (l *fakeLoop) iterate(ctx context.Context) error {
	if !l.more {
		l.f.mu.Lock()
		wait := min(simIdleCheck, time.Duration(l.f.next-l.w.now()))
		l.f.mu.Unlock()
		if wait > 0 {
			_ = engine.Sleep(ctx, min(wait, l.t.IdleTimeout()))
		}
	}
	came, err := l.claim(ctx)
	if err != nil {
		l.more = false
		return err
	}
	l.more = len(came) == simBatch
	if len(came) == 0 {
		return nil
	}
	l.claimed = true
	l.handle(ctx, came)
	l.active = time.Now()
	return l.exchange(context.WithoutCancel(ctx), l.w.costs.settle)
}

// exchange is a statement.
func (l *fakeLoop) exchange(ctx context.Context, cost time.Duration) error {
	release, err := l.w.connect(ctx, l.s, l.f)
	if err != nil {
		return err
	}
	defer release()
	if l.f.class == sickSlice { // it can be read, but what writes hangs
		return cmpErr(engine.Sleep(ctx, pollTimeout), errFake)
	}
	if err := engine.Sleep(ctx, cost); err != nil {
		return err
	}
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	l.f.success = l.w.now()
	return nil
}

func cmpErr(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

func (l *fakeLoop) claim(ctx context.Context) ([]int64, error) {
	l.f.mu.Lock()
	none := l.f.next > l.w.now() && !l.more
	l.f.mu.Unlock()
	if none {
		return nil, nil // no notification came
	}
	if err := l.exchange(ctx, l.w.costs.claim); err != nil {
		return nil, err
	}
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	return l.f.take(l.w.now(), simBatch), nil
}

// cameKey carries when a message came.
type cameKey struct{}

// handle runs the handlers of messages, with the fleet's own limits.
func (l *fakeLoop) handle(ctx context.Context, came []int64) {
	own := newBudget(64) // pawl.Options.Concurrency
	handler := l.s.limitHandlers(l.w.handler)
	var running sync.WaitGroup
	done := make(chan struct{})
	for _, at := range came {
		_ = own.acquire(context.WithoutCancel(ctx))
		running.Go(func() {
			defer own.release()
			_ = handler(context.WithValue(ctx, cameKey{}, at), nil)
		})
	}
	go func() {
		running.Wait()
		close(done)
	}()
	beat := time.NewTicker(simHeartbeat)
	defer beat.Stop()
	for {
		select {
		case <-done:
			return
		case <-beat.C:
			_ = l.exchange(ctx, l.w.costs.settle)
		}
	}
}

// handled is the handler of all stores.
func (w *fakeWork) handled(ctx context.Context, _ *outbox.Message) error {
	w.handlers.add(1)
	defer w.handlers.add(-1)
	f := w.of(StoreOf(ctx))
	came, _ := ctx.Value(cameKey{}).(int64)
	w.delays[f.class].add(time.Duration(w.now() - came))
	f.mu.Lock()
	takes := time.Duration(-math.Log(f.random()) * float64(simHandler))
	f.mu.Unlock()
	if f.class == sickHandler {
		takes = simStuck
	}
	return engine.Sleep(ctx, takes)
}

// delays is a histogram of durations in buckets of an eighth of an octave.
type delays struct {
	buckets [512]atomic.Int64
	most    atomic.Int64
}

func (d *delays) add(v time.Duration) {
	v = max(v, 1)
	d.buckets[int(math.Log2(float64(v))*8)].Add(1)
	for most := d.most.Load(); int64(v) > most && !d.most.CompareAndSwap(most, int64(v)); most = d.most.Load() {
	}
}

func (d *delays) reset() {
	for i := range d.buckets {
		d.buckets[i].Store(0)
	}
	d.most.Store(0)
}

func (d *delays) count() (n int64) {
	for i := range d.buckets {
		n += d.buckets[i].Load()
	}
	return n
}

// quantile returns the upper end of the bucket of a quantile.
func (d *delays) quantile(q float64) time.Duration {
	left := int64(math.Ceil(q * float64(d.count())))
	for i := range d.buckets {
		if left -= d.buckets[i].Load(); left <= 0 {
			return min(time.Duration(math.Exp2(float64(i+1)/8)), d.max())
		}
	}
	return d.max()
}

func (d *delays) max() time.Duration { return time.Duration(d.most.Load()) }
