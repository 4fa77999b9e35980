package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/engine"
)

// Transactions of our own are read committed: whoever waits for a lock has to see
// afterwards what its holder did. A role, a database, a connection string or the
// program that owns the pool may have set another default. That cannot be changed
// for the connection: it is not ours alone, and behind a pooler not even one. Nor can
// it be asked beforehand, at the price of a round trip. So the first transaction on a
// connection says BEGIN with its level and asks for the default on the way; where
// that is read committed, as nearly everywhere, the next ones need not say anything.

const (
	beginOwn   = "BEGIN ISOLATION LEVEL READ COMMITTED"
	commitOwn  = "COMMIT"
	askDefault = "SELECT current_setting('default_transaction_isolation')"
)

// defaultLevel is what is known of the default isolation level of a connection.
type defaultLevel int

const (
	unknownLevel  defaultLevel = iota
	readCommitted              // transactions need not say which level they want
	otherLevel
)

// levelKey is where a connection keeps its defaultLevel.
const levelKey = "github.com/bravellian/pawl/internal/sql/postgres: default isolation level"

func levelOf(conn *pgx.Conn) defaultLevel {
	level, _ := conn.PgConn().CustomData()[levelKey].(defaultLevel)
	return level
}

func setLevel(conn *pgx.Conn, level defaultLevel) { conn.PgConn().CustomData()[levelKey] = level }

// begin queues what has to precede the calls of a transaction on conn, and returns
// what reads the answers. Its end has to queue commitOwn where explicit is true.
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

// rollback ends a transaction that began explicitly and failed, so that its
// connection can be used again. One that cannot be ended is closed by the pool.
func rollback(ctx context.Context, conn *pgx.Conn) {
	if conn.IsClosed() || conn.PgConn().TxStatus() == idle {
		return
	}
	ctx, cancel := engine.Detach(ctx, rollbackLimit)
	defer cancel()
	_, _ = conn.Exec(ctx, "ROLLBACK")
}

// idle is the status of a connection that is in no transaction.
const idle = 'I'
