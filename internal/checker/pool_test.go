package checker_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/checker"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
)

// crowded is a database whose pool has the statistics that a test gives it.
type crowded struct {
	engine.DB
	stats engine.PoolStats
}

func (c *crowded) PoolStats() engine.PoolStats { return c.stats }

// D-582: health warns while more callers wait for connections than there are, and ends with it.
func TestPoolTooSmall(t *testing.T) {
	db := &crowded{DB: dbtest.OpenSQLite(t).DB, stats: engine.PoolStats{Max: 4, Waited: time.Hour}}
	c := checker.New(checker.Config{DB: db, Options: health.Options{Timeout: 20 * time.Second, Waiting: 1}})
	said := func() *health.Finding { r := c.Health(t.Context()); return r.Find("connections") }
	if f := said(); f != nil { // what was before the first look is over
		t.Errorf("%v", f)
	}
	db.stats.Waited += 1000 * time.Hour
	if f := said(); f == nil || f.Level != health.Warning || !strings.Contains(f.Summary, "one of the 4 connections") {
		t.Errorf("%v", f)
	}
	if f := said(); f != nil {
		t.Errorf("nobody waits any more: %v", f)
	}
	db.stats.Waited, db.stats.Max = db.stats.Waited+1000*time.Hour, 0
	if f := said(); f != nil {
		t.Errorf("a pool without a limit: %v", f)
	}
}

// D-582: what was waited while the database was away is no fault of the pool.
func TestPoolOfAnOutage(t *testing.T) {
	server := &faulty{DB: dbtest.OpenSQLite(t).DB}
	db := &crowded{DB: server, stats: engine.PoolStats{Max: 4}}
	c := checker.New(checker.Config{DB: db, Options: health.Options{Timeout: 20 * time.Second, Waiting: 1}})
	for _, away := range []bool{false, true, false} {
		server.breaks(nil)
		if away {
			server.breaks(func(context.Context, string) error { return engine.ErrConnLost })
		}
		if r := c.Health(t.Context()); r.Find("connections") != nil || r.Healthy() == away {
			t.Errorf("away %v:\n%s", away, r)
		}
		db.stats.Waited += 1000 * time.Hour
	}
}
