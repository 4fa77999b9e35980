package sqlserver_test

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/sqlserver/internal/sqlserver"
	"github.com/bravellian/pawl/sqlserver/internal/tdstest"
)

// wire is a database behind a server of tests that executes nothing.
type wire struct {
	*sqlserver.DB
	server *tdstest.Server
	pool   *sql.DB

	mu     sync.Mutex
	mark   string             // of the generation
	asked  []*tdstest.Request // without logins and what a new connection asks
	answer tdstest.Handler
}

// onWire opens a database of one connection, whose requests answer answers. A nil answer
// says that all is well. What a new connection asks is answered without it: there is a
// generation, and rows are not read by version unless option is versioned.
func onWire(t testing.TB, answer tdstest.Handler, options ...func(*wireOptions)) *wire {
	t.Helper()
	o := wireOptions{}
	for _, f := range options {
		f(&o)
	}
	w := &wire{answer: answer, mark: "mark"}
	w.server = tdstest.New(t, func(r *tdstest.Request) tdstest.Answer { return w.handle(r, &o) })
	pool, err := sql.Open("sqlserver", w.server.URL())
	enginetest.Must(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	pool.SetMaxOpenConns(1)
	w.pool = pool
	w.DB, err = sqlserver.New(pool, o.Options)
	enginetest.Must(t, err)
	if o.idle > 0 {
		sqlserver.SetIdleLimit(w.DB, o.idle)
	}
	t.Cleanup(func() { _ = w.DB.Close() })
	return w
}

type wireOptions struct {
	sqlserver.Options
	versioned bool
	idle      time.Duration // after which a connection is asked whether it is there; 0: as ever
}

// doubtful is a database that asks every connection first.
func doubtful(o *wireOptions) { o.idle = 1 }

// versioned is a database with READ_COMMITTED_SNAPSHOT ON.
func versioned(o *wireOptions) { o.versioned = true }

func (w *wire) handle(r *tdstest.Request, o *wireOptions) tdstest.Answer {
	w.mu.Lock()
	mark := w.mark
	w.mu.Unlock()
	switch {
	case r.Kind == tdstest.Login:
		return tdstest.Answer{}
	case strings.HasPrefix(r.SQL, "SELECT d.is_read_committed_snapshot_on"):
		return tdstest.Answered(tdstest.Rows([]tdstest.Column{{Name: "on", Type: tdstest.Bit}}, []any{o.versioned}))
	case strings.Contains(r.SQL, "EXEC ") && strings.Contains(r.SQL, "generation_look") && !strings.Contains(r.SQL, "COMMIT") && !strings.Contains(r.SQL, "CREATE"):
		return tdstest.Answered(tdstest.Rows(
			[]tdstest.Column{{Name: "mark", Type: tdstest.NVarChar(450)}, {Name: "number", Type: tdstest.BigInt}, {Name: "written", Type: tdstest.BigInt}},
			[]any{mark, 1, nil}))
	}
	w.mu.Lock()
	w.asked = append(w.asked, r)
	answer := w.answer
	w.mu.Unlock()
	if answer == nil {
		return tdstest.Answer{}
	}
	return answer(r)
}

// now has what comes answered by another handler.
func (w *wire) now(answer tdstest.Handler) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = answer
}

// setMark makes the database one of another history.
func (w *wire) setMark(mark string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mark = mark
}

// requests are what was asked for so far.
func (w *wire) requests() []*tdstest.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asked)
}

// kinds are the kinds of the requests so far.
func (w *wire) kinds() string {
	var all []string
	for _, r := range w.requests() {
		all = append(all, string(r.Kind))
	}
	return strings.Join(all, " ")
}

var (
	changed   = []tdstest.Column{{Name: "changed", Type: tdstest.Int}}
	committed = tdstest.Rows([]tdstest.Column{{Name: "committed", Type: tdstest.Int}}, []any{1})
)

// changes answers a transaction whose calls change so many rows each.
func changes(counts ...int) tdstest.Answer {
	var a tdstest.Answer
	for _, n := range counts {
		a.Results = append(a.Results, tdstest.Rows(changed, []any{n}))
	}
	a.Results = append(a.Results, committed)
	return a
}

// always answers everything the same.
func always(a tdstest.Answer) tdstest.Handler {
	return func(*tdstest.Request) tdstest.Answer { return a }
}

// called answers statements, and leaves what begins and ends transactions as it is.
func called(a tdstest.Answer) tdstest.Handler {
	return func(r *tdstest.Request) tdstest.Answer {
		if r.Kind == tdstest.Call || r.Kind == tdstest.Batch {
			return a
		}
		return tdstest.Answer{}
	}
}

// do runs calls and returns their error.
func (w *wire) do(calls ...*engine.Call) error { return w.Do(context.Background(), calls...) }
