package peers

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// plain is a table used as a queue by hand-written SQL: one statement claims rows,
// another one, in a transaction after the handlers, has done with them. What a process
// claims that dies is not lost.
type plain struct {
	pool *pgxpool.Pool
	plainSQL
}

// plainSQL are the statements. claim takes a number and returns id and body; done takes
// ids.
type plainSQL struct{ create, insert, claim, done, settled string }

// visibility makes claimed rows invisible for 30 seconds and deletes handled ones.
var visibility = plainSQL{
	create: `CREATE TABLE queue (
  msg_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, read_ct int NOT NULL DEFAULT 0,
  enqueued_at timestamptz NOT NULL DEFAULT now(), vt timestamptz NOT NULL DEFAULT now(), message jsonb NOT NULL);
CREATE INDEX ON queue (vt)`,
	insert: `INSERT INTO queue (message) SELECT * FROM unnest($1::jsonb[])`,
	claim: `WITH next AS (
  SELECT msg_id FROM queue WHERE vt <= clock_timestamp() ORDER BY msg_id LIMIT $1 FOR UPDATE SKIP LOCKED)
UPDATE queue q SET vt = clock_timestamp() + interval '30 s', read_ct = read_ct + 1 FROM next WHERE q.msg_id = next.msg_id
RETURNING q.msg_id, q.message::text`,
	done:    `DELETE FROM queue WHERE msg_id = ANY($1)`,
	settled: `SELECT NOT EXISTS (SELECT FROM queue)`,
}

// status notes in each row how far it is and keeps handled ones.
var status = plainSQL{
	create: `CREATE TABLE job (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, status text NOT NULL DEFAULT 'new',
  created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz, body jsonb NOT NULL);
CREATE INDEX job_open ON job (status, id) WHERE status <> 'done'`,
	insert: `INSERT INTO job (body) SELECT * FROM unnest($1::jsonb[])`,
	claim: `UPDATE job SET status = 'running', updated_at = now() WHERE id IN (
  SELECT id FROM job WHERE status = 'new' ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING id, body::text`,
	done:    `UPDATE job SET status = 'done', updated_at = now() WHERE id = ANY($1)`,
	settled: `SELECT NOT EXISTS (SELECT FROM job WHERE status <> 'done')`,
}

func openVisibility(ctx context.Context, p Place) (Queue, error) {
	return openPlain(ctx, p, visibility)
}
func openStatus(ctx context.Context, p Place) (Queue, error) { return openPlain(ctx, p, status) }

func openPlain(ctx context.Context, p Place, statements plainSQL) (Queue, error) {
	pool, err := p.pool(ctx)
	if err != nil {
		return nil, err
	}
	_, err = pool.Exec(ctx, statements.create)
	return &plain{pool, statements}, err
}

// execer is a pool or a transaction.
type execer interface {
	Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error)
}

func (p *plain) add(ctx context.Context, to execer, ids []int64) error {
	bodies := make([]string, len(ids))
	for i, body := range Bodies(ids) {
		bodies[i] = string(body)
	}
	_, err := to.Exec(ctx, p.insert, bodies)
	return err
}

func (p *plain) Enqueue(ctx context.Context, ids []int64) error { return p.add(ctx, p.pool, ids) }

func (p *plain) EnqueueTx(ctx context.Context, id int64) error {
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error { return p.add(ctx, tx, []int64{id}) })
}

// Run stops between two claims: a server may carry out a claim that was canceled, and
// nobody would handle its rows.
func (p *plain) Run(ctx context.Context, handle func(id int64)) error {
	going := context.WithoutCancel(ctx)
	for ctx.Err() == nil {
		n, err := p.once(going, handle)
		if err != nil {
			return err
		}
		if n > 0 {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(pollEvery):
		}
	}
	return nil
}

// once handles what one claim gives.
func (p *plain) once(ctx context.Context, handle func(id int64)) (int, error) {
	rows, err := p.pool.Query(ctx, p.claim, claimSize)
	if err != nil {
		return 0, err
	}
	var keys, orders []int64
	var key int64
	var body []byte
	_, err = pgx.ForEachRow(rows, []any{&key, &body}, func() error {
		keys, orders = append(keys, key), append(orders, ID(body))
		return nil
	})
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	for _, id := range orders {
		handle(id)
	}
	done, err := p.pool.Exec(ctx, p.done, keys)
	if err == nil && done.RowsAffected() != int64(len(keys)) {
		err = errors.New("rows that were claimed are gone")
	}
	return len(keys), err
}

func (p *plain) Settled(ctx context.Context) (settled bool, err error) {
	err = p.pool.QueryRow(ctx, p.settled).Scan(&settled)
	return settled, err
}

func (p *plain) Close() { p.pool.Close() }
