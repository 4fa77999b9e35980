// Package anydriver is pawl on SQLite with the driver that the program links: give New its
// pool. It links none itself; package sqlite opens files with modernc.org/sqlite.
//
// Writes of one process share transactions (group commit), so that many small durable calls
// cost one fsync. Between processes the write lock is taken with short jittered retries,
// because SQLite's own busy handler starves one of two processes. A commit of any process
// wakes idle workers: on Linux within a millisecond or two, elsewhere the sooner the more often
// there are commits, in 50 ms at the latest.
package anydriver

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/enginekit/background"
	"github.com/bravellian/pawl/internal/enginekit/coalesce"
)

//go:embed activity audit backlog clock doctor explain fleet flow generation health inbox job join lease limit macros move outbox pause schema timer views
var files embed.FS

// Options are those of the public packages sqlite and anydriver, which say what they do.
type Options struct {
	Prefix           string
	Relaxed          bool
	KeepJournal      bool
	StatementTimeout time.Duration
	WatchEvery       time.Duration
	Now              func() time.Time
	Logger           *slog.Logger
}

const defaultTimeout = 30 * time.Second

// groupMax bounds how many calls share one commit, and so how long the first of them waits.
const groupMax = 256

// DB is a SQLite database with pawl's tables. It implements engine.DB.
type DB struct {
	sql       *sql.DB
	owned     bool // Close closes sql
	opts      Options
	folder    *engine.Folder
	answers   answers
	lock      chan struct{} // held by the writer of this process
	writer    *slot
	readers   chan *slot
	turns     chan struct{} // of those in InTx that have a connection
	group     coalesce.Group[*job]
	ids       engine.Blocks
	given     atomic.Int64 // the highest id reserved inside a caller's transaction
	ahead     background.Runner
	notifier  engine.Notifier
	watch     watcher
	queue     writeQueue
	closed    sync.Once
	file      string // its path, where OpenURL opened it
	guard     *guard
	reopening sync.Mutex
	tried     time.Time // when reopening last failed

	generations       engine.History
	generationChecked time.Time // when the writer last checked the generation
	newer             engine.NewerWarning
}

var _ engine.DB = (*DB)(nil)

// Connect makes the connector of a driver for a data source's name.
type Connect func(dsn string) (driver.Connector, error)

// OpenWith opens, and if necessary creates, the database file at path, in WAL mode unless
// Options say otherwise, with a driver that reads data sources' names as modernc.org/sqlite
// does. path may also be a "file:" URI with the driver's parameters.
func OpenWith(connect Connect, path string, opts ...Options) (*DB, error) {
	o, err := options(opts)
	if err != nil {
		return nil, err
	}
	return openFile(connect, path, nil, o)
}

func openFile(connect Connect, path string, l *engine.Library, o Options) (*DB, error) {
	if err := o.Validate(); err != nil { // before there is a file
		return nil, fmt.Errorf("sqlite: options: %w", err)
	}
	dsn, err := dataSource(path, o)
	if err != nil {
		return nil, err
	}
	base, err := connect(dsn)
	if err != nil {
		return nil, fmt.Errorf("open sqlite %q: %w", path, err)
	}
	lock, g := make(chan struct{}, 1), newGuard(absolute(fileOf(path)), o.Logger)
	first := &connector{Connector: base, lock: lock, guard: g}
	// Create the file only now: one that is deleted later must not be created again, empty,
	// by the next connection.
	if !strings.HasPrefix(path, "file:") {
		if first.again, err = connect(dsn + "&mode=rw"); err != nil {
			return nil, fmt.Errorf("open sqlite %q: %w", path, err)
		}
	}
	pool := sql.OpenDB(first)
	if err := pool.Ping(); err != nil {
		_ = pool.Close()
		return nil, openError(path, err)
	}
	db, err := build(pool, lock, g, l, o)
	if err != nil {
		_ = pool.Close()
		return nil, err
	}
	db.owned = true
	first.of.Store(db)
	g.reopener.Store(&reopener{db.reopenLost})
	return db, nil
}

// reserved is how many connections a DB keeps: a writer and two readers.
const reserved = 3

// Validate returns an error that names the first invalid field. Open and New call it.
func (o *Options) Validate() error {
	return cmp.Or(engine.CheckOption("StatementTimeout", o.StatementTimeout, 1, 0), engine.CheckOption("WatchEvery", o.WatchEvery, 1, 0))
}

func options(opts []Options) (Options, error) {
	o, err := engine.Option(opts)
	return o.withDefaults(), err
}

