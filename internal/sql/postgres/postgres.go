// Package postgres is pawl on PostgreSQL 15 and later, through pgx.
//
// Operations are stored routines, so that a worker's ack of one batch and its claim of the
// next are sent as one pipelined transaction, and programs in other languages can call the
// same routines. Idle workers are woken by NOTIFY, which producers send only while a worker
// sleeps; if a connection pooler drops notifications pawl notices and polls. A pooler that
// assigns connections per transaction also mixes up prepared statements: then the URL needs
// default_query_exec_mode=exec.
package postgres

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/enginekit/background"
	"github.com/bravellian/pawl/internal/enginekit/dsn"
	"github.com/bravellian/pawl/internal/enginekit/history"
)

//go:embed activity audit backlog clock doctor explain fleet flow generation grants health inbox job join lease macros move outbox routines schema timer views
var files embed.FS

// Options are those of the public package postgres, which says what they do.
type Options struct {
	Schema           string
	Prefix           string
	StatementTimeout time.Duration
	LockTimeout      time.Duration
	RelaxedAck       bool
	PollOnly         bool
	Logger           *slog.Logger
}

// Validate returns an error that names the first invalid field. Open and New call it.
func (o *Options) Validate() error {
	return cmp.Or(engine.CheckOption("StatementTimeout", o.StatementTimeout, 1, 0), engine.CheckOption("LockTimeout", o.LockTimeout, 1, 0))
}

const defaultSchema = "pawl"

// DB is a PostgreSQL database with pawl's tables. It implements engine.DB.
type DB struct {
	pool     *pgxpool.Pool
	owned    bool
	opts     Options
	citus    citus
	folder   *engine.Folder
	ids      engine.Blocks
	notifier engine.Notifier
	tuners   sync.Map // queue → *tuner
	timers   atomic.Pointer[timers]
	reaps    atomic.Int64
	listen   *listener
	closed   atomic.Bool
	encoding atomic.Value // of the database: a string; not set before the first connection

	localUntil atomic.Int64 // until when pawl's tables count as this node's own, in nanoseconds since 1970

	history    history.Reader
	ahead      background.Runner
	newer      engine.NewerWarning
	failover   failover
	checkedKey string // the key under which connections record that their generation was read
}

var _ engine.DB = (*DB)(nil)

// Open opens the server at a postgres:// URL or key=value string. The string may have
// everything pgx accepts, encryption (sslmode) and several hosts included. Connections are made
// when they are needed.
func Open(url string, opts ...Options) (*DB, error) {
	config, err := parse(url)
	if err != nil {
		return nil, err
	}
	return open(sized(config, url), nil, opts)
}

// defaultConnections is the least size of a pool whose URL has none. With pgx's default of 4 the
// default number of handlers waits for connections most of the time: docs/drivers.md has figures.
const defaultConnections = 16

// sized gives a pool its default size, unless the URL, or the service that it names, has pool_max_conns.
func sized(config *pgxpool.Config, url string) *pgxpool.Config {
	if asked, err := pgx.ParseConfig(url); err == nil && asked.RuntimeParams["pool_max_conns"] == "" {
		config.MaxConns = max(config.MaxConns, defaultConnections)
	}
	return config
}

// pingTimeout bounds the check of a connection that was idle: it may lead to a server that is
// gone without a word, and there may be several such.
const pingTimeout = 5 * time.Second

// parse returns an error for a URL that pgx would parse in another way than was meant: part
// of a password would become the host or database, which errors name (D-5).
func parse(url string) (*pgxpool.Config, error) {
	if err := dsn.Check(url); err != nil {
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("open postgres: %w", redact(err))
	}
	sayUTF8(config.ConnConfig)
	if config.PingTimeout == 0 {
		config.PingTimeout = pingTimeout
	}
	return config, nil
}

func open(config *pgxpool.Config, l *engine.Library, opts []Options) (*DB, error) {
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, fmt.Errorf("open postgres: %w", redact(err))
	}
	db, err := build(pool, l, opts)
	if err != nil {
		pool.Close()
		return nil, err
	}
	db.owned = true
	return db, nil
}

// New uses a pool that you own; Close leaves it open. When its server refuses writes, the pool
// is reset, so that connections are made anew. Whatever the default isolation level of
// its connections is, pawl's own transactions run at read committed. While workers run, pawl
// keeps one more connection of its own for notifications.
func New(pool *pgxpool.Pool, opts ...Options) (*DB, error) { return build(pool, nil, opts) }

func build(pool *pgxpool.Pool, l *engine.Library, opts []Options) (*DB, error) {
	o, err := engine.Option(opts)
	if err != nil {
		return nil, err
	}
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("postgres: options: %w", err)
	}
	if o.Schema == "" {
		o.Schema = defaultSchema
	}
	if o.StatementTimeout == 0 {
		o.StatementTimeout = 30 * time.Second
	}
	if o.LockTimeout == 0 {
		o.LockTimeout = 5 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	names := engine.Names{Schema: o.Schema, Prefix: o.Prefix}
	folder, err := l.Folder("postgres", names, texts)
	if err != nil {
		return nil, err
	}
	db := &DB{pool: pool, opts: o, citus: realCitus(), folder: folder}
	db.listen = newListener(db)
	db.timers.Store(&timers{})
	db.history.Logger, db.history.OnChange = o.Logger, db.dropCaches
	db.checkedKey = "pawl " + uuid.NewString() // not its address: that of a handle that is gone is given to another
	return db, nil
}

// Pool returns the pool, for your own tables and transactions.
func (db *DB) Pool() *pgxpool.Pool { return db.pool }

// PoolStats returns the state of the pool, without the connection for notifications.
func (db *DB) PoolStats() engine.PoolStats {
	s := db.pool.Stat()
	return engine.PoolStats{
		InUse: int(s.AcquiredConns()), Open: int(s.TotalConns()), Max: int(s.MaxConns()), Waits: s.EmptyAcquireCount(), Waited: s.EmptyAcquireWaitTime(),
	}
}

// Engine returns "postgres".
func (db *DB) Engine() string { return "postgres" }

// Notify wakes this process's waiters of a queue.
func (db *DB) Notify(queue string) { db.notifier.Notify(queue) }

// Close ends the listening connection and, after Open, the pool.
func (db *DB) Close() error {
	db.closed.Store(true)
	db.listen.close()
	db.ahead.Close()
	if db.owned {
		db.pool.Close()
	}
	return nil
}

// redact removes a connection string from pgx's error, which may quote it with its password
// (D-5).
func redact(err error) error {
	var parse *pgconnParseError
	if errors.As(err, &parse) {
		return errors.New("cannot parse the connection string: want postgres://USER@HOST/DATABASE or host=HOST dbname=DATABASE")
	}
	return err
}
