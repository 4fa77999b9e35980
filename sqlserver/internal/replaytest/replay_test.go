package replaytest_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/sqlserver/internal/replaytest"
	"github.com/bravellian/pawl/sqlserver/internal/sqlserver"
)

// open returns the engine for SQL Server over a server behind which SQLite answers.
func open(t *testing.T) (*sqlserver.DB, *replaytest.Server) {
	t.Helper()
	behind := dbtest.SQLiteAt(t, filepath.Join(t.TempDir(), "behind.db"), sqlite.Options{})
	enginetest.Must(t, behind.Migrate(t.Context()))
	texts, err := sqlserver.Texts()
	enginetest.Must(t, err)
	s := replaytest.New(t, texts, behind)
	db, err := sqlserver.Open(s.URL())
	enginetest.Must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db, s
}

// D-100: a schema is missing before it is migrated, and there afterwards; to migrate it
// again does nothing.
func TestMigrate(t *testing.T) {
	db, _ := open(t)
	if err := db.CheckSchema(t.Context()); !errors.Is(err, engine.ErrSchemaMissing) {
		t.Errorf("before: %v", err)
	}
	for range 2 {
		enginetest.Must(t, db.Migrate(t.Context()))
		enginetest.Must(t, db.CheckSchema(t.Context()))
	}
}

// A message goes its way over the wire: enqueued, claimed, settled, in pawl's own
// transactions and in a caller's.
func TestMessageOverTheWire(t *testing.T) {
	db, _ := open(t)
	enginetest.Must(t, db.Migrate(t.Context()))
	ids := enginetest.Put(t, db, 3)
	more, err := db.ReserveIDs(t.Context(), nil, 2)
	enginetest.Must(t, err)
	enginetest.Must(t, db.InTx(t.Context(), func(ctx context.Context, tx engine.Tx) error {
		return db.DoTx(ctx, tx, enginetest.Enqueue(enginetest.IDs(more, 2), []byte("two")))
	}))
	owner := enginetest.Token()
	var got []enginetest.Message
	enginetest.Do(t, db, enginetest.Claim(owner, time.Hour, 10, &got))
	if len(got) != 5 || got[0].ID != ids[0] || string(got[0].Payload) != "payload" || string(got[4].Payload) != "two" || got[0].Topic != "topic" {
		t.Fatalf("claimed %+v", got)
	}
	if d := time.Until(got[0].LockedUntil); d < 50*time.Minute || d > time.Hour {
		t.Errorf("claimed for %v", d)
	}
	ack, fail := enginetest.Ack(owner, enginetest.Span{Lo: ids[0], N: 3}), enginetest.Fail(owner, "no", enginetest.Span{Lo: more, N: 2})
	enginetest.Do(t, db, ack, fail)
	if ack.N != 3 || fail.N != 2 {
		t.Errorf("acked %d, failed %d", ack.N, fail.N)
	}
	if c := enginetest.Count(t, db); c.Done != 3 || c.Failed != 2 || c.Sum() != 5 {
		t.Errorf("%+v", c)
	}
	err = db.Do(t.Context(), enginetest.Enqueue([]int64{ids[0]}, nil))
	if !errors.Is(err, engine.ErrPosition) {
		t.Errorf("a position that is taken: %v", err)
	}
}
