package main

import (
	"context"
	"database/sql"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bravellian/pawl/bench/internal/peers"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Scenario O: an inbox's message with an effect in the database, exactly once.

func onces(n int) []scenario {
	const title = "16 goroutines, each message in a transaction that remembers it and writes a row"
	var all []scenario
	for _, e := range []struct {
		engine string
		open   receiverOpener
		share  int
	}{{"postgres", newPostgresReceiver, 4}, {"sqlite", newSQLiteReceiver, 12}} {
		all = append(all, scenario{"O", e.engine, title, []string{colRate}, []system{
			{"Inbox.Once", n / e.share, receive(e.open, receiver.once)},
			{"insert, insert by hand", n / e.share, receive(e.open, receiver.byHand)},
		}})
	}
	return all
}

// receiver handles messages once, each with an effect.
type receiver interface {
	once(ctx context.Context, number int64) error
	// byHand is what a program does that has no inbox: a row that may exist only once.
	byHand(ctx context.Context, number int64) error
	close()
}

type receiverOpener func(ctx context.Context, r *run) (receiver, error)

func receive(open receiverOpener, handle func(receiver, context.Context, int64) error) measurement {
	return func(ctx context.Context, r *run) error {
		to, err := open(ctx, r)
		if err != nil {
			return err
		}
		defer to.close()
		var s ids
		return only(ctx, r, func(n int) error {
			return parallel(writers, n, func(int) error { return handle(to, ctx, s.take(1)[0]) })
		})
	}
}

// key is a message's, as senders have it.
func key(number int64) inbox.Key {
	return inbox.Key{Source: "bench", MessageID: strconv.FormatInt(number, 10)}
}

type postgresReceiver struct {
	inbox  *parts.Inbox
	pool   *pgxpool.Pool
	finish func()
}

const (
	postgresTables = `CREATE TABLE pawl_bench.seen (source text NOT NULL, message_id text NOT NULL, seen_at timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY (source, message_id));
		CREATE TABLE pawl_bench.effect (id bigint PRIMARY KEY)`
	postgresSeen   = `INSERT INTO pawl_bench.seen (source, message_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`
	postgresEffect = `INSERT INTO pawl_bench.effect (id) VALUES ($1)`
)

func newPostgresReceiver(ctx context.Context, r *run) (receiver, error) {
	pool, err := r.server.poolUpTo(ctx, writers) // the same connections for both
	if err != nil {
		return nil, err
	}
	db, done, err := openPostgresOn(ctx, pool)
	if err != nil {
		return nil, err
	}
	_, err = pool.Exec(ctx, postgresTables)
	return &postgresReceiver{parts.NewInbox(db, inbox.Options{}, worker.Options{}), pool, done}, err
}

func (p *postgresReceiver) once(ctx context.Context, number int64) error {
	return p.inbox.Once(ctx, key(number), func(ctx context.Context, tx outbox.Tx) error {
		own, _ := postgres.Pgx(tx)
		_, err := own.Exec(ctx, postgresEffect, number)
		return err
	})
}

func (p *postgresReceiver) byHand(ctx context.Context, number int64) error {
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, postgresSeen, "bench", key(number).MessageID); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, postgresEffect, number)
		return err
	})
}

func (p *postgresReceiver) close() { p.finish() }

type sqliteReceiver struct {
	inbox        *parts.Inbox
	pool         *sql.DB // pawl's, so that both have its connections and pragmas
	seen, effect *sql.Stmt
	finish       func()
}

const (
	sqliteSeenTable   = `CREATE TABLE seen (source TEXT NOT NULL, message_id TEXT NOT NULL, seen_at INTEGER NOT NULL, PRIMARY KEY (source, message_id)) STRICT, WITHOUT ROWID`
	sqliteEffectTable = `CREATE TABLE effect (id INTEGER PRIMARY KEY) STRICT`
	sqliteSeen        = `INSERT INTO seen (source, message_id, seen_at) VALUES (?1, ?2, 0) ON CONFLICT DO NOTHING`
	sqliteEffect      = `INSERT INTO effect (id) VALUES (?1)`
)

func newSQLiteReceiver(ctx context.Context, r *run) (receiver, error) {
	db, done, err := openSQLite(false)(ctx, r)
	if err != nil {
		return nil, err
	}
	lite, _ := engine.As[*sqlite.DB](db)
	s := &sqliteReceiver{inbox: parts.NewInbox(db, inbox.Options{}, worker.Options{}), pool: lite.SQL(), finish: done}
	for _, table := range []string{sqliteSeenTable, sqliteEffectTable} {
		if _, err := s.pool.ExecContext(ctx, table); err != nil {
			return s, err
		}
	}
	if s.seen, err = s.pool.PrepareContext(ctx, sqliteSeen); err != nil {
		return s, err
	}
	s.effect, err = s.pool.PrepareContext(ctx, sqliteEffect)
	return s, err
}

func (s *sqliteReceiver) once(ctx context.Context, number int64) error {
	return s.inbox.Once(ctx, key(number), func(ctx context.Context, tx outbox.Tx) error {
		_, err := tx.(*sql.Tx).StmtContext(ctx, s.effect).ExecContext(ctx, number)
		return err
	})
}

func (s *sqliteReceiver) byHand(ctx context.Context, number int64) error {
	return peers.InTx(ctx, s.pool, func(tx *sql.Tx) error {
		if _, err := tx.StmtContext(ctx, s.seen).ExecContext(ctx, "bench", key(number).MessageID); err != nil {
			return err
		}
		_, err := tx.StmtContext(ctx, s.effect).ExecContext(ctx, number)
		return err
	})
}

func (s *sqliteReceiver) close() { s.finish() }
