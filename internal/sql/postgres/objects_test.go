package postgres_test

import (
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/enginetest"
)

// D-100: a routine that changes is replaced in place, and keeps its grants; with other result
// columns, and where a view calls it, it is dropped and created; the one with the former
// parameters is dropped.
func TestChangedRoutines(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	db := p.Open(t, enginetest.Options{}).(*postgres.DB)
	set := func(kind, name, text string) {
		t.Helper()
		postgres.SetObject(db, kind, name, text)
		enginetest.Must(t, db.Migrate(t.Context()))
		enginetest.Must(t, db.CheckSchema(t.Context()))
	}
	want := func(query string, n int64) {
		t.Helper()
		if got := enginetest.Number(t, p, query); got != n {
			t.Errorf("%s: %d, want %d", query, got, n)
		}
	}
	const head, tail = "CREATE OR REPLACE FUNCTION pawl.answer", " LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS "
	set(engine.Routines, "answer", head+"(a integer) RETURNS integer"+tail+"'BEGIN RETURN a; END'")
	name, _ := role(t)
	enginetest.Exec(t, p, `REVOKE EXECUTE ON FUNCTION pawl.answer FROM PUBLIC`)
	enginetest.Exec(t, p, `GRANT EXECUTE ON FUNCTION pawl.answer TO "`+name+`"`)
	allowed := "SELECT has_function_privilege('" + name + "', oid, 'EXECUTE')::integer FROM pg_proc WHERE proname = 'answer' AND pronamespace = '" + p.Names.Schema + "'::regnamespace"

	set(engine.Routines, "answer", head+"(a integer) RETURNS integer"+tail+"'BEGIN RETURN a + 1; END'")
	want("SELECT pawl.answer(1)", 2)
	want(allowed, 1)

	set(engine.Views, "answers", "CREATE OR REPLACE VIEW pawl.answers AS SELECT pawl.answer(1) AS a")
	set(engine.Routines, "answer", head+"(a integer) RETURNS bigint"+tail+"'BEGIN RETURN a + 2; END'")
	want("SELECT a FROM pawl.answers", 3)

	set(engine.Views, "answers", "")
	set(engine.Routines, "answer", head+"(a integer, b integer DEFAULT 3) RETURNS bigint"+tail+"'BEGIN RETURN a + b; END'")
	want("SELECT pawl.answer(1)::bigint", 4)
	set(engine.Routines, "answer", "")
	want("SELECT count(*) FROM pg_proc WHERE proname = 'answer' AND pronamespace = '"+p.Names.Schema+"'::regnamespace", 0)
}

// D-100: a tool writes to a table of its own in the transaction of the script.
func TestScriptKeepsTheSearchPath(t *testing.T) {
	p := place()(t)
	text, err := postgres.Script(0, 0, postgres.Options{Schema: p.Names.Schema})
	enginetest.Must(t, err)
	tx, err := p.SQL.BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	defer func() { _ = tx.Rollback() }()
	_, err = tx.ExecContext(t.Context(), "SET LOCAL search_path = elsewhere, public")
	enginetest.Must(t, err)
	_, err = tx.ExecContext(t.Context(), text)
	enginetest.Must(t, err)
	var path string
	enginetest.Must(t, tx.QueryRowContext(t.Context(), "SHOW search_path").Scan(&path))
	if path != "elsewhere, public" {
		t.Errorf("afterwards it is %s", path)
	}
}
