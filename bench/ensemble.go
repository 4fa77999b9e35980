package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/outbox"
)

// ensemble is many migrated databases: files in a directory and databases on the
// server.
type ensemble struct {
	files, servers []fleet.Database
	dir            string
	server         *server
}

// databasePrefix begins the names of the databases on the server: those that are left over
// from a run that was killed are dropped.
const databasePrefix = "pawl_bench_"

// ensemble makes the databases of the scenarios of fleets: each engine's first is
// migrated, the others are copies of it. They go when the server is closed.
func (s *server) ensemble(ctx context.Context) (*ensemble, error) {
	if s.many != nil {
		return s.many, nil
	}
	dir, err := os.MkdirTemp("", "pawl-bench-")
	if err != nil {
		return nil, err
	}
	s.many = &ensemble{dir: dir, server: s}
	if err := s.many.makeFiles(ctx, fleetFiles); err != nil {
		return nil, err
	}
	return s.many, s.many.makeDatabases(ctx, fleetServers)
}

// disband drops them all.
func (e *ensemble) disband(ctx context.Context) {
	_ = os.RemoveAll(e.dir)
	_ = e.server.dropDatabases(ctx)
}

func (e *ensemble) makeFiles(ctx context.Context, n int) error {
	for i := range n {
		e.files = append(e.files, e.file(fmt.Sprintf("file-%04d", i)))
	}
	if n == 0 {
		return nil
	}
	if err := migrate(ctx, e.files[0]); err != nil {
		return err
	}
	first, err := os.ReadFile(path(e.files[0]))
	if err != nil {
		return err
	}
	for _, d := range e.files[1:] {
		if err := os.WriteFile(path(d), first, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// file is the file of a key.
func (e *ensemble) file(key string) fleet.Database {
	return fleet.Database{Key: key, URL: "sqlite:" + filepath.Join(e.dir, key+".db")}
}

func path(d fleet.Database) string { return strings.TrimPrefix(d.URL, "sqlite:") }

func (e *ensemble) makeDatabases(ctx context.Context, n int) error {
	if err := e.server.dropDatabases(ctx); err != nil {
		return err
	}
	for i := range n {
		d := e.database(i)
		statement := "CREATE DATABASE " + d.Key
		if i > 0 {
			statement += " TEMPLATE " + e.servers[0].Key
		}
		if _, err := e.server.admin.Exec(ctx, statement); err != nil {
			return err
		}
		e.servers = append(e.servers, d)
		if i == 0 {
			if err := migrate(ctx, e.servers[0]); err != nil {
				return err
			}
		}
	}
	return nil
}

// database is one of those on the server.
func (e *ensemble) database(i int) fleet.Database {
	key := fmt.Sprintf("%s%04d", databasePrefix, i)
	return fleet.Database{Key: key, URL: e.server.database(key)}
}

// database is the URL of one of the server's databases.
func (s *server) database(name string) string {
	u, err := url.Parse(s.url)
	if err != nil {
		return s.url // the server was reached by it
	}
	query := u.Query()
	query.Set("application_name", application)
	u.Path, u.RawQuery = "/"+name, query.Encode()
	return u.String()
}

func (s *server) dropDatabases(ctx context.Context) error {
	rows, err := s.admin.Query(ctx, `SELECT datname FROM pg_database WHERE starts_with(datname, $1)`, databasePrefix)
	if err != nil {
		return err
	}
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, name := range names {
		if _, err := s.admin.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			return err
		}
	}
	return nil
}

// engines are those of a fleet.
func engines() map[string]fleet.Opener {
	return map[string]fleet.Opener{"postgres": postgres.OpenURL, "sqlite": sqlite.OpenURL}
}

// handleOf opens a handle of one's own, as another process would.
func handleOf(d fleet.Database) (engine.DB, error) {
	open := engines()["sqlite"]
	if strings.HasPrefix(d.URL, "postgres") {
		open = postgres.OpenURL
	}
	return open(engine.OpenOptions{URL: d.URL, Connections: 4})
}

func migrate(ctx context.Context, d fleet.Database) error {
	db, err := handleOf(d)
	if err != nil {
		return err
	}
	err = db.Migrate(ctx)
	if closed := db.Close(); err == nil {
		err = closed
	}
	return err
}

// runFleet runs a fleet with default options until end is called. Every message
// calls note with its store.
func runFleet(ctx context.Context, dbs []fleet.Database, opens map[string]fleet.Opener, register func(*fleet.Fleet)) (f *fleet.Fleet, end func() error, err error) {
	return runFleetWith(ctx, dbs, fleet.Options{Engines: opens}, register)
}

// runFleetWith does so with other options.
func runFleetWith(ctx context.Context, dbs []fleet.Database, o fleet.Options, register func(*fleet.Fleet)) (f *fleet.Fleet, end func() error, err error) {
	if o.Engines == nil {
		o.Engines = engines()
	}
	f, err = fleet.New(fleet.Static(dbs...), o)
	if err != nil {
		return nil, nil, err
	}
	register(f)
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	return f, func() error {
		stop()
		if err := <-ended; err != nil {
			return err
		}
		return f.Close()
	}, nil
}

// handleAll registers a handler for every topic that calls note with the store.
func handleAll(f *fleet.Fleet, note func(key string)) {
	for _, t := range topics() {
		f.Handle(t, func(ctx context.Context, _ *outbox.Message) error {
			note(fleet.StoreOf(ctx).Key)
			return nil
		})
	}
}
