package fleet_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

func keysOf(f *fleet.Fleet) string {
	var keys []string
	for _, s := range f.Stores() {
		keys = append(keys, s.Key)
	}
	return strings.Join(keys, " ")
}

func wantKeys(t *testing.T, f *fleet.Fleet, want string) {
	t.Helper()
	if got := keysOf(f); got != want {
		t.Fatalf("stores: %q, want %q", got, want)
	}
}

func store(t *testing.T, f *fleet.Fleet, key string) *fleet.Store {
	t.Helper()
	s, err := f.Operator(access.Key{}).Store(t.Context(), key)
	must(t, err)
	return s
}

// D-92: a discovery that fails, or lists nothing, or nothing usable, changes nothing, however often.
func TestBadListsChangeNothing(t *testing.T) {
	t.Parallel()
	l := listOf(files(t, "a", "b")...)
	f := open(t, l, quick())
	must(t, f.Refresh(t.Context()))
	before := store(t, f, "a")
	broken := errors.New("the control database is away")
	for name, spoil := range map[string]func(){
		"fails":   func() { l.fail(broken) },
		"empty":   func() { l.set() },
		"invalid": func() { l.set(fleet.Database{Key: "x"}, fleet.Database{URL: "sqlite:x"}) },
	} {
		spoil()
		for range 3 {
			if err := f.Refresh(t.Context()); err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		wantKeys(t, f, "a b")
		if h := f.Operator(access.Key{}).State(); h.Healthy || !strings.Contains(h.Summary, "2 stores are known") {
			t.Errorf("%s: health %+v", name, h)
		}
	}
	if store(t, f, "a") != before {
		t.Error("another instance")
	}
	l.fail(broken)
	if err := f.Refresh(t.Context()); !errors.Is(err, broken) {
		t.Errorf("the discovery's error: %v", err)
	}
}

// D-92: what was going on before the list went bad goes on.
func TestWorkGoesOnWithoutList(t *testing.T) {
	t.Parallel()
	l, r := listOf(file(t, "a")), newRecord()
	o := quick()
	o.Refresh = time.Millisecond
	f := open(t, l, o)
	f.Handle("t", r.Handle)
	start(t, f)
	enqueue(t, f, "a", 1)
	l.fail(errors.New("away"))
	dbtest.Until(t, "the fleet noticed", func() bool { return !f.Operator(access.Key{}).State().Healthy })
	enqueue(t, f, "a", 1)
	r.until(t, "a", 2)
}

// OBX-078, OBX-079, D-92: missing once means nothing, twice means gone; back as it was it is the same store and works.
func TestFlappingStore(t *testing.T) {
	t.Parallel()
	dbs := files(t, "a", "b")
	a, b := dbs[0], dbs[1]
	l, r := listOf(a, b), newRecord()
	f := open(t, l, quick())
	f.Handle("t", r.Handle)
	start(t, f)
	enqueue(t, f, "b", 1)
	r.until(t, "b", 1)
	before := store(t, f, "b")
	for range 3 { // never twice in a row
		l.set(a)
		must(t, f.Refresh(t.Context()))
		wantKeys(t, f, "a b")
		l.set(a, b)
		must(t, f.Refresh(t.Context()))
	}
	l.set(a)
	must(t, f.Refresh(t.Context()))
	must(t, f.Refresh(t.Context()))
	wantKeys(t, f, "a")
	if _, err := outboxOf(f, "b"); !errors.Is(err, fleet.ErrUnknownStore) {
		t.Errorf("a store that left: %v", err)
	}
	gone := func() bool { _, err := before.DB(access.Key{}); return errors.Is(err, engine.ErrClosed) }
	dbtest.Until(t, "it is closed", gone)
	enqueueIn(t, another(t, b), "b", 1)
	l.set(a, b)
	must(t, f.Refresh(t.Context()))
	if store(t, f, "b") != before {
		t.Error("another instance came back")
	}
	enqueueIn(t, before.Pawl.Outbox, "b", 1)
	r.until(t, "b", 3)
}

// OBX-077, OBX-079, D-92: only what is configured otherwise is another store, wherever it is now.
func TestMovedStore(t *testing.T) {
	t.Parallel()
	dbs := files(t, "a", "b", "b")
	a, old, now := dbs[0], dbs[1], dbs[2]
	l, r := listOf(a, old), newRecord()
	f := open(t, l, quick())
	f.Handle("t", r.Handle)
	start(t, f)
	must(t, f.Refresh(t.Context()))
	same, moved := store(t, f, "a"), store(t, f, "b")
	enqueueIn(t, another(t, now), "in the new place", 1)
	l.set(now, a)
	must(t, f.Refresh(t.Context()))
	if store(t, f, "a") != same {
		t.Error("a store that did not change was made anew")
	}
	if s := store(t, f, "b"); s == moved || s.Database() != now {
		t.Errorf("the store did not move: %v", s.Database())
	}
	dbtest.Until(t, "the old one is closed", func() bool { _, err := moved.DB(access.Key{}); return errors.Is(err, engine.ErrClosed) })
	r.until(t, "b", 1)
}

// D-90, D-92: of two databases with one key the known one stays; a new key with two meanings is no store.
func TestDoubledKeys(t *testing.T) {
	t.Parallel()
	a, b, other := blank(t, "a"), blank(t, "b"), blank(t, "a")
	l := listOf(a, a)
	f := open(t, l, quick())
	must(t, f.Refresh(t.Context()))
	wantKeys(t, f, "a")
	before := store(t, f, "a")
	for _, dbs := range [][]fleet.Database{{a, other, b}, {other, a, b}, {other, a, other, b}} {
		l.set(dbs...)
		for range 3 {
			must(t, f.Refresh(t.Context()))
		}
		if wantKeys(t, f, "a b"); store(t, f, "a") != before {
			t.Error("the known one did not stay")
		}
	}
	fresh := listOf(a, other, b)
	g := open(t, fresh, quick())
	must(t, g.Refresh(t.Context()))
	wantKeys(t, g, "b")
	fresh.set(a, b)
	must(t, g.Refresh(t.Context()))
	wantKeys(t, g, "a b")
}

// D-90, D-92: invalid entries are logged and skipped; a known store whose entry is spoiled is not missing.
func TestInvalidEntries(t *testing.T) {
	t.Parallel()
	a, b := blank(t, "a"), blank(t, "b")
	out := &logs{}
	o := quick()
	o.Pawl.Logger = out.logger()
	l := listOf(fleet.Database{Key: " ", URL: a.URL}, a, fleet.Database{Key: strings.Repeat("k", 256), URL: a.URL},
		fleet.Database{Key: "odd", URL: "oracle://somewhere"}, b)
	f := open(t, l, o)
	must(t, f.Refresh(t.Context()))
	wantKeys(t, f, "a b")
	if !strings.Contains(out.String(), `oracle`) {
		t.Error("the odd one was not logged")
	}
	l.set(a, fleet.Database{Key: "b"})
	for range 3 {
		must(t, f.Refresh(t.Context()))
	}
	wantKeys(t, f, "a b")
}

// OBX-075, OBX-077: the list is read again and again, and what is new in it is worked on.
func TestListIsReadAgain(t *testing.T) {
	t.Parallel()
	dbs := files(t, "a", "b")
	a, b := dbs[0], dbs[1]
	l, r := listOf(a), newRecord()
	o := quick()
	o.Refresh = 5 * time.Millisecond
	f := open(t, l, o)
	f.Handle("t", r.Handle)
	enqueueIn(t, another(t, b), "b", 1)
	start(t, f)
	dbtest.Until(t, "the list was read often", func() bool { return l.asked() > 3 })
	l.set(a, b)
	r.until(t, "b", 1)
}

// OBX-075, D-92: a list that cannot be read when the program starts is read soon after.
func TestListComesLate(t *testing.T) {
	t.Parallel()
	l, r := listOf(file(t, "a")), newRecord()
	l.fail(errors.New("not yet"))
	f := open(t, l, quick()) // refreshes after five minutes
	f.Handle("t", r.Handle)
	start(t, f)
	dbtest.Until(t, "the list was asked for", func() bool { return l.asked() > 0 })
	if h := f.Operator(access.Key{}).State(); h.Healthy || len(h.Stores) != 0 {
		t.Errorf("health without a list: %+v", h)
	}
	l.fail(nil)
	dbtest.Until(t, "the store is there", func() bool { return keysOf(f) == "a" })
	enqueue(t, f, "a", 1)
	r.until(t, "a", 1)
}

// D-92: a store that leaves for good is not brought back by what is done with it, nor by its own handlers.
func TestLeavingStoreStaysAway(t *testing.T) {
	t.Parallel()
	dbs := files(t, "a", "b")
	a, b := dbs[0], dbs[1]
	l := listOf(a, b)
	f := open(t, l, quick())
	entered, release := make(chan struct{}), make(chan struct{})
	f.Handle("slow", func(ctx context.Context, _ *outbox.Message) error {
		close(entered)
		<-release
		_, err := fleet.StoreOf(ctx).Pawl.Outbox.Enqueue(ctx, outbox.Message{Topic: "t"}) // rings
		return err
	})
	stop := start(t, f)
	s := store(t, f, "b")
	_, err := s.Pawl.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "slow"})
	must(t, err)
	<-entered
	l.set(a)
	must(t, f.Refresh(t.Context()))
	must(t, f.Refresh(t.Context()))
	close(release)
	dbtest.Until(t, "it is closed", func() bool { _, err := s.DB(access.Key{}); return errors.Is(err, engine.ErrClosed) })
	if _, err := s.Pawl.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "t"}); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("enqueued in a store that left: %v", err)
	}
	stop()
	owner := outbox.NewOwnerToken()
	if msgs, err := another(t, b).WorkQueue("").Claim(t.Context(), owner, time.Minute, 10); err != nil || len(msgs) != 1 || msgs[0].Topic != "t" {
		t.Errorf("left for others: %v, %v", msgs, err)
	}
}
