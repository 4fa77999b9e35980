package main

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
)

// Scenario L: messages of 100 kB.

const (
	largeSize  = 100_000
	largeBatch = 10
)

func larges(n int) []scenario {
	n = max(n/20, 10*largeBatch) / largeBatch * largeBatch
	return []scenario{{"L", "postgres", "scenario A with messages of 100 kB, in batches of 10", []string{colEnqueue, colDrain}, []system{
		{"pawl", n, largePawl(openPostgres)},
		{"insert + select", n, largeFloor},
	}}}
}

// largePayload does not shrink where the server compresses it.
func largePayload() []byte {
	body := make([]byte, 0, largeSize+16)
	for len(body) < largeSize {
		id := uuid.New()
		body = append(body, id[:]...)
	}
	return body[:largeSize]
}

func largePawl(open opener) measurement {
	return withOutbox(open, func(ctx context.Context, r *run, db engine.DB, o *parts.Outbox) error {
		batch := messages(largeBatch)
		for i := range batch {
			batch[i].Payload = largePayload()
		}
		return cycle(ctx, r,
			func(n int) error {
				return parallel(producers, n/largeBatch, func(int) error {
					_, err := o.EnqueueBatch(ctx, batch)
					return err
				})
			},
			func(n int) error { return drain(ctx, db, n, worker.Options{}) })
	})
}

func largeFloor(ctx context.Context, r *run) error {
	f, err := newPlainPostgres(0)(ctx, r)
	if err != nil {
		return err
	}
	defer f.close()
	plain := f.(*plainPostgres)
	body := largePayload()
	var s ids
	return cycle(ctx, r,
		func(n int) error {
			return parallel(producers, n/largeBatch, func(int) error { return insertLarge(ctx, plain.pool, s.take(largeBatch), body) })
		},
		func(n int) error { return selectLarge(ctx, plain, n) })
}

func insertLarge(ctx context.Context, pool *pgxpool.Pool, ids []int64, body []byte) error {
	mids, names, bodies := columns(ids)
	for i := range bodies {
		bodies[i] = body
	}
	_, err := pool.Exec(ctx, plainInsert, ids, mids, names, bodies)
	return err
}

// selectLarge reads as many rows at once as pawl claims, and keeps each payload as a
// handler may.
func selectLarge(ctx context.Context, p *plainPostgres, n int) error {
	for taken, since := 0, time.Now(); taken < n; {
		rows, err := p.pool.Query(ctx, plainSelect, p.last, claimSize)
		if err != nil {
			return err
		}
		all, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (m row, err error) {
			return m, r.Scan(&m.id, &m.mid, &m.topic, &m.payload)
		})
		if err != nil {
			return err
		}
		if taken += len(all); len(all) > 0 {
			p.last, since = all[len(all)-1].id, time.Now()
		}
		if time.Since(since) > stall {
			return exactly(n, int64(taken), int64(taken))
		}
	}
	return nil
}
