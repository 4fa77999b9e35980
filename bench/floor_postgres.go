package main

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bravellian/pawl/bench/internal/peers"
	"github.com/bravellian/pawl/internal/sql/postgres"
)

// plainPostgres is a table without a queue: rows are written once and read
// once, and nobody notes what was read. That cannot go on beside producers,
// whose rows become visible out of order; then rows are deleted.
type plainPostgres struct {
	pool   *pgxpool.Pool
	delete bool
	last   int64 // read so far
}

const (
	plainTable = `CREATE TABLE pawl_bench.plain (
  id bigint PRIMARY KEY, message_id uuid NOT NULL, created_at timestamptz NOT NULL DEFAULT clock_timestamp(), topic text NOT NULL, payload bytea NOT NULL)`
	plainInsert = `INSERT INTO pawl_bench.plain (id, message_id, topic, payload) SELECT * FROM unnest($1::int8[], $2::uuid[], $3::text[], $4::bytea[])`
	plainOne    = `INSERT INTO pawl_bench.plain (id, message_id, topic, payload) VALUES ($1, $2, $3, $4)`
	plainSelect = `SELECT id, message_id, topic, payload FROM pawl_bench.plain WHERE id > $1 ORDER BY id LIMIT $2`
	plainDelete = `DELETE FROM pawl_bench.plain WHERE id IN (
  SELECT id FROM pawl_bench.plain ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING id, message_id, topic, payload`
)

// newPlainPostgres makes the table; connections 0 means pgx's default.
func newPlainPostgres(connections int) maker {
	return func(ctx context.Context, r *run) (floor, error) {
		pool, err := r.server.pool(ctx, connections)
		if err != nil {
			return nil, err
		}
		_, err = pool.Exec(ctx, plainTable)
		return &plainPostgres{pool: pool}, err
	}
}

func (p *plainPostgres) insert(ctx context.Context, ids []int64) error {
	if len(ids) == 1 {
		_, err := p.pool.Exec(ctx, plainOne, ids[0], uuid.New(), topic(0), peers.Body(ids[0]))
		return err
	}
	mids, names, bodies := columns(ids)
	_, err := p.pool.Exec(ctx, plainInsert, ids, mids, names, bodies)
	return err
}

func (p *plainPostgres) insertTx(ctx context.Context, id int64) error {
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, plainOne, id, uuid.New(), topic(0), peers.Body(id))
		return err
	})
}

// newDeletingPostgres is the simplest queue: a table whose rows are deleted.
func newDeletingPostgres(ctx context.Context, r *run) (floor, error) {
	f, err := newPlainPostgres(0)(ctx, r)
	if err == nil {
		f.(*plainPostgres).delete = true
	}
	return f, err
}

func (p *plainPostgres) take(ctx context.Context, n int) (int, error) {
	query, args := plainSelect, []any{p.last, n}
	if p.delete {
		query, args = plainDelete, []any{n}
	}
	rows, err := p.pool.Query(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	taken := 0
	var m row
	_, err = pgx.ForEachRow(rows, []any{&m.id, &m.mid, &m.topic, &m.payload}, func() error {
		p.last, taken = m.id, taken+1
		return nil
	})
	return taken, err
}

func (p *plainPostgres) close() { p.pool.Close() }

// row is what a handler needs of a message.
type row struct {
	id      int64
	mid     [16]byte
	topic   string
	payload []byte
}

func columns(ids []int64) (mids [][16]byte, names []string, bodies [][]byte) {
	all := topics()
	for i := range ids {
		mids = append(mids, uuid.New())
		names = append(names, all[i%topicCount])
	}
	return mids, names, peers.Bodies(ids)
}

// barePostgres is pawl's layout without pawl: the same statements and routines,
// called by hand.
type barePostgres struct {
	*plainPostgres
	owner [16]byte
	lo, n []int64 // what was claimed and is not acked
}

const (
	// lane is the one of the default queue.
	lane = 4828129222919567135
	// As engine/postgres/outbox/enqueue.sql, claim.sql and ack.sql have them.
	bareInsert = `WITH m AS (
  INSERT INTO pawl_bench.outbox_message (id, message_id, topic, correlation_id, headers, payload, lane, due_at)
  SELECT * FROM unnest($1::int8[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::bytea[], $7::int8[], $8::timestamptz[]))
INSERT INTO pawl_bench.outbox_ready (lane, at, lo, n)
SELECT r.lane, coalesce(r.at, clock_timestamp()), r.lo, r.n
  FROM pawl_bench.outbox_wake($9::text[]) w, unnest($10::int8[], $11::timestamptz[], $12::int8[], $13::int8[]) r(lane, at, lo, n)`
	bareClaim = `SELECT id, message_id, topic, payload FROM pawl_bench.outbox_claim_queue($1, $2, $3, $4, $5, '-infinity')`
	bareAck   = `SELECT pawl_bench.outbox_ack_runs($1, $2, $3, $4)`
)

func newBarePostgres(ctx context.Context, r *run) (floor, error) {
	pool, err := r.server.pool(ctx, 0)
	if err != nil {
		return nil, err
	}
	db, err := postgres.New(pool, postgres.Options{Schema: schema})
	if err != nil {
		return nil, err
	}
	return &barePostgres{plainPostgres: &plainPostgres{pool: pool}}, db.Migrate(ctx)
}

func (b *barePostgres) insert(ctx context.Context, ids []int64) error {
	mids, names, bodies := columns(ids)
	lanes := make([]int64, len(ids))
	for i := range lanes {
		lanes[i] = lane
	}
	_, err := b.pool.Exec(ctx, bareInsert, ids, mids, names, nil, nil, bodies, lanes, nil, []string{"default"},
		[]int64{lane}, nil, []int64{ids[0]}, []int64{int64(len(ids))})
	return err
}

// take acks what the last call claimed and claims more, in one transaction and
// one round trip.
func (b *barePostgres) take(ctx context.Context, n int) (int, error) {
	batch := &pgx.Batch{}
	if len(b.lo) > 0 {
		owners := make([][16]byte, len(b.lo))
		for i := range owners {
			owners[i] = b.owner
		}
		batch.Queue(bareAck, owners, b.lo, b.n, "bench").Exec(func(pgconn.CommandTag) error { return nil })
	}
	owner := [16]byte(uuid.New())
	taken := 0
	var lo, lengths []int64
	var m row
	batch.Queue(bareClaim, "default", owner, 30*time.Second, n, n/batchSize).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&m.id, &m.mid, &m.topic, &m.payload}, func() error {
			taken++
			if k := len(lo) - 1; k >= 0 && lo[k]+lengths[k] == m.id {
				lengths[k]++
			} else {
				lo, lengths = append(lo, m.id), append(lengths, 1)
			}
			return nil
		})
		return err
	})
	err := b.pool.SendBatch(ctx, batch).Close()
	b.owner, b.lo, b.n = owner, lo, lengths
	return taken, err
}
