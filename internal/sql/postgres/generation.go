package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

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
func (db *DB) dropCaches() {
	db.ids.Drop()
	db.tuners.Clear()
	db.timers.Store(&timers{})
	db.listen.reconnect() // its connection may lead to the server of the earlier history
}

// checkConnection reads the history over a connection that is new to this DB: a new
// connection may lead to another server. One round trip per connection. Only errors of the
// connection itself are returned: there may be no schema yet.
func (db *DB) checkConnection(ctx context.Context, conn *pgx.Conn) error {
	data := conn.PgConn().CustomData()
	if data[db.checkedKey] != nil {
		return nil
	}
	seen, before := op.GenerationState{}, db.history.State()
	look := db.folder.Statement(op.GenerationCheck{})
	err := conn.QueryRow(ctx, look.Text, pgx.QueryExecModeExec).Scan(&seen.Mark, &seen.Number, &seen.Written)
	if err != nil && (conn.IsClosed() || broken(err)) {
		return wrap(look.Name, err, engine.ErrConnLost)
	}
	switch {
	case err == nil:
		if seen.Mark != nil { // a standby has none: once it is promoted, this connection is checked
			data[db.checkedKey] = true
		}
		db.history.Observe(&seen, before)
	case driverr.SQLState(err) == "42501": // this role may not read it, over any connection
		data[db.checkedKey] = true
	}
	return nil
}

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
