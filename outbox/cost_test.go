//go:build !race

package outbox_test

import (
	"context"
	"database/sql"
	"sync/atomic"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// countingDB is a database that counts how often it is asked for something.
type countingDB struct {
	engine.DB
	transactions, statements atomic.Int64
}

func (db *countingDB) Do(ctx context.Context, calls ...*engine.Call) error {
	db.transactions.Add(1)
	db.statements.Add(int64(len(calls)))
	return db.DB.Do(ctx, calls...)
}

func (db *countingDB) DoTx(ctx context.Context, tx engine.Tx, call *engine.Call) error {
	db.statements.Add(1)
	return db.DB.DoTx(ctx, tx, call)
}

func (db *countingDB) Read(ctx context.Context, call *engine.Call) error {
	db.transactions.Add(1)
	db.statements.Add(1)
	return db.DB.Read(ctx, call)
}

// What the paths of a message cost in round trips and allocations; both grow unnoticed, where a
// benchmark's figures only scatter. The limits on allocations are what was measured and a tenth.
func TestCostOfAMessage(t *testing.T) {
	for _, e := range dbtest.Engines() { // not side by side: allocations are the process's
		t.Run(e.Name, func(t *testing.T) { testCostOfAMessage(t, e) })
	}
}

func testCostOfAMessage(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	db := &countingDB{DB: f.db.DB}
	f.Outbox = parts.NewOutbox(db, worker.Options{})
	m := outbox.Message{Topic: "t", Payload: make([]byte, 256)}
	hundred := make([]outbox.Message, 100)
	for i := range hundred {
		hundred[i] = m
	}
	limits := map[string]float64{
		"sqlite Enqueue": 118, "sqlite EnqueueTx": 95, "sqlite EnqueueBatch of 100": 2520, "sqlite claim of 100": 1710,
		"postgres Enqueue": 68, "postgres EnqueueTx": 45, "postgres EnqueueBatch of 100": 800, "postgres claim of 100": 436,
	}
	for _, c := range []struct {
		what                     string
		transactions, statements int64
		run                      func(tx *sql.Tx) error
	}{
		{"Enqueue", 1, 1, func(*sql.Tx) error { _, err := f.Enqueue(t.Context(), m); return err }},
		{"EnqueueTx", 0, 1, func(tx *sql.Tx) error { _, err := f.EnqueueTx(t.Context(), tx, m); return err }},
		{"EnqueueBatch of 100", 1, 1, func(*sql.Tx) error { _, err := f.EnqueueBatch(t.Context(), hundred); return err }},
		{"claim of 100", 1, 2, func(*sql.Tx) error {
			_, err := f.WorkQueue("").Claim(t.Context(), outbox.NewOwnerToken(), lease, 100)
			return err
		}},
	} {
		var tx *sql.Tx
		if c.transactions == 0 {
			tx = f.begin()
		}
		run := func() {
			if err := c.run(tx); err != nil {
				t.Fatal(c.what, err)
			}
		}
		run()
		db.transactions.Store(0)
		db.statements.Store(0)
		run()
		if n, s := db.transactions.Load(), db.statements.Load(); n != c.transactions || s != c.statements {
			t.Errorf("%s: %d transactions of %d statements, want %d of %d", c.what, n, s, c.transactions, c.statements)
		}
		limit, measured := limits[f.db.Engine()+" "+c.what]
		if got := testing.AllocsPerRun(50, run); measured && got > limit {
			t.Errorf("%s: %.0f allocations, want at most %.0f", c.what, got, limit)
		}
		if tx != nil {
			_ = tx.Rollback()
		}
	}
}
