package postgres_test

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/internal/test/testpg"
)

// D-114: a user who may create in "public" defines functions and operators that match a call
// better than those of pg_catalog. Nothing of pawl's calls one: neither a view nor any
// statement, whoever's connection it runs on.
func TestNothingOfPublicIsCalled(t *testing.T) {
	address := trapped(t)
	db := open(t, address, postgres.Options{})
	enginetest.Must(t, db.Migrate(t.Context()))
	conn := connect(t, address)
	if n := number(t, conn, `SELECT count(*) FROM pg_depend d JOIN pg_class v ON v.oid = d.refobjid JOIN pg_namespace n ON n.oid = v.relnamespace WHERE n.nspname = 'pawl'`); n == 0 {
		t.Fatal("no dependencies of pawl's objects are seen")
	}
	// Names in a view, a default, a check or an index were resolved when it was created.
	traps := list(t, conn, `SELECT d.classid::regclass || ' ' || d.objid || ' on ' || pg_describe_object(d.refclassid, d.refobjid, 0) FROM pg_depend d
		WHERE d.refobjid IN (SELECT oid FROM pg_proc WHERE pronamespace = 'public'::regnamespace UNION ALL SELECT oid FROM pg_operator WHERE oprnamespace = 'public'::regnamespace)
		  AND d.classid NOT IN ('pg_operator'::regclass)`)
	if len(traps) > 0 {
		t.Errorf("objects of the schema use %v", traps)
	}
	for name, text := range statements(t) {
		for _, trap := range caught(t, conn, text) {
			t.Errorf("%s uses %s", name, trap)
		}
	}
	if len(caught(t, conn, `SELECT hashtextextended('x', 0), cardinality($1::int8[])`)) != 2 {
		t.Error("the traps do not catch a call that is not qualified")
	}
	enginetest.LiveOnce(t, db)
	// Names in routines are resolved when they run.
	conn = connect(t, address)
	_, err := conn.Exec(t.Context(), `SET search_path = "$user", public`)
	enginetest.Must(t, err)
	checkArguments(openDoor(t, &enginetest.Place{Names: engine.Names{Schema: "pawl"}}, conn))
}

// D-114: every routine sets its search_path, also in a place of another name.
func TestEveryRoutineSetsItsSearchPath(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	const unsafe = `SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
		WHERE n.nspname = $1 AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (p.proconfig), false)`
	if n := enginetest.Number(t, p, unsafe, p.Names.Schema); n != 0 {
		t.Errorf("%d routines do not", n)
	}
	if n := enginetest.Number(t, p, `SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = $1`, p.Names.Schema); n < 50 {
		t.Errorf("only %d routines are seen", n)
	}
}

// Layout rule 6: a routine whose plans are pinned switches the compiler off as well. A
// plan that is disabled gets a very high cost, which is when PostgreSQL compiles
// it: reserving a block of ids took 25 ms instead of 0.1.
func TestPinnedRoutinesAreNotCompiled(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	const pinned = `SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
		WHERE n.nspname = $1 AND EXISTS (SELECT FROM unnest(p.proconfig) c WHERE c LIKE 'enable%=off')`
	if n := enginetest.Number(t, p, pinned+` AND NOT 'jit=off' = ANY (p.proconfig)`, p.Names.Schema); n != 0 {
		t.Errorf("%d routines are", n)
	}
	if n := enginetest.Number(t, p, pinned, p.Names.Schema); n < 20 {
		t.Errorf("only %d routines are seen", n)
	}
}

// statements are all that this package sends, by name, in the schema "pawl".
func statements(t testing.TB) map[string]string {
	t.Helper()
	db, err := postgres.Open("postgres://nobody@127.0.0.1:1/none", postgres.Options{Schema: "pawl"})
	enginetest.Must(t, err)
	defer func() { _ = db.Close() }()
	all := map[string]string{}
	for _, s := range postgres.Statements(db) {
		all[s.Name] = s.Text
	}
	for name, text := range postgres.GoStatements {
		all[name] = engine.Names{Schema: "pawl"}.Render(text)
	}
	return all
}

