package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/enginetest"
)

// matrixFile says who may do what: a line for each table, view, sequence and routine of the
// schema. What is not there nobody may do.
const matrixFile = "testdata/rights.txt"

// thing is a table, view, sequence or routine, as the catalog has it.
type thing struct {
	kind, name string
	oid        uint32
	columns    []string // of a table or view
	call       string   // of a routine: all arguments null
}

// things are all there are in the schema.
func things(t *testing.T, conn *pgx.Conn, schema string) (all []thing) {
	t.Helper()
	const query = `
SELECT CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'view' WHEN 'S' THEN 'sequence' ELSE 'table' END, c.relname::text, c.oid,
  ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attname), ''
  FROM pg_class c WHERE c.relnamespace = quote_ident($1::text)::regnamespace AND c.relkind NOT IN ('i', 'I', 't', 'c')
UNION ALL
SELECT 'routine', p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')', p.oid, '{}',
  format('%s %I.%I(%s)', CASE p.prokind WHEN 'p' THEN 'CALL' ELSE 'SELECT' END, $1::text, p.proname, coalesce((SELECT string_agg('v.a' || u.nth, ', ' ORDER BY u.nth) FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY u(type, nth)), ''))
  || coalesce((SELECT ' FROM (SELECT ' || string_agg(format('NULL::%s AS a%s', format_type(u.type, NULL), u.nth), ', ' ORDER BY u.nth) || ' OFFSET 0) v' FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY u(type, nth)), '')
  FROM pg_proc p WHERE p.pronamespace = quote_ident($1::text)::regnamespace`
	rows, err := conn.Query(t.Context(), query, schema)
	enginetest.Must(t, err)
	all, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (o thing, err error) {
		err = r.Scan(&o.kind, &o.name, &o.oid, &o.columns, &o.call)
		o.name = strings.ReplaceAll(o.name, schema+".", "")
		return o, err
	})
	enginetest.Must(t, err)
	return all
}

// tried reports whether a role may execute a statement, which changes nothing. That a
// statement fails for another reason says that it was not refused.
func tried(t *testing.T, tx pgx.Tx, statement string) bool {
	t.Helper()
	ctx := t.Context()
	sub, err := tx.Begin(ctx)
	enginetest.Must(t, err)
	_, err = sub.Exec(ctx, statement)
	enginetest.Must(t, sub.Rollback(ctx))
	var e *pgconn.PgError
	switch {
	case err == nil:
		return true
	case !errors.As(err, &e):
		t.Fatalf("%s: %v", statement, err)
	case e.Code == "42501" || e.Code == "55000" || e.Code == "0A000" || e.Code == "428C9": // refused, or what no view can do
		return false
	case e.Code == "23502" || e.Code == "0LP01": // a null, an option: rights were checked before
		return true
	default:
		t.Fatalf("%s: %v", statement, err)
	}
	return false
}

// does is what somebody may do with a thing: the attempt.
func (o *thing) does(t *testing.T, tx pgx.Tx, schema string) []string {
	t.Helper()
	at := pgx.Identifier{schema, o.name}.Sanitize()
	var may []string
	note := func(word, statement string) {
		if tried(t, tx, statement) {
			may = append(may, word)
		}
	}
	each := func(word, format string) {
		var some []string
		for _, c := range o.columns {
			if tried(t, tx, fmt.Sprintf(format, pgx.Identifier{c}.Sanitize(), at)) {
				some = append(some, c)
			}
		}
		switch {
		case len(some) == len(o.columns):
			may = append(may, word)
		case len(some) > 0:
			may = append(may, word+"("+strings.Join(some, ",")+")")
		}
	}
	switch o.kind {
	case "routine":
		note("execute", "EXPLAIN "+o.call)
	case "sequence":
		note("select", "SELECT last_value FROM "+at)
		note("nextval", fmt.Sprintf("SELECT nextval(%d::oid)", o.oid))
		note("setval", fmt.Sprintf("SELECT setval(%d::oid, 1)", o.oid))
	default:
		each("select", "EXPLAIN SELECT %s FROM %s")
		note("insert", "EXPLAIN INSERT INTO "+at+" DEFAULT VALUES")
		each("update", "EXPLAIN UPDATE %[2]s SET %[1]s = DEFAULT")
		note("delete", "EXPLAIN DELETE FROM "+at)
		if o.kind == "table" {
			note("truncate", "TRUNCATE "+at+" CASCADE")
		}
	}
	return may
}

