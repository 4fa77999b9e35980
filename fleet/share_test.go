package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/fleetstate"
	"github.com/bravellian/pawl/internal/registry"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
)

// roster is a list of members that a test changes.
type roster struct {
	mu      sync.Mutex
	members []fleetstate.Member
	err     error
	changed chan struct{} // closed with the next change
}

func newRoster(ids ...string) *roster {
	r := &roster{changed: make(chan struct{})}
	r.set(nil, ids...)
	return r
}

func (r *roster) set(err error, ids ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err, r.members = err, nil
	for _, id := range ids {
		r.members = append(r.members, fleetstate.Member{ID: id, Process: "process " + id})
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

// as is the list for one of its members.
func (r *roster) as(self string) *fleet.Share {
	return fleet.ShareOf(fleet.MembersFunc(func(ctx context.Context, report func(fleet.Membership)) {
		for ctx.Err() == nil {
			r.mu.Lock()
			m, changed := fleet.Membership{Self: self, Members: r.members, Err: r.err}, r.changed
			r.mu.Unlock()
			report(m)
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
	}), 0)
}

// ours are the stores that a fleet works on.
func ours(f *fleet.Fleet) (keys []string) {
	h := f.Operator(access.Key{}).State()
	for i := range h.Stores {
		if h.Stores[i].State != fleetstate.Elsewhere {
			keys = append(keys, h.Stores[i].Key)
		}
	}
	return keys
}

func storeKeys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("s%02d", i)
	}
	return keys
}

// D-250, D-251: a store that becomes another's is finished first: its handler comes to its end.
// The new owner begins meanwhile, and no message is handled twice. The router has all stores
// in both.
func TestStoreMovesBetweenFleets(t *testing.T) {
	t.Parallel()
	dbs := files(t, storeKeys(12)...)
	who := newRoster("1")
	release, begun := make(chan struct{}), make(chan string, 100)
	done := newRecord()
	shared := func(self string, h outbox.Handler) (f *fleet.Fleet, stop func()) {
		o := quick()
		o.Share = who.as(self)
		f = open(t, listOf(dbs...), o)
		f.Handle("t", h)
		return f, start(t, f)
	}
	one, _ := shared("1", func(ctx context.Context, m *outbox.Message) error {
		begun <- fleet.StoreOf(ctx).Key
		select {
		case <-release:
		case <-ctx.Done():
			t.Errorf("a handler was stopped: %v", ctx.Err())
		}
		return done.Handle(ctx, m)
	})
	dbtest.Until(t, "one works on all", func() bool { return len(ours(one)) == 12 })
	for _, d := range dbs {
		enqueueIn(t, another(t, d), d.Key, 1)
	}
	for range dbs {
		<-begun
	}
	who.set(nil, "1", "2")
	second := newRecord()
	two, stopTwo := shared("2", second.Handle)
	var moved []string
	dbtest.Until(t, "two has its share", func() bool { moved = ours(two); return len(moved) > 0 })
	if len(moved) == 12 {
		t.Fatal("two has all stores")
	}
	for _, key := range moved { // their first messages are still being handled by one
		if s := state(one, key).State; s != fleetstate.Active {
			t.Errorf("%s is %s while its handler runs", key, s)
		}
		_, err := box(t, one, key).Enqueue(t.Context(), outbox.Message{Topic: "t", Payload: []byte(key + "/later")})
		must(t, err)
		second.until(t, key, 1)
	}
	close(release)
	dbtest.Until(t, "one has given them up", func() bool {
		return !slices.ContainsFunc(moved, func(key string) bool { return slices.Contains(ours(one), key) })
	})
	for _, d := range dbs {
		done.until(t, d.Key, 1)
		if listed := slices.Contains(moved, d.Key); listed {
			db := dbtest.SQLiteAt(t, pathOf(d), relaxed())
			dbtest.Until(t, "one left the list of workers of "+d.Key, func() bool {
				all, err := registry.List(t.Context(), db)
				must(t, err)
				return len(all) == 1
			})
		}
	}
	done.once(t)
	second.once(t)

	stopTwo()
	who.set(nil, "1") // its stores come back
	dbtest.Until(t, "one works on all again", func() bool { return len(ours(one)) == 12 })
	enqueueIn(t, another(t, dbs[slices.IndexFunc(dbs, func(d fleet.Database) bool { return d.Key == moved[0] })]), moved[0], 1)
	done.until(t, moved[0], 2)
	if h := one.Operator(access.Key{}).State(); !h.Healthy || h.Share == nil || h.Share.Self != "1" || len(h.Share.Members) != 1 {
		t.Errorf("%+v", h)
	}
}

// D-252: while the list of members cannot be read the work goes on, and health says that the
// list is old, without a failure.
func TestMembersAreAway(t *testing.T) {
	t.Parallel()
	dbs := files(t, storeKeys(12)...)
	who := newRoster("1", "2")
	o := quick()
	o.Share = who.as("1")
	said := &logs{}
	o.Pawl.Logger = said.logger()
	f := open(t, listOf(dbs...), o)
	r := newRecord()
	f.Handle("t", r.Handle)
	start(t, f)
	dbtest.Until(t, "the members are known", func() bool { return len(f.Operator(access.Key{}).State().Share.Members) == 2 })
	before := ours(f)
	if len(before) == 0 || len(before) == 12 {
		t.Fatalf("it works on %q", before)
	}
	who.set(errors.New("the control database is away"))
	dbtest.Until(t, "health says it", func() bool { return f.Operator(access.Key{}).State().Share.Error != "" })
	h := f.Operator(access.Key{}).State()
	if !h.Healthy || !strings.Contains(h.Summary, "the control database is away") || !strings.Contains(h.Summary, fmt.Sprintf("works on %d, shared by 2", len(before))) {
		t.Errorf("%v, %s", h.Healthy, h.Summary)
	}
	if now := ours(f); !slices.Equal(now, before) {
		t.Errorf("it works on %q instead of %q", now, before)
	}
	enqueue(t, f, before[0], 1)
	r.until(t, before[0], 1)
	who.set(nil, "1", "2", "3")
	dbtest.Until(t, "the list is new", func() bool { return len(f.Operator(access.Key{}).State().Share.Members) == 3 })
	for _, want := range []string{"could not keep the list of processes", "the list of processes is kept again", "the stores are shared"} {
		dbtest.Until(t, "logged: "+want, func() bool { return strings.Contains(said.String(), want) })
	}
}

// D-252: a fleet that is never in the list works on everything that it knows no other of.
func TestNeverAMember(t *testing.T) {
	t.Parallel()
	o := quick()
	who := newRoster()
	who.set(errors.New("away"))
	o.Share, o.Pawl.StopWhenEmpty = who.as("me"), true
	f := open(t, listOf(files(t, "a", "b")...), o)
	r := newRecord()
	f.Handle("t", r.Handle)
	must(t, f.Refresh(t.Context()))
	enqueue(t, f, "a", 2)
	enqueue(t, f, "b", 1)
	drain(t, f)
	if r.of("a") != 2 || r.of("b") != 1 {
		t.Errorf("%v", r.counts())
	}
}

// D-250: a fleet that is to drain does so with its own stores, and leaves the others.
func TestDrainOfAShare(t *testing.T) {
	t.Parallel()
	dbs := files(t, storeKeys(10)...)
	seen := map[string]int{}
	for _, self := range []string{"1", "2"} {
		o := quick()
		o.Share, o.Pawl.StopWhenEmpty = fleet.ShareOf(fleet.StaticMembers(self, "1", "2"), 0), true
		f := open(t, listOf(dbs...), o)
		r := newRecord()
		f.Handle("t", r.Handle)
		must(t, f.Refresh(t.Context()))
		if self == "1" {
			for _, d := range dbs {
				enqueue(t, f, d.Key, 1)
			}
		}
		drain(t, f)
		if n := len(r.counts()); n == 0 || n == len(dbs) {
			t.Errorf("%s worked on %d stores", self, n)
		}
		for key := range r.counts() {
			seen[key]++
		}
	}
	for _, d := range dbs {
		if seen[d.Key] != 1 {
			t.Errorf("%s was worked on by %d", d.Key, seen[d.Key])
		}
	}
}

// rosterLog keeps what a member reports.
type rosterLog struct {
	mu   sync.Mutex
	last fleet.Membership
	stop func()
}

func keepReported(t testing.TB, m fleet.Members) *rosterLog {
	t.Helper()
	w := &rosterLog{}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		fleet.Keep(ctx, m, func(now fleet.Membership) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.last = now
		})
	})
	w.stop = func() { cancel(); running.Wait() }
	t.Cleanup(w.stop)
	return w
}

