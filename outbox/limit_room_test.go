package outbox_test

import (
	"slices"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/throttle"
	"github.com/bravellian/pawl/outbox"
)

// moved returns how many messages wait in lanes of limits.
func (f *fixture) moved() int {
	f.t.Helper()
	return f.db.Count(f.t, "SELECT COALESCE(SUM(r.n), 0) FROM "+f.db.Table("outbox_ready")+" r JOIN "+f.db.Table("outbox_lane")+" l ON l.id = r.lane WHERE l.kind = 3")
}

// D-667: messages that a limit has room for are claimed where they lie, in the order that a claim without
// limits has; a claim moves the first of each topic that the limit has no room for, and those behind it.
func TestLimitsWithRoomMoveNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		if e.Name == "sqlserver" {
			t.Skip("moves every message of a topic with a limit: not changed while no server runs it")
		}
		f := open(t, e)
		f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 4})
		f.limit(throttle.Each, "c*", throttle.Bounds{Rate: 1, Period: time.Hour, Burst: 2})
		f.mix("a1", "b1", "c1", "a2", "b2", "c2", "a3", "c3", "b3", "a4", "a5")
		end := f.from("default", 4, "a1", "b1", "c1", "a2")
		if n := f.moved(); n > 0 {
			t.Errorf("%d messages were moved although the limits had room", n)
		}
		f.from("default", 10, "b2", "c2", "a3", "b3", "a4")
		if n := f.moved(); n != 2 {
			t.Errorf("%d messages were moved, want a5 and c3", n)
		}
		end()
		f.from("default", 10, "a5")
		f.db.CheckPlaces(t)
	})
}

// D-628: what a claim takes under a limit is one row, however many messages it is, and each of them
// gives its place back when it ends; a move sees all of them.
func TestClaimsUnderLimitsWriteOneRowEach(t *testing.T) {
	dbtest.Each(t, testClaimsUnderLimitsWriteOneRowEach)
}

func testClaimsUnderLimitsWriteOneRowEach(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 250})
	f.limit(throttle.Each, "b*", throttle.Bounds{Concurrency: 250})
	const n = 200 // of each topic
	f.mix(slices.Repeat([]string{"a", "b"}, n)...)
	owner, msgs := f.claimExactly(2 * n)
	rows := func() int { return f.db.Count(t, "SELECT count(*) FROM "+f.db.Table("outbox_limit_claim")) }
	one := 1                   // row of a claim under a limit
	if e.Name == "sqlserver" { // one of each message
		one = n
	}
	if got := rows(); got != 2*one {
		t.Errorf("%d rows for a claim of %d messages under two limits, want %d", got, 2*n, 2*one)
	}
	moved, err := f.db.DB.(engine.Movable).TableRows(t.Context(), limitClaims(t), nil, 1000)
	if err != nil || len(moved) != 2*n {
		t.Errorf("a move sees %d messages under limits, want %d: %v", len(moved), 2*n, err)
	}
	f.mix(slices.Repeat([]string{"a"}, 100)...)
	if _, more := f.claim(100); len(more) != 50 {
		t.Fatalf("claimed %d messages, want the 50 that the limit has room for", len(more))
	}
	var ended []outbox.Position
	for _, m := range msgs {
		if m.Topic == "a" && len(ended) < 30 {
			ended = append(ended, m.Position)
		}
	}
	f.touched(30)(f.WorkQueue("").Ack(f.ctx(), owner, ended...))
	if _, more := f.claim(100); len(more) != 30 {
		t.Fatalf("claimed %d messages, want 30 in place of those that were acked", len(more))
	}
	var back []outbox.Position // behind the first of its row
	for _, m := range msgs {
		if m.Topic == "b" && m.Position > ended[29] && len(back) < 20 {
			back = append(back, m.Position)
		}
	}
	f.touched(20)(f.Release(f.ctx(), owner, back...))
	if _, more := f.claim(20); len(more) != 20 {
		t.Fatalf("claimed %d messages, want as many as were released", len(more))
	}
	limits, err := throttle.New(f.db, nil).List(f.ctx())
	if err != nil || len(limits) != 2 || limits[0].Claimed+limits[1].Claimed != 250+n {
		t.Errorf("of limits is claimed %+v, want %d in all: %v", limits, 250+n, err)
	}
	if got := rows(); got > 5*one {
		t.Errorf("%d rows for four claims, want at most %d", got, 5*one)
	}
}

// D-628: messages that are put back and claimed again together are counted once each.
func TestClaimedAgainTogether(t *testing.T) {
	f := open(t, dbtest.Engine{Name: "sqlite", Open: dbtest.OpenSQLite})
	f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 1000})
	f.mix("a1", "a2", "a3")
	for range 3 {
		owner, msgs := f.claimExactly(3)
		f.touched(3)(f.Release(f.ctx(), owner, positions(msgs)...))
	}
	var n, more int
	f.db.Row(t, "SELECT n, json_array_length(more) FROM "+f.db.Table("outbox_limit_claim"), &n, &more)
	if n != 3 || more != 2 {
		t.Errorf("a claim of 3 messages, made three times, counts %d, of which %d are behind the first", n, more)
	}
}

func limitClaims(t *testing.T) *engine.Table {
	all := engine.Tables()
	i := slices.IndexFunc(all, func(t engine.Table) bool { return t.Name == "outbox_limit_claim" })
	if i < 0 {
		t.Fatal("no such table")
	}
	return &all[i]
}
