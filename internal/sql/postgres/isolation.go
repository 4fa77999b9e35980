package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/engine"
)

// pawl's own transactions are read committed: after waiting for a lock a statement has to see
// what the lock's holder did. A role, a database, a connection string or the program that
// owns the pool may have set another default. The connection's default cannot be changed: it
// is shared, and behind a pooler it changes per transaction. Reading it beforehand costs a
// round trip. So the first transaction on a connection begins with its level and reads the
// default with it; where that is read committed, as almost everywhere, later ones omit it.

const (
	beginOwn   = "BEGIN ISOLATION LEVEL READ COMMITTED"
	commitOwn  = "COMMIT"
	askDefault = "SELECT current_setting('default_transaction_isolation')"
)

// defaultLevel is the known default isolation level of a connection.
type defaultLevel int

const (
	unknownLevel  defaultLevel = iota
	readCommitted              // transactions need not set their level
	otherLevel
)

// levelKey is where a connection keeps its defaultLevel.
const levelKey = "github.com/bravellian/pawl/internal/sql/postgres: default isolation level"

func levelOf(conn *pgx.Conn) defaultLevel {
	level, _ := conn.PgConn().CustomData()[levelKey].(defaultLevel)
	return level
}

func setLevel(conn *pgx.Conn, level defaultLevel) { conn.PgConn().CustomData()[levelKey] = level }

// begin queues the statements that precede the calls of a transaction on conn, and returns
// the reader of their results. Its end has to queue commitOwn where explicit is true.
func begin(conn *pgx.Conn, batch *pgx.Batch) (explicit bool, read func(pgx.BatchResults) error) {
	level := levelOf(conn)
	if level == readCommitted {
		return false, func(pgx.BatchResults) error { return nil }
	}
	batch.Queue(beginOwn)
	if level == unknownLevel {
		batch.Queue(askDefault)
	}
	return true, func(results pgx.BatchResults) error {
		if _, err := results.Exec(); err != nil || level == otherLevel {
			return err
		}
		var is string
		if err := results.QueryRow().Scan(&is); err != nil {
			return err
		}
		setLevel(conn, otherLevel)
		if is == "read committed" {
			setLevel(conn, readCommitted)
		}
		return nil
	}
}

// rollback ends a transaction that began explicitly and failed, so that its connection can be
// used again. If that fails the pool closes the connection.
func rollback(ctx context.Context, conn *pgx.Conn) {
	if conn.IsClosed() || conn.PgConn().TxStatus() == idle {
		return
	}
	ctx, cancel := engine.Detach(ctx, rollbackLimit)
	defer cancel()
	_, _ = conn.Exec(ctx, "ROLLBACK")
}

// idle is the status of a connection that is not in a transaction.
const idle = 'I'
