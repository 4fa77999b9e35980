package checker_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
)

// queued is a database where so many writes wait for so long.
type queued struct {
	engine.DB
	n   int
	age time.Duration
}

func (q *queued) Unwrap() engine.DB { return q.DB }

func (q *queued) WritesWaiting() (int, time.Time) { return q.n, time.Now().Add(-q.age) }

// D-471: writes that wait although none begins are a warning and then a problem, and none when
// they go on.
func TestWritesThatWait(t *testing.T) {
	t.Parallel()
	db := &queued{DB: dbtest.OpenSQLite(t).DB}
	p, err := pawl.New(db, pawl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		n     int
		waits time.Duration
		level health.Level
	}{{0, time.Hour, health.OK}, {3, time.Second, health.OK}, {3, 6 * time.Second, health.Warning}, {3, time.Minute, health.Problem}} {
		db.n, db.age = c.n, c.waits
		f := p.Health(context.Background()).Find("writes")
		switch {
		case f == nil && c.level == health.OK:
		case f == nil || f.Level != c.level || !strings.Contains(f.Summary, "no write for ") || !strings.Contains(f.Summary, "although 3 wait") || f.NextStep == "":
			t.Errorf("%d wait for %v: %v", c.n, c.waits, f)
		}
	}
}
