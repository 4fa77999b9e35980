package testmssql

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl/sqlserver/internal/sqlserver"
)

// places are schemas that tests left empty, and those that tests of this process have.
type places struct {
	mu   sync.Mutex
	free []string
	held map[string]*sql.Conn // those of this process, free ones included, and who has their lock
}

// Take returns a schema that nobody else uses: one that a test left and that check accepts,
// or a new one. It comes back when the test ends, unless that failed or it cannot be
// emptied: then it is dropped.
func Take(t testing.TB, check func(schema string) error) string {
	t.Helper()
	pool := Shared(t)
	name := taken.take(t, pool, check)
	t.Cleanup(func() {
		if !t.Failed() && check(name) == nil && empty(pool, name) == nil {
			taken.back(name, true)
			return
		}
		defer taken.back(name, false) // only then: or somebody takes what is being dropped
		if err := sqlserver.Drop(context.Background(), pool, name); err != nil {
			t.Errorf("drop schema %s: %v", name, err)
		}
	})
	return name
}

func (p *places) take(t testing.TB, pool *sql.DB, check func(schema string) error) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		name := p.free[n-1]
		p.free = p.free[:n-1]
		return name
	}
	name, lock := p.kept(t, pool, check)
	if name == "" {
		name = Name()
		lock = hold(t, pool, name)
	}
	if p.held == nil {
		p.held = map[string]*sql.Conn{}
	}
	p.held[name] = lock
	return name
}

func (p *places) back(name string, usable bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if usable {
		p.free = append(p.free, name)
		return
	}
	if lock := p.held[name]; lock != nil {
		_ = lock.Close()
	}
	delete(p.held, name)
}

// kept returns a schema that an earlier process left, where that is wanted, and drops those
// that are of another build.
func (p *places) kept(t testing.TB, pool *sql.DB, check func(schema string) error) (string, *sql.Conn) {
	if os.Getenv(Keep) == "" {
		return "", nil
	}
	for _, name := range list(t, pool) {
		if _, own := p.held[name]; own {
			continue
		}
		lock := hold(t, pool, name)
		if lock == nil {
			continue // another process has it
		}
		if check(name) == nil && empty(pool, name) == nil {
			return name, lock
		}
		_ = lock.Close()
	}
	return "", nil
}

// hold takes the lock of a schema for this process; nil if another one has it.
func hold(t testing.TB, pool *sql.DB, name string) *sql.Conn {
	conn, err := pool.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var got int
	err = conn.QueryRowContext(context.Background(), `DECLARE @got int;
EXEC @got = sys.sp_getapplock @Resource = @p1, @LockMode = N'Exclusive', @LockOwner = N'Session', @LockTimeout = 0;
SELECT @got`, "pawl.test/"+name).Scan(&got)
	if err != nil || got < 0 {
		_ = conn.Close()
		return nil
	}
	return conn
}

func list(t testing.TB, pool *sql.DB) []string {
	all, err := names(context.Background(), pool, `SELECT s.name FROM sys.schemas s WHERE s.name LIKE N't[_]%' AND LEN(s.name) = 34 ORDER BY s.name`)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// names returns the one column of a query.
func names(ctx context.Context, pool *sql.DB, query string, args ...any) (all []string, err error) {
	rows, err := pool.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		all = append(all, name)
	}
	return all, rows.Err()
}

// empty deletes what a test wrote and drops its own tables; generation and the records of the
// schema stay.
func empty(pool *sql.DB, schema string) error {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	written := []string{
		"outbox_join_result", "outbox_join_member", "outbox_join_waiting", "outbox_join", "outbox_message", "outbox_ready", "outbox_claimed", "outbox_done", "outbox_exception", "outbox_attempt", "outbox_order", "outbox_unique", "outbox_limit_claim", "outbox_limit", "inbox",
		"lease_waiter", "lease", "timer", "job_run", "job", "declared", "audit_trail", "outbox_pause", "worker_process", "outbox_lane", "move", "move_table",
	}
	if err := dropTriggers(ctx, pool, schema); err != nil {
		return err
	}
	if err := dropOthers(ctx, pool, schema, append([]string{"generation", "pawl_schema", "pawl_object"}, written...)); err != nil {
		return err
	}
	for _, table := range written {
		if _, err := pool.ExecContext(ctx, fmt.Sprintf("DELETE FROM %s.%s", schema, table)); err != nil {
			return err
		}
	}
	_, err := pool.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s.outbox_lane (id, queue, priority) VALUES (4828129222919567135, N'default', 0)", schema))
	return err
}

// dropOthers drops the tables of a schema that are none of pawl's.
func dropOthers(ctx context.Context, pool *sql.DB, schema string, pawls []string) error {
	tables, err := names(ctx, pool, `SELECT t.name FROM sys.tables t WHERE t.schema_id = SCHEMA_ID(@p1)`, schema)
	if err != nil {
		return err
	}
	for _, name := range tables {
		if slices.Contains(pawls, name) {
			continue
		}
		if _, err := pool.ExecContext(ctx, fmt.Sprintf(`DROP TABLE "%s"."%s"`, schema, name)); err != nil {
			return err
		}
	}
	return nil
}

// dropTriggers drops those of a schema: of a store that was moved nothing can be deleted.
func dropTriggers(ctx context.Context, pool *sql.DB, schema string) error {
	triggers, err := names(ctx, pool, `SELECT t.name FROM sys.triggers t INNER JOIN sys.tables o ON o.object_id = t.parent_id WHERE o.schema_id = SCHEMA_ID(@p1)`, schema)
	for _, name := range triggers {
		if _, err := pool.ExecContext(ctx, fmt.Sprintf(`DROP TRIGGER "%s"."%s"`, schema, name)); err != nil {
			return err
		}
	}
	return err
}
