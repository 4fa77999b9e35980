package anydriver

import (
	"cmp"
	"context"
	"fmt"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

var _ engine.Migrator = (*DB)(nil)

// Script returns the SQL that takes a schema from one version to another; see
// engine.Migrator. It does not use the database.
func (db *DB) Script(from, to int) (string, error) { return scriptOf(db.folder, from, to) }

// Script is DB.Script without a database.
func Script(from, to int, opts ...Options) (string, error) {
	o, err := options(opts)
	if err != nil {
		return "", err
	}
	folder, err := (*engine.Library)(nil).Folder("sqlite", engine.Names{Prefix: o.Prefix}, texts)
	if err != nil {
		return "", err
	}
	return scriptOf(folder, from, to)
}

func scriptOf(folder *engine.Folder, from, to int) (string, error) {
	const now = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)"
	render := folder.Names.Render
	return folder.Script(from, to, engine.Dialect{
		Begin: render(historyTable) + ";\n" + render(objectTable),
		Drop: func(o engine.Object) string {
			if from == 0 {
				return ""
			}
			return "DROP VIEW IF EXISTS " + folder.Names.Quote(o.Name)
		},
		Note: func(m engine.Migration) string {
			return render(fmt.Sprintf(`INSERT INTO pawl.pawl_schema (version, name, checksum, lowest, applied_at) VALUES (%d, '%s', '%s', %d, %s)`, m.Version, m.Name, m.Checksum, m.Lowest, now))
		},
		Made: func(o engine.Object) string {
			return render(fmt.Sprintf(`INSERT INTO pawl.pawl_object (kind, name, checksum, applied_at) VALUES ('%s', '%s', '%s', %s) ON CONFLICT (kind, name) DO UPDATE SET checksum = excluded.checksum, applied_at = excluded.applied_at`, o.Kind, o.Name, o.Checksum, now))
		},
	})
}

// Baseline records a schema that was created by hand; see engine.Migrator.
func (db *DB) Baseline(ctx context.Context) error {
	status, err := db.SchemaStatus(ctx)
	if err != nil || status.Database > 0 {
		return cmp.Or(err, status.Err)
	}
	findings, _, err := (&examiner{DB: db}).differences(ctx)
	if err = cmp.Or(err, engine.SchemaDifference(findings)); err != nil {
		return err
	}
	return db.inMigration(ctx, func(s *session) error {
		if err := db.makeHistory(s); err != nil {
			return err
		}
		have, err := db.schema(s)
		if err != nil || len(have.Applied) > 0 { // another process did it
			return err
		}
		for _, m := range db.folder.Migrations {
			if err := db.note(s, m); err != nil {
				return err
			}
		}
		for _, o := range db.folder.Objects {
			if err := db.noteObject(s, o); err != nil {
				return err
			}
		}
		if _, err := s.exec(db.folder.Names.Render(sequenceSeed), nil); err != nil {
			return err
		}
		t := db.begin(s)
		t.limit = ctx
		_, err = restored(t, op.GenerationRestored{})
		return err
	})
}

// sequenceSeed is a row that a copy of the tables alone does not have.
const sequenceSeed = `INSERT OR IGNORE INTO pawl.outbox_sequence (last, one) VALUES (0, 1)`