// granted compares what was tried with what the catalog says, of the rights on a whole table.
func (o *thing) granted(t *testing.T, tx pgx.Tx, role engine.Role, may []string) {
	t.Helper()
	if o.kind != "table" {
		return
	}
	for _, word := range []string{"select", "insert", "update", "delete", "truncate"} {
		var has bool
		enginetest.Must(t, tx.QueryRow(t.Context(), `SELECT has_table_privilege(current_user, $1::oid, $2)`, o.oid, word).Scan(&has))
		if has != slices.Contains(may, word) {
			t.Errorf("%s %s: %s: the catalog says %v, the attempt %v", o.kind, o.name, word, has, may)
		}
	}
}

// D-300: each role tries everything with every table, view, sequence and routine that the
// catalog has. What it may is what testdata/rights.txt says: a new object without a line
// there fails.
func TestEveryRoleWithEveryObject(t *testing.T) {
	roles := []engine.Role{engine.RoleProducer, engine.RoleWorker, engine.RoleOperator, engine.RoleViewer}
	p, owner, people := grants(t, roles...)
	name, address := role(t) // without any right
	people["nobody"] = newPerson(t, open(t, address, postgres.Options{Schema: p.Names.Schema}), p.Names)
	admin(t, `GRANT USAGE ON SCHEMA "`+p.Names.Schema+`" TO "`+name+`"`)
	conn, err := owner.db.Pool().Acquire(t.Context())
	enginetest.Must(t, err)
	all := things(t, conn.Conn(), p.Names.Schema)
	conn.Release()
	got := map[string]string{}
	for _, r := range append(roles, "nobody") {
		tx, err := people[r].db.Pool().Begin(t.Context())
		enginetest.Must(t, err)
		defer func() { _ = tx.Rollback(context.Background()) }() // what fails leaves no lock behind
		for i := range all {
			o := &all[i]
			may := o.does(t, tx, p.Names.Schema)
			o.granted(t, tx, r, may)
			key := o.kind + " " + o.name
			if got[key] == "" {
				got[key] = key + ":"
			}
			if len(may) > 0 {
				got[key] += " " + string(r) + "=" + strings.Join(may, "+")
			}
			checkNever(t, r, o, may)
		}
		enginetest.Must(t, tx.Rollback(context.Background()))
	}
	var lines []string
	for _, line := range got {
		lines = append(lines, line+"\n")
	}
	slices.Sort(lines)
	if *update {
		enginetest.Must(t, os.WriteFile(matrixFile, []byte(strings.Join(lines, "")), 0o644))
	}
	text, err := os.ReadFile(matrixFile)
	enginetest.Must(t, err)
	want := slices.Collect(strings.Lines(string(text)))
	for _, line := range lines {
		if !slices.Contains(want, line) {
			t.Errorf("not in %s: %s", matrixFile, line)
		}
	}
	for _, line := range want {
		if !slices.Contains(lines, line) {
			t.Errorf("in %s alone: %s", matrixFile, line)
		}
	}
}

// checkNever has what no line of the table may say, whoever writes it.
func checkNever(t *testing.T, r engine.Role, o *thing, may []string) {
	t.Helper()
	for _, m := range may {
		word, columns, part := strings.Cut(strings.TrimSuffix(m, ")"), "(")
		secret := func() bool {
			names := o.columns
			if part {
				names = strings.Split(columns, ",")
			}
			return slices.ContainsFunc(names, func(c string) bool { return slices.Contains([]string{"payload", "headers", "last_error", "error"}, c) })
		}
		never := word == "truncate" || word == "setval" || r == "nobody" ||
			r == engine.RoleViewer && word != "select" && o.kind != "routine" ||
			r == engine.RoleProducer && word == "select" && secret() ||
			word != "select" && slices.Contains([]string{"audit_trail", "generation", "pawl_schema", "pawl_object"}, o.name) ||
			word == "update" && o.name == "outbox_message"
		if never {
			t.Errorf("a %s may %s on %s %s", r, m, o.kind, o.name)
		}
	}
}
