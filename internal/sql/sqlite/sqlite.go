// Package sqlite is pawl on SQLite: embedded, no server, durable by default. It opens
// files with modernc.org/sqlite, SQLite without cgo, whose driver registers itself as
// "sqlite".
//
// A program with another driver gives package anydriver its pool, and links none but
// its own.
package sqlite

import (
	"database/sql"
	"database/sql/driver"

	"modernc.org/sqlite"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/sqlite/anydriver"
)

// DB is a SQLite database with pawl's tables. It implements engine.DB.
type DB = anydriver.DB

// Options configure a database. The zero value is right for most programs.
type Options = anydriver.Options

// Open opens, and if necessary creates, the database file at path, in WAL mode
// unless Options say otherwise.
// path may also be a "file:" URI with parameters of modernc.org/sqlite.
func Open(path string, opts ...Options) (*DB, error) {
	return anydriver.OpenWith(modernc, path, opts...)
}

// OpenURL opens one of many databases, "sqlite:path". It is a fleet.Opener.
func OpenURL(o engine.OpenOptions) (engine.DB, error) { return anydriver.OpenerWith(modernc)(o) }

// New uses a pool that you own; see anydriver.New.
func New(pool *sql.DB, opts ...Options) (*DB, error) { return anydriver.New(pool, opts...) }

// Script returns the SQL that takes a schema from one version to another, without a database;
// see engine.Migrator.
func Script(from, to int, opts ...Options) (string, error) {
	return anydriver.Script(from, to, opts...)
}

func modernc(dsn string) (driver.Connector, error) { return sqlite.NewConnector(dsn) }
