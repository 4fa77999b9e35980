package main

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/outbox"
)

// Scenario C: every message in a durable transaction of its own, as request
// handlers write them, and a worker that handles them meanwhile.

const writers = 16

func singles(n int) []scenario {
	const title = "one message per durable transaction, 16 producers, handled meanwhile"
	return []scenario{
		{"C", "postgres", title, []string{colRate}, []system{
			{"pawl", n / 4, singlePawl(openPostgres, beginPostgres)},
			{"begin, insert, commit", n / 4, singleFloor(newPlainPostgres(writers))},
		}},
		{"C", "sqlite", title + ", synchronous=FULL", []string{colRate}, []system{
			{"pawl", n / 12, singlePawl(openSQLite(false), beginSQLite)},
			{"begin, insert, commit", n / 12, singleFloor(newPlainSQLite(false))},
		}},
	}
}

// transactor runs a transaction of the program's own.
type transactor func(ctx context.Context, f func(tx outbox.Tx) error) error

// beginPostgres has a pool of its own, as many connections as writers.
func beginPostgres(ctx context.Context, r *run, _ engine.DB) (transactor, func(), error) {
	pool, err := r.server.pool(ctx, writers)
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, f func(tx outbox.Tx) error) error {
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return f(postgres.Tx(tx)) })
	}, pool.Close, nil
}

func beginSQLite(_ context.Context, _ *run, db engine.DB) (transactor, func(), error) {
	lite, ok := engine.As[*sqlite.DB](db)
	if !ok {
		return nil, nil, fmt.Errorf("%s is no SQLite file", db.Engine())
	}
	pool := lite.SQL()
	return func(ctx context.Context, f func(tx outbox.Tx) error) error {
		tx, err := pool.BeginTx(ctx, (*sql.TxOptions)(nil))
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if err := f(tx); err != nil {
			return err
		}
		return tx.Commit()
	}, func() {}, nil
}

func singlePawl(open opener, begin func(context.Context, *run, engine.DB) (transactor, func(), error)) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		db, done, err := open(ctx, r)
		if err != nil {
			return err
		}
		defer done()
		transact, release, err := begin(ctx, r, db)
		if err != nil {
			return err
		}
		defer release()
		c := consume(ctx, db, func(int64) {})
		m := messages(1)[0]
		enqueue := func(int) error {
			return transact(ctx, func(tx outbox.Tx) error {
				_, err := c.outbox.EnqueueTx(ctx, tx, m)
				return err
			})
		}
		flow := func(n, total int) error {
			if err := parallel(writers, n, enqueue); err != nil {
				return err
			}
			return c.await(total)
		}
		if err := flow(r.warm(), r.warm()); err != nil {
			return err
		}
		r.written = r.warm() + r.n
		took, err := r.measured(ctx, r.n, func() error { return flow(r.n, r.written) })
		if err != nil {
			return err
		}
		r.rate(colRate, r.n, took)
		return c.end(r.written)
	}
}

func singleFloor(build maker) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		f, err := build(ctx, r)
		if err != nil {
			return err
		}
		defer f.close()
		var s ids
		insert := func(int) error { return f.insertTx(ctx, s.take(1)[0]) }
		return only(ctx, r, func(n int) error { return parallel(writers, n, insert) })
	}
}

// only measures one phase after its warm-up.
func only(ctx context.Context, r *run, work func(n int) error) error {
	if err := work(r.warm()); err != nil {
		return err
	}
	r.written = r.warm() + r.n
	took, err := r.measured(ctx, r.n, func() error { return work(r.n) })
	if err == nil {
		r.rate(colRate, r.n, took)
	}
	return err
}
