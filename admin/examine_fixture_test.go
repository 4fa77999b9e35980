package admin_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/join"
)

// examineFixture is a fresh database with an outbox and joins.
type examineFixture struct {
	t     *testing.T
	db    dbtest.Database
	box   *parts.Outbox
	joins *parts.Joins
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func openExamine(t *testing.T, e dbtest.Engine) *examineFixture {
	t.Helper()
	db := e.Open(t)
	box := parts.NewOutbox(db.DB, worker.Options{StopWhenEmpty: true, Logger: quiet()})
	return &examineFixture{t, db, box, parts.NewJoins(db.DB, box, join.Options{}, quiet())}
}

func (f *examineFixture) ctx() context.Context { return f.t.Context() }

func (f *examineFixture) check(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *examineFixture) admin() *admin.Admin { return parts.NewAdmin(f.db.DB) }

// examine examines the database, with a long timeout.
func (f *examineFixture) examine(opts ...engine.ExamineOptions) []health.Finding {
	f.t.Helper()
	o := engine.ExamineOptions{Timeout: time.Minute}
	if len(opts) > 0 {
		o = opts[0]
	}
	return f.admin().ExamineWith(f.ctx(), access.Key{}, o).Findings
}

// worstOf returns the worst finding of a check.
func worstOf(t testing.TB, findings []health.Finding, check string) health.Finding {
	t.Helper()
	var worst *health.Finding
	for i := range findings {
		if f := &findings[i]; f.Code == check && (worst == nil || f.Level > worst.Level) {
			worst = f
		}
	}
	if worst == nil {
		t.Fatalf("nothing was found of %s: %+v", check, findings)
	}
	return *worst
}

// wantFinding wants the worst finding of a check to be of a level, with some evidence and
// a next step.
func wantFinding(t testing.TB, findings []health.Finding, check string, level health.Level, evidence, next string) health.Finding {
	t.Helper()
	f := worstOf(t, findings, check)
	if f.Level != level || !strings.Contains(f.Summary, evidence) || !strings.Contains(f.NextStep, next) {
		t.Errorf("%s: %+v, want %v, %q and %q", check, f, level, evidence, next)
	}
	return f
}

// wantOK wants a check to find nothing to complain about.
func wantOK(t testing.TB, findings []health.Finding, check string) {
	t.Helper()
	if f := worstOf(t, findings, check); f.Level != health.OK {
		t.Errorf("%s: %+v, want nothing", check, f)
	}
}

// exec runs a statement in which {name} is one of pawl's tables, {-1h} a time as
// the engine stores it, and {id …} an id.
func (f *examineFixture) exec(query string, args ...any) {
	f.t.Helper()
	res, err := f.db.SQL.ExecContext(f.ctx(), f.render(query), args...)
	f.check(err)
	if n, err := res.RowsAffected(); err == nil && n == 0 && !strings.HasPrefix(query, "DROP") && !strings.HasPrefix(query, "CREATE") {
		f.t.Fatalf("%s: changed nothing", query)
	}
}

func (f *examineFixture) render(query string) string {
	if f.db.Engine() == "sqlserver" {
		query = strings.NewReplacer("'x' || checksum", "'x' + checksum", "substr(checksum, 2)", "SUBSTRING(checksum, 2, 64)",
			"CREATE TABLE {before} AS SELECT * FROM {pawl_schema}", "SELECT * INTO {before} FROM {pawl_schema}").Replace(query)
	}
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
func (f *examineFixture) instant(d time.Duration) string {
	if f.db.Engine() == "sqlite" {
		return fmt.Sprint(time.Now().Add(d).UnixMicro())
	}
	return "(" + f.db.Earlier(f.db.Clock(), -d) + ")"
}

func (f *examineFixture) begin() *sql.Tx { return f.db.Begin(f.t) }
