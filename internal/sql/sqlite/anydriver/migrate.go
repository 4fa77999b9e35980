package anydriver

import (
	"cmp"
	"context"
	"errors"

	"github.com/bravellian/pawl/internal/engine"
)

// The tables that record what was applied. They exist before the first migration, so they are
// not part of one.
const (
	historyTable  = `CREATE TABLE IF NOT EXISTS pawl.pawl_schema (version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, lowest INTEGER NOT NULL, applied_at INTEGER NOT NULL) STRICT`
	historyRead   = `SELECT version, name, checksum, lowest, applied_at FROM pawl.pawl_schema ORDER BY version`
	historyInsert = `INSERT INTO pawl.pawl_schema (version, name, checksum, lowest, applied_at) VALUES (?1, ?2, ?3, ?4, ?5)`

	objectTable  = `CREATE TABLE IF NOT EXISTS pawl.pawl_object (kind TEXT NOT NULL, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL, PRIMARY KEY (kind, name)) STRICT, WITHOUT ROWID`
	objectRead   = `SELECT kind, name, checksum FROM pawl.pawl_object ORDER BY kind, name`
	objectInsert = `INSERT INTO pawl.pawl_object (kind, name, checksum, applied_at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (kind, name) DO UPDATE SET checksum = excluded.checksum, applied_at = excluded.applied_at`
	objectDelete = `DELETE FROM pawl.pawl_object WHERE kind = ?1 AND name = ?2`
)

// Migrate applies what is missing in one immediate transaction: of processes that start
// together one applies it, and the others find it applied.
func (db *DB) Migrate(ctx context.Context) error {
	return db.inMigration(ctx, db.migrate)
}

// inMigration runs f in a transaction of its own.
func (db *DB) inMigration(ctx context.Context, f func(s *session) error) error {
	ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
	defer cancel()
	if err := cmp.Or(db.CheckOutside(ctx, "migrate", ""), db.checkFiles(ctx)); err != nil {
		return wrap("migrate", err)
	}
	if err := acquire(ctx, db.lock); err != nil {
		return wrap("migrate", err)
	}
	defer func() { <-db.lock }()
	return wrap("migrate", db.writer.use(ctx, func(s *session) error {
		s.ctx = context.Background()
		if err := beginImmediate(ctx, s.dc); err != nil {
			return err
		}
		err := f(s)
		if err == nil {
			_, err = s.exec("COMMIT", nil)
		}
		if err != nil {
			_, _ = s.exec("ROLLBACK", nil)
			return err
		}
		return db.guard.committed()
	}))
}

func (db *DB) migrate(s *session) error {
	if err := db.makeHistory(s); err != nil {
		return err
	}
	have, err := db.schema(s)
	if err != nil {
		return err
	}
	plan, err := db.folder.Plan(have)
	if err != nil || plan.Newer {
		return err
	}
	for _, m := range plan.Migrations {
		if _, err := s.dc.ExecContext(context.Background(), db.folder.Names.Render(m.Text), nil); err != nil {
			return err
		}
		if err := db.note(s, m); err != nil {
			return err
		}
	}
	return db.applyViews(s, plan)
}

func (db *DB) makeHistory(s *session) error {
	for _, table := range []string{historyTable, objectTable} {
		if _, err := s.exec(db.folder.Names.Render(table), nil); err != nil {
			return err
		}
	}
	return nil
}

// note records a migration as applied.
func (db *DB) note(s *session, m engine.Migration) error {
	_, err := s.exec(db.folder.Names.Render(historyInsert), []any{m.Version, m.Name, m.Checksum, m.Lowest, db.now()})
	return err
}

func (db *DB) noteObject(s *session, o engine.Object) error {
	_, err := s.exec(db.folder.Names.Render(objectInsert), []any{o.Kind, o.Name, o.Checksum, db.now()})
	return err
}

// applyViews creates the views whose text was not applied to the database yet. A view can be
// dropped and created while others read it.
func (db *DB) applyViews(s *session, plan engine.Plan) error {
	for _, o := range plan.Drop {
		if err := db.dropView(s, o.Name); err != nil {
			return err
		}
		if _, err := s.exec(db.folder.Names.Render(objectDelete), []any{o.Kind, o.Name}); err != nil {
			return err
		}
	}
	for _, o := range plan.Apply {
		if err := db.dropView(s, o.Name); err != nil {
			return err
		}
		if _, err := s.dc.ExecContext(context.Background(), db.folder.Names.Render(o.Text), nil); err != nil {
			return err
		}
		if err := db.noteObject(s, o); err != nil {
			return err
		}
	}
	return nil
}

func (db *DB) dropView(s *session, name string) error {
	_, err := s.exec("DROP VIEW IF EXISTS "+db.folder.Names.Quote(name), nil)
	return err
}

// schema reads the state of the schema.
func (db *DB) schema(s *session) (have engine.Schema, err error) {
	err = s.query(db.folder.Names.Render(historyRead), nil, func(r engine.Row) error {
		var a engine.Applied
		defer func() { have.Applied = append(have.Applied, a) }()
		return r.Scan(&a.Version, &a.Name, &a.Checksum, &a.Lowest, &a.At)
	})
	if err != nil {
		return have, err
	}
	err = s.query(db.folder.Names.Render(objectRead), nil, func(r engine.Row) error {
		var a engine.AppliedObject
		defer func() { have.Objects = append(have.Objects, a) }()
		return r.Scan(&a.Kind, &a.Name, &a.Checksum)
	})
	return have, err
}

// CheckSchema compares the schema with what this build needs. A newer program's schema that
// this one may use is logged once.
func (db *DB) CheckSchema(ctx context.Context) error {
	status, err := db.SchemaStatus(ctx)
	return db.newer.Check(db.opts.Logger, status, err)
}

// SchemaStatus returns more than CheckSchema; see engine.Migrator.
func (db *DB) SchemaStatus(ctx context.Context) (status engine.SchemaStatus, err error) {
	ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
	defer cancel()
	var have engine.Schema
	err = db.reading(ctx, func(ses *session) (err error) {
		have, err = db.schema(ses)
		return err
	})
	if err != nil && !errors.Is(classify(err), engine.ErrSchemaMissing) {
		return status, wrap("check schema", err)
	}
	return db.folder.Status(have), nil
}
