package pause_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/pause"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/throttle"
	"github.com/bravellian/pawl/internal/worker"
)

// slow holds the first read's answer until another one was taken over.
type slow struct {
	engine.DB
	later  atomic.Bool
	read   chan struct{} // the first has read
	answer chan struct{}
}

func (s *slow) Read(ctx context.Context, call *engine.Call) error {
	err := s.DB.Read(ctx, call)
	if !s.later.Swap(true) {
		close(s.read)
		<-s.answer
	}
	return err
}

// D-551: loops of several queues read what is paused and limited at once. A read that began before
// another and ends after it changes nothing.
func TestSlowReadIsDropped(t *testing.T) {
	for name, of := range map[string]func(db engine.DB) (refresh func(context.Context) error, set func() bool){
		"pauses": func(db engine.DB) (func(context.Context) error, func() bool) {
			p := pause.New(db, nil)
			return p.Refresh, func() bool { return p.Of("q", "t") == worker.QueuePaused }
		},
		"limits": func(db engine.DB) (func(context.Context) error, func() bool) {
			l := throttle.New(db, nil)
			return l.Refresh, func() bool { return l.Of("q", "t") }
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := dbtest.OpenSQLite(t)
			s := &slow{DB: d.DB, read: make(chan struct{}), answer: make(chan struct{})}
			refresh, set := of(s)
			ended := make(chan error, 1)
			go func() { ended <- refresh(t.Context()) }()
			<-s.read
			if _, err := pause.New(d.DB, nil).Pause(t.Context(), pause.Queue, "q", ""); err != nil {
				t.Fatal(err)
			}
			if _, err := throttle.New(d.DB, nil).Set(t.Context(), throttle.Queue, "q", throttle.Bounds{Concurrency: 1}, ""); err != nil {
				t.Fatal(err)
			}
			if err := refresh(t.Context()); err != nil || !set() {
				t.Fatalf("it is not seen: %v", err)
			}
			close(s.answer)
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			if !set() {
				t.Error("an older read took the place of a newer one")
			}
		})
	}
}
