package sqlserver

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// Generation changes with the database's history; see engine.DB.
func (db *DB) Generation() int64 { return db.history.Generation() }

// HistoryChanges returns how often this process saw the database's history change.
func (db *DB) HistoryChanges() int64 { return db.history.Changes() }

// forget drops what is remembered of a history that is gone.
func (db *DB) forget() { db.ids.Drop() }

// sightOf is what the database says of its generation.
func sightOf(s *op.GenerationSight) (seen engine.Sight) {
	if s.Mark != nil {
		seen.Mark = *s.Mark
	}
	if s.Written != nil {
		seen.Written = *s.Written
	}
	return seen
}

// readVersioned asks whether statements read row versions, which decides on the hints of
// claims.
const readVersioned = `SELECT d.is_read_committed_snapshot_on FROM sys.databases d WHERE d.database_id = DB_ID()`

// meet asks over a connection that is new to this DB how the database is set, and whether
// the history is still the one that it remembers: a new connection may lead to another
// server. What fails but for the connection itself is not told: there may be no schema
// yet.
func (db *DB) meet(ctx context.Context, conn *sql.Conn) error {
	inner := driverOf(conn)
	if inner == nil || !db.met.add(inner) {
		return nil
	}
	var versioned bool
	if err := readRow(ctx, conn, readVersioned, &versioned); err == nil {
		db.versioned.Store(versioned)
	} else if broken(err) {
		db.met.forget(inner)
		return wrap("open", err, engine.ErrConnLost)
	}
	look := db.folder.Statement(op.GenerationLook{})
	if look == nil {
		return nil
	}
	seen, before := op.GenerationSight{}, db.history.Known()
	err := readRow(ctx, conn, look.Text, &seen.Mark, &seen.Number, &seen.Written)
	switch {
	case err == nil:
		db.saw(&seen, before)
	case broken(err):
		db.met.forget(inner)
		return wrap(look.Name, err, engine.ErrConnLost)
	case errorNumber(err) != errNoRight: // a role that may not ask is not to ask over any connection
		db.met.forget(inner)
	}
	return nil
}

// errNoRight: the right to execute is missing.
const errNoRight = 229

// look reads what a look at the generation answers.
func (db *DB) look() (each func(engine.Row) error, finish func()) {
	var seen op.GenerationSight
	before := db.history.Known()
	each = engine.Scan(func(row *op.GenerationSight, unread error) error {
		seen = *row
		return unread
	})
	return each, func() { db.saw(&seen, before) }
}

// failed is wrap. If a position was another's, the blocks at hand are of another
// history, whether or not the database tells so.
func (db *DB) failed(op string, err error, cut error) error {
	err = wrap(op, err, cut)
	if errors.Is(err, engine.ErrPosition) {
		db.ids.Drop()
		db.lookBeside()
	}
	return err
}

// lookEvery is how often a program that only enqueues in its own transactions asks
// for the generation: it may neither open connections nor send heartbeats.
const lookEvery = 10 * time.Second

// lookSometimes asks for the generation beside the caller, if nobody has for long.
func (db *DB) lookSometimes() {
	if time.Since(time.Unix(0, db.looked.Load())) > lookEvery {
		db.lookBeside()
	}
}

func (db *DB) lookBeside() {
	db.ahead.Run(func(ctx context.Context) {
		_ = db.Read(ctx, engine.Ask(op.GenerationLook{})) // the next one tries again
	})
}

func (db *DB) saw(s *op.GenerationSight, before engine.Sight) {
	db.looked.Store(time.Now().UnixNano())
	db.history.Saw(sightOf(s), before)
}
