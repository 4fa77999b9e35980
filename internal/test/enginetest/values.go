package enginetest

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// D-5, D-10: what Scan fills belongs to the caller: no later row and no later
// statement writes over it.
func keepRows(t *testing.T, p *Place) {
	db := Migrated(t, p)
	payloads := [][]byte{{}, []byte("text"), {0}, {0xff, 0xfe, 0}, []byte("žluťoučký\x00kůň"), bytes.Repeat([]byte{7}, 1<<20), []byte(`{"a":1}`)}
	lo, err := db.ReserveIDs(t.Context(), nil, len(payloads))
	Must(t, err)
	c := Enqueue(IDs(lo, len(payloads)), nil, func(o *op.OutboxEnqueue) {
		for i := range o.Messages {
			o.Messages[i].Payload = payloads[i]
		}
	})
	Do(t, db, c)
	var got, again []Message
	owner := Token()
	Do(t, db, Claim(owner, Lease, 100, &got))
	Do(t, db, Release(owner, 0, Span{lo, int64(len(payloads))}), Claim(Token(), Lease, 100, &again))
	if len(got) != len(payloads) || len(again) != len(payloads) {
		t.Fatalf("claimed %d, then %d of %d", len(got), len(again), len(payloads))
	}
	for i := range got {
		if !bytes.Equal(got[i].Payload, payloads[got[i].ID-lo]) || !bytes.Equal(again[i].Payload, payloads[again[i].ID-lo]) {
			t.Errorf("payload %d came back differently", i)
		}
		if got[i].MessageID != c.Operation.(op.OutboxEnqueue).Messages[got[i].ID-lo].MessageID || got[i].Topic != "topic" || got[i].Queue != Queue {
			t.Errorf("message %d came back as %+v", i, got[i])
		}
	}
}

// D-1, OBX-015: columns that may be null come back as they went, and times
// survive to the microsecond.
func nullColumns(t *testing.T, p *Place) {
	db := Migrated(t, p)
	due := time.Date(2001, 2, 3, 4, 5, 6, 789_000, time.FixedZone("x", 3600))
	correlation, headers := "c", `{"h":"v"}`
	lo, err := db.ReserveIDs(t.Context(), nil, 2)
	Must(t, err)
	c := Enqueue(IDs(lo, 2), nil, func(o *op.OutboxEnqueue) {
		o.Messages[0].Headers, o.Messages[0].DueAt, o.Messages[1].CorrelationID = &headers, &due, &correlation
	})
	Do(t, db, c)
	var got []Message
	Do(t, db, Claim(Token(), Lease, 2, &got))
	if len(got) != 2 {
		t.Fatalf("claimed %d of 2", len(got))
	}
	if got[0].ID != lo {
		got[0], got[1] = got[1], got[0]
	}
	a, b := got[0], got[1]
	if a.CorrelationID != nil || a.Headers == nil || *a.Headers != headers || a.DueAt == nil || !a.DueAt.Equal(due) {
		t.Errorf("the first: %+v", a)
	}
	if b.CorrelationID == nil || *b.CorrelationID != correlation || b.Headers != nil || b.DueAt != nil {
		t.Errorf("the second: %+v", b)
	}
	if age := time.Since(a.CreatedAt); age < -time.Minute || age > time.Hour {
		t.Errorf("created %v ago", age)
	}
	if left := time.Until(a.LockedUntil); left < Lease-10*time.Minute || left > Lease+10*time.Minute {
		t.Errorf("a lease of %v has %v left", Lease, left)
	}
}

// D-10, OBX-014: no id is handed out twice, whoever asks.
func idsOnce(t *testing.T, p *Place) {
	first := Migrated(t, p)
	dbs := []engine.DB{first, p.Open(t, Options{}), p.Open(t, Options{})}
	var mu sync.Mutex
	seen := map[int64]bool{}
	all(t, 12, func(i int) error {
		for k := range 40 {
			n := 1 + (i*37+k*211)%997
			lo, err := dbs[i%len(dbs)].ReserveIDs(context.Background(), nil, n)
			if err != nil {
				return err
			}
			mu.Lock()
			for id := lo; id < lo+int64(n); id++ {
				if seen[id] || id < 1 {
					t.Errorf("id %d was handed out twice or is none", id)
				}
				seen[id] = true
			}
			mu.Unlock()
		}
		return nil
	})
}

// D-10: a block cannot give more ids than it has.
func idsWrong(t *testing.T, p *Place) {
	db := Migrated(t, p)
	for _, n := range []int{-1, 0, engine.BlockSize + 1} {
		if lo, err := db.ReserveIDs(t.Context(), nil, n); err == nil {
			t.Errorf("%d ids: %d", n, lo)
		}
	}
	lo, err := db.ReserveIDs(t.Context(), nil, engine.BlockSize)
	Must(t, err)
	Do(t, db, Enqueue([]int64{lo, lo + engine.BlockSize - 1}[:1], nil))
}

