// Package doctortest is the conformance suite of the doctor: what it finds on every
// engine, whichever it is. The tests of package doctor run it on each.
package doctortest

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/doctor"
	"github.com/bravellian/pawl/internal/dbtest"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// Run runs the whole suite.
func Run(t *testing.T, e dbtest.Engine) {
	groups := map[string]map[string]func(*testing.T, dbtest.Engine){
		"database": databaseTests(), "work": workTests(), "joins": joinTests(), "race": raceTests(),
	}
	if e.Name != "sqlite" {
		groups["held"] = heldTests()
	}
	dbtest.Run(t, e, groups)
}

// fixture is a fresh database with an outbox and joins.
type fixture struct {
	t     *testing.T
	db    dbtest.Database
	box   *outbox.Outbox
	joins *join.Joins
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func open(t *testing.T, e dbtest.Engine) *fixture {
	t.Helper()
	db := e.Open(t)
	box := outbox.New(db.DB, outbox.Options{StopWhenEmpty: true, Logger: quiet()})
	return &fixture{t, db, box, join.New(db.DB, box, join.Options{Logger: quiet()})}
}

func (f *fixture) ctx() context.Context { return f.t.Context() }

func (f *fixture) check(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// examine examines the database, with all the time in the world.
func (f *fixture) examine(opts ...doctor.Options) []doctor.Finding {
	f.t.Helper()
	o := doctor.Options{Timeout: time.Minute}
	if len(opts) > 0 {
		o = opts[0]
	}
	return doctor.Examine(f.ctx(), f.db.DB, o)
}

// find returns the worst finding of a check.
func find(t testing.TB, findings []doctor.Finding, check string) doctor.Finding {
	t.Helper()
	var worst *doctor.Finding
	for i := range findings {
		if f := &findings[i]; f.Check == check && (worst == nil || f.Level > worst.Level) {
			worst = f
		}
	}
	if worst == nil {
		t.Fatalf("nothing was found of %s: %+v", check, findings)
	}
	return *worst
}

// Want wants the worst finding of a check to be of a level, with some evidence and
// a next step.
func Want(t testing.TB, findings []doctor.Finding, check string, level engine.Level, evidence, next string) doctor.Finding {
	t.Helper()
	f := find(t, findings, check)
	if f.Level != level || !strings.Contains(f.Evidence, evidence) || !strings.Contains(f.NextStep, next) {
		t.Errorf("%s: %+v, want %v, %q and %q", check, f, level, evidence, next)
	}
	return f
}

// WantGone wants a check to find nothing to complain about.
func WantGone(t testing.TB, findings []doctor.Finding, check string) {
	t.Helper()
	if f := find(t, findings, check); f.Level != engine.OK {
		t.Errorf("%s: %+v, want nothing", check, f)
	}
}

// exec runs a statement in which {name} is one of pawl's tables, {-1h} a time as
// the engine stores it, and {id …} an id.
func (f *fixture) exec(query string, args ...any) {
	f.t.Helper()
	res, err := f.db.SQL.ExecContext(f.ctx(), f.render(query), args...)
	f.check(err)
	if n, err := res.RowsAffected(); err == nil && n == 0 && !strings.HasPrefix(query, "DROP") && !strings.HasPrefix(query, "CREATE") {
		f.t.Fatalf("%s: changed nothing", query)
	}
}

func (f *fixture) render(query string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(query, "{")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		name, after, _ := strings.Cut(rest, "}")
		query = after
		if d, err := time.ParseDuration(name); err == nil {
			out.WriteString(f.instant(d))
		} else {
			out.WriteString(f.db.Table(name))
		}
	}
}

// instant is a time from now on in SQL.
func (f *fixture) instant(d time.Duration) string {
	if f.db.Engine() == "sqlite" {
		return fmt.Sprint(time.Now().Add(d).UnixMicro())
	}
	return fmt.Sprintf("(clock_timestamp() + interval '%f seconds')", d.Seconds())
}

func (f *fixture) begin() *sql.Tx { return f.db.Begin(f.t) }
