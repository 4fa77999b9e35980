package main

import (
	"context"
	"database/sql"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/glebarez/sqlite"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"github.com/uptrace/bun/schema"
	gormpostgres "gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/examples/transactions/ent"
	"github.com/bravellian/pawl/postgres"
	"github.com/bravellian/pawl/sqlite/anydriver"
)

// bank is a database with accounts, and each library's way to move money there.
type bank struct {
	pawl   *pawl.Pawl
	pool   *sql.DB
	movers map[string]mover
	close  func()
}

// open opens a bank with a hundred on each of two accounts, in PostgreSQL or in a SQLite file.
func open(ctx context.Context, url string) (*bank, error) {
	b, err := openSQLite, error(nil)
	if url != "" {
		b = func() (*bank, error) { return openPostgres(ctx, url) }
	}
	opened, err := b()
	if err != nil {
		return nil, err
	}
	if err := opened.prepare(ctx); err != nil {
		opened.close()
		return nil, err
	}
	return opened, nil
}

// prepare makes the tables, pawl's included.
func (b *bank) prepare(ctx context.Context) error {
	if err := b.pawl.Migrate(ctx); err != nil {
		return err
	}
	if _, err := b.pool.ExecContext(ctx, "CREATE TABLE accounts (id bigint PRIMARY KEY, balance bigint NOT NULL)"); err != nil {
		return err
	}
	_, err := b.pool.ExecContext(ctx, "INSERT INTO accounts (id, balance) VALUES (1, 100), (2, 100)")
	return err
}

// libraries are those that the database can be used with.
func (b *bank) libraries() []string { return slices.Sorted(maps.Keys(b.movers)) }

// openSQLite uses one pool, opened with GORM's driver, for everything, pawl included. Transactions begin
// immediate: of two writers the second waits, and none has to be repeated.
func openSQLite() (*bank, error) {
	dir, err := os.MkdirTemp("", "transactions")
	if err != nil {
		return nil, err
	}
	pool, err := sql.Open(sqlite.DriverName, "file:"+filepath.Join(dir, "bank.db")+"?_txlock=immediate&_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, err
	}
	remove := func() { _, _ = pool.Close(), os.RemoveAll(dir) }
	db, err := anydriver.New(pool)
	if err != nil {
		remove()
		return nil, err
	}
	return newBank(db, pool, sqlite.Dialector{Conn: pool}, sqlitedialect.New(), dialect.SQLite, nil, remove)
}

// openPostgres uses a pool of database/sql for the libraries, and pgx's own for pgx and pawl.
func openPostgres(ctx context.Context, at string) (*bank, error) {
	const name = "pawl_example_transactions"
	u, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	db, err := postgres.Open(u.String(), postgres.Options{Schema: name})
	if err != nil {
		return nil, err
	}
	pool := stdlib.OpenDBFromPool(postgres.Pool(db))
	drop := func() { _, _ = pool.ExecContext(context.WithoutCancel(ctx), "DROP SCHEMA "+name+" CASCADE") }
	serializable := &sql.TxOptions{Isolation: sql.LevelSerializable}
	b, err := newBank(db, pool, gormpostgres.New(gormpostgres.Config{Conn: pool}), pgdialect.New(), dialect.Postgres, serializable, func() { drop(); _, _ = pool.Close(), db.Close() })
	if err == nil {
		b.movers["pgx"] = withPgx(b.pawl, postgres.Pool(db))
	}
	return b, err
}

// newBank has every library use the pool.
func newBank(db pawl.DB, pool *sql.DB, forGORM gorm.Dialector, forBun schema.Dialect, forEnt string, o *sql.TxOptions, done func()) (*bank, error) {
	p, err := pawl.New(db, pawl.Options{StopWhenEmpty: true})
	if err != nil {
		done()
		return nil, err
	}
	g, err := gorm.Open(forGORM, &gorm.Config{Logger: logger.Discard})
	if err != nil {
		done()
		return nil, err
	}
	return &bank{p, pool, map[string]mover{
		"database/sql": withDatabaseSQL(p, pool, o),
		"sqlx":         withSqlx(p, sqlx.NewDb(pool, "pgx"), o),
		"GORM":         withGORM(p, g, o),
		"bun":          withBun(p, bun.NewDB(pool, forBun), o),
		"ent":          withEnt(p, ent.NewClient(ent.Driver(entsql.OpenDB(forEnt, pool))), o),
		"sqlc":         withSqlc(p, pool, o),
	}, done}, nil
}
