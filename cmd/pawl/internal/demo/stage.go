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
	"github.com/bravellian/pawl/cmd/pawl/internal/demo/etl"
	"github.com/bravellian/pawl/cmd/pawl/internal/demo/scene"
	"github.com/bravellian/pawl/cmd/pawl/internal/demo/shop"
	"github.com/bravellian/pawl/cmd/pawl/internal/target"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
)

// place is where a demo's database is: a file in a directory of its own, or a
// schema of its own on a server.
type place struct {
	DB     string // as --db has it
	Schema string
	dir    string
}

// newPlace finds a place nobody else uses. db is a postgres:// URL, or empty
// for SQLite.
func newPlace(db string) (*place, error) {
	if db != "" {
		id := uuid.New()
		return &place{DB: db, Schema: fmt.Sprintf("pawl_demo_%x", id[:5])}, nil
	}
	dir, err := os.MkdirTemp("", "pawl-demo-")
	if err != nil {
		return nil, err
	}
	return &place{DB: "sqlite:" + filepath.Join(dir, "demo.db"), dir: dir}, nil
}

// stage is the opened database of a demo, for pawl and for the scenes.
type stage struct {
	engine.DB
	own   *scene.Database
	close func() error
}

func openStage(db, schema string) (*stage, error) {
	names := engine.Names{Schema: schema}
	t, err := target.Parse(db, names)
	if err != nil {
		return nil, err
	}
	if t.Engine() == "sqlserver" {
		return nil, fmt.Errorf("%s: the demonstration runs on SQLite and PostgreSQL", t)
	}
	opened, err := t.Open(target.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t, err)
	}
	s := &stage{DB: opened, own: &scene.Database{Names: names}, close: opened.Close}
	if lite, ok := engine.As[*sqlite.DB](opened); ok {
		s.own.SQL = lite.SQL()
	} else if pg, ok := engine.As[*postgres.DB](opened); ok {
		s.own.SQL, s.own.Dollars = stdlib.OpenDBFromPool(pg.Pool()), true
		s.close = func() error { return errors.Join(s.own.SQL.Close(), opened.Close()) }
	}
	return s, nil
}

// Unwrap returns the database.
func (s *stage) Unwrap() engine.DB { return s.DB }

// prepare makes all tables.
func (s *stage) prepare(ctx context.Context) error {
	if err := s.Migrate(ctx); err != nil {
		return err
	}
	if err := shop.Create(ctx, s.own); err != nil {
		return err
	}
	return etl.Create(ctx, s.own)
}

// handle registers the handlers of all scenes.
func (s *stage) handle(p *pawl.Pawl) {
	shop.Handle(p, s.own)
	etl.Handle(p, s.own)
}

// remove takes away all that the demo made. The demo may have been interrupted,
// so it has a time of its own.
func (p *place) remove(s *stage) error {
	if p.Schema != "" && s != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_, err := s.own.SQL.ExecContext(ctx, `DROP SCHEMA IF EXISTS "`+p.Schema+`" CASCADE`)
		return err
	}
	return p.removeFiles()
}

func (p *place) removeFiles() error {
	if p.dir == "" {
		return nil
	}
	return os.RemoveAll(p.dir)
}
