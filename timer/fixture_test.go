package timer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// fixture is timers and their outbox on a fresh database.
type fixture struct {
	*parts.Timers
	box   *parts.Outbox
	t     *testing.T
	db    dbtest.Database
	ahead time.Duration // of the database's clock
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func open(t *testing.T, e dbtest.Engine, opts ...timer.Options) *fixture {
	t.Helper()
	var o timer.Options
	if len(opts) > 0 {
		o = opts[0]
	}
	db := e.Open(t)
	return on(t, db, db.DB, o)
}

// on returns timers over one handle on a database.
func on(t *testing.T, db dbtest.Database, handle engine.DB, o timer.Options) *fixture {
	box := parts.NewOutbox(handle, worker.Options{StopWhenEmpty: true, Logger: quiet()})
	return &fixture{Timers: parts.NewTimers(handle, box, o, quiet()), box: box, t: t, db: db}
}

const lease = time.Minute

func (f *fixture) ctx() context.Context { return f.t.Context() }

func (f *fixture) check(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// now is about what the database's clock says.
func (f *fixture) now() time.Time { return time.Now().Add(f.ahead) }

// pass lets the database's clock pass d.
func (f *fixture) pass(d time.Duration) {
	f.t.Helper()
	f.db.Pass(d)
	if f.db.Engine() == "sqlite" {
		f.ahead += d
	}
}

// past is due, future is not within a test.
func (f *fixture) past() time.Time   { return f.now().Add(-time.Hour) }
func (f *fixture) future() time.Time { return f.now().Add(time.Hour) }

// due is a timer that fires with the next dispatch: nobody dispatches unless a
// test says so.
func (f *fixture) due() timer.Timer { return timer.Timer{Topic: "t", Due: f.past()} }

// put schedules a timer.
func (f *fixture) put(tm timer.Timer) timer.ID {
	f.t.Helper()
	id, err := f.Schedule(f.ctx(), tm)
	f.check(err)
	if id.IsZero() || !tm.ID.IsZero() && id != tm.ID {
		f.t.Fatalf("scheduled %v as %v", tm.ID, id)
	}
	return id
}

// putN schedules n timers that are due.
func (f *fixture) putN(n int) []timer.ID {
	f.t.Helper()
	all := make([]timer.Timer, n)
	for i := range all {
		all[i] = f.due()
		all[i].Payload = fmt.Append(nil, i)
	}
	ids, err := f.ScheduleBatch(f.ctx(), all)
	f.check(err)
	return ids
}

// dispatch fires what is due and returns how many that was.
func (f *fixture) dispatch() (total int64) {
	f.t.Helper()
	for {
		n, err := f.Sources[0].Dispatch(f.ctx())
		f.check(err)
		if total += n; n == 0 {
			return total
		}
	}
}

// fires insists on how many timers are due, and fires them.
func (f *fixture) fires(want int64) {
	f.t.Helper()
	if n := f.dispatch(); n != want {
		f.t.Fatalf("%d timers fired, want %d", n, want)
	}
}

// get insists on a timer's state.
func (f *fixture) get(id timer.ID, want timer.Status) *timer.Info {
	f.t.Helper()
	got, err := f.Get(f.ctx(), id)
	f.check(err)
	if got.Status != want || got.ID != id {
		f.t.Fatalf("timer %v is %v, want %v to be %v", got.ID, got.Status, id, want)
	}
	return got
}

// message insists on a timer's message being in the outbox.
func (f *fixture) message(id timer.ID) *outbox.Info {
	f.t.Helper()
	m, err := f.box.Get(f.ctx(), id)
	f.check(err)
	if m.ID != id {
		f.t.Fatalf("found message %v, want %v", m.ID, id)
	}
	return m
}

// noMessage insists on a timer having sent none.
func (f *fixture) noMessage(id timer.ID) {
	f.t.Helper()
	if m, err := f.box.Get(f.ctx(), id); !errors.Is(err, outbox.ErrNotFound) {
		f.t.Fatalf("the outbox has a message: %+v, %v", m, err)
	}
}

// rows counts what a table or view has.
func (f *fixture) rows(table string) (n int) {
	f.t.Helper()
	f.db.Row(f.t, "SELECT count(*) FROM "+f.db.Table(table), &n)
	return n
}

// stored insists on how many timers there are, in whichever state.
func (f *fixture) stored(want int) {
	f.t.Helper()
	if n := f.rows("timers"); n != want {
		f.t.Fatalf("%d timers are stored, want %d", n, want)
	}
}

// changed insists on the answer of a compare-and-set.
func (f *fixture) changed(want bool) func(bool, error) {
	return func(got bool, err error) {
		f.t.Helper()
		f.check(err)
		if got != want {
			f.t.Fatalf("the answer is %v, want %v", got, want)
		}
	}
}

// touched insists on how many timers a call held.
func (f *fixture) touched(want int64) func(int64, error) {
	return func(got int64, err error) {
		f.t.Helper()
		f.check(err)
		if got != want {
			f.t.Fatalf("touched %d timers, want %d", got, want)
		}
	}
}

// claim takes exactly n timers under a fresh token.
func (f *fixture) claim(n int) (outbox.OwnerToken, []timer.ID) {
	f.t.Helper()
	return f.claimFor(lease, n)
}

func (f *fixture) claimFor(d time.Duration, n int) (outbox.OwnerToken, []timer.ID) {
	f.t.Helper()
	owner := outbox.NewOwnerToken()
	got, err := f.WorkQueue().Claim(f.ctx(), owner, d, max(n, 1))
	f.check(err)
	if len(got) != n {
		f.t.Fatalf("claimed %d timers, want %d", len(got), n)
	}
	return owner, idsOf(got)
}

func idsOf[T timer.Info | *timer.Info](infos []T) []timer.ID {
	ids := make([]timer.ID, len(infos))
	for i := range infos {
		switch info := any(infos[i]).(type) {
		case timer.Info:
			ids[i] = info.ID
		case *timer.Info:
			ids[i] = info.ID
		}
	}
	return ids
}

// same insists on timers in an order.
func (f *fixture) same(got []timer.ID, want ...timer.ID) {
	f.t.Helper()
	if !slices.Equal(got, want) {
		f.t.Fatalf("got %v, want %v", got, want)
	}
}

// refused insists on an invalid argument that names the field.
func (f *fixture) refused(field string, err error) {
	f.t.Helper()
	var invalid *engine.InvalidError
	if !errors.As(err, &invalid) || !errors.Is(err, engine.ErrInvalid) || invalid.Field() != field || !strings.Contains(err.Error(), field) {
		f.t.Fatalf("want an invalid %s, got %v", field, err)
	}
}

// inTx runs calls in a transaction of the caller, and ends it.
func (f *fixture) inTx(commit bool, do func(tx outbox.Tx)) {
	f.t.Helper()
	tx := f.db.Begin(f.t)
	defer tx.Rollback()
	do(tx)
	if commit {
		f.check(tx.Commit())
		return
	}
	f.check(tx.Rollback())
}
