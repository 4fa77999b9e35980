package target

import (
	"database/sql"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/sqlserver"
)

// SQL returns a pool for statements that are not pawl's. closed is to be called before the database is closed.
func SQL(db pawl.DB) (pool *sql.DB, closed func() error) {
	none := func() error { return nil } // the pool is the database's
	if lite, ok := engine.As[*sqlite.DB](db); ok {
		return lite.SQL(), none
	}
	if server, ok := engine.As[*postgres.DB](db); ok {
		pool := stdlib.OpenDBFromPool(server.Pool())
		return pool, pool.Close
	}
	return sqlserver.SQL(db), none
}
