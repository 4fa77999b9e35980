package prelude

//docs:module internal/test/driverstest

import (
	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/glebarez/sqlite"
	"github.com/jmoiron/sqlx"
	"github.com/uptrace/bun"
	"gorm.io/gorm"

	"github.com/bravellian/pawl/examples/transactions/ent"
)

// Queries has the form of what sqlc generates from a program's own statements.
type Queries struct{}

func (*Queries) WithTx(sqlDBTX) *Queries
func (*Queries) CreateOrder(ctx context.Context, number int64) error

type sqlDBTX interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}

var queries *Queries

var pool *pgxpool.Pool
