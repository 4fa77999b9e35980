// Package sqlite opens SQLite databases for pawl: embedded, no server, durable by
// default. It uses modernc.org/sqlite, which is SQLite without cgo and registers itself
// as "sqlite".
//
// A program with another driver gives package anydriver its pool, and links no other.
package sqlite

import (
	"database/sql"

	"github.com/bravellian/pawl/internal/engine"
	impl "github.com/bravellian/pawl/internal/sql/sqlite"
	driven "github.com/bravellian/pawl/internal/sql/sqlite/anydriver"
	"github.com/bravellian/pawl/sqlite/anydriver"
)

// Options configure a database. The zero value is right for most programs.
type Options = anydriver.Options

// Open opens, and if need be creates, the database file at path, in WAL mode unless
// Options say otherwise. path may also be a "file:" URI with parameters of
// modernc.org/sqlite. Close closes the file.
func Open(path string, opts ...Options) (engine.DB, error) {
	var o []impl.Options
	for _, given := range opts {
		o = append(o, impl.Options(given))
	}
	db, err := impl.Open(path, o...)
	if err != nil {
		return nil, err
	}
	return db, nil
}

// New returns a database on a pool that the caller owns; see anydriver.New.
func New(pool *sql.DB, opts ...Options) (engine.DB, error) { return anydriver.New(pool, opts...) }

// OpenURL opens a database of a fleet by "sqlite:path"; a program gives it to
// fleet.Options.
func OpenURL(o engine.OpenOptions) (engine.DB, error) { return impl.OpenURL(o) }

// SQL returns the pool of a database, for the program's own tables and transactions. It
// returns nil for a database that is not SQLite.
func SQL(db engine.Database) *sql.DB {
	if own, ok := engine.As[*driven.DB](db); ok {
		return own.SQL()
	}
	return nil
}
