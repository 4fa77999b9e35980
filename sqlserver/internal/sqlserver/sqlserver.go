// Package sqlserver is pawl on SQL Server 2016 (compatibility level 130) and later, and
// on Azure SQL, through go-mssqldb.
//
// Operations are stored procedures, so that the calls of one transaction are one batch, and
// programs in other languages can call the same procedures. Workers of other processes are
// not notified: they poll.
package sqlserver

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"

	"github.com/bravellian/pawl/internal/driverr"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/enginekit/background"
	"github.com/bravellian/pawl/internal/enginekit/dsn"
	"github.com/bravellian/pawl/internal/enginekit/history"
)

//go:embed */*.sql
var files embed.FS

// Options configure a database. The zero value is right for most programs.
type Options struct {
	// Schema holds pawl's tables and procedures, default "pawl".
	Schema string
	// Prefix is put before every table and procedure, default none.
	Prefix string
	// StatementTimeout bounds every transaction and, of a migration, every batch. Default
	// 30 s.
	StatementTimeout time.Duration
	// LockTimeout bounds how long a migration waits for a table, so that it
	// does not block every program that queues behind it. Default 5 s.
	LockTimeout time.Duration
	// Logger logs when the database's history changed. Default slog.Default().
	Logger *slog.Logger
}

// Validate returns a pawl.InvalidError that names the first invalid field. Open and New call it.
func (o *Options) Validate() error {
	return cmp.Or(engine.CheckOption("StatementTimeout", o.StatementTimeout, 1, 0), engine.CheckOption("LockTimeout", o.LockTimeout, 1, 0))
}

const defaultSchema = "pawl"

// DB is a SQL Server database with pawl's tables. It implements engine.DB.
type DB struct {
	sql      *sql.DB
	owned    bool // Close closes sql
	opts     Options
	secrets  []string // the password, which no error may contain, and then what errors may contain
	folder   *engine.Folder
	texts    sync.Map // *engine.Statement → *text
	ids      engine.Blocks
	notifier engine.Notifier
	closed   atomic.Bool

	history history.Reader
	ahead   background.Runner
	newer   engine.NewerWarning
	checked known
	idle    idling
	// idleLimit is the constant, except in tests.
	idleLimit time.Duration
	// versioned means that the database had READ_COMMITTED_SNAPSHOT ON when that was last read.
	versioned atomic.Bool
}

var _ engine.DB = (*DB)(nil)

// Open connects to the server that a sqlserver:// URL or an ADO.NET connection string names. It may have every
// parameter of go-mssqldb. No connection is made before it is needed.
func Open(url string, opts ...Options) (*DB, error) {
	config, err := parse(url)
	if err != nil {
		return nil, err
	}
	return open(&config, nil, nil, opts)
}

// parse refuses a URL that the driver would misread: errors quote host and database, which
// would then be a part of the password (D-5).
func parse(url string) (config msdsn.Config, err error) {
	if url, err = dsn.ADO(url); err != nil {
		return config, fmt.Errorf("open sqlserver: %w", err)
	}
	if scheme := dsn.Scheme(url); scheme != "sqlserver" {
		return config, errors.New("open sqlserver: neither a URL that begins with sqlserver:// nor Server=HOST;Database=NAME")
	}
	if err := dsn.Check(url); err != nil {
		return config, fmt.Errorf("open sqlserver: %w", err)
	}
	if config, err = msdsn.Parse(url); err != nil {
		return config, errors.New("open sqlserver: cannot parse the connection string")
	}
	return config, nil
}

func open(config *msdsn.Config, gate engine.Gate, l *engine.Library, opts []Options) (*DB, error) {
	connector := mssql.NewConnectorConfig(*config)
	if gate != nil {
		connector.Dialer = newDialer(gate, config)
	}
	pool := sql.OpenDB(connector)
	db, err := build(pool, l, opts)
	if err != nil {
		_ = pool.Close()
		return nil, err
	}
	db.owned = true
	db.secrets = []string{config.Password, config.User, config.Database, config.Host}
	return db, nil
}

// New returns a database on a pool that the caller owns; Close leaves it open. Whatever isolation level its
// connections were left with, pawl's own transactions run at read committed.
func New(pool *sql.DB, opts ...Options) (*DB, error) { return build(pool, nil, opts) }

