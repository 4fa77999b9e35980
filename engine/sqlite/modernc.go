package sqlite

import (
	"database/sql/driver"

	"modernc.org/sqlite"

	"github.com/bravellian/pawl/engine"
)

// Open opens, and if need be creates, the database file at path, in WAL mode
// unless Options say otherwise.
// path may also be a "file:" URI with parameters of modernc.org/sqlite.
func Open(path string, opts ...Options) (*DB, error) { return OpenWith(modernc, path, opts...) }

// OpenURL opens one of many databases, "sqlite:path". It is an engine.Opener.
func OpenURL(o engine.Opening) (engine.DB, error) { return OpenerWith(modernc)(o) }

func modernc(dsn string) (driver.Connector, error) { return sqlite.NewConnector(dsn) }
