package admin_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/activity"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/registry"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// enqueue stores n messages and returns the position of the first.
func (f *examineFixture) enqueue(n int) int64 {
	f.t.Helper()
	msgs := make([]outbox.Message, n)
	for i := range msgs {
		msgs[i] = outbox.Message{Topic: "t", Payload: []byte("secret payload")}
	}
	ids, err := f.box.EnqueueBatch(f.ctx(), msgs)
	f.check(err)
	info, err := f.box.Get(f.ctx(), ids[0])
	f.check(err)
	return int64(info.Position)
}

func TestExamineWorkers(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		r := registry.New(f.db.DB, quiet(), activity.New())
		r.Show(f.ctx(), registry.Self{Name: "mailer"})
		wantFinding(t, f.examine(), "workers", health.OK, "1 workers are alive", "")
		f.exec("UPDATE {worker_process} SET heartbeat_at = {-2h}, expires_at = {-1h}")
		found := f.examine() // some seconds later on a busy machine
		wantFinding(t, found, "workers", health.Warning, "1 of 1 workers crashed or lost the database, the last 2h", "start them again")
		wantFinding(t, found, "workers", health.Warning, " ago: mailer (host ", "start them again")
		r.Leave(f.ctx())
		wantOK(t, f.examine(), "workers")
	})
}

// D-111: messages of a queue that the database does not know are found, and those of
// one that somebody knows are brought back.
func TestExamineLostQueue(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		wantOK(t, f.examine(), "queues")
		_, err := f.box.Enqueue(f.ctx(), outbox.Message{Topic: "mail", Queue: "nobody's", Priority: 7})
		f.check(err)
		f.exec("DELETE FROM {outbox_lane} WHERE queue = 'nobody''s'")
		wantFinding(t, f.examine(), "queues", health.Problem, `1 messages wait in 1 queues that the database does not know, so that no worker claims them: of topics "mail"`, "Start a worker")
		f.admin().ExamineWith(f.ctx(), access.Key{}, engine.ExamineOptions{Fix: true})
		wantFinding(t, f.examine(), "queues", health.Problem, "1 messages wait", "Start a worker") // its name cannot be guessed
		registry.New(f.db.DB, quiet(), activity.New()).Show(f.ctx(), registry.Self{Name: "mailer", Queues: []string{"nobody's"}})
		f.withoutTrail()
		wantFinding(t, f.examine(), "queues", health.Problem, "1 messages wait", "Start a worker")
		f.admin().ExamineWith(f.ctx(), access.Key{}, engine.ExamineOptions{Fix: true})
		wantOK(t, f.examine(), "queues")
		if n := f.noted("queues that were lost"); n != 1 {
			t.Errorf("%d queues are noted", n)
		}
		if n := f.db.Count(t, "SELECT priority FROM "+f.db.Table("outbox_lane")+" WHERE queue = 'nobody''s'"); n != 7 {
			t.Errorf("it came back with priority %d", n)
		}
	})
}

func TestExamineClaims(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		f.enqueue(3)
		_, err := f.box.WorkQueue("").Claim(f.ctx(), outbox.NewOwnerToken(), time.Minute, 3)
		f.check(err)
		wantOK(t, f.examine(), "claims")
		f.exec("UPDATE {outbox_claim} SET locked_until = {-1m}")
		wantOK(t, f.examine(), "claims") // somebody may be about to reap it
		f.exec("UPDATE {outbox_claim} SET locked_until = {-2h}")
		wantFinding(t, f.examine(), "claims", health.Warning, "3 messages are claimed although their leases are over, the first for 2h", "pawl work")
		_, err = f.box.WorkQueue("").ReapExpired(f.ctx())
		f.check(err)
		wantOK(t, f.examine(), "claims")
	})
}

