package timer_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

func (f *fixture) keyed(key string) timer.Timer {
	tm := f.due()
	tm.Key = key
	return tm
}

// byKey insists on who has a key; zero for nobody.
func (f *fixture) byKey(key string, want timer.ID) {
	f.t.Helper()
	got, err := f.GetKey(f.ctx(), key)
	if want.IsZero() {
		if !errors.Is(err, timer.ErrNotFound) {
			f.t.Fatalf("key %q is %+v's: %v", key, got, err)
		}
		return
	}
	f.check(err)
	if got.ID != want || got.Key != key {
		f.t.Fatalf("key %q is %v's, want %v", key, got.ID, want)
	}
}

// D-70: scheduling a key again replaces its pending timer: that one is cancelled,
// and one is pending.
func TestKeyReplaces(t *testing.T) { dbtest.Each(t, testKeyReplaces) }

func testKeyReplaces(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	old, other := f.put(f.keyed("k")), f.put(f.keyed("other"))
	ids, err := f.ScheduleBatch(f.ctx(), []timer.Timer{f.due(), f.keyed("k"), f.keyed("new")})
	f.check(err)
	if got := f.get(old, timer.Cancelled); got.EndedAt.IsZero() {
		t.Fatalf("replaced at no time: %+v", got)
	}
	f.byKey("k", ids[1])
	f.byKey("other", other)
	f.byKey("new", ids[2])
	f.fires(4)
	f.noMessage(old)
}

// D-3, D-70: a replacement that is rolled back leaves the timer as it was.
func TestKeyReplacesTx(t *testing.T) { dbtest.Each(t, testKeyReplacesTx) }

func testKeyReplacesTx(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	old := f.put(f.keyed("k"))
	var young timer.ID
	replace := func(tx outbox.Tx) {
		var err error
		young, err = f.ScheduleTx(f.ctx(), tx, f.keyed("k"))
		f.check(err)
	}
	f.inTx(false, replace)
	f.byKey("k", old)
	f.unknown(young)
	f.inTx(true, replace)
	f.byKey("k", young)
	f.get(old, timer.Cancelled)
	f.fires(1)
	f.noMessage(old)
}

// D-70, D-73: a timer that somebody is firing already fires; it parts from its
// key, so that it may come back beside the new one.
func TestKeyReplacesClaimed(t *testing.T) { dbtest.Each(t, testKeyReplacesClaimed) }

func testKeyReplacesClaimed(t *testing.T, e dbtest.Engine) {
	for _, inTx := range []bool{false, true} {
		f := open(t, e)
		old := f.put(f.keyed("k"))
		owner, _ := f.claim(1)
		f.byKey("k", old)
		var young timer.ID
		if inTx {
			f.inTx(true, func(tx outbox.Tx) {
				var err error
				young, err = f.ScheduleTx(f.ctx(), tx, f.keyed("k"))
				f.check(err)
			})
		} else {
			young = f.put(f.keyed("k"))
		}
		if got := f.get(old, timer.Claimed); got.Key != "" || got.Owner != owner || !got.EndedAt.IsZero() {
			t.Fatalf("the claimed one is %+v", got)
		}
		f.byKey("k", young)
		f.touched(1)(f.WorkQueue().Abandon(f.ctx(), owner, outbox.RetryAfter(0, nil), old))
		f.get(old, timer.Scheduled)
		f.byKey("k", young)
		f.changed(true)(f.CancelKey(f.ctx(), "k"))
		f.get(old, timer.Scheduled)
		f.fires(1)
		f.message(old)
	}
}

// D-70: a key is free when its timer has fired or was cancelled.
func TestKeyFree(t *testing.T) { dbtest.Each(t, testKeyFree) }

func testKeyFree(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, status := range []timer.Status{timer.Fired, timer.Cancelled, timer.Scheduled} {
		id := f.put(f.keyed("k"))
		f.byKey("k", id)
		switch status {
		case timer.Fired:
			f.fires(1)
		case timer.Cancelled:
			f.changed(true)(f.CancelKey(f.ctx(), "k"))
		default:
			continue
		}
		f.byKey("k", timer.ID{})
		if got := f.get(id, status); got.Key != "k" {
			t.Fatalf("%v, its key is %q", status, got.Key)
		}
	}
	f.stored(3)
}

// D-70: keys match exactly: case, accents and blanks count.
func TestKeysExact(t *testing.T) { dbtest.Each(t, testKeysExact) }

