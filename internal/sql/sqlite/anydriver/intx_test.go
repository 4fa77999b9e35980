package anydriver_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/enginetest"
)

// D-471: what waited for the lock as long as a transaction may take is not tried again.
func TestALockIsAwaitedOnce(t *testing.T) {
	tries := 0
	busy := errors.Join(engine.ErrBusy, context.DeadlineExceeded)
	if err := engine.Retry(t.Context(), func() error { tries++; return busy }); !errors.Is(err, engine.ErrBusy) || tries != 1 {
		t.Errorf("tried %d times: %v", tries, err)
	}
	_, path := migrated(t) // which may take longer than that
	db := open(t, path, sqlite.Options{StatementTimeout: 50 * time.Millisecond})
	tx, err := db.SQL().BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	defer tx.Rollback()
	if err := db.Do(t.Context(), enginetest.Enqueue([]int64{1}, nil)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error does not say that it waited: %v", err)
	}
}

// D-471: those that wait to write are counted, of calls and of the program's transactions.
func TestWritesWaiting(t *testing.T) {
	db, _ := migrated(t)
	tx, err := db.SQL().BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	defer tx.Rollback()
	if n, _ := db.WritesWaiting(); n != 0 {
		t.Errorf("%d wait", n)
	}
	began := time.Now()
	answers := make(chan error, 2)
	go func() { answers <- db.Do(context.Background(), enginetest.Enqueue([]int64{1}, nil)) }()
	go func() {
		tx, err := db.SQL().BeginTx(context.Background(), nil)
		if err == nil {
			err = tx.Rollback()
		}
		answers <- err
	}()
	enginetest.Until(t, "both wait", func() bool { n, since := db.WritesWaiting(); return n == 2 && !since.Before(began) })
	enginetest.Must(t, tx.Rollback())
	for range 2 {
		enginetest.Must(t, <-answers)
	}
	if n, since := db.WritesWaiting(); n != 0 || since.Before(began) {
		t.Errorf("%d wait since %v", n, since)
	}
}

// D-404: without a write-ahead log a reader waits for a writer whose pages do not fit in memory.
func TestReadInsideATransactionWithoutLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	db, err := sqlite.Open(path, sqlite.Options{KeepJournal: true})
	enginetest.Must(t, err)
	defer db.Close()
	enginetest.Must(t, db.Migrate(t.Context()))
	err = db.InTx(t.Context(), func(ctx context.Context, tx engine.Tx) error {
		read := func() error { _, _, err := engine.Get(ctx, db, op.ClockNow{}); return err }
		count := func() error { _, err := engine.Query(ctx, db, op.OutboxLanes{}); return err }
		if err := errors.Join(read(), count()); err != nil {
			t.Errorf("before it wrote much: %v", err)
		}
		for _, text := range []string{"PRAGMA cache_size = 1", "CREATE TABLE large (x)",
			"INSERT INTO large WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT zeroblob(4000) FROM n"} {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		if err := count(); !errors.Is(err, engine.ErrInTransaction) {
			t.Errorf("a reader that would wait: %v", err)
		}
		return nil
	})
	enginetest.Must(t, err)
}
