// Package evidence tests what an engine promises on a database that somebody has, in tables of its own, and reports
// what it saw without names of hosts, users or databases.
package evidence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/cmd/pawl/internal/target"
	"github.com/bravellian/pawl/internal/engine"
)

// Options say what to test.
type Options struct {
	// Open opens a session of its own on the place that the test has for itself. Every call opens another one.
	Open func() (engine.DB, error)
	// Table is the qualified name of a table there.
	Table func(name string) string
	// Schema is that of the tables; empty on SQLite.
	Schema string
	// Hide takes names out of a text.
	Hide func(text string) string
	// Load is how long messages are enqueued and handled for a rate.
	Load time.Duration
}

// Outcomes of a check.
const (
	Passed  = "passed"
	Failed  = "failed"
	Skipped = "skipped" // the engine promises nothing of it, or this user may not see it
)

// Result is what one check saw.
type Result struct {
	Check   string `json:"check"`
	Outcome string `json:"outcome"`
	Detail  string `json:"detail"`
}

// checkLimit bounds each check: what hangs is a failure.
const checkLimit = time.Minute

// Run makes all checks in order. When ctx ends it returns what it has by then. A database that cannot be opened or
// migrated ends it. server is what was tested.
func Run(ctx context.Context, o Options) (server string, results []Result, err error) {
	w := &world{Options: o}
	defer func() { err = errors.Join(err, w.close()) }()
	if w.db, err = w.session(); err != nil {
		return "", nil, err
	}
	if server, err = w.describe(ctx); err != nil {
		return "", nil, err
	}
	for i, c := range checks() {
		if ctx.Err() != nil {
			return server, results, ctx.Err()
		}
		r := w.make(ctx, c)
		results = append(results, r)
		if i == 0 && r.Outcome == Failed {
			break // without tables nothing else says anything
		}
	}
	return server, results, ctx.Err()
}

// describe says what the database is, in words that name nobody.
func (w *world) describe(ctx context.Context) (is string, err error) {
	query := map[string]string{
		"sqlite":    `SELECT 'SQLite ' || sqlite_version()`,
		"postgres":  `SELECT 'PostgreSQL ' || current_setting('server_version') || ', synchronous_commit ' || current_setting('synchronous_commit')`,
		"sqlserver": sqlserverIs,
	}[w.db.Engine()]
	err = w.sql().QueryRowContext(ctx, query).Scan(&is)
	return is, err
}

const sqlserverIs = `SELECT CONCAT(N'SQL Server ', CAST(SERVERPROPERTY(N'ProductVersion') AS nvarchar(128)), N' (', CAST(SERVERPROPERTY(N'Edition') AS nvarchar(128)), N'), compatibility level ', d.compatibility_level,
  N', READ_COMMITTED_SNAPSHOT ', CASE WHEN d.is_read_committed_snapshot_on = 1 THEN N'on' ELSE N'off' END, N', collation ', d.collation_name) FROM sys.databases d WHERE d.name = DB_NAME()`

// check is one of the checks.
type check struct {
	name string
	make func(ctx context.Context, w *world) (detail string, err error)
}

func checks() []check {
	return []check{
		{"tables are made, and made again", migrated},
		{"the doctor finds no problem", doctor},
		{"a rollback takes messages back", rolledBack},
		{"two sessions share messages, each once", shared},
		{"an open transaction keeps no claim waiting", unblocked},
		{"isolation levels work or are refused", isolation},
		{"a deadlock is an error to repeat", deadlock},
		{"joins, timers, jobs, inbox, leases and flows", components},
		{"eight workers handle each message once, at a rate", load},
		{"procedures compile; claims without a sort above a join, grants of memory", plans},
		{"no lock became one on a table", escalations},
		{"every statement", statements}, // last: it leaves what no program would
	}
}

// skip is why a check says nothing here.
type skip string

func (s skip) Error() string { return string(s) }

func (w *world) make(ctx context.Context, c check) Result {
	ctx, cancel := context.WithTimeout(ctx, checkLimit+w.Load)
	defer cancel()
	detail, err := c.make(ctx, w)
	var reason skip
	switch {
	case errors.As(err, &reason):
		return Result{c.name, Skipped, string(reason)}
	case err != nil:
		return Result{c.name, Failed, w.Hide(err.Error())}
	}
	return Result{c.name, Passed, w.Hide(detail)}
}

// world is the database under test, and what is open of it.
type world struct {
	Options
	db     engine.DB
	pool   *sql.DB // see sql
	closes []func() error
}

// session opens another session.
func (w *world) session() (engine.DB, error) {
	db, err := w.Open()
	if err == nil {
		w.closes = append(w.closes, db.Close)
	}
	return db, err
}

// pawl returns the components of another session.
func (w *world) pawl() (*pawl.Pawl, error) {
	db, err := w.session()
	if err != nil {
		return nil, err
	}
	return pawl.New(db, pawl.Options{Logger: slog.New(slog.DiscardHandler)})
}

// sql returns a pool for statements of a program's own.
func (w *world) sql() *sql.DB {
	if w.pool == nil {
		pool, closed := target.SQL(w.db)
		w.pool, w.closes = pool, append(w.closes, closed)
	}
	return w.pool
}

// oneWriter reports whether there is one writer at a time.
func (w *world) oneWriter() bool { return w.db.Engine() == "sqlite" }

func (w *world) close() (err error) {
	for i := len(w.closes) - 1; i >= 0; i-- {
		err = errors.Join(err, w.closes[i]())
	}
	return err
}

// wrong is a promise that was not kept.
func wrong(format string, args ...any) error { return fmt.Errorf(format, args...) }
