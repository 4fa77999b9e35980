// Package glebarez tests pawl with GORM and github.com/glebarez/sqlite. Its driver is
// called "sqlite" as modernc's is: a program can link only one of them.
package glebarez

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/bravellian/pawl/internal/sql/sqlite/anydriver"
	"github.com/bravellian/pawl/internal/test/driverstest/suite"
)

// Order is the program's own table.
type Order struct{ ID int }

const params = "?_txlock=immediate&_pragma=busy_timeout(5000)"

func leg(prepared bool) func(t *testing.T) suite.Leg {
	return func(t *testing.T) suite.Leg {
		g, err := gorm.Open(sqlite.Open("file:"+filepath.Join(t.TempDir(), "shop.db")+params), &gorm.Config{PrepareStmt: prepared, Logger: logger.Discard})
		suite.Must(t, err)
		suite.Must(t, g.AutoMigrate(&Order{}))
		pool, err := g.DB()
		suite.Must(t, err)
		t.Cleanup(func() { _ = pool.Close() })
		db, err := anydriver.New(pool)
		return suite.Leg{
			DB: suite.Migrated(t, db, err),
			Transact: func(ctx context.Context, fn func(tx any) error) error {
				return g.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
					if err := tx.Create(&Order{}).Error; err != nil {
						return err
					}
					return fn(tx)
				})
			},
			Outside: map[string]any{
				"GORM": g, "GORM's pool": g.Statement.ConnPool, "a session's": g.Session(&gorm.Session{PrepareStmt: true}).Statement.ConnPool,
				"a pool": pool, "a connection": suite.Connection(t, pool),
			},
		}
	}
}

func TestGORM(t *testing.T) {
	suite.Run(t, leg(false))
	t.Run("prepared", func(t *testing.T) { suite.Run(t, leg(true)) })
	t.Run("load", func(t *testing.T) { suite.Load(t, leg(false)(t)) })
}