func build(pool *sql.DB, l *engine.Library, opts []Options) (*DB, error) {
	o, err := engine.Option(opts)
	if err != nil {
		return nil, err
	}
	if pool == nil {
		return nil, engine.Invalid("pool", "nil")
	}
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("sqlserver: options: %w", err)
	}
	o.Schema = cmp.Or(o.Schema, defaultSchema)
	o.StatementTimeout = cmp.Or(o.StatementTimeout, 30*time.Second)
	o.LockTimeout = cmp.Or(o.LockTimeout, 5*time.Second)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	folder, err := l.Folder("sqlserver", engine.Names{Schema: o.Schema, Prefix: o.Prefix}, texts)
	if err != nil {
		return nil, err
	}
	db := &DB{sql: pool, opts: o, folder: folder, idleLimit: idleLimit}
	db.history.Logger, db.history.OnChange = o.Logger, db.dropCaches
	return db, nil
}

// SQL returns the pool, for your own tables and transactions.
func (db *DB) SQL() *sql.DB { return db.sql }

// PoolStats returns the statistics of the pool.
func (db *DB) PoolStats() engine.PoolStats {
	s := db.sql.Stats()
	return engine.PoolStats{InUse: s.InUse, Open: s.OpenConnections, Max: s.MaxOpenConnections, Waits: s.WaitCount, Waited: s.WaitDuration}
}

// Engine returns "sqlserver".
func (db *DB) Engine() string { return "sqlserver" }

// Close stops background tasks and, after Open, closes the pool.
func (db *DB) Close() error {
	db.closed.Store(true)
	db.ahead.Close()
	if db.owned {
		return db.sql.Close()
	}
	return nil
}

// acquire returns a connection whose generation was read.
func (db *DB) acquire(ctx context.Context, op string) (*sql.Conn, error) {
	if db.closed.Load() {
		return nil, &engine.Error{Op: op, Class: engine.ErrClosed, Err: errors.New("sqlserver")}
	}
	if err := db.CheckOutside(ctx, op, ""); err != nil {
		return nil, err
	}
	conn, err := db.conn(ctx)
	if err == nil {
		if err = db.checkConnection(ctx, conn); err == nil {
			return conn, nil
		}
		_ = conn.Close()
	}
	var classified *engine.Error
	if errors.As(err, &classified) {
		return nil, err
	}
	class := unreachable(ctx, err)
	if db.closed.Load() {
		class = engine.ErrClosed
	}
	if help := driverr.Remedy(err); help != "" && errors.Is(class, engine.ErrUnreachable) {
		err = fmt.Errorf("%w; %s", err, help)
	}
	return nil, &engine.Error{Op: op, Class: class, Err: db.scrub(err)}
}

// scrub removes the password from an error of the driver's (D-5).
func (db *DB) scrub(err error) error {
	if len(db.secrets) == 0 {
		return err
	}
	if text := dsn.Scrub(err.Error(), db.secrets[0], db.secrets[1:]...); text != err.Error() {
		return &reworded{text, err}
	}
	return err
}

// known is a set of the driver's connections. Closed ones are removed after a while.
type known struct {
	mu  sync.Mutex
	all map[any]struct{}
}

// maxKnown bounds the set.
const maxKnown = 256

// add adds a connection, and reports whether it is new.
func (k *known) add(conn any) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, there := k.all[conn]; there {
		return false
	}
	if k.all == nil || len(k.all) >= maxKnown {
		k.all = map[any]struct{}{}
	}
	k.all[conn] = struct{}{}
	return true
}

// forget makes a connection be checked again.
func (k *known) forget(conn any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.all, conn)
}

// driverOf returns the driver's connection, nil for a foreign driver's.
func driverOf(conn *sql.Conn) (inner any) {
	_ = conn.Raw(func(c any) error {
		if wrapper, ok := c.(interface{ Raw() driver.Conn }); ok { // as drivers for tracing are
			c = wrapper.Raw()
		}
		if own, ok := c.(*mssql.Conn); ok {
			inner = own
		}
		return nil // an error here would make database/sql judge the connection
	})
	return inner
}

// quoteText writes a text as a literal of T-SQL.
func quoteText(s string) string { return "N'" + strings.ReplaceAll(s, "'", "''") + "'" }
