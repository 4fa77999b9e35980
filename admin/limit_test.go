package admin_test

import (
	"errors"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// D-214: a message that waits for a limit says so, and for which.
func TestExplainLimited(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "default", "t")
		set := func(kind admin.Kind, name string, l outbox.Limit) {
			t.Helper()
			_, err := f.Admin.SetLimit(f.ctx(), kind, name, l, "")
			f.check(err)
		}
		set(admin.Topic, "t", outbox.Limit{Concurrency: 1})
		set(admin.Topic, "u", outbox.Limit{Concurrency: 1})
		f.enqueue(outbox.Message{})
		id := f.enqueue(outbox.Message{})
		f.explain(id.String(), "queued")
		f.one()
		f.says(f.explain(id.String(), "limited"), `topic "t"`)
		_, err := f.Admin.RemoveLimit(f.ctx(), admin.Topic, "t")
		f.check(err)
		set(admin.Queue, "default", outbox.Limit{Rate: 1, Period: time.Hour})
		f.explain(id.String(), "queued")
		f.one()
		other := f.enqueue(outbox.Message{})
		f.says(f.explain(other.String(), "limited"), `queue "default" is 1 in 1h`)
	})
}

// D-214: limits are listed with what is used of them, and audited.
func TestLimits(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		ctx := admin.WithActor(f.ctx(), "alice")
		want := outbox.Limit{Concurrency: 5, Rate: 100, Period: time.Minute, Burst: 7}
		changed, err := f.Admin.SetLimit(ctx, admin.Topic, "t", want, "their API")
		if f.check(err); !changed {
			t.Error("not changed")
		}
		all, err := f.Admin.Limits(ctx)
		f.check(err)
		if len(all) != 1 || all[0].Kind != admin.Topic || all[0].Name != "t" || all[0].Limit != want || all[0].Actor != "alice" || all[0].Reason != "their API" || all[0].Since.IsZero() {
			t.Errorf("%+v", all)
		}
		_, err = f.Admin.RemoveLimit(ctx, admin.Topic, "t")
		f.check(err)
		entries, err := engine.Collect(audit.List(ctx, f.db, audit.Options{}), 100)
		f.check(err)
		if len(entries) != 2 || entries[0].Action != "unlimit" || entries[1].Action != "limit" || entries[1].Target != "topic t" || entries[1].Reason != "their API" || entries[1].Count != 1 {
			t.Errorf("%+v", entries)
		}
	})
}

// D-216: a message that waits for its topic's part of a limit says so, and where that comes from.
func TestExplainLimitOfEachTopic(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "default", "call.a", "call.b")
		_, err := f.Admin.SetLimit(f.ctx(), admin.EachTopic, "call.*", outbox.Limit{Concurrency: 1}, "")
		f.check(err)
		f.enqueue(outbox.Message{Topic: "call.a"})
		waits := f.enqueue(outbox.Message{Topic: "call.a"})
		f.one()
		free := f.enqueue(outbox.Message{Topic: "call.b"})
		f.says(f.explain(waits.String(), "limited"), `1 message of topic "call.a"`)
		if x := f.explain(waits.String(), "limited"); x.NextStep != `pawl limits set each 'call.*'` {
			t.Errorf("%+v", x)
		}
		f.explain(free.String(), "queued")
		all, err := f.Admin.Limits(f.ctx())
		if f.check(err); len(all) != 1 || all[0].Kind != admin.EachTopic || all[0].Name != "call.*" || all[0].Claimed != 1 {
			t.Errorf("%+v", all)
		}
		if _, err := f.Admin.Pause(f.ctx(), admin.EachTopic, "call.*", ""); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("paused: %v", err)
		}
	})
}

// D-214, D-216, D-8: a program in another language sets what Go sets, with the same defaults, and claims obey
// it at once.
func TestLimitsSetInSQL(t *testing.T) {
	eachServer(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.enqueue(outbox.Message{})
		f.one()
		f.exec(f.db.Call("limit_set", "'topic'", "'t'", "1")) // the one that is claimed counts
		f.enqueue(outbox.Message{})
		msgs, err := f.Outbox.WorkQueue("").Claim(f.ctx(), outbox.NewOwnerToken(), leaseTime, 10)
		if f.check(err); len(msgs) != 0 {
			t.Errorf("%d are claimed", len(msgs))
		}
		f.exec(f.db.Call("limit_remove", "'topic'", "'t'"))
		f.one()
		f.exec(f.db.Call("limit_set", "'each'", "'*'", "2")) // two of topic t are claimed
		f.enqueue(outbox.Message{})
		msgs, err = f.Outbox.WorkQueue("").Claim(f.ctx(), outbox.NewOwnerToken(), leaseTime, 10)
		if f.check(err); len(msgs) != 0 {
			t.Errorf("%d are claimed", len(msgs))
		}
		f.exec(f.db.Call("limit_remove", "'each'", "'*'"))
		f.one()
		for _, c := range []struct {
			args []string
			want outbox.Limit
		}{
			{[]string{"1"}, outbox.Limit{Concurrency: 1}},
			{[]string{"NULL", "100"}, outbox.Limit{Rate: 100}},
			{[]string{"0", "100", "60"}, outbox.Limit{Rate: 100, Period: time.Minute}},
			{[]string{"7", "3", "0.001", "2"}, outbox.Limit{Concurrency: 7, Rate: 3, Period: time.Millisecond, Burst: 2}},
		} {
			f.exec(f.db.Call("limit_set", append([]string{"'topic'", "'sql'"}, c.args...)...))
			_, err := f.Admin.SetLimit(f.ctx(), admin.Topic, "go", c.want, "")
			f.check(err)
			all, err := f.Admin.Limits(f.ctx())
			if f.check(err); len(all) != 2 || all[0].Limit != all[1].Limit {
				t.Errorf("%v: %+v", c.args, all)
			}
		}
	})
}
