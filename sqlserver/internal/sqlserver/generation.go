package sqlserver

import (
	"context"
	"database/sql"
	"errors"

	"github.com/bravellian/pawl/internal/driverr"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/enginekit/history"
)

// Generation changes with the database's history; see engine.DB.
func (db *DB) Generation() int64 { return db.history.Generation() }

// HistoryChanges returns how often this process saw the database's history change.
func (db *DB) HistoryChanges() int64 { return db.history.Changes() }

// dropCaches drops what is kept in memory of an earlier history.
func (db *DB) dropCaches() { db.ids.Drop() }

// readVersioned asks whether statements read row versions, which decides on the hints of
// claims.
const readVersioned = `SELECT d.is_read_committed_snapshot_on FROM sys.databases d WHERE d.name = DB_NAME()`

// checkConnection reads over a connection that is new to this DB how the database is set, and
// its history: a new connection may lead to another server. Only errors of the connection
// itself are returned: there may be no schema yet.
func (db *DB) checkConnection(ctx context.Context, conn *sql.Conn) error {
	inner := driverOf(conn)
	if inner == nil || !db.checked.add(inner) {
		return nil
	}
	var versioned bool
	if err := readRow(ctx, conn, readVersioned, &versioned); err == nil {
		db.versioned.Store(versioned)
	} else if broken(err) {
		db.checked.forget(inner)
		return wrap("open", err, engine.ErrConnLost)
	}
	look := db.folder.Statement(op.GenerationCheck{})
	if look == nil {
		return nil
	}
	seen, before := op.GenerationState{}, db.history.State()
	err := readRow(ctx, conn, look.Text, &seen.Mark, &seen.Number, &seen.Written)
	switch {
	case err == nil:
		db.history.Observe(&seen, before)
	case broken(err):
		db.checked.forget(inner)
		return wrap(look.Name, err, engine.ErrConnLost)
	case !driverr.HasNumber(err, errNoRight): // this role may not read it, over any connection
		db.checked.forget(inner)
	}
	return nil
}

// errNoRight: the right to execute is missing.
const errNoRight = 229

// failed is wrap. If a position was taken, the cached blocks are of another history, and are
// dropped.
func (db *DB) failed(op string, err error, cut error) error {
	err = wrap(op, err, cut)
	if errors.Is(err, engine.ErrPosition) {
		db.ids.Drop()
		history.ReadLater(&db.ahead, db)
	}
	return err
}
