package timer_test

import (
	"database/sql"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/timer"
)

// D-113: serializable transactions side by side that schedule and cancel timers of
// different keys do not conflict: what they look at is narrow, however small the table.
// (Those that cancel by key first and schedule then do, where the keys share a page of
// the index.)
func TestSerializableTransactionsSideBySide(t *testing.T) {
	type step func(tx *sql.Tx, key string) error
	d := dbtest.OpenPostgres(t)
	timers := parts.NewTimers(d.DB, parts.NewOutbox(d.DB, worker.Options{}), timer.Options{}, nil)
	later := time.Now().Add(time.Hour)
	keyed := func(tx *sql.Tx, key string) error {
		later = later.Add(time.Minute) // the next wait would be for another
		_, err := timers.ScheduleTx(t.Context(), tx, timer.Timer{Topic: "t", Key: key, Due: later})
		return err
	}
	plain := func(tx *sql.Tx, _ string) error {
		later = later.Add(-time.Minute)
		_, err := timers.ScheduleTx(t.Context(), tx, timer.Timer{Topic: "t", Due: later})
		return err
	}
	cancel := func(tx *sql.Tx, key string) error {
		_, err := timers.CancelKeyTx(t.Context(), tx, "old of "+key)
		return err
	}
	for name, steps := range map[string][]step{
		"schedule with a key": {keyed}, "schedule": {plain}, "schedule, cancel": {keyed, cancel}, "all": {plain, keyed, cancel},
	} {
		t.Run(name, func(t *testing.T) {
			keys := []string{name + " a", name + " b"}
			for _, key := range keys {
				_, err := timers.Schedule(t.Context(), timer.Timer{Topic: "t", Key: "old of " + key, Due: later})
				must(t, err)
			}
			var open []*sql.Tx
			for range keys {
				tx, err := d.SQL.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelSerializable})
				must(t, err)
				defer func() { _ = tx.Rollback() }()
				open = append(open, tx)
			}
			for _, step := range steps {
				for i, tx := range open {
					must(t, step(tx, keys[i]))
				}
			}
			for _, tx := range open {
				must(t, tx.Commit())
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
