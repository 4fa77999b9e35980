package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// Generation changes with the database's history; see engine.DB.
func (db *DB) Generation() int64 { return db.history.Generation() }

// HistoryChanges returns how often this process saw the database's history change.
func (db *DB) HistoryChanges() int64 { return db.history.Changes() }

// forget drops what is remembered of a history that is gone.
func (db *DB) forget() {
	db.ids.Drop()
	db.tuners.Clear()
}

// sightOf is what the database says of its generation.
func sightOf(s *op.GenerationSight) (seen engine.HistoryState) {
	if s.Mark != nil {
		seen.Mark = *s.Mark
	}
	if s.Written != nil {
		seen.Written = *s.Written
	}
	return seen
}

// meet asks over a connection that is new to this DB whether the history is still
// the one that it remembers: a new connection may lead to another server. One
// round trip for each connection. What fails but for the connection itself is not
// told: there may be no schema yet.
func (db *DB) meet(ctx context.Context, conn *pgx.Conn) error {
	data := conn.PgConn().CustomData()
	if data[db.met] != nil {
		return nil
	}
	seen, before := op.GenerationSight{}, db.history.State()
	look := db.folder.Statement(op.GenerationLook{})
	err := conn.QueryRow(ctx, look.Text, pgx.QueryExecModeExec).Scan(&seen.Mark, &seen.Number, &seen.Written)
	if err != nil && (conn.IsClosed() || broken(err)) {
		return wrap(look.Name, err, engine.ErrConnLost)
	}
	switch {
	case err == nil:
		data[db.met] = true
		db.saw(&seen, before)
	case sqlState(err) == "42501": // a role that may not ask, over any connection
		data[db.met] = true
	}
	return nil
}

// look reads what a look at the generation answers.
func (db *DB) look() (each func(engine.Row) error, finish func()) {
	var seen op.GenerationSight
	before := db.history.State()
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
	db.ahead.run(func(ctx context.Context) {
		_ = db.Read(ctx, engine.Ask(op.GenerationLook{})) // the next one tries again
	})
}

func (db *DB) saw(s *op.GenerationSight, before engine.HistoryState) {
	db.looked.Store(time.Now().UnixNano())
	db.history.Observe(sightOf(s), before)
}
