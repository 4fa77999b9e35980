package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/fleetstate"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// openFiles is how many descriptors of this process are of a store's directory.
func openFiles(t *testing.T, d fleet.Database) int {
	t.Helper()
	if runtime.GOOS != "linux" {
		return 0
	}
	dir := filepath.Dir(pathOf(d))
	fds, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	n := 0
	for _, fd := range fds {
		if at, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(at, dir) {
			n++
		}
	}
	return n
}

// OBX-078, D-92: a store that is removed with work in flight finishes it, loses and doubles nothing, and keeps no file open.
func TestRemovalWithWorkInFlight(t *testing.T) {
	t.Parallel()
	dbs := files(t, "a", "b")
	l, r := listOf(dbs...), newRecord()
	o := quick()
	o.Pawl.Concurrency = 4
	f := open(t, l, o)
	entered, release := make(chan struct{}, 100), make(chan struct{})
	f.Handle("t", func(ctx context.Context, m *outbox.Message) error {
		if fleet.StoreOf(ctx).Key == "b" {
			entered <- struct{}{}
			<-release
		}
		return r.Handle(ctx, m)
	})
	stop := start(t, f)
	enqueue(t, f, "b", 50)
	for range 4 {
		<-entered
	}
	l.set(dbs[0])
	must(t, f.Refresh(t.Context()))
	must(t, f.Refresh(t.Context()))
	enqueue(t, f, "a", 1) // the rest goes on
	r.until(t, "a", 1)
	if openFiles(t, dbs[1]) == 0 && runtime.GOOS == "linux" {
		t.Error("closed under its handlers")
	}
	close(release)
	dbtest.Until(t, "its files are closed", func() bool { return openFiles(t, dbs[1]) == 0 })
	finished := r.of("b")
	if finished < 4 {
		t.Errorf("%d handlers finished", finished)
	}
	stop()
	msgs, err := another(t, dbs[1]).WorkQueue("").Claim(t.Context(), outbox.NewOwnerToken(), time.Minute, 100)
	if err != nil || len(msgs) != 50-finished {
		t.Errorf("%d of 50 were handled, %d are left: %v", finished, len(msgs), err)
	}
	r.once(t)
}

// D-92: stores that come and go while everything is busy lose nothing, and all of them end up worked on or closed.
func TestComingAndGoing(t *testing.T) {
	t.Parallel()
	dbs := files(t, "a", "b", "c")
	l, r := listOf(dbs...), newRecord()
	o := quick()
	o.Active, o.Pawl.BatchSize = 2, 5
	f := open(t, l, o)
	f.Handle("t", r.Handle)
	start(t, f)
	must(t, f.Refresh(t.Context()))
	outside := another(t, dbs[2])
	for i := range 15 {
		enqueueIn(t, outside, fmt.Sprint("c", i), 10)
		enqueue(t, f, "a", 1)
		l.set(dbs[0], dbs[1])
		must(t, f.Refresh(t.Context()))
		must(t, f.Refresh(t.Context()))
		l.set(dbs...)
		must(t, f.Refresh(t.Context()))
	}
	r.until(t, "c", 150)
	l.set(dbs[0])
	must(t, f.Refresh(t.Context()))
	must(t, f.Refresh(t.Context()))
	for _, d := range dbs[1:] {
		dbtest.Until(t, d.Key+" is closed", func() bool { return openFiles(t, d) <= openBy(d, dbs[2]) })
	}
}

// openBy is how many files the test itself has open of a store.
func openBy(d, outside fleet.Database) int {
	if d == outside {
		return 100
	}
	return 0
}

// OBX-066, D-91: Run stops in the middle of everything without an error; what was not begun is left for the next.
func TestStopInTheMiddle(t *testing.T) {
	t.Parallel()
	w, r := newWard(), newRecord()
	dbs := files(t, "a", "b", "sick")
	for _, d := range dbs {
		enqueueIn(t, another(t, d), d.Key, 200)
	}
	listed := []fleet.Database{dbs[0], dbs[1], w.admits(dbs[2], hangs)}
	o := quick()
	o.Engines, o.Pawl.Concurrency = w.engines(), 2
	f := open(t, fleet.Static(listed...), o)
	f.Handle("t", r.Handle)
	stop := start(t, f)
	r.until(t, "a", 10)
	r.until(t, "b", 10)
	stop()
	must(t, f.Close())
	g := open(t, fleet.Static(dbs...), quickUntilEmpty())
	g.Handle("t", r.Handle)
	drain(t, g)
	if c := r.counts(); c["a"] != 200 || c["b"] != 200 || c["sick"] != 200 {
		t.Errorf("handled: %v", c)
	}
	r.once(t)
}

func quickUntilEmpty() fleet.Options {
	o := quick()
	o.Pawl.StopWhenEmpty = true
	return o
}

