package worker_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/google/uuid"
)

// A store is a small faithful model of a work queue in a database, on the clock of its
// bubble. Several loops may work on one store, each over a link of its own that can be
// made to fail.

type place int

const (
	ready place = iota
	leased
	parked // until the pause of its topic ends
	acked
	dead
)

func (p place) String() string { return []string{"ready", "leased", "parked", "acked", "failed"}[p] }

// entry is one item in the store.
type entry struct {
	id         int64
	topic      string
	place      place
	at         time.Time
	retry      int
	owner      uuid.UUID
	until      time.Time
	reason     string
	claims     int  // how often it was claimed
	ends       int  // how often it was acked or failed
	lapses     int  // how often its lease was lost
	endedEarly bool // a lease was taken away before its time
	// suspect is as in the database: with how many others it may be claimed or, while it
	// is leased, was claimed; 0: it is not one.
	suspect int
	fault   error // why it cannot be read
	ordered bool  // others wait behind it
	// since is when it last became ready, and prior items are claimed first.
	since time.Time
	first time.Time // when it could first be claimed
	prior int
}

// payload is the state of the item when it was claimed, for handlers.
type payload struct{ owner uuid.UUID }

type item = worker.Item[payload]

type store struct {
	mu      sync.Mutex
	entries []*entry
	ended   int // how many entries at the front were acked or failed
	owners  map[uuid.UUID]bool
	waiters map[*waiter]struct{}
	rigs    []*rig // that were started
	wrong   []string

	paused  map[string]bool // topics; "": the whole queue
	limits  map[string]int  // how many items of a topic are leased at once
	settles func(done *worker.Settlement)
	claims  func(owner uuid.UUID, suspects bool, items []*entry)
}

func newStore() *store {
	return &store{owners: map[uuid.UUID]bool{}, waiters: map[*waiter]struct{}{}}
}

// complain records a breach of the loop's contract.
func (s *store) complain(format string, args ...any) {
	s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
}

func (s *store) violations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.wrong)
}

// add puts n items in, due after d, and notifies nobody.
func (s *store) add(n int, topic string, d time.Duration) []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []int64
	for range n {
		id := int64(len(s.entries) + 1)
		s.entries = append(s.entries, &entry{id: id, topic: topic, at: time.Now().Add(d), first: time.Now().Add(d), since: time.Now()})
		ids = append(ids, id)
	}
	return ids
}

// notify wakes the waiters that have subscribed.
func (s *store) notify() { s.notifyIf(func(sl *waiter) bool { return sl.subscribed }) }

// notifyAll wakes all waiters, which subscribe anew each time, as on SQLite.
func (s *store) notifyAll() { s.notifyIf(func(sl *waiter) bool { sl.subscribed = false; return true }) }

func (s *store) notifyIf(which func(*waiter) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for sl := range s.waiters {
		if which(sl) {
			select {
			case sl.notifier <- struct{}{}:
			default:
			}
		}
	}
}

func (s *store) get(id int64) entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.entries[id-1]
}

func (s *store) count(p place) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.entries {
		if e.place == p {
			n++
		}
	}
	return n
}

// endLease ends leases before their time, as a wrong clock or an administrator might.
func (s *store) endLease(ids ...int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		if e := s.entries[id-1]; e.place == leased {
			e.endedEarly = true
			e.lapse()
		}
	}
}

func (e *entry) lapse() {
	e.place, e.at, e.since, e.owner = ready, time.Now(), time.Now(), uuid.UUID{}
	e.lapses++
	switch e.suspect {
	case 0:
		e.suspect = worker.MaxBatch
	case 1:
		e.retry++
	default:
		e.suspect = (e.suspect + 1) / 2
	}
}

// held returns an entry if h still holds it.
func (s *store) held(h worker.Held) *entry {
	if h.ID < 1 || int(h.ID) > len(s.entries) {
		s.complain("settled unknown item %d", h.ID)
		return nil
	}
	if e := s.entries[h.ID-1]; e.place == leased && e.owner == h.Owner {
		return e
	}
	return nil
}

