package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/cmd/pawl/internal/target"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// reachTimeout is how long to wait for a database's first answer: a person is
// waiting as well.
const reachTimeout = 10 * time.Second

// store is the opened database of one command.
type store struct {
	engine.DB
	name string // without the password
}

// Unwrap returns the database.
func (s *store) Unwrap() engine.DB { return s.DB }

// pawl returns the components of the database, which log nothing: commands say themselves what matters.
func (s *store) pawl() *pawl.Pawl { return components(s, silent()) }

// components returns those of a database with options that are right for all commands.
func components(db engine.DB, log *slog.Logger) *pawl.Pawl {
	p, err := pawl.New(db, pawl.Options{Logger: log})
	if err != nil {
		panic(err) // of the options alone
	}
	return p
}

// opening says how a command wants its database.
type opening struct {
	make    bool // a SQLite file and its tables, if missing
	migrate bool // the schema, whatever the engine
	wait    bool // for a server that takes no connections yet
	target.Options
}

// open opens the database that --db names and makes sure that its schema is
// the one this build needs.
func (g *options) open(ctx context.Context, o opening) (*store, error) {
	t, err := g.target(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case t.Exists():
	case g.Store != "" && !o.migrate: // somebody wrote it into a list: not for this command to make
		return nil, &databaseError{t.String(), target.ErrNoFile}
	case !o.make:
		return nil, fmt.Errorf("%s does not exist: make it with \"pawl migrate\" or by enqueuing something, or name another with --db", t)
	}
	return openTarget(ctx, t, o)
}

func openTarget(ctx context.Context, t target.Target, o opening) (*store, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Modest = !o.make && !o.migrate
	db, err := t.Open(o.Options)
	if err != nil {
		return nil, &databaseError{t.String(), err}
	}
	s := &store{db, t.String()}
	err = worker.AwaitReady(ctx, o.Logger, o.wait, func(ctx context.Context) error { return s.prepare(ctx, o) })
	if err != nil {
		return nil, errors.Join(s.failed(err), db.Close())
	}
	return s, nil
}

// target is the database that the command is about.
func (g *options) target(ctx context.Context) (target.Target, error) {
	switch {
	case g.wholeFleet():
		return target.Target{}, usage("this command is about one database: name a store of the fleet with --store")
	case g.Store != "":
		return g.storeTarget(ctx)
	}
	t, err := target.Parse(g.DB, engine.Names{Schema: g.Schema, Prefix: g.Prefix})
	if err != nil {
		return t, usage("%w", err)
	}
	return t, nil
}

// account puts who does something, and why, into a context, for the audit trail.
func (g *options) account(ctx context.Context) context.Context {
	return audit.WithReason(audit.WithActor(ctx, g.actor()), g.Reason)
}

// actor is who does something, for the audit trail.
func (g *options) actor() string {
	if g.Actor != "" {
		return g.Actor
	}
	who, err := user.Current()
	if err != nil {
		return "" // then it is this process
	}
	host, _ := os.Hostname()
	return who.Username + "@" + host
}

// failed says of which database an error is.
func (s *store) failed(err error) error {
	var mistake *usageError
	var exit *exitError
	if err == nil || errors.As(err, &mistake) || errors.As(err, &exit) {
		return err
	}
	for _, answer := range []error{engine.ErrInvalid, outbox.ErrNotFound, join.ErrNotFound, inbox.ErrNotFound, lease.ErrNotFound, timer.ErrNotFound, job.ErrNotFound, admin.ErrNotFound} {
		if errors.Is(err, answer) {
			return err
		}
	}
	return &databaseError{s.name, err}
}

func (s *store) prepare(ctx context.Context, o opening) error {
	if o.migrate {
		return s.Migrate(ctx)
	}
	err := s.check(ctx)
	if !o.make || !errors.Is(err, engine.ErrSchemaMissing) {
		return err
	}
	lite, ok := engine.As[*sqlite.DB](s)
	if !ok {
		return err
	}
	// Only a file that is all ours gets tables unasked. Another process may be
	// making them right now: migrating twice is harmless.
	if empty, failure := isEmpty(ctx, lite); failure != nil {
		return failure
	} else if empty {
		return s.Migrate(ctx)
	}
	return s.check(ctx)
}

func (s *store) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	return s.CheckSchema(ctx)
}

func isEmpty(ctx context.Context, db *sqlite.DB) (bool, error) {
	var n int
	err := db.SQL().QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&n)
	return n == 0, err
}

// close closes the database; an error that it hides would be the more telling.
func (s *store) close(err error) error {
	if closing := s.Close(); err == nil && closing != nil {
		return s.failed(closing)
	}
	return s.failed(err)
}
