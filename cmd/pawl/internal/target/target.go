// Package target turns what --db says into an opened database.
package target

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/enginekit/dsn"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/sqlserver"
)

const (
	// Forms are the ways to name a database, for error messages.
	Forms = "PATH, file:URI, sqlite:PATH, postgres://USER@HOST/DATABASE, \"host=HOST dbname=DATABASE\" sqlserver://USER@HOST?database=DATABASE or \"Server=HOST;Database=DATABASE\""
	// StoreForms are those of a store of a fleet.
	StoreForms = "sqlite:PATH, postgres://USER@HOST/DATABASE or sqlserver://USER@HOST?database=DATABASE"
)

// Target is a database that was named but not opened yet.
type Target struct {
	names     engine.Names
	path      string // of a SQLite file
	postgres  string // connection string
	sqlserver string // URL
}

// Parse reads what --db takes: all that sqlite.Open, postgres.Open and sqlserver.Open
// take, and "sqlite:PATH". Errors quote at most the scheme: the rest may hold a password (D-5).
func Parse(db string, names engine.Names) (Target, error) {
	t := Target{names: names}
	if err := names.Validate(); err != nil {
		return t, err
	}
	db, err := dsn.ADO(db)
	if err != nil {
		return t, fmt.Errorf("database: %w", err)
	}
	trimmed := strings.TrimSpace(db)
	switch scheme := dsn.Scheme(db); {
	case trimmed == "":
		return t, fmt.Errorf("no database named: want %s", Forms)
	case isSettings(trimmed):
		return t.server(db)
	case strings.Contains(trimmed, "=") && isWord(before(trimmed, "=")):
		return t, fmt.Errorf("unknown setting of PostgreSQL before the first =: want %s", Forms)
	case scheme == "file", scheme == "" && !strings.Contains(db, "://"), isDrive(db):
		return t.sqlite(db, true)
	}
	return t.url(db, Forms)
}

// ParseURL reads the URL of a store of a fleet: "sqlite:PATH", "postgres://…" or
// "sqlserver://…".
func ParseURL(url string, names engine.Names) (Target, error) {
	t := Target{names: names}
	if err := names.Validate(); err != nil {
		return t, err
	}
	address, err := dsn.ADO(url)
	if err != nil {
		return t, fmt.Errorf("database: %w", err)
	}
	return t.url(address, StoreForms)
}

func (t Target) url(db, forms string) (Target, error) {
	scheme := dsn.Scheme(db)
	_, rest, _ := strings.Cut(db, ":")
	switch {
	case strings.TrimSpace(db) == "":
		return t, fmt.Errorf("no database named: want %s", forms)
	case scheme == "":
		return t, fmt.Errorf("database without a scheme: want %s", forms)
	case scheme == "sqlite":
		path, isURL := strings.CutPrefix(rest, "//")
		return t.sqlite(path, isURL)
	case (scheme == "postgres" || scheme == "postgresql") && strings.HasPrefix(rest, "//"):
		return t.server(db)
	case scheme == "sqlserver" && strings.HasPrefix(rest, "//"):
		if err := dsn.Check(db); err != nil {
			return t, fmt.Errorf("database: %w", err)
		}
		t.sqlserver = db
		return t, nil
	}
	return t, fmt.Errorf("unknown database scheme %q: want %s", scheme, forms)
}

// server is a PostgreSQL server by its URL or settings.
func (t Target) server(db string) (Target, error) {
	if err := dsn.Check(db); err != nil {
		return t, fmt.Errorf("database: %w", err)
	}
	t.postgres = db
	return t, nil
}

// isSettings reports whether text is a list such as "host=h dbname=d".
func isSettings(text string) bool {
	switch strings.ToLower(strings.TrimSpace(before(text, "="))) {
	case "host", "hostaddr", "port", "dbname", "database", "user", "password", "passfile", "service", "servicefile", "options", "application_name",
		"connect_timeout", "target_session_attrs", "sslmode", "sslcert", "sslkey", "sslrootcert", "sslpassword", "sslsni", "krbsrvname", "krbspn",
		"search_path", "timezone", "channel_binding", "require_auth", "default_query_exec_mode":
		return strings.Contains(text, "=")
	}
	return false
}

func before(text, sep string) string {
	first, _, _ := strings.Cut(text, sep)
	return first
}

func isWord(s string) bool {
	s = strings.TrimSpace(s)
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) })
}

