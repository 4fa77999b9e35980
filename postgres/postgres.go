// Package postgres opens PostgreSQL databases for pawl, version 14 and later, through
// pgx.
//
// Idle workers are woken by NOTIFY. Behind a connection pooler that drops notifications
// pawl polls. One that assigns connections by the transaction also mixes up prepared
// statements: the URL then needs default_query_exec_mode=exec.
package postgres

import (
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bravellian/pawl/internal/engine"
	impl "github.com/bravellian/pawl/internal/sql/postgres"
)

// Options configure a database. The zero value is right for most programs.
type Options struct {
	// Schema holds pawl's tables and routines, default "pawl".
	Schema string
	// Prefix is put before the name of every table and routine, default none.
	Prefix string
	// StatementTimeout bounds every transaction. Default 30 s.
	StatementTimeout time.Duration
	// LockTimeout bounds how long a migration waits for a table, so that it does not
	// block every program that queues behind it. Default 5 s.
	LockTimeout time.Duration
	// RelaxedAck lets claims and acks commit without waiting for the disk: after a
	// crash of the server the last half second may be delivered again. Enqueues stay as
	// durable as their transaction.
	RelaxedAck bool
	// PollOnly turns LISTEN off: idle workers poll.
	PollOnly bool
	// Logger gets a record when notifications do not arrive, when the server takes no
	// writes, and whenever the database's history changed. Default slog.Default().
	Logger *slog.Logger
}

// Open returns a database on a pool of its own, which connects to the server that a
// postgres:// URL or a key=value string names. The string may hold everything that pgx
// understands, encryption (sslmode) included, and several hosts: with
// target_session_attrs=read-write each new connection leads to the one that takes writes. No
// connection is made before it is needed; errors name the hosts and do not quote the string.
// Close closes the pool.
func Open(url string, opts ...Options) (engine.DB, error) {
	db, err := impl.Open(url, options(opts)...)
	if err != nil {
		return nil, err
	}
	return db, nil
}

// New returns a database on a pool that the caller owns; Close leaves the pool open. When its
// server refuses writes, pawl resets the pool, so that connections are made anew. pawl's
// own transactions run at read committed regardless of the connections' default. While
// workers run, pawl keeps one more connection to listen on.
func New(pool *pgxpool.Pool, opts ...Options) (engine.DB, error) {
	db, err := impl.New(pool, options(opts)...)
	if err != nil {
		return nil, err
	}
	return db, nil
}

func options(opts []Options) (all []impl.Options) {
	for _, o := range opts {
		all = append(all, impl.Options(o))
	}
	return all
}

// OpenURL opens a database of a fleet by its postgres:// URL; a program gives it to
// fleet.Options.
func OpenURL(o engine.OpenOptions) (engine.DB, error) { return impl.OpenURL(o) }

// Pool returns the pool of a database, for the program's own tables and transactions. It
// returns nil for a database that is not PostgreSQL.
func Pool(db engine.DB) *pgxpool.Pool {
	if own, ok := engine.As[*impl.DB](db); ok {
		return own.Pool()
	}
	return nil
}

// Pgx returns the pgx transaction behind one that pawl began on PostgreSQL, as handlers
// of the inbox get it. ok is false for others.
func Pgx(tx engine.Tx) (t pgx.Tx, ok bool) { return impl.Pgx(tx) }
