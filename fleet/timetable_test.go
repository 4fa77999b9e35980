package fleet

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/fleetstate"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// idleFleet is a fleet that does not run.
func idleFleet(t *testing.T, o Options) *Fleet {
	t.Helper()
	o.Engines = map[string]Opener{"sqlite": sqlite.OpenURL}
	f, err := New(Static(), o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// fresh is a timetable and a number of stores that are not in it.
func fresh(t *testing.T, n int) (*timetable, []*Store) {
	f := idleFleet(t, Options{})
	stores := make([]*Store, n)
	for i := range stores {
		stores[i] = newStore(f, Database{Key: fmt.Sprint(i), URL: "sqlite:never"}, nil)
	}
	return &f.timetable, stores
}

// order takes out all that is due.
func order(tt *timetable, now time.Time) (keys string) {
	for s, _ := tt.next(now, true); s != nil; s, _ = tt.next(now, true) {
		keys += s.Key
	}
	return keys
}

// D-93: stores come out in the order of their times, and not before them.
func TestTimetableOrder(t *testing.T) {
	t.Parallel()
	tt, s := fresh(t, 4)
	now := time.Now()
	if _, wait := tt.next(now, true); wait <= 0 {
		t.Error("an empty timetable has something due")
	}
	for i, at := range []int{3, 1, 4, 2} {
		tt.add(s[i], now.Add(time.Duration(at)*time.Second))
	}
	if first, wait := tt.next(now, true); first != nil || wait != time.Second {
		t.Errorf("too early: %v, %v", first, wait)
	}
	tt.pollBy(s[2], now.Add(-time.Second))
	tt.pollBy(s[3], now.Add(time.Hour)) // no haste at all
	if keys := order(tt, now.Add(3*time.Second)); keys != "2130" {
		t.Errorf("order %s", keys)
	}
	if !tt.at(s[0]).IsZero() {
		t.Error("who is away has a time")
	}
}

// D-93: who is asked for while away is looked at as soon as it is back.
func TestHastenedWhileAway(t *testing.T) {
	t.Parallel()
	tt, s := fresh(t, 1)
	now := time.Now()
	tt.add(s[0], now)
	if order(tt, now) != "0" {
		t.Fatal("not due")
	}
	tt.pollBy(s[0], now.Add(time.Millisecond))
	if !tt.putBack(s[0], now.Add(time.Hour)) || !tt.at(s[0]).Equal(now.Add(time.Millisecond)) {
		t.Errorf("back at %v", tt.at(s[0]))
	}
	order(tt, now.Add(time.Second))
	if tt.putBack(s[0], now.Add(time.Hour)); !tt.at(s[0]).Equal(now.Add(time.Hour)) {
		t.Error("the wish was granted twice")
	}
}

// D-92: a store leaves at once, or when it is back; haste does not bring it back, only joining again does.
func TestTimetableLeaving(t *testing.T) {
	t.Parallel()
	tt, s := fresh(t, 2)
	now := time.Now()
	tt.pollBy(s[0], now)
	if keys := order(tt, now); keys != "" {
		t.Errorf("haste let %q in", keys)
	}
	tt.add(s[0], now)
	gone := tt.remove(s[0])
	if again := tt.remove(s[0]); !gone || !again || order(tt, now) != "" {
		t.Error("it did not leave at once")
	}
	tt.add(s[1], now)
	order(tt, now)
	if tt.remove(s[1]) {
		t.Error("it left while away")
	}
	tt.pollBy(s[1], now)
	if tt.putBack(s[1], now) {
		t.Error("it came back")
	}
	tt.add(s[1], now)
	order(tt, now)
	tt.remove(s[1])
	tt.add(s[1], now.Add(time.Second))
	if !tt.putBack(s[1], now.Add(time.Hour)) || !tt.at(s[1]).Equal(now.Add(time.Second)) {
		t.Error("it rejoined and was turned away, or is late")
	}
}

// D-93: whatever happens at once, no store that belongs is lost, and none is out twice.
func TestTimetableUnderRace(t *testing.T) {
	t.Parallel()
	tt, stores := fresh(t, 20)
	var out [20]sync.Mutex
	var all sync.WaitGroup
	for _, s := range stores {
		tt.add(s, time.Now())
	}
	for range 4 {
		all.Go(func() {
			for range 2000 {
				tt.pollBy(stores[rand.IntN(20)], time.Now())
				if s, _ := tt.next(time.Now(), true); s != nil {
					var i int
					_, _ = fmt.Sscan(s.Key, &i)
					if !out[i].TryLock() {
						t.Errorf("%s is out twice", s.Key)
						return
					}
					out[i].Unlock()
					tt.putBack(s, time.Now().Add(time.Duration(rand.IntN(100))*time.Microsecond))
				}
			}
		})
	}
	all.Wait()
	if n := len(order(tt, time.Now().Add(time.Hour))); n != 30 { // 10 keys of one figure, 10 of two
		t.Errorf("keys of %d figures are left", n)
	}
}

// D-19: once the fleet stops nothing begins, also if there is room for it, and the room stays free.
func TestNoRoomAfterStop(t *testing.T) {
	t.Parallel()
	f := idleFleet(t, Options{})
	ctx, stop := context.WithCancel(t.Context())
	f.turns.begin(ctx)
	if !f.admitted(t.Context()) || f.handlers.used() != 1 {
		t.Error("there is no room before it stops")
	}
	stop()
	if f.admitted(t.Context()) || f.handlers.used() != 1 {
		t.Error("a handler begins after it stopped, or keeps the room")
	}
}

// D-92: an offer that crosses a departure starts no turn.
func TestOfferOfStoreThatLeft(t *testing.T) {
	t.Parallel()
	f := idleFleet(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // no turns are given: who is offered waits
	f.turns.begin(ctx)
	d := Database{Key: "a", URL: "sqlite:never"}
	f.registry.apply(map[string]Database{"a": d})
	s := f.registry.get("a")
	f.timetable.add(s, time.Now())
	order(&f.timetable, time.Now())
	f.turns.enqueue(s)
	if f.turns.state(s) != fleetstate.Waiting || f.turns.empty() {
		t.Error("it does not wait")
	}
	f.registry.apply(map[string]Database{"b": d})
	f.registry.apply(map[string]Database{"b": d})
	if f.turns.state(s) != fleetstate.Idle || f.registry.get("a") != nil {
		t.Error("it did not leave")
	}
	f.turns.enqueue(s)
	if !f.turns.empty() {
		t.Error("it waits although it left")
	}
	if _, err := s.DB(access.Key{}); err == nil {
		t.Error("it is open")
	}
}

// OBX-076: the list is read every five minutes unless said otherwise.
func TestDefaults(t *testing.T) {
	t.Parallel()
	o := idleFleet(t, Options{}).opts
	if o.Refresh != 5*time.Minute || o.Connections != 80 || o.Strategy == nil {
		t.Errorf("defaults: %+v", o)
	}
}

// D-93: where more stores are due than can be polled, one that was enqueued into, or that had
// work just now, does not wait behind those that had none; nor do these wait behind it.
func TestTimetablePromptPolls(t *testing.T) {
	t.Parallel()
	tt, s := fresh(t, 13)
	now := time.Now()
	for i := range 6 { // overdue
		tt.add(s[i], now.Add(time.Duration(i-20)*time.Second))
	}
	for i := 6; i < 12; i++ { // new ones would be due in an hour
		tt.add(s[i], now.Add(time.Hour))
		tt.pollBy(s[i], now.Add(time.Duration(i-12)*time.Millisecond))
	}
	tt.add(s[12], now.Add(-time.Second))
	tt.pollBy(s[12], now) // it is overdue, too
	if got := order(tt, now); got != "1206172839410511" {
		t.Errorf("in the order %s", got)
	}
	if s, late := tt.overdue(now); s != nil {
		t.Errorf("%s is overdue by %v", s.Key, late)
	}
	tt.putBack(s[0], now.Add(30*time.Second))
	tt.putBack(s[1], now.Add(40*time.Second))
	tt.putBack(s[2], now.Add(time.Millisecond))
	later := now.Add(time.Minute)
	if got, _ := tt.next(later, true); got != s[2] {
		t.Errorf("%s is first", got.Key)
	}
	if got, late := tt.overdue(later.Add(time.Second)); got == nil || late != time.Second {
		t.Errorf("late by %v though another poll began a second ago", late)
	}
	if got := order(tt, later); got != "01" {
		t.Errorf("in the order %s", got)
	}
}

// OBX-075, OBX-076, D-92: by the clock: every refresh reads the list once, unknown keys add one in five seconds at most, and
// a discovery that hangs is given up after half a minute.
func TestListByTheClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		var hang atomic.Bool
		d := DiscoveryFunc(func(ctx context.Context) ([]Database, error) {
			calls.Add(1)
			if hang.Load() {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return []Database{{Key: "a", URL: "none:"}}, nil
		})
		broken := func(engine.OpenOptions) (engine.DB, error) { return nil, engine.ErrUnreachable }
		f, err := New(d, Options{Engines: map[string]Opener{"none": broken}, Pawl: pawl.Options{Logger: slog.New(slog.DiscardHandler)}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = f.Run(ctx) })
		time.Sleep(24 * time.Hour)
		if n := calls.Load(); n < 260 || n > 325 {
			t.Errorf("read %d times in a day", n)
		}
		before := calls.Load()
		for range 600 { // a minute of unknown keys
			_, _ = f.Operator(access.Key{}).Store(ctx, "x")
			time.Sleep(100 * time.Millisecond)
		}
		if n := calls.Load() - before; n < 11 || n > 14 {
			t.Errorf("read %d times in a minute of unknown keys", n)
		}
		hang.Store(true)
		time.Sleep(rediscoverAfter)
		began := time.Now()
		if _, err := f.Operator(access.Key{}).Store(ctx, "x"); err == nil || time.Since(began) > discoverLimit {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		cancel()
		running.Wait()
	})
}

// D-93: no commit of another process is hidden from the next look by a file that seems untouched.
func TestFingerprintHidesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	f, err := New(Static(Database{Key: "a", URL: "sqlite:" + path}), Options{Engines: map[string]Opener{"sqlite": sqlite.OpenURL}})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.MigrateAll(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	s, err := f.Operator(access.Key{}).Store(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	other, err := sqlite.Open(path, sqlite.Options{Relaxed: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	theirs := parts.NewOutbox(other, worker.Options{})
	due, unread := 1000*time.Hour, 0
	for i := range 300 {
		if rand.IntN(3) > 0 { // each is due before all others
			due -= time.Hour
			if _, err := theirs.Enqueue(t.Context(), outbox.Message{Topic: "t", Due: time.Now().Add(due)}); err != nil {
				t.Fatal(err)
			}
		}
		if rand.IntN(2) > 0 { // as if it had been long ago
			at := time.Now().Add(time.Duration(i-5000) * time.Second)
			for _, name := range []string{path, path + "-wal"} {
				if err := os.Chtimes(name, at, at); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			}
		}
		if rand.IntN(8) == 0 {
			s.closeIdle()
		}
		if _, told := s.fingerprint(); told {
			unread++
		}
		found, err := s.poll(t.Context())
		if err != nil || found.ok && (found.due > due || found.due < due-time.Hour) || !found.ok && due != 1000*time.Hour {
			t.Fatalf("look %d: due in %v (%v, %v), want %v", i, found.due, found.ok, err, due)
		}
	}
	if unread == 0 {
		t.Error("no look could have been saved")
	}
}

// D-525: a store that others work on is polled again after as long as nobody did anything in it, so
// that polls are no more than work: from a second to the longest pause.
func TestDelayOfStoresThatOthersWorkOn(t *testing.T) {
	f, err := New(Static(), Options{Engines: map[string]Opener{"postgres": nil}, PollMin: time.Minute, PollMax: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		found pollResult
		want  time.Duration
		cold  bool // its connections are closed
	}{
		{pollResult{}, time.Minute, true},
		{pollResult{busy: true}, time.Second, false},
		{pollResult{busy: true, idle: -time.Second}, time.Second, false},
		{pollResult{busy: true, idle: 7 * time.Second}, 7 * time.Second, true},
		{pollResult{busy: true, idle: time.Hour}, time.Minute, true},
		{pollResult{busy: true, idle: 7 * time.Second, ok: true, due: time.Second}, time.Second + time.Millisecond, true},
	} {
		s := newStore(f, Database{Key: "a", URL: "postgres://h/d"}, nil)
		if got, cold := s.nextDelay(c.found); got < c.want*9/10 || got > c.want*11/10 || cold != c.cold {
			t.Errorf("%+v: %v, %v; want %v, %v", c.found, got, cold, c.want, c.cold)
		}
	}
}
