package registry_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/activity"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/registry"
	"github.com/bravellian/pawl/internal/test/dbtest"
)

// crowded is a database that is away at times, whose pool has the statistics that a test gives it.
type crowded struct {
	engine.DB
	stats engine.PoolStats
	away  bool
}

func (c *crowded) PoolStats() engine.PoolStats { return c.stats }

func (c *crowded) Do(ctx context.Context, calls ...*engine.Call) error {
	if c.away {
		return engine.ErrConnLost
	}
	return c.DB.Do(ctx, calls...)
}

// D-582: what was waited while the database was away is no fault of the pool.
func TestPoolOfAnOutage(t *testing.T) {
	db := &crowded{DB: dbtest.OpenSQLite(t).DB, stats: engine.PoolStats{Max: 4}}
	r := registry.New(db, slog.New(slog.DiscardHandler), activity.New())
	beat := func(away, fails bool) {
		t.Helper()
		db.away = away
		if err := r.Beat(t.Context(), time.Hour); (err != nil) != fails {
			t.Fatal(err)
		}
		db.stats.Waited += 1000 * time.Hour
	}
	waits := func(want bool) {
		t.Helper()
		all, err := registry.List(t.Context(), db)
		if err != nil || len(all) != 1 || all[0].Connections != 4 || (all[0].Waiting > 4) != want {
			t.Errorf("%+v, %v", all, err)
		}
	}
	beat(false, false)
	waits(false)
	beat(false, false)
	waits(true)
	beat(true, true)
	beat(false, false)
	waits(false)
}