func TestExamineOverdueTimer(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		all := parts.NewTimers(f.db.DB, f.box, timer.Options{}, quiet())
		_, err := all.Schedule(f.ctx(), timer.Timer{Topic: "t", Due: time.Now().Add(time.Hour)})
		f.check(err)
		wantOK(t, f.examine(), "schedule")
		f.exec("UPDATE {timer} SET at = {-2h}, due_time = {-2h}")
		wantFinding(t, f.examine(), "schedule", health.Warning, "1 timers overdue, the oldest for 2h", "pawl work")
		f.exec("UPDATE {timer} SET status = 1, locked_until = {-3h}")
		wantFinding(t, f.examine(), "schedule", health.Warning, "1 claimed timers overdue, the oldest for 3h", "pawl work")
		f.exec("UPDATE {timer} SET status = 0, at = {1h}")
		wantOK(t, f.examine(), "schedule")
	})
}

func TestExamineOverdueJob(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		all := parts.NewJobs(f.db.DB, f.box, job.Options{}, quiet())
		f.check(all.Put(f.ctx(), job.Job{Name: "j", Topic: "t", Schedule: "0 6 * * *"}))
		wantOK(t, f.examine(), "schedule")
		f.exec("UPDATE {job} SET next_time = {-2h}, due_at = {-2h}")
		wantFinding(t, f.examine(), "schedule", health.Warning, "1 jobs overdue, the oldest for 2h", "pawl work")
		f.exec("UPDATE {job} SET next_time = {2h}, due_at = {2h}")
		wantOK(t, f.examine(), "schedule")
	})
}

func TestExamineStuckInboxMessage(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		box := parts.NewInbox(f.db.DB, inbox.Options{}, worker.Options{Logger: quiet()})
		_, err := box.AlreadyProcessed(f.ctx(), inbox.Key{Source: "stripe", MessageID: "evt_1"})
		f.check(err)
		_, err = box.MarkProcessing(f.ctx(), inbox.Key{Source: "stripe", MessageID: "evt_1"})
		f.check(err)
		wantOK(t, f.examine(), "inbox")
		f.exec("UPDATE {inbox} SET last_seen_utc = {-3h}")
		wantFinding(t, f.examine(), "inbox", health.Warning, `"stripe/evt_1"`, "pawl inbox show")
		f.exec("UPDATE {inbox} SET last_seen_utc = {0s}")
		wantOK(t, f.examine(), "inbox")
	})
}

// D-542: of more messages that are stuck than are counted, that is said.
func TestExamineManyStuckInboxMessages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		box := parts.NewInbox(f.db.DB, inbox.Options{}, worker.Options{Logger: quiet()})
		for i := range 101 {
			key := inbox.Key{Source: "stripe", MessageID: fmt.Sprint(i)}
			_, err := box.AlreadyProcessed(f.ctx(), key)
			f.check(err)
			_, err = box.MarkProcessing(f.ctx(), key)
			f.check(err)
		}
		f.exec("UPDATE {inbox} SET last_seen_utc = {-3h}")
		wantFinding(t, f.examine(), "inbox", health.Warning, "at least 100 messages are being processed", "pawl inbox show")
		f.exec("UPDATE {inbox} SET last_seen_utc = {0s} WHERE message_id = '7'")
		for _, found := range f.examine() {
			if found.Code == "inbox" && !strings.HasPrefix(found.Summary, "100 messages are being processed") {
				t.Error(found.Summary)
			}
		}
	})
}

func TestExamineLeases(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		l, err := parts.NewLeases(f.db.DB, "", quiet()).Acquire(f.ctx(), "close-books", lease.Options{Duration: time.Hour})
		f.check(err)
		defer func() { f.check(l.Close(f.ctx())) }()
		wantOK(t, f.examine(), "leases")
		f.exec("UPDATE {lease} SET lease_until_utc = {-3h}")
		found := f.examine() // some seconds later on a busy machine
		wantFinding(t, found, "leases", health.Note, "1 leases ran out without being given back, the last 3h", "Nothing")
		wantFinding(t, found, "leases", health.Note, ` ago, "close-books" among them`, "Nothing")
		f.exec("UPDATE {lease} SET lease_until_utc = {1h}")
		wantOK(t, f.examine(), "leases")
	})
}