// isDrive reports whether a path begins with a drive of Windows.
func isDrive(path string) bool {
	return len(path) > 2 && unicode.IsLetter(rune(path[0])) && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
}

// sqlite is a SQLite file. doubtful says that a server may have been meant.
func (t Target) sqlite(path string, doubtful bool) (Target, error) {
	if t.names.Schema != "" {
		return t, errors.New("--schema: SQLite has no schemas, use --prefix")
	}
	if t.path = path; strings.TrimSpace(t.path) == "" {
		return t, errors.New("the SQLite database has no path: want sqlite:PATH")
	}
	if doubtful && t.String() == dsn.File("u:@") {
		return t, errors.New("the path of the SQLite database looks like a server's user and password: want sqlite:PATH")
	}
	return t, nil
}

// String names the database without its password.
func (t Target) String() string {
	if t.sqlserver != "" {
		return dsn.Redact(t.sqlserver)
	}
	if t.postgres == "" {
		return dsn.File(t.path)
	}
	if isSettings(t.postgres) {
		return settingsName(t.postgres)
	}
	return dsn.Redact(t.postgres)
}

// settingsName names the server and database of a list of settings, as a URL.
func settingsName(list string) string {
	config, err := pgconn.ParseConfig(list)
	if err != nil {
		return "postgres://…"
	}
	u := url.URL{Scheme: "postgres", Host: config.Host, Path: "/" + config.Database}
	if strings.ContainsAny(config.Host, "/@") { // a socket
		u.Host, u.RawQuery = "", "host="+config.Host
	} else if config.Port != 0 && config.Port != defaultPort {
		u.Host = net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
	}
	return u.String()
}

const defaultPort = 5432

// File returns the path of a SQLite database's file; ok is false elsewhere.
func (t Target) File() (path string, ok bool) {
	if t.postgres != "" || t.sqlserver != "" {
		return "", false
	}
	uri, isURI := strings.CutPrefix(t.path, "file:")
	if !isURI {
		return t.path, true // every character is itself
	}
	path, _, _ = strings.Cut(uri, "?")
	return path, true
}

// Exists reports whether there is something to open. Opening would create a SQLite
// file, which commands that only read do not want.
func (t Target) Exists() bool {
	path, isFile := t.File()
	if !isFile {
		return true
	}
	_, err := os.Stat(path)
	return !errors.Is(err, os.ErrNotExist)
}

// Options adjust how a database is opened.
type Options struct {
	Timeout time.Duration // of a transaction; 0 is the engine's default
	Logger  *slog.Logger
	// Modest leaves the journal mode of a SQLite file as it is: a look at a file
	// that turns out not to be pawl's is to leave no trace, and a doctor to see
	// what there was.
	Modest bool
}

// Open opens the database.
func (t Target) Open(o Options) (engine.DB, error) {
	if t.postgres != "" {
		return postgres.Open(t.postgres, postgres.Options{
			Schema: t.names.Schema, Prefix: t.names.Prefix, StatementTimeout: o.Timeout, Logger: o.Logger,
		})
	}
	if t.sqlserver != "" {
		db, err := sqlserver.Open(t.sqlserver, sqlserver.Options{
			Schema: t.names.Schema, Prefix: t.names.Prefix, StatementTimeout: o.Timeout, Logger: o.Logger,
		})
		own, _ := engine.As[engine.DB](db)
		return own, err
	}
	return sqlite.Open(t.path, sqlite.Options{Prefix: t.names.Prefix, StatementTimeout: o.Timeout, KeepJournal: o.Modest, Logger: o.Logger})
}

// Script is the target's schema as SQL, see engine.Migrator, and its engine. The
// database need not exist.
func (t Target) Script(from, to int) (text, engine string, err error) {
	if t.postgres != "" {
		text, err = postgres.Script(from, to, postgres.Options{Schema: t.names.Schema, Prefix: t.names.Prefix})
		return text, "postgres", err
	}
	if t.sqlserver != "" {
		text, err = t.sqlserverScript(from, to)
		return text, "sqlserver", err
	}
	text, err = sqlite.Script(from, to, sqlite.Options{Prefix: t.names.Prefix})
	return text, "sqlite", err
}

// sqlserverScript opens a database, which connects to no server yet.
func (t Target) sqlserverScript(from, to int) (string, error) {
	db, err := t.Open(Options{})
	if err != nil {
		return "", err
	}
	defer func() { _ = db.Close() }()
	m, _ := engine.As[engine.Migrator](db)
	return m.Script(from, to)
}
