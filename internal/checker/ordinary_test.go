package checker_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/activity"
	"github.com/bravellian/pawl/internal/checker"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/dbtest"
)

// D-614: ordinary load, of which two attempts in a hundred fail and succeed later, raises no alarm in any
// minute of an hour: of busy topics as of those with a message now and then.
func TestOrdinaryLoadIsSilent(t *testing.T) {
	db := dbtest.OpenSQLite(t)
	f := on(t, db, pawl.Options{})
	clock, _, err := engine.Get(t.Context(), db, op.ClockNow{})
	f.check(err)
	rates := []float64{1000, 50, 3, 0.5, 0.5, 0.5, 0.5, 0.5, 0.05} // a minute
	for seed := range uint64(2) {
		r := rand.New(rand.NewPCG(seed, 1))
		retries := make([]int64, len(rates))
		for ago := int64(59); ago >= 0; ago-- {
			minute := clock.Now.Unix()/60 - ago
			for i, rate := range rates {
				var n activity.Totals
				due := int64(rate*(0.5+r.Float64())) + retries[i]
				if rate < 1 && r.Float64() < rate {
					due++
				}
				retries[i] = 0
				for range due {
					if r.Float64() < 0.02 {
						n.Retried++
						retries[i]++
						n.Errors = map[string]int64{"i/o timeout": n.Retried}
					} else {
						n.Done++
					}
				}
				_, err := engine.Exec(t.Context(), db, nil, op.ActivityPut{Activity: n.Row(1, minute, "default", fmt.Sprint("topic", i), [16]byte{1})})
				f.check(err)
			}
			report := checker.Inspect(t.Context(), dbtest.ClockOff(db, time.Duration(ago)*time.Minute), health.Options{Timeout: 20 * time.Second})
			if report.Level > health.Note {
				t.Fatalf("seed %d, minute %d:\n%s", seed, minute, report)
			}
		}
		_, err := db.SQL.ExecContext(t.Context(), "DELETE FROM "+db.Table("activity"))
		f.check(err)
	}
}
