package nemesis

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/bravellian/pawl/torture/internal/store"
)

// databaseFaults are made by sessions that any user of the database could have.
func databaseFaults() []Fault {
	const long = 3 * time.Second
	return []Fault{
		{Name: "migrate", Track: Database, Do: func(ctx context.Context, w *World, _ Step) error {
			return w.Store.Pawl.Migrate(ctx)
		}},
		{Name: "long-reader", Track: Database, Low: time.Second, High: long, Do: longReader},
		{Name: "deadlock", Engines: OnServers, Track: Database, Low: 50 * time.Millisecond, High: 300 * time.Millisecond, Do: deadlock},
		{Name: "lock-tables", Engines: Postgres, Track: Database, Low: 500 * time.Millisecond, High: long, Do: lockTables},
		{Name: "lock-rows", Engines: Postgres, Track: Database, Low: 500 * time.Millisecond, High: long, Do: lockRows},
		{Name: "terminate-backends", Engines: Postgres, Track: Database, Do: terminate("pg_terminate_backend")},
		{Name: "cancel-statements", Engines: Postgres, Track: Database, Do: terminate("pg_cancel_backend")},
		{Name: "lock-file", Engines: SQLite, Track: Database, Low: 500 * time.Millisecond, High: store.StatementTimeout + time.Second, Do: lockFile},
		{Name: "checkpoint", Engines: SQLite, Track: Database, Do: func(ctx context.Context, w *World, _ Step) error {
			_, err := w.Store.SQL.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
			return err
		}},
	}
}

// within runs do in a transaction and keeps it open for as long as the step says.
func within(ctx context.Context, w *World, s Step, do func(tx *sql.Tx) error) error {
	tx, err := w.Store.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := do(tx); err != nil {
		return err
	}
	wait(ctx, s.Hold)
	return nil
}

// longReader keeps a snapshot open or, on SQL Server, locks of what it has read.
func longReader(ctx context.Context, w *World, s Step) error {
	options := &sql.TxOptions{ReadOnly: !w.Place.SQLServer()} // which its driver does not have
	if w.Place.OnServer() {
		options.Isolation = sql.LevelRepeatableRead
	}
	conn, err := w.Store.SQL.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	tx, err := conn.BeginTx(ctx, options)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var n int
	if err := tx.QueryRowContext(ctx, w.Store.Text(`SELECT count(*) FROM {s}torture_ledger`)).Scan(&n); err != nil {
		return err
	}
	wait(ctx, s.Hold)
	return nil
}

// deadlock locks a row of each of two tables in the order that is not the producers'. That
// this session is the one that is chosen to fail is as good.
func deadlock(ctx context.Context, w *World, s Step) error {
	for n := range store.Cells {
		_ = within(ctx, w, s, func(tx *sql.Tx) error {
			err := w.Store.Exec(ctx, tx, `UPDATE {s}torture_b SET n = n + 1 WHERE id = ?`, n+1)
			wait(ctx, s.Hold)
			return errors.Join(err, w.Store.Exec(ctx, tx, `UPDATE {s}torture_a SET n = n + 1 WHERE id = ?`, n+1))
		})
	}
	return nil
}

func lockTables(ctx context.Context, w *World, s Step) error {
	tables := []string{"outbox_ready", "outbox_claim", "outbox_done", "outbox_message", "timer", "lease", "flow_step", "flow_signal"}
	return within(ctx, w, s, func(tx *sql.Tx) error {
		return w.Store.Exec(ctx, tx, `LOCK TABLE {s}`+tables[s.Pick%uint64(len(tables))]+` IN ACCESS EXCLUSIVE MODE`)
	})
}

func lockRows(ctx context.Context, w *World, s Step) error {
	tables := []string{"outbox_ready", "outbox_claim", "outbox_join", "lease", "job", "timer", "flow_step", "flow_wait"}
	return within(ctx, w, s, func(tx *sql.Tx) error {
		return w.Store.Exec(ctx, tx, `SELECT 1 FROM {s}`+tables[s.Pick%uint64(len(tables))]+` LIMIT 20 FOR UPDATE SKIP LOCKED`)
	})
}

// terminate ends connections, or their statements: those of this round's processes, which are
// known by their application_name.
func terminate(function string) func(ctx context.Context, w *World, s Step) error {
	return func(ctx context.Context, w *World, s Step) error {
		const some = 3
		_, err := w.Store.SQL.ExecContext(ctx, strings.Replace(
			`SELECT f(pid) FROM (SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid() ORDER BY md5(pid::text || $2) LIMIT $3) AS s`,
			"f(", function+"(", 1),
			w.Place.Schema, strconv.FormatUint(s.Pick, 10), some)
		return err
	}
}

// lockFile has the file's write lock for longer than transactions wait for it.
func lockFile(ctx context.Context, w *World, s Step) error {
	return within(ctx, w, s, func(tx *sql.Tx) error {
		return w.Store.Exec(ctx, tx, `UPDATE torture_a SET n = n + 1 WHERE id = 1`)
	})
}
