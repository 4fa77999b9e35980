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
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/postgres"
	"github.com/bravellian/pawl/sqlite"
	"github.com/bravellian/pawl/sqlserver"
)

// Place is where a database is.
type Place struct {
	URL    string `json:"url"`    // postgres:// or sqlserver:// URL, or the path of a SQLite file
	Schema string `json:"schema"` // empty on SQLite
}

// OnServer reports whether the place is on a server, which processes reach through proxies.
func (p Place) OnServer() bool { return p.Schema != "" }

// Postgres reports whether the place is on PostgreSQL.
func (p Place) Postgres() bool { return p.OnServer() && !p.SQLServer() }

// SQLServer reports whether the place is on SQL Server.
func (p Place) SQLServer() bool { return p.OnServer() && strings.HasPrefix(p.URL, "sqlserver:") }

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
	switch {
	case p.SQLServer():
		db, err := sqlserver.Open(p.URL, sqlserver.Options{Schema: p.Schema, Logger: log, StatementTimeout: StatementTimeout})
		if err != nil {
			return nil, err
		}
		return &Store{Pawl: db, SQL: sqlserver.SQL(db), place: p, shared: true}, nil
	case p.Postgres():
		db, err := postgres.Open(p.URL, postgres.Options{Schema: p.Schema, Logger: log, StatementTimeout: StatementTimeout})
		if err != nil {
			return nil, err
		}
		return &Store{Pawl: db, SQL: stdlib.OpenDBFromPool(postgres.Pool(db)), place: p}, nil
	}
	db, err := sqlite.Open(p.URL, sqlite.Options{Logger: log, StatementTimeout: StatementTimeout})
	if err != nil {
		return nil, err
	}
	return &Store{Pawl: db, SQL: sqlite.SQL(db), place: p, shared: true}, nil
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
CREATE TABLE IF NOT EXISTS {s}torture_signal (id text NOT NULL, n bigint NOT NULL, process text NOT NULL, PRIMARY KEY (id, n){once});
CREATE TABLE IF NOT EXISTS {s}torture_guard (n {serial}, name text NOT NULL, token bigint NOT NULL);
CREATE TABLE IF NOT EXISTS {s}torture_a (id bigint NOT NULL, n bigint NOT NULL, PRIMARY KEY (id){once});
CREATE TABLE IF NOT EXISTS {s}torture_b (id bigint NOT NULL, n bigint NOT NULL, PRIMARY KEY (id){once});
INSERT INTO {s}torture_a (id, n) VALUES (1, 0), (2, 0), (3, 0), (4, 0) {unless known};
INSERT INTO {s}torture_b (id, n) VALUES (1, 0), (2, 0), (3, 0), (4, 0) {unless known}`

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
	if s.place.OnServer() {
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
	if !s.place.OnServer() {
		return nil
	}
	type dropper interface {
		DropSchema(ctx context.Context, key access.Key) error
	}
	if server, ok := engine.As[dropper](s.Pawl); ok {
		return server.DropSchema(ctx, access.Key{})
	}
	_, err := s.SQL.ExecContext(ctx, s.Text(`DROP SCHEMA IF EXISTS {schema} CASCADE`))
	return err
}

// Text writes a statement for the engine: {s} stands for the schema with a dot, ? for a
// parameter, and other names in braces for what engines write in ways of their own.
func (s *Store) Text(statement string) string {
	switch {
	case s.place.SQLServer():
		return transactSQL(s.place.Schema, statement)
	case s.place.Postgres():
		schema := `"` + s.place.Schema + `"`
		return numbered("$", common("bigserial PRIMARY KEY", "{s}", schema+".", "{schema}", schema, "{utf8}", "convert_from(r.result, 'UTF8')").Replace(statement))
	default:
		return common("integer PRIMARY KEY AUTOINCREMENT", "{s}", "", "{utf8}", "CAST(r.result AS text)").Replace(statement)
	}
}

// common replaces what SQLite and PostgreSQL write alike, and more.
func common(serial string, more ...string) *strings.Replacer {
	return strings.NewReplacer(append(more, "{serial}", serial, "{once}", "", "{unless known}", "ON CONFLICT DO NOTHING", "{claimed}", "outbox_claim", "{waits}", "outbox_join_wait")...)
}

// numbered gives parameters numbers.
func numbered(mark, statement string) string {
	n := 0
	return regexp.MustCompile(`\?`).ReplaceAllStringFunc(statement, func(string) string {
		n++
		return mark + strconv.Itoa(n)
	})
}

// transactSQL writes a statement for SQL Server, whose ids of messages have capital letters as text. What is
// inserted again into a table is passed over by its key. Texts have the collation of pawl's: a union of others fails.
func transactSQL(schema, statement string) string {
	const text, collation = "nvarchar(200)", " COLLATE Latin1_General_100_BIN2"
	schema += "."
	statement = regexp.MustCompile(`CREATE TABLE IF NOT EXISTS (\S+)`).ReplaceAllString(statement, `IF OBJECT_ID(N'$1') IS NULL CREATE TABLE $1`)
	statement = regexp.MustCompile(`CAST\((\S+) AS text\)`).ReplaceAllString(statement, "LOWER(CONVERT("+text+", $1))")
	statement = regexp.MustCompile(`\btext\b`).ReplaceAllString(statement, text+collation)
	replacer := strings.NewReplacer("{s}", schema, "{serial}", "bigint IDENTITY PRIMARY KEY", "{once}", " WITH (IGNORE_DUP_KEY = ON)", "{unless known}", "",
		"{claimed}", "outbox_claimed", "{waits}", "outbox_join_waiting", "{utf8}", schema+"outbox_text(r.result)"+collation)
	return numbered("@p", replacer.Replace(statement))
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