// String is the own ID and those of the members, and whether there is an error.
func (w *rosterLog) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.last.Self + " of"
	for _, m := range w.last.Members {
		text += " " + m.ID + "=" + m.Process
	}
	if w.last.Err != nil {
		text += " failed"
	}
	return text
}

func (w *rosterLog) until(t testing.TB, want string) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("the last report: %s", w)
		}
	}()
	dbtest.Until(t, "reported: "+want, func() bool { return w.String() == want })
}

// outage is a database that fails as long as a test wants it to.
type outage struct {
	engine.DB
	on atomic.Bool
}

var errOutage = errors.New("away")

func (o *outage) Do(ctx context.Context, calls ...*engine.Call) error {
	if o.on.Load() {
		return errOutage
	}
	return o.DB.Do(ctx, calls...)
}

func (o *outage) Read(ctx context.Context, call *engine.Call) error {
	if o.on.Load() {
		return errOutage
	}
	return o.DB.Read(ctx, call)
}

func controlOf(t testing.TB, db engine.DB) *pawl.Pawl {
	t.Helper()
	p, err := pawl.New(db, pawl.Options{Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	return p
}

// lasting is a lease of members that no busy machine loses: two that lose theirs at once may get each other's number.
const lasting = 15 * time.Second

func member(t testing.TB, p *pawl.Pawl, fleetName, process string, duration time.Duration) *rosterLog {
	t.Helper()
	return keepReported(t, fleet.MembersOf(p, fleetName, process, duration, 10*time.Millisecond))
}

// D-249, D-251: members take the lowest free numbers, see each other and no other fleet; one
// that stops is gone at once, one that lost its number takes another.
func TestMembersOfAControlDatabase(t *testing.T) { dbtest.Each(t, testMembersOfAControlDatabase) }

func testMembersOfAControlDatabase(t *testing.T, e dbtest.Engine) {
	d := e.Open(t)
	p := controlOf(t, d.DB)
	for _, name := range []string{"fleet", "fleet/f0/1", "fleet/f", "zz"} { // leases of others
		l, err := p.Leases.Acquire(t.Context(), name, lease.Options{})
		must(t, err)
		t.Cleanup(func() { _ = l.Close(context.Background()) })
	}
	one := member(t, p, "f", "one", lasting)
	one.until(t, "1 of 1=one")
	two := member(t, p, "f", "two", lasting)
	two.until(t, "2 of 1=one 2=two")
	one.until(t, "1 of 1=one 2=two")
	other := member(t, p, "g", "other", lasting)
	other.until(t, "1 of 1=other")
	one.stop()
	two.until(t, "2 of 2=two")
	three := member(t, p, "f", "three", lasting)
	three.until(t, "1 of 1=three 2=two")
	_, err := p.Leases.ForceRelease(t.Context(), "fleet/f/2")
	must(t, err)
	two.until(t, "2 of 1=three 2=two")
	three.until(t, "1 of 1=three 2=two")
}

// D-252: the control database is away for longer than a lease lasts: nobody reports a shorter
// list, and each has its number again.
func TestControlDatabaseIsAwayAndBack(t *testing.T) { dbtest.Each(t, testControlDatabaseIsAwayAndBack) }

func testControlDatabaseIsAwayAndBack(t *testing.T, e dbtest.Engine) {
	d := e.Open(t)
	away := &outage{DB: d.DB}
	p, there := controlOf(t, away), controlOf(t, d.DB)
	one := member(t, p, "f", "one", 6*time.Second)
	one.until(t, "1 of 1=one")
	two := member(t, p, "f", "two", 6*time.Second)
	one.until(t, "1 of 1=one 2=two")
	away.on.Store(true)
	one.until(t, "1 of failed")
	two.until(t, "2 of failed")
	dbtest.Until(t, "the leases have expired", func() bool {
		held, err := engine.Collect(there.Leases.List(t.Context(), lease.ListOptions{Status: lease.Held}), 100)
		must(t, err)
		return len(held) == 0
	})
	away.on.Store(false)
	one.until(t, "1 of 1=one 2=two")
	two.until(t, "2 of 1=one 2=two")
	dbtest.Until(t, "the leases are held again", func() bool {
		held, err := engine.Collect(there.Leases.List(t.Context(), lease.ListOptions{Status: lease.Held}), 100)
		must(t, err)
		return len(held) == 2
	})
}

// D-252: a process that can read the list but not be in it works on what it would have as one
// more member.
func TestMemberThatCannotRegister(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenSQLite(t)
	one := member(t, controlOf(t, d.DB), "f", "one", lasting)
	one.until(t, "1 of 1=one")
	two := member(t, controlOf(t, &readOnly{d.DB}), "f", "two", lasting)
	two.until(t, "two of 1=one two=two failed")
	one.until(t, "1 of 1=one")
}

// readOnly is a database that cannot be written to.
type readOnly struct{ engine.DB }

func (readOnly) Do(context.Context, ...*engine.Call) error { return errors.New("read-only") }
