package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/examples/demo/checkout"
	"github.com/bravellian/pawl/examples/demo/etl"
	"github.com/bravellian/pawl/examples/demo/scene"
	"github.com/bravellian/pawl/examples/demo/shop"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/postgres"
	"github.com/bravellian/pawl/sqlite"
)

// location is where the demo's database is: a file in a temporary directory, or a
// schema of its own on a PostgreSQL server.
type location struct {
	DB     string // postgres:// URL, or path of the file
	Schema string
	dir    string
}

// newLocation returns a location that nobody else uses. url is a postgres:// URL, or
// empty for SQLite.
func newLocation(url string) (*location, error) {
	if url != "" {
		id := uuid.New()
		return &location{DB: url, Schema: fmt.Sprintf("pawl_demo_%x", id[:5])}, nil
	}
	dir, err := os.MkdirTemp("", "pawl-demo-")
	if err != nil {
		return nil, err
	}
	return &location{DB: filepath.Join(dir, "demo.db"), dir: dir}, nil
}

// String returns the location without what may be a password.
func (l *location) String() string {
	if l.Schema != "" {
		return "schema " + l.Schema
	}
	return "sqlite:" + l.DB
}

// remove removes all that the demo made. It also does so after an interrupt, and so
// takes no context.
func (l *location) remove(db *database) error {
	if l.Schema == "" {
		return l.removeFiles()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err := db.own.SQL.ExecContext(ctx, `DROP SCHEMA IF EXISTS "`+l.Schema+`" CASCADE`)
	return err
}

func (l *location) removeFiles() error {
	if l.dir == "" {
		return nil
	}
	return os.RemoveAll(l.dir)
}

// database is an open database. pawl and the program's own tables share it, and so
// they share transactions.
type database struct {
	pawl  pawl.DB
	own   *scene.Database
	close func() error
}

// open opens a PostgreSQL URL with a schema or, without a schema, a SQLite file.
func open(at, schema string) (*database, error) {
	if schema != "" {
		db, err := postgres.Open(at, postgres.Options{Schema: schema})
		if err != nil {
			return nil, err
		}
		// The program uses pawl's pool as a *sql.DB. It could as well give its own pool to
		// postgres.New.
		pool := stdlib.OpenDBFromPool(postgres.Pool(db))
		own := &scene.Database{SQL: pool, Prefix: `"` + schema + `".`, Dollars: true}
		return &database{pawl: db, own: own, close: func() error { return errors.Join(pool.Close(), db.Close()) }}, nil
	}
	db, err := sqlite.Open(at)
	if err != nil {
		return nil, err
	}
	return &database{pawl: db, own: &scene.Database{SQL: sqlite.SQL(db)}, close: db.Close}, nil
}

// createTables creates pawl's tables and the program's.
func (d *database) createTables(ctx context.Context) error {
	if err := d.pawl.Migrate(ctx); err != nil {
		return err
	}
	if err := shop.Create(ctx, d.own); err != nil {
		return err
	}
	if err := etl.Create(ctx, d.own); err != nil {
		return err
	}
	return checkout.Create(ctx, d.own)
}

// handle registers all handlers. retry is the policy of flows.
func (d *database) handle(p *pawl.Pawl, retry *outbox.RetryPolicy) {
	shop.Handle(p, d.own)
	etl.Handle(p, d.own)
	checkout.Handle(p, d.own, retry)
}
