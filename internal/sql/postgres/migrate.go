package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/engine"
)

// The tables that record what was applied. They exist before the first migration, so they are
// not part of one.
const (
	historyTable = `CREATE TABLE IF NOT EXISTS pawl.pawl_schema (version integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, lowest integer NOT NULL, applied_at timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE TABLE IF NOT EXISTS pawl.pawl_object (kind text, name text, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY (kind, name))`
	// With it goes which catalog tables of Citus there are, so that others pay nothing for it.
	historyRead = `SELECT version, name, checksum, lowest, applied_at,
       pg_catalog.to_regclass($1::pg_catalog.text || '.pg_dist_partition') IS NOT NULL, pg_catalog.to_regclass($1::pg_catalog.text || '.pg_dist_schema') IS NOT NULL
  FROM pawl.pawl_schema ORDER BY version`
	historyInsert = `INSERT INTO pawl.pawl_schema (version, name, checksum, lowest) VALUES ($1, $2, $3, $4)`
	// A transaction-level lock also works behind a transaction pooler. It covers all
	// prefixes, because they create the schema together.
	historyLock = `SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('pawl.migrate/' || $1, 0))`
	// Names in a view, an index or a check are resolved when it is created: objects of other
	// users in "public" must not be found.
	safePath = `SET LOCAL search_path = pg_catalog, pg_temp`
)

// Migrate applies what is missing in one transaction: of processes that start together one
// applies it, and the others find it applied. Waiting for a table is bounded by LockTimeout,
// because DDL that waits for one idle reader would block every claim after it.
func (db *DB) Migrate(ctx context.Context) error {
	return db.inMigration(ctx, db.migrate)
}

// inMigration runs f in a transaction that excludes other migrations.
func (db *DB) inMigration(ctx context.Context, f func(ctx context.Context, tx pgx.Tx) error) error {
	return engine.Retry(ctx, func() error {
		ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
		defer cancel()
		conn, err := db.acquire(ctx, "migrate")
		if err != nil {
			return err
		}
		defer conn.Release()
		return wrap("migrate", pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
			said, err := db.supported(ctx, tx)
			if err != nil {
				return err
			}
			if err := db.beginDDL(ctx, tx); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, historyLock, db.folder.Names.Schema); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, fmt.Sprintf("SET LOCAL lock_timeout = %d", db.opts.LockTimeout.Milliseconds())); err != nil {
				return err
			}
			has := catalogsOf(said)
			if err := db.local(ctx, tx, has); err != nil {
				return err
			}
			if err := f(ctx, tx); err != nil {
				return err
			}
			return db.local(ctx, tx, has) // whatever made Citus distribute what was created now
		}), engine.ErrCommitUnknown)
	})
}

func (db *DB) migrate(ctx context.Context, tx pgx.Tx) error {
	if err := db.createSchema(ctx, tx); err != nil {
		return err
	}
	if err := script(ctx, tx, db.folder.Names.Render(historyTable)); err != nil {
		return err
	}
	have, _, err := db.schema(ctx, tx)
	if err != nil {
		return err
	}
	plan, err := db.folder.Plan(have)
	if err != nil || plan.Newer {
		return err
	}
	for _, m := range plan.Migrations {
		if err := script(ctx, tx, db.folder.Names.Render(m.Text)); err != nil {
			return fmt.Errorf("version %d (%s): %w", m.Version, m.Name, err)
		}
		if err := db.note(ctx, tx, m); err != nil {
			return err
		}
	}
	return db.applyObjects(ctx, tx, plan, len(have.Objects) == 0)
}

// note records a migration as applied.
func (db *DB) note(ctx context.Context, tx pgx.Tx, m engine.Migration) error {
	_, err := tx.Exec(ctx, db.folder.Names.Render(historyInsert), m.Version, m.Name, m.Checksum, m.Lowest)
	return err
}

// script runs several statements without arguments.
func script(ctx context.Context, tx pgx.Tx, text string) error {
	_, err := tx.Conn().PgConn().Exec(ctx, text).ReadAll()
	return err
}

// createSchema tests first: CREATE SCHEMA IF NOT EXISTS needs the privilege to create one
// even if it exists.
func (db *DB) createSchema(ctx context.Context, tx pgx.Tx) error {
	var there bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)`, db.folder.Names.Schema).Scan(&there); err != nil || there {
		return err
	}
	_, err := tx.Exec(ctx, `CREATE SCHEMA "`+db.folder.Names.Schema+`"`)
	return err
}

type queryer interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// schema reads the state of the schema, and which catalog tables of Citus there are.
func (db *DB) schema(ctx context.Context, q queryer) (s engine.Schema, has catalogs, err error) {
	rows, err := q.Query(ctx, db.folder.Names.Render(historyRead), db.citus.catalog)
	if err != nil {
		return s, has, err
	}
	s.Applied, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (a engine.Applied, err error) {
		err = row.Scan(&a.Version, &a.Name, &a.Checksum, &a.Lowest, &a.At, &has.partition, &has.schema)
		return a, err
	})
	if err != nil {
		return s, has, err
	}
	rows, err = q.Query(ctx, db.folder.Names.Render(objectRead))
	if err != nil {
		return s, has, err
	}
	s.Objects, err = pgx.CollectRows(rows, pgx.RowToStructByPos[engine.AppliedObject])
	return s, has, err
}

// CheckSchema compares the schema with what this build needs. A newer program's schema that
// this one may use is logged once.
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
	defer conn.Release()
	have, has, err := db.schema(ctx, conn)
	if err != nil && !errors.Is(classify(err), engine.ErrSchemaMissing) {
		return s, wrap("check schema", err, engine.ErrConnLost)
	}
	s = db.folder.Status(have)
	if err := db.local(ctx, conn, has); errors.Is(err, engine.ErrSchemaDistributed) {
		s.Err = err
	} else if err != nil {
		return s, wrap("check schema", err, engine.ErrConnLost)
	}
	return s, nil
}
