package enginetest

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
)

func migrator(t testing.TB, db engine.DB) engine.Migrator {
	t.Helper()
	m, ok := engine.As[engine.Migrator](db)
	if !ok {
		t.Fatal("the engine has no scripts")
	}
	return m
}

// goLine separates what T-SQL's tools send one after the other.
var goLine = regexp.MustCompile(`(?m)^GO$`)

// apply runs a script as another tool would, in a transaction.
func apply(t testing.TB, p *Place, m engine.Migrator, from, to int) {
	t.Helper()
	text, err := m.Script(from, to)
	Must(t, err)
	tx, err := p.SQL.BeginTx(t.Context(), nil)
	Must(t, err)
	defer func() { _ = tx.Rollback() }()
	for _, batch := range goLine.Split(text, -1) {
		_, err = tx.ExecContext(t.Context(), batch)
		Must(t, err)
	}
	Must(t, tx.Commit())
}

func status(t testing.TB, db engine.DB) engine.SchemaStatus {
	t.Helper()
	s, err := migrator(t, db).SchemaStatus(t.Context())
	Must(t, err)
	return s
}

// D-100: a schema that another tool made by the script is the one that Migrate makes.
func scripts(t *testing.T, p *Place) {
	db := p.Open(t, Options{})
	before := status(t, db)
	newest := before.Program
	if before.Database != 0 || newest < 1 || len(before.Migrations) != newest || !before.Migrations[0].At.IsZero() || !errors.Is(before.Err, engine.ErrSchemaMissing) {
		t.Errorf("before: %+v", before)
	}
	apply(t, p, migrator(t, db), 0, 0)
	s := status(t, db)
	if s.Err != nil || s.Newer || s.Database != newest || s.Lowest < 1 || s.Migrations[newest-1].At.IsZero() || s.Migrations[0].Name != "baseline" || len(s.Objects) > 0 {
		t.Errorf("after: %+v", s)
	}
	Must(t, db.Migrate(t.Context()))
	if again := status(t, db); !again.Migrations[0].At.Equal(s.Migrations[0].At) {
		t.Error("it was migrated again")
	}
	Must(t, migrator(t, db).Baseline(t.Context())) // there is nothing to note
	LiveOnce(t, db)

	newer := p.Open(t, Options{})
	makeNewer(p, newer)
	if s := status(t, newer); !slices.Contains(s.Objects, "views/more") || len(s.Migrations) != newest+1 || !s.Migrations[newest].At.IsZero() {
		t.Errorf("for a newer program: %+v", s)
	}
	apply(t, p, migrator(t, newer), newest, newest+1)
	Must(t, newer.CheckSchema(t.Context()))
	if s := status(t, db); !s.Newer || s.Err != nil || s.Database != newest+1 || s.Program != newest || s.Lowest != newest || len(s.Migrations) != newest+1 {
		t.Errorf("for the older program: %+v", s)
	}
	Put(t, db, 1)
}

// D-100: a script of what there is not is refused.
func scriptRanges(t *testing.T, p *Place) {
	db := p.Open(t, Options{})
	p.AddMigration(db, expansion)
	m := migrator(t, db)
	over := status(t, db).Program + 1
	for _, r := range [][2]int{{-1, 0}, {over, 0}, {0, over}, {2, 1}, {0, -1}} {
		if text, err := m.Script(r[0], r[1]); !errors.Is(err, engine.ErrInvalid) || text != "" {
			t.Errorf("%v: %v", r, err)
		}
	}
	text, err := m.Script(0, 1)
	if err != nil || strings.Contains(text, "outbox_note") || strings.Contains(text, "CREATE VIEW") || strings.Contains(text, "CREATE OR REPLACE") {
		t.Errorf("the script of the first version has more: %v", err)
	}
}

// forgetNotes takes from a schema what a copy of the tables alone does not have.
func forgetNotes(t testing.TB, p *Place) {
	t.Helper()
	for _, table := range []string{"pawl_schema", "pawl_object", "generation"} {
		Exec(t, p, "DELETE FROM pawl."+table)
	}
}

// D-100, D-111: a schema that came without its notes is compared with what Migrate
// makes, noted as applied, and begins a generation.
func baseline(t *testing.T, p *Place) {
	db := Migrated(t, p)
	ids := Put(t, db, 1)
	forgetNotes(t, p)
	other := p.Open(t, Options{})
	if err := other.CheckSchema(t.Context()); !errors.Is(err, engine.ErrSchemaMissing) {
		t.Errorf("without notes: %v", err)
	}
	Must(t, migrator(t, other).Baseline(t.Context()))
	Must(t, other.CheckSchema(t.Context()))
	if n := Number(t, p, "SELECT count(*) FROM pawl.generation"); n != 1 {
		t.Errorf("%d generations", n)
	}
	if more := Put(t, other, 1); more[0] <= ids[0] {
		t.Errorf("id %d after %d", more[0], ids[0])
	}
	if taken := Take(t, other, Token(), 10); len(taken) != 2 {
		t.Errorf("%d messages are there", len(taken))
	}
}

// D-100: a schema that is not as Migrate makes it is not noted.
func baselineOfOther(t *testing.T, p *Place) {
	Migrated(t, p)
	forgetNotes(t, p)
	Exec(t, p, "DROP TABLE pawl.outbox_pause")
	db := p.Open(t, Options{})
	if err := migrator(t, db).Baseline(t.Context()); !errors.Is(err, engine.ErrSchemaChanged) || !strings.Contains(err.Error(), "outbox_pause") {
		t.Errorf("with a table less: %v", err)
	}
	if err := db.CheckSchema(t.Context()); !errors.Is(err, engine.ErrSchemaMissing) {
		t.Errorf("afterwards: %v", err)
	}
}
