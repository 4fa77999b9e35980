package postgres

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/jmoiron/sqlx"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/driver/pgdriver"
	gormpostgres "gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/bravellian/pawl/examples/transactions/ent"
	"github.com/bravellian/pawl/internal/test/driverstest/sqlc"
	"github.com/bravellian/pawl/internal/test/driverstest/suite"
)

// Order is the program's own table.
type Order struct{ ID int64 }

func TestBun(t *testing.T) {
	for name, open := range map[string]func(t *testing.T, p place) *sql.DB{
		"pgx":      func(t *testing.T, p place) *sql.DB { return pool(t, "pgx", p.url) },
		"pgdriver": func(_ *testing.T, p place) *sql.DB { return sql.OpenDB(pgdriver.NewConnector(pgdriver.WithDSN(p.url))) },
	} {
		t.Run(name, func(t *testing.T) {
			suite.Run(t, func(t *testing.T) suite.Leg {
				p := newPlace(t)
				db := bun.NewDB(open(t, p), pgdialect.New())
				t.Cleanup(func() { _ = db.Close() })
				return suite.Leg{
					DB: p.db,
					Transact: func(ctx context.Context, fn func(tx any) error) error {
						return db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
							if _, err := tx.ExecContext(ctx, "INSERT INTO orders (id) VALUES (DEFAULT)"); err != nil {
								return err
							}
							return fn(&tx)
						})
					},
					Outside: map[string]any{"a pool": db},
				}
			})
		})
	}
}

func TestGORM(t *testing.T) {
	for name, prepared := range map[string]bool{"plain": false, "prepared": true} {
		t.Run(name, func(t *testing.T) {
			suite.Run(t, func(t *testing.T) suite.Leg {
				p := newPlace(t)
				g, err := gorm.Open(gormpostgres.Open(p.url), &gorm.Config{PrepareStmt: prepared, Logger: logger.Discard})
				suite.Must(t, err)
				db, err := g.DB()
				suite.Must(t, err)
				t.Cleanup(func() { _ = db.Close() })
				return suite.Leg{
					DB: p.db,
					Transact: func(ctx context.Context, fn func(tx any) error) error {
						return g.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
							if err := tx.Create(&Order{}).Error; err != nil {
								return err
							}
							return fn(tx)
						})
					},
					Outside: map[string]any{"GORM": g, "GORM's pool": g.Statement.ConnPool},
				}
			})
		})
	}
}

func TestSqlx(t *testing.T) {
	suite.Run(t, func(t *testing.T) suite.Leg {
		p := newPlace(t)
		db := sqlx.NewDb(pool(t, "pgx", p.url), "pgx")
		return suite.Leg{
			DB: p.db,
			Transact: func(ctx context.Context, fn func(tx any) error) error {
				tx, err := db.BeginTxx(ctx, nil)
				if err != nil {
					return err
				}
				_, err = tx.NamedExecContext(ctx, "INSERT INTO orders (id) VALUES (DEFAULT)", map[string]any{})
				return suite.End(tx, errors.Join(err, fn(tx)))
			},
			Outside: map[string]any{"a pool": db},
		}
	})
}

func TestEnt(t *testing.T) {
	suite.Run(t, func(t *testing.T) suite.Leg {
		p := newPlace(t)
		client := ent.NewClient(ent.Driver(entsql.OpenDB(dialect.Postgres, pool(t, "pgx", p.url))))
		return suite.Leg{
			DB: p.db,
			Transact: func(ctx context.Context, fn func(tx any) error) error {
				tx, err := client.Tx(ctx)
				if err != nil {
					return err
				}
				return suite.End(tx, errors.Join(tx.Account.Create().SetBalance(0).Exec(ctx), fn(tx)))
			},
			Outside: map[string]any{"a client": client},
		}
	})
}

func TestSqlc(t *testing.T) {
	suite.Run(t, func(t *testing.T) suite.Leg {
		p := newPlace(t)
		db := pool(t, "pgx", p.url)
		queries := sqlc.New(db)
		return suite.Leg{
			DB: p.db,
			Transact: func(ctx context.Context, fn func(tx any) error) error {
				tx, err := db.BeginTx(ctx, nil)
				if err != nil {
					return err
				}
				return suite.End(tx, errors.Join(queries.WithTx(tx).CreateOrder(ctx), fn(tx)))
			},
			Outside: map[string]any{"a pool": db},
		}
	})
}
