package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/engine"
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

const generationLook = "generation/look"

// sight is what the database says of its generation, as it is read.
type sight struct {
	mark            *string
	number, written *int64
}

func (s *sight) of() (seen engine.Sight) {
	if s.mark != nil {
		seen.Mark = *s.mark
	}
	if s.written != nil {
		seen.Written = *s.written
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
	seen, before := sight{}, db.history.Known()
	err := conn.QueryRow(ctx, db.folder.Ops[generationLook], pgx.QueryExecModeExec).Scan(&seen.mark, &seen.number, &seen.written)
	if err != nil && (conn.IsClosed() || broken(err)) {
		return wrap(generationLook, err, engine.ErrConnLost)
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

// look reads what a call of generation/look answers.
func (db *DB) look() (each func(engine.Row) error, finish func()) {
	seen, before := &sight{}, db.history.Known()
	return func(r engine.Row) error { return r.Scan(&seen.mark, &seen.number, &seen.written) }, func() { db.saw(seen, before) }
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
		_ = db.Read(ctx, &engine.Call{Op: generationLook}) // the next one tries again
	})
}

func (db *DB) saw(s *sight, before engine.Sight) {
	db.looked.Store(time.Now().UnixNano())
	db.history.Saw(s.of(), before)
}
