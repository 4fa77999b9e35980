package checker_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/checker"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/test/dbtest"
)

// D-55, D-110: messages of the inbox that were begun over an hour ago and not ended are warned of, by those who work
// and by those who look from outside; one that waits, one that was heard of, or one whose attempt is alive is not.
func TestStuckInboxMessages(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{Health: health.Options{Timeout: 20 * time.Second}})
		key := func(id string) inbox.Key { return inbox.Key{Source: "s", MessageID: id} }
		for _, id := range []string{"waits", "new", "old", "older"} {
			_, err := f.Inbox.AlreadyProcessed(f.ctx(), key(id))
			f.check(err)
		}
		for _, id := range []string{"new", "old", "older"} {
			_, err := f.Inbox.MarkProcessing(f.ctx(), key(id))
			f.check(err)
		}
		err := f.Inbox.Attempt(f.ctx(), key("held"), func(context.Context) error {
			f.seen("UPDATE {inbox} SET last_seen_utc = {2h} WHERE message_id IN ('waits', 'held')")
			f.inbox(health.OK, "no message of the inbox is stuck")
			f.seen("UPDATE {inbox} SET last_seen_utc = {2h} WHERE message_id IN ('old', 'older')")
			f.inbox(health.Warning, "2 messages of the inbox are being processed and not heard of for over an hour")
			return nil
		})
		f.check(err)
		if _, err := f.Inbox.MarkProcessed(f.ctx(), key("old")); err != nil {
			t.Fatal(err)
		}
		f.inbox(health.Warning, "1 message of the inbox is being processed and not heard of")
		if limits.InboxStuck != time.Hour {
			t.Error("health has another limit than the inbox")
		}
	})
}

// seen changes when messages were seen.
func (f *fixture) seen(query string) {
	f.t.Helper()
	ago := f.db.Earlier(f.db.Clock(), 2*time.Hour)
	if f.db.Engine() == "sqlite" {
		ago = "unixepoch() * 1000000 - 7200000000"
	}
	_, err := f.db.SQL.ExecContext(f.ctx(), strings.NewReplacer("{inbox}", f.db.Table("inbox"), "{2h}", ago).Replace(query))
	f.check(err)
}

// inbox insists on what is said of the inbox.
func (f *fixture) inbox(want health.Level, says string) {
	f.t.Helper()
	for _, r := range []health.Report{f.Health(f.ctx()), checker.Inspect(f.ctx(), f.db, health.Options{Timeout: 20 * time.Second})} {
		if c := r.Find("inbox"); c == nil || c.Level != want || !strings.Contains(c.Summary, says) || r.Level == health.Problem {
			f.t.Errorf("want the inbox to be %s and say %q:\n%s", want, says, r)
		}
	}
}