func (o Options) withDefaults() Options {
	if o.StatementTimeout == 0 {
		o.StatementTimeout = defaultTimeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

func build(pool *sql.DB, lock chan struct{}, g *guard, l *engine.Library, o Options) (*DB, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("sqlite: options: %w", err)
	}
	folder, err := l.Folder("sqlite", engine.Names{Prefix: o.Prefix}, texts)
	if err != nil {
		return nil, err
	}
	db := &DB{sql: pool, opts: o, folder: folder, answers: folder.Go().(answers), lock: lock, guard: g}
	db.writer = &slot{pool: pool, guard: g}
	db.readers = make(chan *slot, reserved-1)
	for range cap(db.readers) {
		db.readers <- &slot{pool: pool, guard: g}
	}
	db.turns = make(chan struct{}, idleConns)
	db.group = coalesce.Group[*job]{Leaders: 1, Max: groupMax, Patient: true, Run: db.commitGroup}
	db.watch.init(db)
	db.generations.Logger, db.generations.OnChange = o.Logger, db.dropCaches
	return db, nil
}

// dataSource converts a path into modernc's data source name. WAL needs to be set once per
// file, the rest once per connection.
func dataSource(path string, o Options) (string, error) {
	if strings.TrimSpace(path) == "" {
		return "", errors.New("open sqlite: the path is empty")
	}
	if err := checkPath(path); err != nil {
		return "", err
	}
	if path == ":memory:" || strings.HasPrefix(path, "file:") && (strings.Contains(path, ":memory:") || strings.Contains(path, "mode=memory")) {
		return "", errors.New("open sqlite: an in-memory database is private to one connection, pawl needs several: use a file")
	}
	sync := "FULL"
	if o.Relaxed {
		sync = "NORMAL"
	}
	list := []string{"synchronous(" + sync + ")", "busy_timeout(5000)"}
	if !o.KeepJournal {
		list = append([]string{"journal_mode(WAL)"}, list...)
	}
	pragmas := url.Values{"_pragma": list}.Encode()
	if !strings.HasPrefix(path, "file:") {
		path = "file:" + (&url.URL{Path: path}).EscapedPath()
	}
	if strings.Contains(path, "?") {
		return path + "&" + pragmas, nil
	}
	return path + "?" + pragmas, nil
}

// SQL returns the pool, for your own tables and transactions. Transactions it begins are
// immediate unless read-only, run one at a time with pawl's own writer, and do not starve
// other processes.
func (db *DB) SQL() *sql.DB { return db.sql }

// PoolStats returns the state of the pool. pawl keeps some of its connections in use.
func (db *DB) PoolStats() engine.PoolStats {
	s := db.sql.Stats()
	return engine.PoolStats{InUse: s.InUse, Open: s.OpenConnections, Max: s.MaxOpenConnections, Waits: s.WaitCount, Waited: s.WaitDuration}
}

// Engine returns "sqlite".
func (db *DB) Engine() string { return "sqlite" }

// Generation changes with the database's history; see engine.DB.
func (db *DB) Generation() int64 { return db.generations.Generation() }

// HistoryChanges returns how often this process saw the database's history change.
func (db *DB) HistoryChanges() int64 { return db.generations.Changes() }

// Notify wakes this process's waiters of a queue.
func (db *DB) Notify(queue string) { db.notifier.Notify(queue) }

// Close releases pawl's connections and, after Open, the pool.
func (db *DB) Close() error {
	var err error
	db.closed.Do(func() {
		db.ahead.Close()
		db.watch.close()
		db.writer.close()
		for range cap(db.readers) {
			(<-db.readers).close()
		}
		close(db.readers)
		if db.owned {
			err = db.sql.Close()
		}
	})
	return err
}

// now is the database's clock in microseconds.
func (db *DB) now() int64 { return db.opts.Now().UnixMicro() }

// Read runs one call on a reading connection. It never waits for writers.
func (db *DB) Read(ctx context.Context, call *engine.Call) error {
	ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
	defer cancel()
	inside := db.opts.KeepJournal && db.inside(ctx)
	err := db.reading(ctx, func(ses *session) error {
		if inside { // without a write-ahead log it may wait for the transaction's pages
			defer ses.impatient()()
		}
		return db.run(db.begin(ses, call), call)
	})
	if inside && errors.Is(err, engine.ErrBusy) {
		return engine.InTransaction(call.Name(), "")
	}
	if err == nil {
		return nil
	}
	return wrap(call.Name(), err)
}

// reading runs fn on a reading connection.
func (db *DB) reading(ctx context.Context, fn func(*session) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := db.checkFiles(ctx); err != nil {
		return err
	}
	select {
	case s, open := <-db.readers:
		if !open {
			return engine.ErrClosed
		}
		s = db.connected(s)
		defer func() { db.readers <- s }()
		return s.use(ctx, func(ses *session) error {
			ses.ctx = ctx
			return fn(ses)
		})
	case <-ctx.Done():
		return ctx.Err()
	}
}

// connected returns a free reader that has a connection already in place of one that has none: to
// open one takes a millisecond, and what reads now and then would open two.
func (db *DB) connected(s *slot) *slot {
	if s.connected() {
		return s
	}
	select {
	case other, open := <-db.readers:
		if open && other.connected() {
			s, other = other, s
		}
		if open {
			db.readers <- other
		}
	default:
	}
	return s
}

// DoTx runs one call in the caller's transaction.
func (db *DB) DoTx(ctx context.Context, tx engine.Tx, call *engine.Call) error {
	if err := db.guard.check(); err != nil {
		return wrap(call.Name(), err)
	}
	ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
	defer cancel()
	tx, err := ready(ctx, tx)
	if err != nil {
		return wrap(call.Name(), err)
	}
	if _, err := engine.QuerierOf(tx); err != nil && engine.ReturnsRows(call.Operation) {
		return wrap(call.Name(), err)
	}
	return db.run(db.begin(callerTx{ctx, tx}, call), call)
}

// InTx runs fn in a transaction of its own: a *sql.Tx.
func (db *DB) InTx(ctx context.Context, fn func(ctx context.Context, tx engine.Tx) error) error {
	if err := db.CheckOutside(ctx, "begin", ""); err != nil {
		return err
	}
	if err := db.checkFiles(ctx); err != nil {
		return wrap("begin", err)
	}
	// The pool closes a connection that comes back while enough are idle: who waits for the write lock
	// waits without one.
	if err := acquire(ctx, db.turns); err != nil {
		return wrap("begin", err)
	}
	defer func() { <-db.turns }()
	tx, err := db.sql.BeginTx(ctx, nil)
	if err != nil {
		return wrap("begin", err)
	}
	defer tx.Rollback() // does nothing after a commit
	inside, end := db.InsideTx(ctx)
	defer end()
	if err := fn(inside, tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return wrap("commit", err)
	}
	if err := db.guard.committed(); err != nil && !db.owned {
		return err
	}
	db.notifier.NotifyAll() // fn may have enqueued
	return nil
}
