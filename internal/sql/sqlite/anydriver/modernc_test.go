package anydriver

import (
	"database/sql/driver"

	"modernc.org/sqlite"

	"github.com/bravellian/pawl/internal/engine"
)

// Open opens a file as package sqlite does.
func Open(path string, opts ...Options) (*DB, error) { return OpenWith(modernc, path, opts...) }

// OpenURL opens one of many databases as package sqlite does.
func OpenURL(o engine.OpenOptions) (engine.DB, error) { return OpenerWith(modernc)(o) }

// Modernc is the driver that package sqlite links.
func Modernc(dsn string) (driver.Connector, error) { return modernc(dsn) }

func modernc(dsn string) (driver.Connector, error) { return sqlite.NewConnector(dsn) }
