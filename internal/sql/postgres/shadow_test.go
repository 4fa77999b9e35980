package postgres_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/enginetest"
)

// shadows make functions and operators with the very parameters of those of pg_catalog that
// routines call, in a schema that the caller's path has before pg_catalog; and tables and
// types in pg_temp, which a path that does not name it searches first.
func shadows(t *testing.T, conn *pgx.Conn, tables []string) []string {
	t.Helper()
	functions, operators := called(t)
	const body = `LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''a shadow was called''; END'`
	made := list(t, conn, `SELECT format('CREATE FUNCTION evil.%I(%s) RETURNS %s `+strings.ReplaceAll(strings.ReplaceAll(body, "'", "''"), "%", "%%")+`', p.proname,
		  pg_get_function_identity_arguments(p.oid), pg_get_function_result(p.oid))
		FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND p.proname = ANY ($1)
		  AND NOT EXISTS (SELECT FROM unnest(p.proargtypes::oid[] || p.prorettype) u(oid) JOIN pg_type y ON y.oid = u.oid WHERE y.typname IN ('internal', 'cstring'))
		  AND (p.proargmodes IS NULL OR NOT p.proargmodes && '{o,b,t,v}')`, functions)
	made = append(made, list(t, conn, `SELECT DISTINCT ON (o.oprname, o.oprleft, o.oprright) format('CREATE FUNCTION evil.%I(%s, %s) RETURNS %s `+strings.ReplaceAll(strings.ReplaceAll(body, "'", "''"), "%", "%%")+
		`; CREATE OPERATOR evil.%s (FUNCTION = evil.%I, LEFTARG = %s, RIGHTARG = %s)', 'op' || o.oid, format_type(o.oprleft, NULL), format_type(o.oprright, NULL), format_type(o.oprresult, NULL),
		  o.oprname, 'op' || o.oid, format_type(o.oprleft, NULL), format_type(o.oprright, NULL))
		FROM pg_operator o WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprkind = 'b' AND o.oprname = ANY ($1)`, operators)...)
	for _, name := range []string{"text", "uuid", "int8", "int4", "int2", "bool", "bytea", "jsonb", "timestamptz", "interval", "float8", "record"} {
		made = append(made, `CREATE TYPE pg_temp."`+name+`" AS (shadow pg_catalog.int4)`)
	}
	for _, name := range tables {
		made = append(made, `CREATE TEMPORARY TABLE "`+name+`" (shadow pg_catalog.int4)`)
	}
	return made
}

// D-301: a caller whose path begins with a schema of hostile functions and operators, and who
// has temporary tables and types of the names that routines use, calls every routine with
// every argument, and changes nothing of what it does.
func TestRoutinesIgnoreTheCallersPath(t *testing.T) {
	address := trapped(t)
	db := open(t, address, postgres.Options{})
	enginetest.Must(t, db.Migrate(t.Context()))
	conn := connect(t, address)
	f := openDoor(t, &enginetest.Place{Names: engine.Names{Schema: "pawl"}}, connect(t, address))
	tables := list(t, conn, `SELECT relname::text FROM pg_class WHERE relnamespace = 'pawl'::regnamespace AND relkind IN ('r', 'v')`)
	if len(tables) < 30 {
		t.Fatalf("only %d tables", len(tables))
	}
	_, err := conn.Exec(t.Context(), `CREATE SCHEMA evil`)
	enginetest.Must(t, err)
	made := 0
	for _, statement := range shadows(t, conn, tables) {
		if _, err := conn.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%v: %.300s", err, statement)
		}
		made++
	}
	if made < 300 {
		t.Errorf("only %d shadows", made)
	}
	_, err = conn.Exec(t.Context(), `SET search_path = evil, pg_catalog, public`, pgx.QueryExecModeSimpleProtocol)
	enginetest.Must(t, err)
	for _, probe := range []string{`SELECT now()`, `SELECT 'a'::pg_catalog.text = 'b'::pg_catalog.text`, `SELECT NULL::text = 'x'`, `SELECT shadow + 0 FROM outbox_ready UNION ALL SELECT lower('x')::pg_catalog.int4`} {
		if _, err := conn.Exec(t.Context(), probe, pgx.QueryExecModeSimpleProtocol); err == nil {
			t.Errorf("%s: no shadow was called", probe)
		}
	}
	f.conn = conn
	for _, r := range door(f) {
		// What the caller's own text names would be shadowed.
		call := strings.NewReplacer("now()", "'2030-01-01 00:00Z'", "::text", "::pg_catalog.text").Replace(r.call("", ""))
		if err := f.try(call); err != nil {
			t.Errorf("%.200s: %v", call, err)
		}
	}
}