// call describes a call to a link's hooks.
type call struct {
	op   string // exchange, extend, reap, nextdue
	nth  int    // of this op, from 1
	done worker.Settlement
	want int
	got  int // items claimed; set after
	at   time.Time
	err  error
}

// link is a loop's connection to a store; it implements worker.Queue.
type link struct {
	s *store
	// before may fail a call before it takes effect, or delay it; after may
	// fail one that did.
	before, after func(context.Context, *call) error
	subscribed    func()        // at the start of every Subscribe
	refused       error         // what Subscribe returns, if not nil
	late          time.Duration // how much longer it sleeps than it is to

	mu     sync.Mutex
	inside map[string]bool
	times  map[string]int
	log    []*call
}

func (l *link) enter(op string) (leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inside == nil {
		l.inside = map[string]bool{}
	}
	if l.inside[op] && op != "pauses" { // which the main cycle may read beside the maintenance
		l.s.mu.Lock()
		l.s.complain("two calls of %s at once", op)
		l.s.mu.Unlock()
	}
	l.inside[op] = true
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.inside[op] = false
	}
}

// calls returns the calls of an operation so far.
func (l *link) calls(op string) (all []*call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.log {
		if c.op == op {
			all = append(all, c)
		}
	}
	return all
}

func (l *link) do(ctx context.Context, c *call, effect func()) error {
	defer l.enter(c.op)()
	l.mu.Lock()
	if l.times == nil {
		l.times = map[string]int{}
	}
	l.times[c.op]++
	c.nth, c.at = l.times[c.op], time.Now()
	l.log = append(l.log, c)
	before, after := l.before, l.after
	l.mu.Unlock()
	if err := ctx.Err(); err != nil {
		c.err = err
		return err
	}
	if before != nil {
		if c.err = before(ctx, c); c.err != nil {
			return c.err
		}
	}
	l.s.mu.Lock()
	effect()
	l.s.mu.Unlock()
	if after != nil {
		c.err = after(ctx, c)
	}
	return c.err
}

func (l *link) hook(before func(context.Context, *call) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.before = before
}

func (l *link) Exchange(ctx context.Context, done *worker.Settlement, r worker.ClaimRequest) ([]item, error) {
	var items []item
	owner, lease, n := r.Owner, r.Lease, r.N
	c := &call{op: "exchange", done: clone(done), want: n}
	err := l.do(ctx, c, func() {
		l.s.check(done, owner, n)
		l.s.settle(done)
		items = l.s.claim(owner, lease, n)
		c.got = len(items)
	})
	if err != nil {
		return nil, err
	}
	return items, nil
}

func clone(s *worker.Settlement) worker.Settlement {
	return worker.Settlement{Acks: slices.Clone(s.Acks), Retries: slices.Clone(s.Retries),
		Failures: slices.Clone(s.Failures), Releases: slices.Clone(s.Releases), Parks: slices.Clone(s.Parks), Results: slices.Clone(s.Results)}
}

func (s *store) check(done *worker.Settlement, owner uuid.UUID, n int) {
	if n == 0 && done.Len() == 0 {
		s.complain("an exchange for nothing")
	}
	if n < 0 || n > worker.MaxBatch {
		s.complain("claimed %d items at once", n)
	}
	if s.owners[owner] {
		s.complain("owner token %v used twice", owner)
	}
	s.owners[owner] = true
	seen := map[worker.Held]bool{}
	for _, h := range helds(done) {
		if seen[h] {
			s.complain("item %d settled twice in one exchange", h.ID)
		}
		seen[h] = true
	}
}

func helds(s *worker.Settlement) []worker.Held {
	all := slices.Clone(s.Acks)
	for _, r := range s.Retries {
		all = append(all, r.Held)
	}
	for _, f := range s.Failures {
		all = append(all, f.Held)
	}
	for _, r := range s.Releases {
		all = append(all, r.Held)
	}
	for _, p := range s.Parks {
		all = append(all, p.Held)
	}
	return all
}

