package outbox_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// damages are what another program can write into a message so that this one
// cannot read it.
func damages(e dbtest.Engine) map[string]string {
	if e.Name == "sqlite" {
		return map[string]string{
			"message_id":       "message_id = x'01'",
			"payload":          "payload = 3.5",
			"topic":            "topic = CAST(x'ff41' AS TEXT)",
			"due":              fmt.Sprintf("due_at = %d", time.Date(12_000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()),
			"time of creation": "created_at = -9223372036854775807",
		}
	}
	return map[string]string{
		"due_at":           "due_at = '-infinity'",
		"created_at":       "created_at = 'infinity'",
		"time of creation": "created_at = '20000-01-01'",
		"due time":         "due_at = '4000-01-01 BC'",
	}
}

// readable ends a test on SQL Server: its types hold no time and no id that Go cannot read,
// and the driver makes every text UTF-8.
func readable(t *testing.T, e dbtest.Engine) {
	t.Helper()
	if e.Name == "sqlserver" {
		t.Skip("SQL Server stores nothing that cannot be read")
	}
}

// damaged stores n messages and damages some, one each way.
func (f *fixture) damaged(n int) (good []outbox.Position, bad map[outbox.Position]string) {
	f.t.Helper()
	ids := f.enqueueN(n)
	bad = map[outbox.Position]string{}
	k := 2
	for part, how := range damages(dbtest.Engine{Name: f.db.Engine()}) {
		bad[ids[k]] = part
		f.exec(fmt.Sprintf("UPDATE %s SET %s WHERE id = %d", f.db.Table("outbox_message"), how, ids[k]))
		k += 3
	}
	for _, id := range ids {
		if bad[id] == "" {
			good = append(good, id)
		}
	}
	return good, bad
}

func (f *fixture) failedUnread(bad map[outbox.Position]string) {
	f.t.Helper()
	for id, part := range bad {
		got := f.status(id, outbox.Failed)
		if !strings.Contains(got.LastError, "cannot be read") || !strings.Contains(got.LastError, part) || !strings.Contains(got.Unreadable, part) {
			f.t.Errorf("message %d (%s) failed with %q, and shows %q", id, part, got.LastError, got.Unreadable)
		}
	}
}

// D-9: what a worker cannot read fails alone, with the reason; the rest of its claim
// is handled.
func TestUnreadableFailsAlone(t *testing.T) { dbtest.Each(t, testUnreadableFailsAlone) }

func testUnreadableFailsAlone(t *testing.T, e dbtest.Engine) {
	readable(t, e)
	f := open(t, e, quick(worker.Options{StopWhenEmpty: true}))
	good, bad := f.damaged(40)
	f.handle("t", func(_ context.Context, m *outbox.Message) error {
		if bad[m.Position] != "" {
			t.Errorf("message %d was handled", m.Position)
		}
		return nil
	})
	if err := f.Run(f.ctx()); err != nil {
		t.Fatal(err)
	}
	f.failedUnread(bad)
	f.counts(outbox.Counts{Done: int64(len(good)), Failed: int64(len(bad))})
	if c := f.Component().Stats(); c.Errors > 0 {
		t.Errorf("%d exchanges failed", c.Errors)
	}
}

// D-9: nor does it take those beside it from a program that claims itself.
func TestUnreadableClaim(t *testing.T) { dbtest.Each(t, testUnreadableClaim) }

func testUnreadableClaim(t *testing.T, e dbtest.Engine) {
	readable(t, e)
	f := open(t, e)
	good, bad := f.damaged(40)
	owner, msgs := f.claimExactlyOf(100, len(good))
	f.failedUnread(bad)
	f.touched(int64(len(good)))(f.WorkQueue("").Ack(f.ctx(), owner, positions(msgs)...))
	f.claimExactly(0)
}

// D-9: nothing readable among what is claimed first is no end.
func TestUnreadableOnly(t *testing.T) { dbtest.Each(t, testUnreadableOnly) }

func testUnreadableOnly(t *testing.T, e dbtest.Engine) {
	readable(t, e)
	f := open(t, e)
	ids := f.enqueueN(4)
	for _, how := range damages(e) {
		f.exec(fmt.Sprintf("UPDATE %s SET %s WHERE id < %d", f.db.Table("outbox_message"), how, ids[3]))
		if strings.HasPrefix(how, "message_id") {
			continue
		}
		break
	}
	if _, msgs := f.claimExactlyOf(2, 1); msgs[0].Position != ids[3] {
		t.Fatalf("claimed %v", positions(msgs))
	}
}

// D-9: lists, Get and Find show it.
func TestUnreadableShown(t *testing.T) { dbtest.Each(t, testUnreadableShown) }

func testUnreadableShown(t *testing.T, e dbtest.Engine) {
	readable(t, e)
	f := open(t, e)
	good, bad := f.damaged(40)
	list := func(status outbox.Status, want int) {
		t.Helper()
		all, err := engine.Collect(f.List(f.ctx(), outbox.ListOptions{Status: status}), 100)
		if err != nil || len(all) != want {
			t.Fatalf("%v: %d messages, %v, want %d", status, len(all), err, want)
		}
		for _, i := range all {
			if (i.Unreadable != "") != (bad[i.Position] != "") {
				t.Errorf("message %d shows %q", i.Position, i.Unreadable)
			}
		}
	}
	list(outbox.Ready, 40)
	for id, part := range bad {
		if got := f.get(id); !strings.Contains(got.Unreadable, part) {
			t.Errorf("message %d (%s) shows %q", id, part, got.Unreadable)
		}
		if part != "message_id" {
			if got := f.find(f.get(id).ID); got.Position != id {
				t.Errorf("found %d for %d", got.Position, id)
			}
		}
	}
	f.claimExactlyOf(100, len(good))
	list(outbox.InProgress, len(good))
	list(outbox.Failed, len(bad))
}

// D-9: nor does a run that became claimable at no time that Go knows.
func TestUnreadableTime(t *testing.T) { dbtest.Each(t, testUnreadableTime) }

func testUnreadableTime(t *testing.T, e dbtest.Engine) {
	readable(t, e)
	f := open(t, e)
	ids := f.enqueueN(3)
	never := "-9223372036854775808"
	if e.Name == "postgres" {
		never = "'-infinity'"
	}
	f.exec("UPDATE " + f.db.Table("outbox_ready") + " SET at = " + never)
	if got := f.get(ids[0]); !strings.Contains(got.Unreadable, "next") || !got.NextAttemptAt.IsZero() {
		t.Fatalf("it shows %q", got.Unreadable)
	}
	f.claimExactly(3)
}