// D-10, OBX-014: ids reserved in a transaction that was rolled back never
// stand for two messages.
func idsRolledBack(t *testing.T, p *Place) {
	ctx := t.Context()
	dbs := []engine.DB{Migrated(t, p), p.Open(t, Options{})}
	for i := range 12 {
		db := dbs[i%2]
		tx, err := p.Pool(db).BeginTx(ctx, nil)
		Must(t, err)
		n := []int{3, 3000, 500}[i%3]
		lo, err := db.ReserveIDs(ctx, tx, n)
		Must(t, err)
		Must(t, db.DoTx(ctx, tx, Enqueue([]int64{lo}, nil)))
		Must(t, db.DoTx(ctx, tx, Enqueue([]int64{lo + int64(n) - 1}, nil)))
		if i%4 == 3 {
			Must(t, tx.Commit())
		} else {
			Must(t, tx.Rollback())
		}
		Put(t, dbs[(i+1)%2], 2) // fails if the id was taken
	}
	CheckPlaces(t, p)
}

// D-6, D-10: a caller's transaction gets its ids even while another caller
// waits for a new block, which may need what the transaction holds: the write
// lock, or the pool's last connection.
func idsWhileWaiting(t *testing.T, p *Place) {
	db := Migrated(t, p)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	tx, err := p.Pool(db).BeginTx(ctx, nil)
	Must(t, err)
	defer tx.Rollback()
	release := sync.OnceFunc(hold(t, p, db))
	defer release()
	waiting := make(chan error, 1)
	go func() {
		_, err := db.ReserveIDs(ctx, nil, 1)
		waiting <- err
	}()
	got := make(chan error, 1)
	go func() {
		for range 20 { // the other caller may come at any moment
			lo, err := db.ReserveIDs(ctx, tx, engine.BlockSize/2+1)
			if err == nil {
				err = db.DoTx(ctx, tx, Enqueue([]int64{lo}, nil))
			}
			if err != nil {
				got <- err
				return
			}
		}
		got <- nil
	}()
	select {
	case err := <-got:
		Must(t, err)
	case <-ctx.Done():
		t.Fatal("the transaction waits for somebody who waits for it")
	}
	Must(t, tx.Commit())
	release()
	Must(t, <-waiting)
}

// hold takes all other connections that the pool of a server would give, so
// that whoever wants one has to wait for it.
func hold(t testing.TB, p *Place, db engine.DB) (release func()) {
	t.Helper()
	if p.Drain == nil {
		return func() {}
	}
	return p.Drain(t, db)
}

// D-10: an id that lies at the position it carries is found there, wherever
// the second attempt would lie; an id that somebody supplied by its index.
func repeatedOnce(t *testing.T, p *Place) {
	db := Migrated(t, p)
	lo, err := db.ReserveIDs(t.Context(), nil, 10)
	Must(t, err)
	made, supplied := Token(), Token()
	first := EnqueueOnce(Once{ID: lo, MessageID: made}, Once{ID: lo + 1, MessageID: supplied, Supplied: true})
	Do(t, db, first)
	if first.N != 2 {
		t.Errorf("added %d, want 2", first.N)
	}
	again := EnqueueOnce(
		Once{ID: lo + 2, MessageID: made, Supplied: true, Position: lo},
		Once{ID: lo + 3, MessageID: supplied, Supplied: true},
		Once{ID: lo + 4, MessageID: Token(), Supplied: true, Position: lo}, // another id that only looks like it
		Once{ID: lo + 5, MessageID: Token()},
	)
	Do(t, db, again)
	if again.N != 2 {
		t.Errorf("added %d, want 2", again.N)
	}
	CheckPlaces(t, p)
}

// D-6: after Close every call is an error and nothing hangs.
func afterClose(t *testing.T, p *Place) {
	db := Migrated(t, p)
	lo, err := db.ReserveIDs(t.Context(), nil, 1)
	Must(t, err)
	Do(t, db, Enqueue([]int64{lo}, nil))
	var wg sync.WaitGroup
	for range 4 { // Close must not tear at what is under way
		wg.Go(func() {
			for {
				var got []Message
				if db.Do(context.Background(), Claim(Token(), Lease, 1, &got)) != nil {
					return
				}
			}
		})
		wg.Go(func() {
			for db.Read(context.Background(), Lanes()) == nil {
			}
		})
	}
	Must(t, db.Close())
	wg.Wait()
	Must(t, db.Close())
	for what, err := range map[string]error{
		"do":      db.Do(t.Context(), Enqueue([]int64{lo + 1}, nil)),
		"read":    db.Read(t.Context(), Lanes()),
		"check":   db.CheckSchema(t.Context()),
		"migrate": db.Migrate(t.Context()),
	} {
		if !errors.Is(err, engine.ErrClosed) {
			t.Errorf("%s after Close: %v", what, err)
		}
	}
}
