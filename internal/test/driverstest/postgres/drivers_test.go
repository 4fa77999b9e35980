package postgres

import (
	"context"
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/lib/pq"
	"github.com/uptrace/bun/driver/pgdriver"

	"github.com/bravellian/pawl/internal/test/driverstest/sqlc"
	"github.com/bravellian/pawl/internal/test/driverstest/suite"
)

// Drivers of database/sql as they come.
func TestDrivers(t *testing.T) {
	for name, open := range map[string]func(t *testing.T, p place) *sql.DB{
		"pgx":      func(t *testing.T, p place) *sql.DB { return pool(t, "pgx", p.url) },
		"pgx exec": func(t *testing.T, p place) *sql.DB { return pool(t, "pgx", p.with("default_query_exec_mode=exec")) },
		"pgx simple": func(t *testing.T, p place) *sql.DB {
			return pool(t, "pgx", p.with("default_query_exec_mode=simple_protocol"))
		},
		"lib pq":           func(t *testing.T, p place) *sql.DB { return pool(t, "postgres", p.url) },
		"lib pq in binary": func(t *testing.T, p place) *sql.DB { return pool(t, "postgres", p.with("binary_parameters=yes")) },
		"pgdriver": func(t *testing.T, p place) *sql.DB {
			db := sql.OpenDB(pgdriver.NewConnector(pgdriver.WithDSN(p.url)))
			t.Cleanup(func() { _ = db.Close() })
			return db
		},
	} {
		t.Run(name, func(t *testing.T) {
			suite.Run(t, func(t *testing.T) suite.Leg {
				p := newPlace(t)
				db := open(t, p)
				return suite.Leg{
					DB: p.db, Transact: suite.Plain(db),
					Outside: map[string]any{"a pool": db, "a connection": suite.Connection(t, db)},
				}
			})
		})
	}
}

// pgx without database/sql, with statements as sqlc generates them.
func TestPgx(t *testing.T) {
	suite.Run(t, func(t *testing.T) suite.Leg {
		p := newPlace(t)
		conn, err := pgx.Connect(t.Context(), p.url)
		suite.Must(t, err)
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		queries := sqlc.NewPgx(p.db.Pool())
		return suite.Leg{
			DB: p.db,
			Transact: func(ctx context.Context, fn func(tx any) error) error {
				return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
					if err := queries.WithTx(tx).CreateOrder(ctx); err != nil {
						return err
					}
					return fn(tx)
				})
			},
			Outside: map[string]any{"a pool": p.db.Pool(), "a connection": conn},
		}
	})
}
