// Package target turns what --db says into an opened database.
package target

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/enginekit/dsn"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
)

// Forms are the ways to name a database, for error messages.
const Forms = "sqlite:PATH or postgres://USER@HOST/DATABASE"

// Target is a database that was named but not opened yet.
type Target struct {
	names    engine.Names
	path     string // of a SQLite file
	postgres string // connection string
}

// Parse understands "sqlite:path" and "postgres://…". Errors quote the scheme
// alone: the rest may hold a password (D-5).
func Parse(db string, names engine.Names) (Target, error) {
	t := Target{names: names}
	if err := names.Validate(); err != nil {
		return t, err
	}
	scheme := dsn.Scheme(db)
	_, rest, _ := strings.Cut(db, ":")
	switch {
	case strings.TrimSpace(db) == "":
		return t, fmt.Errorf("no database named: want %s", Forms)
	case scheme == "":
		return t, fmt.Errorf("database without a scheme: want %s", Forms)
	case scheme == "sqlite":
		return t.sqlite(rest)
	case (scheme == "postgres" || scheme == "postgresql") && strings.HasPrefix(rest, "//"):
		if err := dsn.Check(db); err != nil {
			return t, fmt.Errorf("database: %w", err)
		}
		t.postgres = db
		return t, nil
	}
	return t, fmt.Errorf("unknown database scheme %q: want %s", scheme, Forms)
}

func (t Target) sqlite(path string) (Target, error) {
	if t.names.Schema != "" {
		return t, errors.New("--schema: SQLite has no schemas, use --prefix")
	}
	t.path = strings.TrimPrefix(path, "//")
	if strings.TrimSpace(t.path) == "" {
		return t, errors.New("the SQLite database has no path: want sqlite:PATH")
	}
	if strings.HasPrefix(path, "//") && t.String() == dsn.File("u:@") {
		return t, errors.New("the path of the SQLite database looks like a server's user and password: want sqlite:PATH")
	}
	return t, nil
}

// String names the database without its password.
func (t Target) String() string {
	if t.postgres == "" {
		return dsn.File(t.path)
	}
	return dsn.Redact(t.postgres)
}

// File returns the path of a SQLite database's file; ok is false elsewhere.
func (t Target) File() (path string, ok bool) {
	if t.postgres != "" {
		return "", false
	}
	uri, isURI := strings.CutPrefix(t.path, "file:")
	if !isURI {
		return t.path, true // every character is itself
	}
	path, _, _ = strings.Cut(uri, "?")
	return path, true
}

// Exists reports whether there is something to open: a SQLite file would be
// made on opening, which those who only look do not want.
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
	if path, _ := t.File(); !isDir(filepath.Dir(path)) {
		return nil, fmt.Errorf("no such directory: %s", filepath.Dir(path))
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
	text, err = sqlite.Script(from, to, sqlite.Options{Prefix: t.names.Prefix})
	return text, "sqlite", err
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
