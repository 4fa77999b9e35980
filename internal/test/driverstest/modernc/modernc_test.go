// Package modernc tests pawl with modernc.org/sqlite, which it links itself, and the
// libraries that go on top of database/sql.
package modernc

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/jmoiron/sqlx"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"

	"github.com/bravellian/pawl/examples/transactions/ent"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/driverstest/sqlc"
	"github.com/bravellian/pawl/internal/test/driverstest/suite"
)

// open opens a file as pawl does it and makes the program's own table.
func open(t *testing.T) (engine.DB, *sql.DB) {
	t.Helper()
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "shop.db"))
	suite.Migrated(t, db, err)
	_, err = db.SQL().ExecContext(t.Context(), "CREATE TABLE orders (id INTEGER PRIMARY KEY); CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance INTEGER)")
	suite.Must(t, err)
	return db, db.SQL()
}

func TestPool(t *testing.T) {
	leg := func(t *testing.T) suite.Leg {
		pool := suite.Pool(t, "sqlite", "_txlock=immediate&_pragma=busy_timeout(5000)")
		db, err := sqlite.New(pool)
		return suite.Leg{
			DB: suite.Migrated(t, db, err), Transact: suite.Plain(pool),
			Outside: map[string]any{"a pool": pool, "a connection": suite.Connection(t, pool)},
		}
	}
	suite.Run(t, leg)
	t.Run("load", func(t *testing.T) { suite.Load(t, leg(t)) })
	t.Run("deferred", func(t *testing.T) { suite.Deferred(t, suite.Pool(t, "sqlite", ""), sqlite.New) })
}

func TestSqlx(t *testing.T) {
	leg := func(t *testing.T) suite.Leg {
		db, pool := open(t)
		x := sqlx.NewDb(pool, "sqlite")
		conn, err := x.Connx(t.Context())
		suite.Must(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return suite.Leg{
			DB: db,
			Transact: func(ctx context.Context, fn func(tx any) error) error {
				tx, err := x.BeginTxx(ctx, nil)
				if err != nil {
					return err
				}
				_, err = tx.NamedExecContext(ctx, "INSERT INTO orders DEFAULT VALUES", map[string]any{})
				return suite.End(tx, errors.Join(err, fn(tx)))
			},
			Outside: map[string]any{"a pool": x, "a connection": conn},
		}
	}
	suite.Run(t, leg)
	t.Run("load", func(t *testing.T) { suite.Load(t, leg(t)) })
}

func TestBun(t *testing.T) {
	leg := func(t *testing.T) suite.Leg {
		db, pool := open(t)
		b := bun.NewDB(pool, sqlitedialect.New())
		conn, err := b.Conn(t.Context())
		suite.Must(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return suite.Leg{
			DB: db,
			Transact: func(ctx context.Context, fn func(tx any) error) error {
				return b.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
					if _, err := tx.ExecContext(ctx, "INSERT INTO orders (id) VALUES (NULL)"); err != nil {
						return err
					}
					return fn(tx)
				})
			},
			Outside: map[string]any{"a pool": b, "a connection": conn},
		}
	}
	suite.Run(t, leg)
	t.Run("load", func(t *testing.T) { suite.Load(t, leg(t)) })
}

// ent with the feature sql/execquery: its transaction executes statements itself.
func TestEntExecQuery(t *testing.T) {
	for name, given := range map[string]func(tx *ent.Tx) any{
		"transaction":  func(tx *ent.Tx) any { return tx },
		"its client":   func(tx *ent.Tx) any { return tx.Client() },
		"its entities": func(tx *ent.Tx) any { return tx.Account },
	} {
		t.Run(name, func(t *testing.T) {
			suite.Run(t, func(t *testing.T) suite.Leg {
				db, pool := open(t)
				client := ent.NewClient(ent.Driver(entsql.OpenDB(dialect.SQLite, pool)))
				return suite.Leg{
					DB: db,
					Transact: func(ctx context.Context, fn func(tx any) error) error {
						tx, err := client.Tx(ctx)
						if err != nil {
							return err
						}
						return suite.End(tx, errors.Join(tx.Account.Create().SetBalance(0).Exec(ctx), fn(given(tx))))
					},
					Outside: map[string]any{"a client": client, "a client's entities": client.Account},
				}
			})
		})
	}
}

// ent without that feature: it works in a transaction that the program begins.
func TestEnt(t *testing.T) {
	suite.Run(t, func(t *testing.T) suite.Leg {
		db, pool := open(t)
		return suite.Leg{
			DB: db,
			Transact: func(ctx context.Context, fn func(tx any) error) error {
				tx, err := pool.BeginTx(ctx, nil)
				if err != nil {
					return err
				}
				client := ent.NewClient(ent.Driver(entsql.NewDriver(dialect.SQLite, entsql.Conn{ExecQuerier: tx})))
				return suite.End(tx, errors.Join(client.Account.Create().SetBalance(0).Exec(ctx), fn(tx)))
			},
			Outside: map[string]any{"a driver": entsql.OpenDB(dialect.SQLite, pool)},
		}
	})
}

func TestSqlc(t *testing.T) {
	suite.Run(t, func(t *testing.T) suite.Leg {
		db, pool := open(t)
		queries := sqlc.New(pool)
		return suite.Leg{
			DB: db,
			Transact: func(ctx context.Context, fn func(tx any) error) error {
				tx, err := pool.BeginTx(ctx, nil)
				if err != nil {
					return err
				}
				return suite.End(tx, errors.Join(queries.WithTx(tx).CreateOrder(ctx), fn(tx)))
			},
			Outside: map[string]any{"what queries use": sqlc.DBTX(pool)},
		}
	})
}