// settle applies in the order acks, retries, failures, releases.
func (s *store) settle(done *worker.Settlement) {
	now := time.Now()
	if s.settles != nil {
		s.settles(done)
	}
	for _, h := range done.Acks {
		if e := s.held(h); e != nil {
			e.place, e.ends = acked, e.ends+1
		}
	}
	for _, r := range done.Retries {
		if e := s.held(r.Held); e != nil {
			if !r.Uncounted {
				e.retry++
			}
			e.suspect = 0
			delay := engine.Backoff(e.retry)
			if r.Delay != nil {
				delay = *r.Delay
			}
			e.place, e.at, e.since, e.reason = ready, now.Add(delay), now, r.Error
		}
	}
	for _, f := range done.Failures {
		if e := s.held(f.Held); e != nil {
			e.place, e.reason, e.ends = dead, f.Error, e.ends+1
		}
	}
	for _, r := range done.Releases {
		if e := s.held(r.Held); e != nil {
			e.place, e.since = ready, now
			if !r.NotStarted {
				e.suspect = 0
			}
			if r.Delay > 0 {
				e.at = now.Add(r.Delay)
			}
		}
	}
	for _, p := range done.Parks {
		if e := s.held(p.Held); e != nil {
			if e.place, e.since = ready, now; s.paused[p.Topic] {
				e.place = parked
			}
		}
	}
}

// pause pauses a topic, or with "" the queue, or ends its pause.
func (s *store) pause(topic string, paused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused[topic] = paused
	for _, e := range s.entries {
		if !paused && (topic == "" || topic == e.topic) && (e.place == ready || e.place == parked) {
			if e.since = time.Now(); !s.paused[e.topic] {
				e.place = ready
			}
		}
	}
}

// leasedOf returns how many items of a topic are leased.
func (s *store) leasedOf(topic string) (n int) {
	for _, e := range s.entries[s.ended:] {
		if e.place == leased && e.topic == topic {
			n++
		}
	}
	return n
}

func (s *store) claim(owner uuid.UUID, lease time.Duration, n int) []item {
	return s.claimOf(false, owner, lease, n)
}

// claimOf claims suspects, or what is not suspect.
func (s *store) claimOf(suspects bool, owner uuid.UUID, lease time.Duration, n int) (items []item) {
	now := time.Now()
	var due []*entry
	for s.ended < len(s.entries) && s.entries[s.ended].place >= acked {
		s.ended++
	}
	for _, e := range s.entries[s.ended:] {
		if e.place == ready && !e.at.After(now) && (e.suspect > 0) == suspects && !s.paused[""] {
			due = append(due, e)
		}
	}
	slices.SortFunc(due, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(b.prior, a.prior), a.at.Compare(b.at), cmp.Compare(a.id, b.id))
	})
	for topic, most := range s.limits {
		free := most - s.leasedOf(topic)
		due = slices.DeleteFunc(due, func(e *entry) bool {
			if e.topic == topic {
				free--
			}
			return e.topic == topic && free < 0
		})
	}
	n = min(n, len(due))
	for i := 0; suspects && i < n; i++ {
		n = min(n, max(i, due[i].suspect))
	}
	if s.claims != nil && n > 0 {
		s.claims(owner, suspects, due[:n])
	}
	for _, e := range due[:n] {
		if suspects {
			e.suspect = n
		}
		e.place, e.owner, e.until = leased, owner, now.Add(lease)
		e.claims++
		items = append(items, item{ID: e.id, MessageID: messageID(e.id), Topic: e.topic, Retry: e.retry, Since: e.first, Fault: e.fault, Ordered: e.ordered, Body: payload{owner}})
	}
	return items
}

type messageID int64

func (m messageID) String() string { return fmt.Sprintf("message-%d", int64(m)) }

