// Package pawltest is for programs that test code of their own which uses pawl:
// a migrated database per test, everything that is due done by one call, a clock
// that the test moves, and assertions on what was enqueued or scheduled.
//
//	d := pawltest.New(t)                             // a SQLite file of this test's own
//	shop.Mail.Handle(d, sendMail)                    // a pawl.Topic
//	err := shop.Order(ctx, d.SQL(), d.Pawl, 7)       // the code under test
//	d.AssertEnqueued(t, pawltest.Topic("mail"), pawltest.JSON(map[string]any{"order": 7}))
//	d.Clock.Advance(time.Hour)
//	d.MustDrain(t)                                   // handlers have run when it returns
package pawltest

import (
	"context"
	"database/sql"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/worker"
)

// Options configure a test's database. The zero value is right for most tests.
type Options struct {
	// Pawl is as for pawl.New. Where it names no logger, warnings and errors go to
	// the test's output, so that they show if it fails.
	Pawl pawl.Options
	// Prefix is put before every table of pawl's, default none.
	Prefix string
}

// DB is a database of one test's own, migrated, with all of pawl on it. It is
// closed, and what it stored is gone, when the test ends.
type DB struct {
	// Pawl is what the program under test uses. Register handlers before the first
	// drain.
	*pawl.Pawl
	// Clock is the database's clock. A test can move SQLite's.
	Clock *Clock

	engine   engine.DB
	sql      *sql.DB
	queries  queries
	process  *worker.Process
	queues   []string // whose messages Drain handles
	record   recorder
	draining sync.Mutex
}

// writeLimit bounds the wait for SQLite's one writer, which a test can only block
// by mistake: with a transaction that it has open itself.
const writeLimit = 10 * time.Second

// New returns a SQLite database in a file of its own. It does not wait for the
// disk: only a power failure could tell.
func New(t testing.TB, opts ...Options) *DB {
	t.Helper()
	o := options(t, opts)
	clock := &Clock{t: t, movable: true}
	clock.read = clock.now
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "pawl.db"), sqlite.Options{Prefix: o.Prefix, Relaxed: true, StatementTimeout: writeLimit, Now: clock.now})
	if err != nil {
		t.Fatalf("pawltest: %v", err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("pawltest: close the database: %v", err)
		}
	})
	d := &DB{engine: db, Clock: clock, sql: db.SQL(), queries: sqliteQueries(engine.Names{Prefix: o.Prefix})}
	d.build(t, o)
	return d
}

// On is for package sqlservertest; programs cannot call it. It returns a database over one
// that was opened for the test, whose tables have these names.
func On(_ access.Key, t testing.TB, db engine.DB, pool *sql.DB, names engine.Names, o Options) *DB {
	t.Helper()
	d := &DB{engine: db, sql: pool, queries: sqlserverQueries(names)}
	d.Clock = &Clock{t: t, read: func() time.Time { return serverTime(t, db) }}
	d.build(t, o)
	return d
}

func options(t testing.TB, opts []Options) Options {
	t.Helper()
	o, err := engine.Option(opts)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// migrateLimit bounds what makes a database ready.
const migrateLimit = time.Minute

// build migrates the database and puts pawl on it.
func (d *DB) build(t testing.TB, o Options) {
	t.Helper()
	if o.Pawl.Logger == nil {
		o.Pawl.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	if d.engine.Engine() != "sqlite" {
		d.engine = apartDB{d.engine, o.Pawl.Logger, &sync.Map{}}
	}
	p, err := pawl.New(d.engine, o.Pawl)
	if err != nil {
		t.Fatalf("pawltest: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), migrateLimit)
	defer cancel()
	if err := p.Migrate(ctx); err != nil {
		t.Fatalf("pawltest: migrate: %v", err)
	}
	p.Use(d.record.outbox)
	d.Pawl = p
	d.process = p.Internal(access.Key{})
	d.queues = append(d.process.Queues(), inboxQueue(o.Pawl))
}

// inboxQueue is where the inbox keeps its messages, also while it has no handlers.
func inboxQueue(o pawl.Options) string {
	if o.Inbox.Queue != "" {
		return o.Inbox.Queue
	}
	return "inbox"
}

// SQL returns a pool over the database, for tables and transactions of your own.
func (d *DB) SQL() *sql.DB { return d.sql }
