// Package migrations tests pawl's schema with the tools that teams apply migrations
// with: goose and golang-migrate, between migrations of the program's own.
package migrations

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	migratepgx "github.com/golang-migrate/migrate/v4/database/pgx/v5"
	migratesqlite "github.com/golang-migrate/migrate/v4/database/sqlite"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/driverstest/suite"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/outbox"
)

// place is an empty database: for the tool, and for pawl.
type place struct {
	pool    *sql.DB
	db      engine.DB
	dialect goose.Dialect
	migrate func(*sql.DB) (database.Driver, error)
}

func onSQLite(t *testing.T) *place {
	file := filepath.Join(t.TempDir(), "shop.db")
	pool, err := sql.Open("sqlite", file)
	suite.Must(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	db, err := sqlite.Open(file)
	suite.Must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return &place{pool, db, goose.DialectSQLite3, func(pool *sql.DB) (database.Driver, error) {
		return migratesqlite.WithInstance(pool, &migratesqlite.Config{})
	}}
}

func onPostgres(t *testing.T) *place {
	name := "tool_" + strings.ToLower(rand.Text())
	admin := func(statement string) {
		pool, err := sql.Open("pgx", testpg.URL(t))
		suite.Must(t, err)
		defer pool.Close()
		_, err = pool.ExecContext(context.Background(), statement)
		suite.Must(t, err)
	}
	admin(`CREATE DATABASE "` + name + `"`)
	t.Cleanup(func() { admin(`DROP DATABASE "` + name + `" WITH (FORCE)`) })
	u, err := url.Parse(testpg.URL(t))
	suite.Must(t, err)
	u.Path = "/" + name
	pool, err := sql.Open("pgx", u.String())
	suite.Must(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	db, err := postgres.Open(u.String())
	suite.Must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return &place{pool, db, goose.DialectPostgres, func(pool *sql.DB) (database.Driver, error) {
		return migratepgx.WithInstance(pool, &migratepgx.Config{})
	}}
}

func each(t *testing.T, test func(t *testing.T, p *place)) {
	t.Run("sqlite", func(t *testing.T) { test(t, onSQLite(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, onPostgres(t)) })
}

func (p *place) script(t *testing.T) string {
	t.Helper()
	m, ok := engine.As[engine.Migrator](p.db)
	if !ok {
		t.Fatal("there are no scripts")
	}
	text, err := m.Script(0, 0)
	suite.Must(t, err)
	return text
}

const (
	before = "CREATE TABLE orders (id integer PRIMARY KEY);\n"
	after  = "CREATE TABLE invoices (id integer PRIMARY KEY);\n"
)

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

// D-100: goose applies pawl's schema among the program's own migrations, and does not
// undo it.
func TestGoose(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		files := fstest.MapFS{
			"00001_orders.sql":   file("-- +goose Up\n" + before),
			"00002_pawl.sql":     file(engine.GooseFile(p.script(t), p.db.Engine())),
			"00003_invoices.sql": file("-- +goose Up\n" + after),
		}
		tool, err := goose.NewProvider(p.dialect, p.pool, files)
		suite.Must(t, err)
		_, err = tool.Up(t.Context())
		suite.Must(t, err)
		p.works(t)
		if _, err := tool.DownTo(t.Context(), 0); err == nil {
			t.Error("pawl's schema was undone")
		}
		p.works(t)
		if version, err := tool.GetDBVersion(t.Context()); err != nil || version != 2 {
			t.Errorf("goose is at version %d: %v", version, err)
		}
		p.drifts(t)
	})
}

// D-100: so does golang-migrate, which needs a file to undo something.
func TestGolangMigrate(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		files := fstest.MapFS{
			"1_orders.up.sql":   file(before),
			"2_pawl.up.sql":     file(p.script(t)),
			"3_invoices.up.sql": file(after),
		}
		source, err := iofs.New(files, ".")
		suite.Must(t, err)
		driver, err := p.migrate(p.pool)
		suite.Must(t, err)
		tool, err := migrate.NewWithInstance("iofs", source, "shop", driver)
		suite.Must(t, err)
		suite.Must(t, tool.Up())
		p.works(t)
		if err := tool.Up(); !errors.Is(err, migrate.ErrNoChange) {
			t.Errorf("again: %v", err)
		}
		p.drifts(t)
	})
}

// works has a program handle a message with the schema as it is.
func (p *place) works(t *testing.T) {
	t.Helper()
	suite.Must(t, p.db.CheckSchema(t.Context()))
	w, err := pawl.New(p.db, pawl.Options{StopWhenEmpty: true})
	suite.Must(t, err)
	handled := 0
	w.Handle("t", func(context.Context, *outbox.Message) error { handled++; return nil })
	_, err = w.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "t"})
	suite.Must(t, err)
	suite.Must(t, w.Run(t.Context()))
	if handled != 1 {
		t.Errorf("%d messages were handled", handled)
	}
	if problem := p.problem(t); problem != "" {
		t.Errorf("the doctor says: %s", problem)
	}
	suite.Must(t, p.db.Migrate(t.Context()))
}

// drifts takes a view away, which the doctor sees.
func (p *place) drifts(t *testing.T) {
	t.Helper()
	name := "outbox"
	if p.db.Engine() == "postgres" {
		name = "pawl.outbox"
	}
	_, err := p.pool.ExecContext(t.Context(), "DROP VIEW "+name)
	suite.Must(t, err)
	if problem := p.problem(t); !strings.Contains(problem, "outbox") {
		t.Errorf("a view less: %q", problem)
	}
}

// problem is what the doctor says of the schema.
func (p *place) problem(t *testing.T) string {
	t.Helper()
	for _, f := range parts.NewAdmin(p.db).Examine(t.Context()).Findings {
		if (f.Code == "objects" || f.Code == "schema") && f.Level == health.Problem {
			return f.Summary
		}
	}
	return ""
}
