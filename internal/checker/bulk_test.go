package checker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/checker"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// D-411: a bulk act that is stored and that nobody works on is warned of, and so is one that
// makes no progress; one that was stored just now, goes on or has ended is not.
func TestBulkActsStandStill(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{Health: health.Options{Timeout: 20 * time.Second}})
		b, err := f.Outbox.Redrive(f.ctx(), outbox.FailedFilter{Topic: "mail", Rate: 1})
		f.check(err)
		f.bulk()
		late := func() {
			_, err := f.db.SQL.ExecContext(f.ctx(), "UPDATE "+f.db.Table("outbox_bulk")+" SET at = "+f.db.Ago(2*time.Minute))
			f.check(err)
		}
		late()
		f.bulk("redrive of failed messages of topic mail by ", "stored, and no worker has worked on it yet; no worker is alive")
		_, err = f.db.SQL.ExecContext(f.ctx(), "UPDATE "+f.db.Table("outbox_bulk")+" SET n = 3, total = 7, stepped_at = at")
		f.check(err)
		f.bulk("3 of 7 done, and no progress since 20")
		_, err = f.Internal(access.Key{}).Sources()[0].Dispatch(f.ctx())
		f.check(err)
		if b, err = f.Outbox.Bulk(f.ctx(), b.ID); err != nil || !b.Over {
			t.Fatalf("%+v, %v", b, err)
		}
		late()
		f.bulk()
	})
}

// bulk insists on what is said of bulk acts, by those who work and by those who look from outside;
// nothing: nothing is.
func (f *fixture) bulk(says ...string) {
	f.t.Helper()
	for _, r := range []health.Report{f.Health(f.ctx()), checker.Inspect(f.ctx(), f.db, health.Options{Timeout: 20 * time.Second})} {
		c := r.Find("bulk")
		if (c != nil) != (len(says) > 0) {
			f.t.Errorf("want it to say %q:\n%s", says, r)
			continue
		}
		for _, text := range says {
			if c.Level != health.Warning || !strings.Contains(c.Summary, text) {
				f.t.Errorf("want it to say %q:\n%s", text, r)
			}
		}
	}
}