func (l *link) Extend(ctx context.Context, held []worker.Held, lease time.Duration) (n int64, err error) {
	err = l.do(ctx, &call{op: "extend", want: len(held)}, func() {
		for _, h := range held {
			if e := l.s.held(h); e != nil {
				e.until = time.Now().Add(lease)
				n++
			}
		}
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// reapMost bounds one Reap, as real queues do.
const reapMost = 10

func (l *link) ClaimSuspects(ctx context.Context, owner uuid.UUID, lease time.Duration, n int) (items []item, err error) {
	c := &call{op: "suspects", want: n}
	err = l.do(ctx, c, func() {
		items = l.s.claimOf(true, owner, lease, n)
		c.got = len(items)
	})
	if err != nil {
		return nil, err
	}
	return items, nil
}

func (l *link) Reap(ctx context.Context) (r worker.Reaped, err error) {
	c := &call{op: "reap"}
	err = l.do(ctx, c, func() {
		for _, e := range l.s.entries[l.s.ended:] {
			if e.place == leased && e.until.Before(time.Now()) && r.N < reapMost {
				e.lapse()
				r.N++
			}
		}
		c.got = int(r.N)
		for _, e := range l.s.entries[l.s.ended:] {
			r.Suspects = r.Suspects || e.place == ready && e.suspect > 0 && !e.at.After(time.Now())
		}
	})
	if err != nil {
		return worker.Reaped{}, err
	}
	if r.N > 0 {
		l.s.notify()
	}
	return r, nil
}

func (l *link) NextDue(ctx context.Context) (d time.Duration, ok bool, err error) {
	err = l.do(ctx, &call{op: "nextdue"}, func() {
		for _, e := range l.s.entries[l.s.ended:] {
			if wait := time.Until(e.at); !l.s.paused[""] && e.place == ready && e.suspect == 0 && (!ok || wait < d) {
				d, ok = wait, true
			}
		}
	})
	return d, ok && err == nil, err
}

func (l *link) Waiter() engine.Waiter {
	sl := &waiter{l: l, notifier: make(chan struct{}, 1)}
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	l.s.waiters[sl] = struct{}{}
	return sl
}

// waiter is a Waiter that is woken only by what was committed after it subscribed.
type waiter struct {
	l          *link
	notifier   chan struct{}
	subscribed bool
}

func (sl *waiter) Subscribe(context.Context) (again bool, err error) {
	if sl.l.subscribed != nil {
		sl.l.subscribed()
	}
	if sl.l.refused != nil {
		return false, sl.l.refused
	}
	sl.l.s.mu.Lock()
	defer sl.l.s.mu.Unlock()
	again = !sl.subscribed
	sl.subscribed = true
	return again, nil
}

func (sl *waiter) Unsubscribe() {
	sl.l.s.mu.Lock()
	defer sl.l.s.mu.Unlock()
	sl.subscribed = false
}

func (sl *waiter) Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d + sl.l.late)
	defer t.Stop()
	select {
	case <-sl.notifier:
		return true
	case <-t.C:
	case <-ctx.Done():
	}
	return false
}

func (sl *waiter) Close() {
	sl.l.s.mu.Lock()
	defer sl.l.s.mu.Unlock()
	delete(sl.l.s.waiters, sl)
}

// execution is one call of a handler.
type execution struct {
	id         int64
	owner      uuid.UUID
	retry      int
	ctx        context.Context
	start, end time.Time
	cancelled  time.Time // when its context ended, if it did before the handler did
	err        error
}

// rig is a loop on a link, and what its handler recorded.
type rig struct {
	s    *store
	link *link
	loop *worker.Loop[payload]
	logs *logBuffer
	slow func(message string) // before a line is logged; nil: nothing
	stop context.CancelFunc
	done chan struct{} // closed when Run has returned

	mu      sync.Mutex
	runs    []*execution
	now     int // handlers running
	most    int // handlers that ran at once
	handler func(context.Context, item) error
}

// newRig makes a loop. cfg needs neither queue, handler nor logger.
func newRig(s *store, cfg worker.Config[payload], handler func(context.Context, item) error) *rig {
	r := &rig{s: s, link: &link{s: s}, logs: &logBuffer{}, done: make(chan struct{}), handler: handler}
	cfg.Queue, cfg.Handle = r.link, r.handle
	cfg.Logger = slog.New(&slowLog{slog.NewTextHandler(r.logs, &slog.HandlerOptions{Level: slog.LevelDebug}), r})
	r.loop = worker.New(cfg)
	return r
}

// slowLog is a log that a test can delay.
type slowLog struct {
	slog.Handler
	r *rig
}

func (l *slowLog) Handle(ctx context.Context, line slog.Record) error {
	if l.r.slow != nil {
		l.r.slow(line.Message)
	}
	return l.Handler.Handle(ctx, line)
}

// start runs the loop until r.stop is called.
func (r *rig) start() {
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	r.s.mu.Lock()
	r.s.rigs = append(r.s.rigs, r)
	r.s.mu.Unlock()
	go func() {
		defer close(r.done)
		if err := r.loop.Run(ctx); err != nil {
			r.s.mu.Lock()
			r.s.complain("Run returned %v", err)
			r.s.mu.Unlock()
		}
	}()
}

// end stops the loop and waits until it has returned.
func (r *rig) end() {
	r.stop()
	<-r.done
}

func (r *rig) handle(ctx context.Context, i item) error {
	x := &execution{id: i.ID, owner: i.Body.owner, retry: i.Retry, ctx: ctx, start: time.Now()}
	r.s.mu.Lock()
	e := r.s.entries[i.ID-1]
	if !e.endedEarly && (e.place != leased || e.owner != x.owner || !e.until.After(time.Now())) {
		r.s.complain("item %d handled without a lease: it is %v under %v, handled under %v", i.ID, e.place, e.owner, x.owner)
	}
	r.s.mu.Unlock()
	r.mu.Lock()
	r.runs = append(r.runs, x)
	r.now++
	r.most = max(r.most, r.now)
	r.mu.Unlock()
	stop := context.AfterFunc(ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		x.cancelled = time.Now()
	})
	err := errPanicked // unless the handler returns
	defer func() {
		stop()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.now--
		x.end, x.err = time.Now(), err
	}()
	err = r.handler(ctx, i)
	return err
}

