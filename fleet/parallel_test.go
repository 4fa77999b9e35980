package fleet_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/sqlite"
)

// turnstile has databases whose Close returns once so many of them are being closed.
type turnstile struct {
	mu            sync.Mutex
	closing, most int
	all           int
	open          chan struct{} // closed when so many were there at once
	needed        int
}

// slowly is a database that waits there.
type slowly struct {
	engine.DB
	at *turnstile
}

func (d slowly) Unwrap() engine.DB { return d.DB }

func (d slowly) Close() error {
	d.at.enter()
	defer d.at.leave()
	select {
	case <-d.at.open:
	case <-time.After(time.Minute):
		return fmt.Errorf("%d databases are never closed at once", d.at.needed)
	}
	return d.DB.Close()
}

func (w *turnstile) enter() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closing++
	w.all++
	w.most = max(w.most, w.closing)
	if w.closing == w.needed {
		close(w.open)
		w.needed = -1
	}
}

func (w *turnstile) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closing--
}

// closers are stores that are opened, and the turnstile at which they are closed.
func closers(t *testing.T, d fleet.Discovery, dbs []fleet.Database) (*fleet.Fleet, *turnstile) {
	t.Helper()
	w := &turnstile{open: make(chan struct{}), needed: 8}
	o := quick()
	o.Engines = map[string]fleet.Opener{"sqlite": func(o engine.OpenOptions) (engine.DB, error) {
		db, err := sqlite.OpenURL(o)
		return slowly{db, w}, err
	}}
	f, err := fleet.New(d, o)
	must(t, err)
	for _, d := range dbs {
		store(t, f, d.Key)
	}
	return f, w
}

// check checks that all were closed, several at once, but not any number.
func (w *turnstile) check(t *testing.T, all int) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all != all || w.most > 16 {
		t.Errorf("%d of %d databases were closed, %d at once", w.all, all, w.most)
	}
}

// D-264: Close closes many stores at once: one that takes long delays few others.
func TestCloseIsParallel(t *testing.T) {
	t.Parallel()
	dbs := together(t, 60)
	f, w := closers(t, fleet.Static(dbs...), dbs)
	must(t, f.Close())
	w.check(t, len(dbs))
}

// D-264: stores that leave together are closed together.
func TestLeavingIsParallel(t *testing.T) {
	t.Parallel()
	dbs := together(t, 61)
	l := listOf(dbs...)
	f, w := closers(t, l, dbs)
	l.set(dbs[0])
	must(t, f.Refresh(t.Context()))
	must(t, f.Refresh(t.Context()))
	w.check(t, len(dbs)-1)
	must(t, f.Close())
	w.check(t, len(dbs))
}