// caught lists the traps that a statement would call. A function with the same
// text for its body depends on whatever that names.
func caught(t testing.TB, conn *pgx.Conn, text string) []string {
	t.Helper()
	ctx := context.Background()
	tx, err := conn.Begin(ctx)
	enginetest.Must(t, err)
	defer func() { _ = tx.Rollback(ctx) }()
	_, err = tx.Exec(ctx, `SET LOCAL search_path = "$user", public`)
	enginetest.Must(t, err)
	text = strings.TrimSuffix(strings.TrimSpace(text), ";")
	if _, err := tx.Exec(ctx, "PREPARE probe AS "+text); err != nil {
		return []string{err.Error()}
	}
	var types []string
	enginetest.Must(t, tx.QueryRow(ctx, `SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = 'probe'`).Scan(&types))
	_, err = tx.Exec(ctx, "DEALLOCATE probe")
	enginetest.Must(t, err)
	if _, err := tx.Exec(ctx, "CREATE FUNCTION pg_temp.probe("+strings.Join(types, ", ")+") RETURNS void LANGUAGE sql BEGIN ATOMIC "+text+"; END"); err != nil {
		return []string{err.Error()}
	}
	_, err = tx.Exec(ctx, `SET LOCAL search_path = pg_catalog, pg_temp`)
	enginetest.Must(t, err)
	rows, err := tx.Query(ctx, `SELECT DISTINCT pg_describe_object(d.refclassid, d.refobjid, 0) FROM pg_depend d JOIN pg_proc p ON p.oid = d.objid AND d.classid = 'pg_proc'::regclass
		WHERE p.proname = 'probe' AND d.refobjid IN (SELECT oid FROM pg_proc WHERE pronamespace = 'public'::regnamespace UNION ALL SELECT oid FROM pg_operator WHERE oprnamespace = 'public'::regnamespace)`)
	enginetest.Must(t, err)
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	enginetest.Must(t, err)
	return found
}

// trapped returns the address of a database whose schema "public" is full of traps.
func trapped(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("traps_%x", enginetest.Token())[:30]
	admin(t, `CREATE DATABASE "`+name+`"`)
	t.Cleanup(func() { admin(t, `DROP DATABASE "`+name+`" WITH (FORCE)`) })
	u, err := url.Parse(testpg.URL(t))
	enginetest.Must(t, err)
	u.Path = "/" + name
	conn := connect(t, u.String())
	for _, text := range traps(t, conn) {
		if _, err := conn.PgConn().Exec(t.Context(), text).ReadAll(); err != nil {
			t.Fatalf("%v: %.200s", err, text)
		}
	}
	return u.String()
}

func connect(t testing.TB, address string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	enginetest.Must(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	_, err = conn.Exec(t.Context(), `SET search_path = pg_catalog, pg_temp`) // of this test itself
	enginetest.Must(t, err)
	return conn
}

func number(t testing.TB, conn *pgx.Conn, query string, args ...any) (n int64) {
	t.Helper()
	enginetest.Must(t, conn.QueryRow(t.Context(), query, args...).Scan(&n))
	return n
}

func list(t testing.TB, conn *pgx.Conn, query string, args ...any) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), query, args...)
	enginetest.Must(t, err)
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	enginetest.Must(t, err)
	return all
}

var (
	calledName = regexp.MustCompile(`\b([a-z_][a-z0-9_]*) ?\(`)
	operator   = regexp.MustCompile(`[-+*/<>=~!@%&|#]+`)
)

// called are the names of all functions and operators in the text of routines,
// views and statements.
func called(t testing.TB) (functions, operators []string) {
	t.Helper()
	for _, kind := range []string{"*/*.sql", "*.go"} {
		paths, err := fs.Glob(os.DirFS("."), kind)
		enginetest.Must(t, err)
		for _, p := range paths {
			text, err := os.ReadFile(p)
			enginetest.Must(t, err)
			for _, m := range calledName.FindAllStringSubmatch(string(text), -1) {
				functions = append(functions, m[1])
			}
			operators = append(operators, operator.FindAllString(string(text), -1)...)
		}
	}
	slices.Sort(functions)
	slices.Sort(operators)
	return slices.Compact(functions), slices.Compact(operators)
}

