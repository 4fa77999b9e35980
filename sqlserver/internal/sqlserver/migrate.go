package sqlserver

import (
	"context"
	"database/sql"
	_ "embed" // for types.sql
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/bravellian/pawl/internal/engine"
)

// The tables that record what was applied. They exist before the first migration, so they
// are not part of one.
const (
	historyTable = `IF OBJECT_ID(N'pawl.pawl_schema', N'U') IS NULL
CREATE TABLE pawl.pawl_schema (version int NOT NULL PRIMARY KEY, name nvarchar(255) NOT NULL, checksum nvarchar(100) NOT NULL, lowest int NOT NULL, applied_at datetime2(7) NOT NULL DEFAULT SYSUTCDATETIME());
IF OBJECT_ID(N'pawl.pawl_object', N'U') IS NULL
CREATE TABLE pawl.pawl_object (kind nvarchar(20) COLLATE Latin1_General_100_BIN2 NOT NULL, name nvarchar(128) COLLATE Latin1_General_100_BIN2 NOT NULL, checksum nvarchar(100) NOT NULL, applied_at datetime2(7) NOT NULL DEFAULT SYSUTCDATETIME(), PRIMARY KEY (kind, name))`
	historyRead   = `SELECT version, name, checksum, lowest, applied_at FROM pawl.pawl_schema ORDER BY version`
	historyInsert = `INSERT INTO pawl.pawl_schema (version, name, checksum, lowest) VALUES (%d, %s, %s, %d)`
	// A lock of the transaction ends with it, whatever happens. It covers all prefixes,
	// because they make the schema together.
	historyLock = `DECLARE @got int, @lock nvarchar(255) = CONCAT(N'pawl.migrate/', DB_NAME(), N'/', @p1);
EXEC @got = sys.sp_getapplock @Resource = @lock, @LockMode = N'Exclusive', @LockOwner = N'Transaction', @LockTimeout = -1;
IF @got < 0 THROW 51222, 'could not lock migrations', 1`
	// createSchema checks first: creating needs a right even where there is nothing to
	// create.
	createSchema = `IF SCHEMA_ID(N'%[1]s') IS NULL EXEC (N'CREATE SCHEMA "%[1]s"')`
)

// makeTypes makes the schema's table types, which have to be committed before anything uses them.
//
//go:embed types.sql
var makeTypes string

// Migrate applies what is missing in one transaction: of processes that start together one
// applies it and the others find it done. Waiting for a table is bounded by LockTimeout:
// DDL that waits for one idle reader blocks every claim after it.
func (db *DB) Migrate(ctx context.Context) error {
	err := db.inMigration(ctx, db.types)
	if err == nil {
		err = db.inMigration(ctx, db.migrate)
	}
	if err == nil {
		db.checked.clear() // there is a generation to read
	}
	return err
}

// inMigration runs f in a transaction that no other migration runs beside.
func (db *DB) inMigration(ctx context.Context, f func(ctx context.Context, tx *sql.Tx) error) error {
	return engine.Retry(ctx, func() error {
		wait, stop := context.WithTimeout(ctx, db.opts.StatementTimeout)
		conn, err := db.acquire(wait, "migrate")
		stop()
		if err != nil {
			return err
		}
		defer db.release(conn)
		tx, err := conn.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		if err != nil {
			return wrap("migrate", err, engine.ErrConnLost)
		}
		defer tx.Rollback() // does nothing after a commit
		if err := db.migrating(ctx, tx, f); err != nil {
			return wrap("migrate", err, engine.ErrConnLost)
		}
		return wrap("migrate", tx.Commit(), engine.ErrCommitUnknown)
	})
}

// migrating makes f's errors undo everything, and ends its settings afterwards: a pool that
// does not reset its connections would return them.
func (db *DB) migrating(ctx context.Context, tx *sql.Tx, f func(ctx context.Context, tx *sql.Tx) error) error {
	if err := db.script(ctx, tx, language+"SET XACT_ABORT ON"); err != nil {
		return err
	}
	if err := db.lockMigrations(ctx, tx); err != nil {
		return err
	}
	if err := db.script(ctx, tx, fmt.Sprintf("SET LOCK_TIMEOUT %d", db.opts.LockTimeout.Milliseconds())); err != nil {
		return err
	}
	if err := f(ctx, tx); err != nil {
		return err
	}
	return db.script(ctx, tx, "SET LOCK_TIMEOUT -1; SET XACT_ABORT OFF")
}

// types makes the schema, unless it exists, and its table types.
func (db *DB) types(ctx context.Context, tx *sql.Tx) error {
	if err := db.script(ctx, tx, fmt.Sprintf(createSchema, db.opts.Schema)); err != nil {
		return err
	}
	return db.script(ctx, tx, db.folder.Names.Render(makeTypes))
}

