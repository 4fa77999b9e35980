package dbtest

import (
	"context"
	"database/sql"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// shelf has the schemas of this process that a test has given back. Making one and dropping it costs the
// server 0.3 s of processor time, two thirds of what all tests of a package took; emptying one 0.02 s. It is
// per process: others may test other routines on the same server.
var shelf struct {
	sync.Mutex
	free []shelved
}

// shelved is a schema with what it was when it was new.
type shelved struct {
	name  string
	made  made
	conns *pgxpool.Pool // a session costs 0.04 s of processor time until it has compiled the routines
}

// made is what a new schema has: a digest of its objects, and what is stored in it.
type made struct{ objects, lanes, generation, sequences string }

// take returns a schema that is as new.
func take() (s shelved, ok bool) {
	shelf.Lock()
	defer shelf.Unlock()
	if n := len(shelf.free); n > 0 {
		s, shelf.free = shelf.free[n-1], shelf.free[:n-1]
		return s, true
	}
	return s, false
}

// giveBack empties a schema for the next test, or drops it: when the test failed, changed an object, or is not
// on a server that ends with the tests.
func giveBack(t testing.TB, pool *sql.DB, s shelved) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if t.Failed() || !thrownAway(ctx, pool) || !empty(ctx, pool, s) || !idle(ctx, s.conns) {
		drop(t, pool, s.name)
		s.conns.Close()
		return
	}
	shelf.Lock()
	defer shelf.Unlock()
	shelf.free = append(shelf.free, s)
}

// idle makes sessions what they were, but for what they have compiled, and reports whether nobody has one.
func idle(ctx context.Context, conns *pgxpool.Pool) bool {
	free := conns.AcquireAllIdle(ctx)
	ok := int(conns.Stat().AcquiredConns()) == len(free)
	for _, c := range free {
		_, err := c.Conn().PgConn().Exec(ctx, "RESET SESSION AUTHORIZATION; RESET ALL; UNLISTEN *; SELECT pg_advisory_unlock_all()").ReadAll()
		ok = ok && err == nil
		c.Release()
	}
	return ok
}

// thrownAway reports whether the server is one of pgcluster's. On others nothing may stay.
func thrownAway(ctx context.Context, pool *sql.DB) bool {
	var name string
	return pool.QueryRowContext(ctx, "SHOW cluster_name").Scan(&name) == nil && name == "pawl-test"
}

// look reads what a schema has.
func look(ctx context.Context, pool *sql.DB, schema string) (m made, err error) {
	err = pool.QueryRowContext(ctx, strings.ReplaceAll(lookQuery, "pawl.", schema+"."), schema).Scan(&m.objects, &m.lanes, &m.generation, &m.sequences)
	return m, err
}

// inSchema finds what is in a schema by its dependencies, which have an index. The catalogs themselves have none by
// schema: beside those of other tests reading them took 0.2 s.
const inSchema = `
WITH n AS MATERIALIZED (SELECT $1::text::regnamespace::oid AS id),
d AS MATERIALIZED (SELECT classid, objid FROM pg_depend WHERE refclassid = 'pg_namespace'::regclass AND refobjid = (SELECT id FROM n)),
r AS MATERIALIZED (SELECT c.* FROM d JOIN pg_class c ON c.oid = d.objid WHERE d.classid = 'pg_class'::regclass)`

// Of tables the row in pg_class changes when they are emptied, so it is read by column.
const lookQuery = inSchema + `,
c AS MATERIALIZED (SELECT * FROM r UNION ALL SELECT i.* FROM r JOIN pg_index x ON x.indrelid = r.oid JOIN pg_class i ON i.oid = x.indexrelid),
x AS (
  SELECT 'n' || coalesce(nspacl::text, '') || nspowner AS what FROM pg_namespace WHERE oid = (SELECT id FROM n)
  UNION ALL SELECT 'p' || p.oid || ' ' || p.xmin FROM d JOIN pg_proc p ON p.oid = d.objid WHERE d.classid = 'pg_proc'::regclass
  UNION ALL SELECT 'c' || oid || ' ' || relname || relowner || coalesce(relacl::text, '') || coalesce(reloptions::text, '') FROM c
  UNION ALL SELECT 'a' || a.attrelid || ' ' || a.attnum || ' ' || a.xmin FROM pg_attribute a JOIN r ON r.oid = a.attrelid
  UNION ALL SELECT 'o' || k.oid || ' ' || k.xmin FROM pg_constraint k JOIN r ON r.oid = k.conrelid
  UNION ALL SELECT 't' || t.oid || ' ' || t.xmin FROM pg_trigger t JOIN r ON r.oid = t.tgrelid
  UNION ALL SELECT 'r' || w.oid || ' ' || w.xmin FROM pg_rewrite w JOIN r ON r.oid = w.ev_class
  UNION ALL SELECT 's' || version || checksum FROM pawl.pawl_schema
  UNION ALL SELECT 's' || kind || name || checksum FROM pawl.pawl_object)
SELECT (SELECT md5(string_agg(x.what, ',' ORDER BY x.what)) FROM x),
       (SELECT json_agg(l)::text FROM pawl.outbox_lane l), (SELECT json_agg(g)::text FROM pawl.generation g),
       (SELECT coalesce(string_agg(relname, ','), '') FROM r WHERE CASE relkind WHEN 'S' THEN pg_sequence_last_value(oid) IS NOT NULL END)`

// empty makes a schema what it was, and reports whether it is.
func empty(ctx context.Context, pool *sql.DB, s shelved) bool {
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return false
	}
	defer tx.Rollback()
	exec := func(query string, args ...any) {
		if err == nil {
			_, err = tx.ExecContext(ctx, strings.ReplaceAll(query, "pawl.", s.name+"."), args...)
		}
	}
	exec("SET LOCAL lock_timeout = '5s'")
	var tables sql.NullString
	if err == nil {
		err = tx.QueryRowContext(ctx, usedQuery, s.name).Scan(&tables)
	}
	if tables.Valid {
		exec("TRUNCATE " + tables.String + " CASCADE")
	}
	exec(inSchema+"DELETE FROM pg_statistic WHERE starelid IN (SELECT oid FROM r)", s.name)
	exec("DELETE FROM pawl.outbox_lane")
	exec("INSERT INTO pawl.outbox_lane SELECT * FROM json_populate_recordset(NULL::pawl.outbox_lane, $1)", s.made.lanes)
	exec("DELETE FROM pawl.generation")
	exec("INSERT INTO pawl.generation SELECT * FROM json_populate_recordset(NULL::pawl.generation, $1)", s.made.generation)
	exec(inSchema+"SELECT setval(seqrelid, seqstart, false) FROM r JOIN pg_sequence ON seqrelid = r.oid", s.name)
	if err != nil || tx.Commit() != nil {
		return false
	}
	now, err := look(ctx, pool, s.name)
	return err == nil && now == s.made
}

// usedQuery names the tables that were written to. The others need no new files.
const usedQuery = inSchema + `
SELECT string_agg(format('%I.%I', relnamespace::regnamespace, relname), ', ') FROM r
 WHERE relkind = 'r' AND pg_relation_size(oid) > 0 AND relname NOT IN ('pawl_schema', 'pawl_object', 'outbox_lane', 'generation')`