// fits are the types that a parameter of a type takes without a cast.
func fits(name string) []string {
	scalars := []string{"text", "name", "int2", "int4", "int8", "numeric", "float8", "bool", "uuid", "timestamptz", "interval", "bytea", "jsonb", "oid"}
	switch name {
	case "any", "anyelement", "anynonarray", "anycompatible", "anycompatiblenonarray":
		return scalars
	case "anyarray", "anycompatiblearray":
		var arrays []string
		for _, s := range scalars {
			arrays = append(arrays, "_"+s)
		}
		return arrays
	case "text":
		return []string{"text", "varchar", "name"}
	case "int4":
		return []string{"int2", "int4"}
	case "int8":
		return []string{"int2", "int4", "int8"}
	case "numeric":
		return []string{"int2", "int4", "int8", "numeric"}
	case "float8":
		return []string{"int2", "int4", "int8", "numeric", "float8"}
	case "regclass":
		return []string{"oid", "int4", "int8", "text", "regclass"}
	}
	if slices.Contains(scalars, strings.TrimPrefix(name, "_")) {
		return []string{name}
	}
	return nil
}

// combinations are the parameter lists that fit one.
func combinations(types []string) [][]string {
	all := [][]string{nil}
	for _, name := range types {
		var more [][]string
		for _, c := range all {
			for _, f := range fits(name) {
				more = append(more, append(slices.Clone(c), f))
			}
		}
		all = more
	}
	return all
}

// traps make functions and operators in "public" that fit a call of those of
// pg_catalog better than they do themselves. Each fails when it is called.
func traps(t testing.TB, conn *pgx.Conn) []string {
	t.Helper()
	functions, operators := called(t)
	made := map[string]bool{}
	make := func(into *strings.Builder, key, format string, args ...any) {
		if !made[key] {
			made[key] = true
			fmt.Fprintf(into, format+";\n", args...)
		}
	}
	const body = `LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''a trap was called''; END'`
	var fns, ops strings.Builder
	for _, o := range overloads(t, conn, `SELECT p.proname::text, ARRAY(SELECT t.typname::text FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY u(oid, nth) JOIN pg_type t ON t.oid = u.oid ORDER BY u.nth),
		CASE WHEN p.proretset THEN 'SETOF ' ELSE '' END, (SELECT t.typname::text FROM pg_type t WHERE t.oid = p.prorettype)
		FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname = ANY ($1) AND p.pronargs BETWEEN 1 AND 4`, functions) {
		for _, c := range combinations(o.types) {
			if !slices.Equal(c, o.types) {
				make(&fns, fmt.Sprint(o.name, c), `CREATE FUNCTION public."%s"(%s) RETURNS %s%s %s`, o.name, strings.Join(c, ", "), o.set, o.result(c), body)
			}
		}
	}
	for _, o := range overloads(t, conn, `SELECT o.oprname::text, ARRAY[l.typname::text, r.typname::text], '', (SELECT t.typname::text FROM pg_type t WHERE t.oid = o.oprresult)
		FROM pg_operator o JOIN pg_type l ON l.oid = o.oprleft JOIN pg_type r ON r.oid = o.oprright WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprname = ANY ($1)`, operators) {
		for _, c := range combinations(o.types) {
			if !slices.Equal(c, o.types) {
				result := o.result(c)
				make(&fns, fmt.Sprint("trap_", result, c), `CREATE FUNCTION public."trap_%s"(%s) RETURNS %s %s`, result, strings.Join(c, ", "), result, body)
				make(&ops, fmt.Sprint(o.name, c), `CREATE OPERATOR public.%s (FUNCTION = public."trap_%s", LEFTARG = %s, RIGHTARG = %s)`, o.name, result, c[0], c[1])
			}
		}
	}
	return []string{fns.String(), ops.String()}
}

type overload struct {
	name         string
	types        []string
	set, result_ string
}

// result is a type that a trap with these parameters returns.
func (o *overload) result(types []string) string {
	if !strings.HasPrefix(o.result_, "any") {
		return o.result_
	}
	name := strings.TrimPrefix(types[0], "_")
	if strings.HasSuffix(o.result_, "array") {
		name = "_" + name
	}
	return name
}

func overloads(t testing.TB, conn *pgx.Conn, query string, names []string) (all []overload) {
	t.Helper()
	rows, err := conn.Query(t.Context(), query, names)
	enginetest.Must(t, err)
	all, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (o overload, err error) {
		err = r.Scan(&o.name, &o.types, &o.set, &o.result_)
		return o, err
	})
	enginetest.Must(t, err)
	return all
}
