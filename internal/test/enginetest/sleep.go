package enginetest

import (
	"context"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// never is how long a waiter sleeps that a test expects to be woken.
const never = 2 * time.Minute

// Asleep subscribes a waiter, as often as necessary, and lets it sleep.
// What Sleep answers arrives in the channel.
func Asleep(t testing.TB, s engine.Waiter) <-chan bool {
	t.Helper()
	Until(t, "a waiter can subscribe", func() bool {
		_, err := s.Subscribe(context.Background())
		return err == nil
	})
	for i := 0; ; i++ { // what rang before must not count
		again, err := s.Subscribe(context.Background())
		Must(t, err)
		if !again || i == 3 {
			break
		}
	}
	woken := make(chan bool, 1)
	go func() { woken <- s.Sleep(context.Background(), never) }()
	return woken
}

// WantWoken fails the test unless a waiter is woken.
func WantWoken(t testing.TB, woken <-chan bool) {
	t.Helper()
	if !<-woken {
		t.Fatal("the waiter was not woken")
	}
}

// notPolling skips a test of wake-ups where there are none.
func notPolling(t *testing.T, p *Place) {
	t.Helper()
	if p.Polls {
		t.Skip("nothing wakes workers there but their own handle: they poll")
	}
}

// OBX-100: a commit of another process wakes whoever sleeps.
func wokenByOther(t *testing.T, p *Place) {
	notPolling(t, p)
	db, other := Migrated(t, p), p.Open(t, Options{})
	s := db.Waiter(Queue)
	defer s.Close()
	for range 3 {
		woken := Asleep(t, s)
		Put(t, other, 1)
		WantWoken(t, woken)
		s.Unsubscribe()
	}
}

// OBX-100: so does a transaction of this process that did not go through Do.
func wokenByTx(t *testing.T, p *Place) {
	notPolling(t, p)
	db := Migrated(t, p)
	s := db.Waiter(Queue)
	defer s.Close()
	for range 3 {
		lo, err := db.ReserveIDs(t.Context(), nil, 1)
		Must(t, err)
		woken := Asleep(t, s)
		tx, err := p.Pool(db).BeginTx(t.Context(), nil)
		Must(t, err)
		Must(t, db.DoTx(t.Context(), tx, Enqueue([]int64{lo}, nil)))
		select {
		case <-woken:
			t.Fatal("woken by what is not committed")
		default:
		}
		Must(t, tx.Commit())
		WantWoken(t, woken)
		s.Unsubscribe()
	}
}

// OBX-100: Notify wakes the waiters of its queue and no others.
func wokenByRing(t *testing.T, p *Place) {
	db := Migrated(t, p)
	s, other := db.Waiter(Queue), db.Waiter("another")
	defer s.Close()
	defer other.Close()
	ctx, cancel := context.WithCancel(t.Context())
	woken := make(chan bool, 1)
	go func() { woken <- s.Sleep(ctx, never) }()
	db.Notify(Queue)
	WantWoken(t, woken)
	cancel()
	if other.Sleep(ctx, never) {
		t.Error("a notification woke the waiters of another queue")
	}
}

// OBX-122: without news Sleep ends with its time or its context, and says so.
func notWoken(t *testing.T, p *Place) {
	db := Migrated(t, p)
	s := db.Waiter(Queue)
	defer s.Close()
	if s.Sleep(t.Context(), time.Millisecond) {
		t.Error("woken by nothing")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s.Sleep(ctx, never) {
		t.Error("woken by the end of the context")
	}
}