func testKeysExact(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	keys := []string{"k", "K", "k ", "ü", "u\u0308", "'; --"}
	ids := make([]timer.ID, len(keys))
	for i, key := range keys {
		ids[i] = f.put(f.keyed(key))
	}
	for i, key := range keys {
		f.byKey(key, ids[i])
	}
	f.changed(true)(f.CancelKey(f.ctx(), "K"))
	f.fires(int64(len(keys)) - 1)
	f.noMessage(ids[1])
}

// D-70: of many replacements at once of one key exactly one is pending, and all
// others are cancelled.
func TestKeyReplacedAtOnce(t *testing.T) { dbtest.Each(t, testKeyReplacedAtOnce) }

func testKeyReplacedAtOnce(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	handles := []*fixture{f, on(t, f.db, f.db.Another(t), timer.Options{}), on(t, f.db, f.db.Another(t), timer.Options{})}
	const callers, each = 6, 15
	f.together(callers, func(i int) error {
		for range each {
			if _, err := handles[i%len(handles)].Schedule(f.ctx(), f.keyed("k")); err != nil {
				return err
			}
		}
		return nil
	})
	f.pending(1, callers*each)
	f.fires(1)
	f.byKey("k", timer.ID{})
}

// pending insists on how many timers are, of all there are, and on all others
// being cancelled.
func (f *fixture) pending(want, all int) {
	f.t.Helper()
	scheduled, err := engine.Collect(f.List(f.ctx(), timer.ListOptions{Status: timer.Scheduled}), 10_000)
	f.check(err)
	cancelled, err := engine.Collect(f.List(f.ctx(), timer.ListOptions{Status: timer.Cancelled}), 10_000)
	f.check(err)
	if len(scheduled) != want || len(cancelled) != all-want {
		f.t.Fatalf("%d are pending and %d cancelled, want %d and %d", len(scheduled), len(cancelled), want, all-want)
	}
}

// D-70, D-3: batches that replace the same keys in opposite orders do not wait
// for each other in a circle.
func TestOppositeBatches(t *testing.T) { dbtest.Each(t, testOppositeBatches) }

func testOppositeBatches(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	const callers, each, keys = 4, 10, 20
	f.together(callers, func(i int) error {
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		for range each {
			batch := make([]timer.Timer, 0, keys)
			for _, k := range rng.Perm(keys) {
				batch = append(batch, f.keyed(fmt.Sprint("k", k)))
			}
			if _, err := f.ScheduleBatch(f.ctx(), batch); err != nil {
				return err
			}
		}
		return nil
	})
	f.pending(keys, callers*each*keys)
}

// D-70: within one transaction the last one has the key.
func TestKeyTwiceInTx(t *testing.T) { dbtest.Each(t, testKeyTwiceInTx) }

func testKeyTwiceInTx(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	var ids []timer.ID
	f.inTx(true, func(tx outbox.Tx) {
		for range 3 {
			id, err := f.ScheduleTx(f.ctx(), tx, f.keyed("k"))
			f.check(err)
			ids = append(ids, id)
		}
		f.changed(true)(f.CancelKeyTx(f.ctx(), tx, "k"))
		id, err := f.ScheduleTx(f.ctx(), tx, f.keyed("k"))
		f.check(err)
		ids = append(ids, id)
	})
	f.pending(1, 4)
	f.byKey("k", ids[3])
}

// D-70, D-71: a key that is replaced while timers fire: every timer that was
// replaced before it fired is cancelled, every other has one message.
func TestKeyReplacedWhileFiring(t *testing.T) { dbtest.Each(t, testKeyReplacedWhileFiring) }

func testKeyReplacedWhileFiring(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	other := on(t, f.db, f.db.Another(t), timer.Options{})
	const n = 120
	f.together(2, func(i int) error {
		for range n {
			if i == 0 {
				if _, err := f.Schedule(f.ctx(), f.keyed("k")); err != nil {
					return err
				}
			} else if _, err := other.Sources[0].Dispatch(f.ctx()); err != nil {
				return err
			}
		}
		return nil
	})
	f.dispatch()
	fired, err := engine.Collect(f.List(f.ctx(), timer.ListOptions{Status: timer.Fired}), 10_000)
	f.check(err)
	cancelled, err := engine.Collect(f.List(f.ctx(), timer.ListOptions{Status: timer.Cancelled}), 10_000)
	f.check(err)
	got := f.deliver()
	if len(fired)+len(cancelled) != n || len(got) != len(fired) {
		t.Fatalf("%d fired and %d were cancelled of %d, %d delivered", len(fired), len(cancelled), n, len(got))
	}
	for _, info := range fired {
		if got[info.ID] != 1 {
			t.Fatalf("timer %v was delivered %d times", info.ID, got[info.ID])
		}
	}
}