// D-92, D-93: nothing is left behind by a fleet that ran, lost a store, had sick ones, and was closed.
func TestNothingIsLeftBehind(t *testing.T) {
	w, r := newWard(), newRecord()
	dbs := files(t, "a", "b", "fails", "hangs")
	before := enginetest.Running()
	l := listOf(dbs[0], dbs[1], w.admits(dbs[2], fails), w.admits(dbs[3], hangs))
	o := quick()
	o.Engines = w.engines()
	f, err := fleet.New(l, o)
	must(t, err)
	f.Handle("t", r.Handle)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	enqueue(t, f, "a", 10)
	enqueue(t, f, "b", 10)
	r.until(t, "a", 10)
	r.until(t, "b", 10)
	untilState(t, f, fleetstate.Failing, "fails")
	l.set(dbs[0])
	must(t, f.Refresh(t.Context()))
	must(t, f.Refresh(t.Context())) // some of them are being looked at, or worked on
	cancel()
	must(t, <-ended)
	must(t, f.Close())
	if left := before.Left(); left != "" {
		t.Errorf("left behind:\n%s", left)
	}
	for _, d := range dbs {
		if n := openFiles(t, d); n != 0 {
			t.Errorf("%d files of %q are open", n, d.Key)
		}
	}
}

// OBX-072, D-94: stores work before Run and without it, and are closed for good by Close.
func TestWithoutRun(t *testing.T) {
	t.Parallel()
	r := newRecord()
	dbs := files(t, "a")
	f := open(t, fleet.Static(dbs...), quick())
	f.Handle("t", r.Handle)
	enqueue(t, f, "a", 3)
	start(t, f)
	r.until(t, "a", 3)
	g := open(t, fleet.Static(dbs...), quick())
	enqueue(t, g, "a", 1)
	o := box(t, g, "a")
	must(t, g.Close())
	if _, err := o.Enqueue(t.Context(), outbox.Message{Topic: "t"}); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	must(t, g.Close())
}

// OBX-067: StopWhenEmpty does all that is due, timers and jobs too, and leaves what is not.
func TestStopWhenEmpty(t *testing.T) {
	t.Parallel()
	var timed, ran atomic.Int64
	r := newRecord()
	f := open(t, fleet.Static(files(t, "a", "b", "c")...), quickUntilEmpty())
	f.Handle("t", r.Handle)
	f.Handle("timed", func(context.Context, *outbox.Message) error { timed.Add(1); return nil })
	f.Handle("ran", func(context.Context, *outbox.Message) error { ran.Add(1); return nil })
	for _, key := range []string{"a", "b", "c"} {
		s := store(t, f, key)
		_, err := s.Pawl.Timers.Schedule(t.Context(), timer.Timer{Topic: "timed", Due: time.Now()})
		must(t, err)
		_, err = s.Pawl.Timers.Schedule(t.Context(), timer.Timer{Topic: "timed", Due: time.Now().Add(time.Hour)})
		must(t, err)
		must(t, s.Pawl.Jobs.Put(t.Context(), job.Job{Name: "j", Topic: "ran", Schedule: "0 0 1 1 *"}))
		_, err = s.Pawl.Jobs.Trigger(t.Context(), "j")
		must(t, err)
		enqueueIn(t, s.Pawl.Outbox, key, 20)
		_, err = s.Pawl.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "t", Due: time.Now().Add(time.Hour)})
		must(t, err)
	}
	drain(t, f)
	if c := r.counts(); timed.Load() != 3 || ran.Load() != 3 || c["a"] != 20 || c["b"] != 20 || c["c"] != 20 {
		t.Errorf("%d timers, %d jobs, messages: %v", timed.Load(), ran.Load(), c)
	}
}

// OBX-067: what a crashed worker held is taken back by a turn, however short turns are.
func TestTurnsTakeBackWhatCrashedWorkersHeld(t *testing.T) {
	t.Parallel()
	r := newRecord()
	d := file(t, "a")
	f := open(t, fleet.Static(d), quickUntilEmpty())
	f.Handle("t", r.Handle)
	enqueue(t, f, "a", 5)
	crashed := another(t, d)
	msgs, err := crashed.WorkQueue("").Claim(t.Context(), outbox.NewOwnerToken(), time.Millisecond, 5)
	if err != nil || len(msgs) != 5 {
		t.Fatalf("claimed %d, %v", len(msgs), err)
	}
	dbtest.Until(t, "the leases ran out", func() bool { return time.Since(msgs[0].CreatedAt) > 50*time.Millisecond })
	drain(t, f)
	if r.of("a") != 5 {
		t.Errorf("handled %d of 5", r.of("a"))
	}
}

// D-91: what is due but cannot be had by this program does not keep it from being drained.
func TestDueButNotForUs(t *testing.T) {
	t.Parallel()
	o := quickUntilEmpty()
	o.Pawl.Timers.SelfDispatch = true
	f := open(t, fleet.Static(file(t, "a")), o)
	f.Handle("t", newRecord().Handle)
	_, err := store(t, f, "a").Pawl.Timers.Schedule(t.Context(), timer.Timer{Topic: "t", Due: time.Now()})
	must(t, err)
	drain(t, f)
}
