// Package postgres opens PostgreSQL databases for pawl, version 15 and later, through
// pgx.
//
// Idle workers are woken by NOTIFY. Behind a connection pooler that drops notifications
// pawl polls. One that assigns connections by the transaction also mixes up prepared
// statements: the URL then needs default_query_exec_mode=exec.
package postgres

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bravellian/pawl"
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
	// LockTimeout bounds how long a migration waits for a table, so that it does not block every program that queues
	// behind it. Default 5 s.
	LockTimeout time.Duration
	// RelaxedAck lets claims and acks commit without waiting for the disk: after a crash of the server the last half
	// second may be delivered again. Enqueues stay as durable as their transaction.
	RelaxedAck bool
	// PollOnly turns LISTEN off: idle workers poll.
	PollOnly bool
	// Logger gets a record when notifications do not arrive, when the server takes no writes, and whenever the
	// database's history changed. Default slog.Default().
	Logger *slog.Logger
}

// Open returns a database on a pool of its own, which connects to the server that a
// postgres:// URL or a key=value string names. The string may hold everything that pgx
// understands, encryption (sslmode) included, and several hosts: with target_session_attrs=read-write
// each new connection leads to the one that takes writes. The pool has at most 16 connections, or one
// for each processor if that is more, unless the string has pool_max_conns. None is made before it is
// needed; errors name the hosts and do not quote the string. Close closes the pool.
func Open(url string, opts ...Options) (pawl.DB, error) {
	return engine.Opened(impl.Open(url, options(opts)...))
}

// New returns a database on a pool that the caller owns; Close leaves the pool open. When its
// server refuses writes, pawl resets the pool, so that connections are made anew. pawl's
// own transactions run at read committed regardless of the connections' default. While
// workers run, pawl keeps one more connection to listen on.
func New(pool *pgxpool.Pool, opts ...Options) (pawl.DB, error) {
	return engine.Opened(impl.New(pool, options(opts)...))
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
func Pool(db pawl.DB) *pgxpool.Pool {
	if own, ok := engine.As[*impl.DB](db); ok {
		return own.Pool()
	}
	return nil
}

// Pgx returns the pgx transaction behind one that pawl began on PostgreSQL, as handlers
// of the inbox get it. ok is false for others.
func Pgx(tx pawl.Tx) (t pgx.Tx, ok bool) { return impl.Pgx(tx) }

var (
	// ErrOtherNode is returned by OnOwner.
	ErrOtherNode = impl.ErrOtherNode
	// ErrDistributed is returned by Migrate, CheckSchema and all that writes if Citus distributes
	// pawl's tables: pawl works on tables of one node. A program that runs notices within a second.
	ErrDistributed = engine.ErrSchemaDistributed
	// ErrUnsupported is returned by Migrate on CockroachDB, Aurora DSQL, Amazon Redshift and
	// Greenplum, which speak PostgreSQL's protocol and lack what pawl relies on. Nothing was
	// changed.
	ErrUnsupported = impl.ErrUnsupported
)

// CitusNodes is the query that fleet.Hosts reads the nodes of a Citus with, on its
// coordinator: every worker, and the coordinator if it should have shards or has pawl's tables.
// The key of a node is node- and its number in Citus (groupid), which a node keeps when its
// address changes. Nodes that are not active, or are being emptied of shards, are in the list:
// messages may wait in them.
//
//	fleet.Hosts(coordinator, postgres.CitusNodes, "postgres://app:secret@{host}:{port}/shop")
const CitusNodes = impl.CitusNodes

// OnOwner returns [ErrOtherNode] unless the transaction tx has written to a table on the node
// of its connection, if that is a node of a Citus, or if the database has no such table.
// Programs call it in a transaction that writes both a tenant's row and a message, after the
// first write to the table: from then on Citus does not move the table until the transaction
// ends. It holds at each isolation level. Roll the transaction back if it fails.
//
// Without it such a transaction commits on two nodes one after the other, and a failure
// between them loses the message or the row. table is the name of a table, not of a view, as
// SQL has it, with its schema: "tenant7.orders". Of a table with several shards all have to be
// on the node. tx is a *sql.Tx, a pgx.Tx or what else EnqueueTx takes. It is one query without
// Citus, where a table is always on the node of its connection, and two with it.
func OnOwner(ctx context.Context, tx any, table string) error { return impl.OnOwner(ctx, tx, table) }
