// Package store is the database of a round: pawl's tables, and those of the program
// that the processes play.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/postgres"
	"github.com/bravellian/pawl/sqlite"
)

// Place is where a database is.
type Place struct {
	URL    string `json:"url"`    // postgres:// URL, or the path of a SQLite file
	Schema string `json:"schema"` // empty on SQLite
}

// Postgres reports whether the place is on PostgreSQL.
func (p Place) Postgres() bool { return p.Schema != "" }

// Store is an open database.
type Store struct {
	Pawl   pawl.DB
	SQL    *sql.DB
	place  Place
	shared bool // SQL is not a pool of its own
}

// StatementTimeout bounds transactions, so that what a fault stalls ends within a round.
const StatementTimeout = 5 * time.Second

// Open opens a database.
func Open(p Place, log *slog.Logger) (*Store, error) {
	if !p.Postgres() {
		db, err := sqlite.Open(p.URL, sqlite.Options{Logger: log, StatementTimeout: StatementTimeout})
		if err != nil {
			return nil, err
		}
		return &Store{Pawl: db, SQL: sqlite.SQL(db), place: p, shared: true}, nil
	}
	db, err := postgres.Open(p.URL, postgres.Options{Schema: p.Schema, Logger: log, StatementTimeout: StatementTimeout})
	if err != nil {
		return nil, err
	}
	return &Store{Pawl: db, SQL: stdlib.OpenDBFromPool(postgres.Pool(db)), place: p}, nil
}

// Close closes the database.
func (s *Store) Close() error {
	if s.shared {
		return s.Pawl.Close()
	}
	return errors.Join(s.SQL.Close(), s.Pawl.Close())
}

// tables are the program's. Two tables of cells are there to be locked in one order by
// the program and in the other by a fault.
const tables = `
CREATE TABLE IF NOT EXISTS {s}torture_ledger (id text PRIMARY KEY, process text NOT NULL);
CREATE TABLE IF NOT EXISTS {s}torture_effect (source text NOT NULL, id text NOT NULL, process text NOT NULL);
CREATE TABLE IF NOT EXISTS {s}torture_flow (id text NOT NULL, what text NOT NULL, process text NOT NULL);
CREATE TABLE IF NOT EXISTS {s}torture_signal (id text NOT NULL, n bigint NOT NULL, process text NOT NULL, PRIMARY KEY (id, n));
CREATE TABLE IF NOT EXISTS {s}torture_guard (n {serial}, name text NOT NULL, token bigint NOT NULL);
CREATE TABLE IF NOT EXISTS {s}torture_a (id bigint PRIMARY KEY, n bigint NOT NULL);
CREATE TABLE IF NOT EXISTS {s}torture_b (id bigint PRIMARY KEY, n bigint NOT NULL);
INSERT INTO {s}torture_a (id, n) VALUES (1, 0), (2, 0), (3, 0), (4, 0) ON CONFLICT DO NOTHING;
INSERT INTO {s}torture_b (id, n) VALUES (1, 0), (2, 0), (3, 0), (4, 0) ON CONFLICT DO NOTHING`

// Cells is how many rows torture_a and torture_b have, numbered from 1.
const Cells = 4

// Create makes pawl's tables and the program's.
func (s *Store) Create(ctx context.Context) error {
	if err := s.Pawl.Migrate(ctx); err != nil {
		return err
	}
	for statement := range strings.SplitSeq(tables, ";\n") {
		if _, err := s.SQL.ExecContext(ctx, s.Text(statement)); err != nil {
			return fmt.Errorf("creating tables: %w", err)
		}
	}
	return nil
}

// WriteBack has a SQLite file itself hold what is written until now: a fault takes away what is only in its log.
func (s *Store) WriteBack(ctx context.Context) error {
	if s.place.Postgres() {
		return nil
	}
	var busy, log, written int
	if err := s.SQL.QueryRowContext(ctx, `PRAGMA wal_checkpoint(FULL)`).Scan(&busy, &log, &written); err != nil {
		return fmt.Errorf("writing the log into the file: %w", err)
	}
	if written < log {
		return fmt.Errorf("%d of %d pages of the log were written into the file: somebody uses it", written, log)
	}
	return nil
}

// Drop removes everything. A SQLite file is its owner's to remove.
func (s *Store) Drop(ctx context.Context) error {
	if !s.place.Postgres() {
		return nil
	}
	_, err := s.SQL.ExecContext(ctx, s.Text(`DROP SCHEMA IF EXISTS {schema} CASCADE`))
	return err
}

// Text writes a statement for the engine: {s} stands for the schema with a dot, and ? for a
// parameter.
func (s *Store) Text(statement string) string {
	prefix, serial := "", "integer PRIMARY KEY AUTOINCREMENT"
	if s.place.Postgres() {
		prefix, serial = `"`+s.place.Schema+`".`, "bigserial PRIMARY KEY"
	}
	statement = strings.NewReplacer("{s}", prefix, "{serial}", serial, "{schema}", strings.TrimSuffix(prefix, ".")).Replace(statement)
	if !s.place.Postgres() {
		return statement
	}
	n := 0
	return regexp.MustCompile(`\?`).ReplaceAllStringFunc(statement, func(string) string {
		n++
		return "$" + strconv.Itoa(n)
	})
}

// Execer is a transaction, of the program's or pawl's.
type Execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Exec runs a statement; see Text.
func (s *Store) Exec(ctx context.Context, tx Execer, statement string, args ...any) error {
	_, err := tx.ExecContext(ctx, s.Text(statement), args...)
	return err
}

// Begin begins a transaction of the program's.
func (s *Store) Begin(ctx context.Context) (*sql.Tx, error) { return s.SQL.BeginTx(ctx, nil) }