func (db *DB) migrate(ctx context.Context, tx *sql.Tx) error {
	if err := db.script(ctx, tx, db.folder.Names.Render(historyTable)); err != nil {
		return err
	}
	have, err := db.schema(ctx, tx)
	if err != nil {
		return err
	}
	plan, err := db.folder.Plan(have)
	if err != nil || plan.Newer {
		return err
	}
	for i := range plan.Migrations {
		m := &plan.Migrations[i]
		if err := db.script(ctx, tx, db.folder.Names.Render(m.Text)); err != nil {
			return fmt.Errorf("version %d (%s): %w", m.Version, m.Name, err)
		}
		if err := db.script(ctx, tx, db.note(m)); err != nil {
			return err
		}
	}
	return db.applyObjects(ctx, tx, plan, len(have.Objects) == 0)
}

// note returns the statement that records a migration as applied.
func (db *DB) note(m *engine.Migration) string { return noteOf(db.folder, m) }

func noteOf(folder *engine.Folder, m *engine.Migration) string {
	return folder.Names.Render(fmt.Sprintf(historyInsert, m.Version, quoteText(m.Name), quoteText(m.Checksum), m.Lowest))
}

// separator ends a batch of a script. It is no T-SQL: clients split at it.
var separator = regexp.MustCompile(`(?mi)^[ \t]*GO[ \t]*;?[ \t]*\r?$`)

// batches splits a script.
func batches(text string) (all []string) {
	for _, batch := range separator.Split(text, -1) {
		if batch = strings.TrimSpace(batch); batch != "" {
			all = append(all, batch)
		}
	}
	return all
}

// script runs the batches of a script, which has no arguments. StatementTimeout bounds each: a
// schema is some two hundred of them.
func (db *DB) script(ctx context.Context, tx *sql.Tx, text string) error {
	for _, batch := range batches(text) {
		if err := db.batch(ctx, tx, batch); err != nil {
			return err
		}
	}
	return nil
}

func (db *DB) batch(ctx context.Context, tx *sql.Tx, text string) error {
	ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
	defer cancel()
	_, err := tx.ExecContext(ctx, text)
	return err
}

// lockWaits is how many times StatementTimeout a migration waits for another one to end.
const lockWaits = 10

func (db *DB) lockMigrations(ctx context.Context, tx *sql.Tx) error {
	ctx, cancel := context.WithTimeout(ctx, lockWaits*db.opts.StatementTimeout)
	defer cancel()
	_, err := tx.ExecContext(ctx, historyLock, db.opts.Schema)
	return err
}

type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// readRow reads the one row of a query, to the end of the result: sql.Row leaves the rest,
// which the driver then cancels at the server, in a transaction too.
func readRow(ctx context.Context, q queryer, query string, dest ...any) error {
	rows, err := q.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		return orElse(rows.Err(), sql.ErrNoRows)
	}
	if err := rows.Scan(dest...); err != nil {
		return err
	}
	for rows.Next() {
	}
	return rows.Err()
}

// collect reads all rows of a query.
func collect[T any](ctx context.Context, q queryer, query string, scan func(rows *sql.Rows, row *T) error) (all []T, err error) {
	rows, err := q.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var row T
		if err := scan(rows, &row); err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

// schema reads which schema the database has.
func (db *DB) schema(ctx context.Context, q queryer) (s engine.Schema, err error) {
	render := db.folder.Names.Render
	s.Applied, err = collect(ctx, q, render(historyRead), func(rows *sql.Rows, a *engine.Applied) error {
		return rows.Scan(&a.Version, &a.Name, &a.Checksum, &a.Lowest, &a.At)
	})
	if err != nil {
		return s, err
	}
	s.Objects, err = collect(ctx, q, render(objectRead), func(rows *sql.Rows, a *engine.AppliedObject) error {
		return rows.Scan(&a.Kind, &a.Name, &a.Checksum)
	})
	return s, err
}

// CheckSchema compares the schema with what this build needs. That of a newer program
// which this one may use is logged once.
func (db *DB) CheckSchema(ctx context.Context) error {
	status, err := db.SchemaStatus(ctx)
	return db.newer.Check(db.opts.Logger, status, err)
}

// SchemaStatus returns more than CheckSchema; see engine.Migrator.
func (db *DB) SchemaStatus(ctx context.Context) (s engine.SchemaStatus, err error) {
	ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
	defer cancel()
	conn, err := db.acquire(ctx, "check schema")
	if err != nil {
		return s, err
	}
	defer db.release(conn)
	have, err := db.schema(ctx, conn)
	if err != nil && !errors.Is(classify(err), engine.ErrSchemaMissing) {
		return s, wrap("check schema", err, engine.ErrConnLost)
	}
	return db.folder.Status(have), nil
}

// clear makes every connection be checked again.
func (k *known) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = nil
}
