package sqlite

import (
	"context"
	"errors"

	"github.com/bravellian/pawl/engine"
)

// The table that remembers what was applied. It exists before the first
// migration, so it is not part of one.
const (
	historyTable  = `CREATE TABLE IF NOT EXISTS pawl.pawl_schema (version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT`
	historyRead   = `SELECT version, checksum FROM pawl.pawl_schema ORDER BY version`
	historyInsert = `INSERT INTO pawl.pawl_schema (version, name, checksum, applied_at) VALUES (?1, ?2, ?3, ?4)`
)

// Migrate applies what is missing in one immediate transaction: of processes
// that start together one applies and the others find it done.
func (db *DB) Migrate(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
	defer cancel()
	if err := db.sound(ctx); err != nil {
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
		err := db.migrate(s)
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
	if _, err := s.exec(db.folder.Names.Render(historyTable), nil); err != nil {
		return err
	}
	have, err := db.applied(s)
	if err != nil {
		return err
	}
	pending, err := engine.Pending(db.folder.Migrations, have)
	if err != nil {
		return err
	}
	for _, m := range pending {
		if _, err := s.dc.ExecContext(context.Background(), m.SQL, nil); err != nil {
			return err
		}
		if _, err := s.exec(db.folder.Names.Render(historyInsert), []any{m.Version, m.Name, m.Checksum, db.now()}); err != nil {
			return err
		}
	}
	return nil
}

func (db *DB) applied(s *session) ([]engine.Applied, error) {
	var have []engine.Applied
	err := s.query(db.folder.Names.Render(historyRead), nil, func(r engine.Row) error {
		var a engine.Applied
		defer func() { have = append(have, a) }()
		return r.Scan(&a.Version, &a.Checksum)
	})
	return have, err
}

// CheckSchema compares the schema with what this build needs.
func (db *DB) CheckSchema(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
	defer cancel()
	var have []engine.Applied
	err := db.reading(ctx, func(ses *session) (err error) {
		have, err = db.applied(ses)
		return err
	})
	if err != nil && !errors.Is(classify(err), engine.ErrSchemaMissing) {
		return wrap("check schema", err)
	}
	return engine.Check(db.folder.Migrations, have)
}
