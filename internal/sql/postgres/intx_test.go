package postgres_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/outbox"
)

// D-404: where the transaction has the pool's only connection a call that needs another is
// refused; what uses the transaction works.
func TestInsideATransactionOfAPoolOfOne(t *testing.T) {
	t.Parallel()
	pool, err := pgxpool.New(t.Context(), testpg.With(testpg.Database(t), "pool_max_conns=1"))
	ok(t, err)
	defer pool.Close()
	db, err := postgres.New(pool, postgres.Options{PollOnly: true})
	ok(t, err)
	defer db.Close()
	ok(t, db.Migrate(t.Context()))
	p, err := pawl.New(db, pawl.Options{})
	ok(t, err)
	ok(t, p.Inbox.Once(t.Context(), inbox.Key{Source: "s", MessageID: "m"}, func(ctx context.Context, tx outbox.Tx) error {
		if _, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: "t"}); !errors.Is(err, pawl.ErrInTransaction) {
			t.Errorf("Enqueue: %v", err)
		}
		if _, err := p.Outbox.Count(ctx); !errors.Is(err, pawl.ErrInTransaction) {
			t.Errorf("Count: %v", err)
		}
		_, err := p.Outbox.EnqueueTx(ctx, tx, outbox.Message{Topic: "t"})
		return err
	}))
	if got, err := p.Outbox.Count(t.Context()); err != nil || got.Ready != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}
