package postgres

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

var _ engine.Migrator = (*DB)(nil)

// The search path is reset at the end: a tool writes to its own table in the same
// transaction.
const (
	keepPath = `SELECT pg_catalog.set_config('pawl.search_path', pg_catalog.current_setting('search_path'), true);
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true)`
	restorePath = `SELECT pg_catalog.set_config('search_path', pg_catalog.current_setting('pawl.search_path'), true)`
)

// Script returns the SQL that takes a schema from one version to another; see
// engine.Migrator. It does not use the database.
func (db *DB) Script(from, to int) (string, error) { return scriptOf(db.folder, from, to) }

// Script is DB.Script without a database.
func Script(from, to int, opts ...Options) (string, error) {
	o, err := engine.Option(opts)
	if err != nil {
		return "", err
	}
	folder, err := (*engine.Library)(nil).Folder("postgres", engine.Names{Schema: cmp.Or(o.Schema, defaultSchema), Prefix: o.Prefix}, texts)
	if err != nil {
		return "", err
	}
	return scriptOf(folder, from, to)
}

func scriptOf(folder *engine.Folder, from, to int) (string, error) {
	render := folder.Names.Render
	return folder.Script(from, to, engine.Dialect{
		Begin: fmt.Sprintf("CREATE SCHEMA IF NOT EXISTS %q;\n", folder.Names.Schema) + render(historyTable),
		Path:  keepPath,
		Unset: restorePath,
		Drop:  func(engine.Object) string { return "" }, // objects are replaced
		Note: func(m engine.Migration) string {
			return render(fmt.Sprintf(`INSERT INTO pawl.pawl_schema (version, name, checksum, lowest) VALUES (%d, '%s', '%s', %d)`, m.Version, m.Name, m.Checksum, m.Lowest))
		},
		Made: func(o engine.Object) string {
			return render(fmt.Sprintf(`INSERT INTO pawl.pawl_object AS o (kind, name, checksum) VALUES ('%s', '%s', '%s') ON CONFLICT (kind, name) DO UPDATE SET checksum = excluded.checksum, applied_at = clock_timestamp()`, o.Kind, o.Name, o.Checksum))
		},
	})
}

// Baseline records a schema that was created by hand; see engine.Migrator.
func (db *DB) Baseline(ctx context.Context) error {
	status, err := db.SchemaStatus(ctx)
	if err != nil || status.Database > 0 {
		return cmp.Or(err, status.Err)
	}
	findings, err := (&examiner{DB: db}).differences(ctx)
	if err = cmp.Or(err, engine.SchemaDifference(findings)); err != nil {
		return err
	}
	return db.inMigration(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := script(ctx, tx, db.folder.Names.Render(historyTable)); err != nil {
			return err
		}
		have, _, err := db.schema(ctx, tx)
		if err != nil || len(have.Applied) > 0 { // another process did it
			return err
		}
		for _, m := range db.folder.Migrations {
			if err := db.note(ctx, tx, m); err != nil {
				return err
			}
		}
		if err := db.recordObjects(ctx, tx, db.folder.Objects, nil); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, db.folder.Statement(op.GenerationRestored{}).Text)
		return err
	})
}