// executions returns what ran so far, of one item or (0) of all.
func (r *rig) executions(id int64) (all []*execution) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range r.runs {
		if id == 0 || x.id == id {
			seen := *x
			all = append(all, &seen)
		}
	}
	return all
}

func (r *rig) finished() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.runs) - r.now
}

func (r *rig) running() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// bubble runs a test on a fake clock and checks at its end that no loop broke its contract
// with the queue. A goroutine that is left fails the test.
func bubble(t *testing.T, test func(t *testing.T, s *store)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		t.Cleanup(func() { // a failed test may have left loops running
			for _, r := range s.rigs {
				r.link.hook(nil)
				r.end()
			}
		})
		test(t, s)
		for _, w := range s.violations() {
			t.Error(w)
		}
	})
}

// advance sleeps on the fake clock and waits for everything that is due meanwhile.
func advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// wantPlace fails the test unless item id is in the given place.
func wantPlace(t *testing.T, s *store, id int64, want place, retry int) entry {
	t.Helper()
	e := s.get(id)
	if e.place != want || e.retry != retry {
		t.Errorf("item %d is %v with %d retries, want %v with %d", id, e.place, e.retry, want, retry)
	}
	return e
}

func wantRuns(t *testing.T, r *rig, id int64, want int) []*execution {
	t.Helper()
	all := r.executions(id)
	if len(all) != want {
		t.Errorf("item %d ran %d times, want %d", id, len(all), want)
	}
	return all
}

// near reports whether a duration is d, plus or minus a share.
func near(got, d time.Duration, share float64) bool {
	diff := float64(got - d)
	return diff <= share*float64(d) && -diff <= share*float64(d)
}

var errBoom, errPanicked = errors.New("boom"), errors.New("panicked")

// errAway is what an engine reports while its database is out of reach.
var errAway = &engine.Error{Op: "fake", Class: engine.ErrUnreachable, Err: errors.New("no route to host")}

type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// lines returns the log lines that contain all parts.
func (b *logBuffer) lines(parts ...string) (found []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for line := range strings.Lines(b.buf.String()) {
		if !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(line, p) }) {
			found = append(found, line)
		}
	}
	return found
}
