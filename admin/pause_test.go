package admin_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/pause"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

func TestPauseRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		ctx := f.ctx()
		for _, kind := range []admin.Kind{admin.Topic, admin.Queue} {
			for _, name := range []string{"", " \t", "a\x00b", "\xff", strings.Repeat("ä", limits.PauseName+1)} {
				_, err := f.Admin.Pause(ctx, kind, name, "")
				f.refused(string(kind), err)
				_, err = f.Admin.Resume(ctx, kind, name)
				f.refused(string(kind), err)
			}
			for _, reason := range []string{"a\x00b", "\xff", strings.Repeat("ä", limits.Reason+1)} {
				_, err := f.Admin.Pause(ctx, kind, "x", reason)
				f.refused("reason", err)
			}
		}
		_, err := f.Admin.Pause(ctx, "job", "x", "")
		f.refused("kind", err)
		_, err = f.Admin.Resume(ctx, "", "x")
		f.refused("kind", err)
		if len(f.paused()) != 0 || len(f.trail(audit.Options{})) != 0 {
			t.Fatalf("what was refused left %v and %v", f.paused(), f.trail(audit.Options{}))
		}
	})
}

func TestPauseList(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.resumes(false, admin.Topic, "x")
		f.resumes(false, admin.Queue, "x")
		before := time.Now().Add(-time.Minute)
		for _, kind := range []admin.Kind{admin.Topic, admin.Queue} {
			for _, name := range []string{"y", "x"} {
				got, err := f.Admin.Pause(admin.WithActor(f.ctx(), "alice"), kind, name, "because")
				if err != nil || !got {
					t.Fatal(got, err)
				}
			}
		}
		got, err := f.Admin.Pause(admin.WithActor(f.ctx(), "bob"), admin.Topic, "x", "another reason")
		if err != nil || got {
			t.Fatalf("paused twice: %v, %v", got, err)
		}
		all := f.paused()
		for i, want := range []admin.Pause{{Kind: admin.Queue, Name: "x"}, {Kind: admin.Queue, Name: "y"}, {Kind: admin.Topic, Name: "x"}, {Kind: admin.Topic, Name: "y"}} {
			if i >= len(all) {
				t.Fatalf("listed %v", all)
			}
			p := all[i]
			if p.Kind != want.Kind || p.Name != want.Name || p.Actor != "alice" || p.Reason != "because" || p.Ending || p.Since.Before(before) || p.Since.Location() != time.UTC {
				t.Fatalf("listed %+v", p)
			}
		}
		f.resume(admin.Topic, "x")
		f.resumes(false, admin.Topic, "x")
		f.resume(admin.Queue, "y")
		f.resumes(false, admin.Queue, "y")
		if all := f.paused(); len(all) != 2 || all[0].Name != "x" || all[1].Name != "y" {
			t.Fatalf("left are %v", all)
		}
		if n := len(f.trail(audit.Options{Action: audit.Pause})); n != 4 {
			t.Fatalf("%d pauses are noted, want 4: those that changed something", n)
		}
		if n := len(f.trail(audit.Options{Action: audit.Resume})); n != 2 {
			t.Fatalf("%d resumptions are noted, want 2", n)
		}
	})
}

// odd are names that SQL, JSON or Go might stumble over.
func odd() []string {
	return []string{
		`o'Brien "quoted" \back\ %s $1 ?1`, "żółć 日本語 🐾", "line\nbreak\ttab", " leading and trailing ", strings.Repeat("ß", limits.PauseName), "Case", "case", "null", "'; DROP TABLE x; --",
	}
}

func TestPauseNames(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		for _, name := range odd() {
			held := []outbox.Position{f.put(outbox.Message{Topic: name}), f.put(outbox.Message{Topic: "q", Queue: name})}
			others := []outbox.Position{f.put(outbox.Message{Topic: "another"}), f.put(outbox.Message{Topic: "q"})}
			f.pause(admin.Topic, name)
			f.pause(admin.Queue, name)
			run := func() {
				d := on(t, f.db, f.db.DB, pawl.Options{StopWhenEmpty: true, Queues: []string{outbox.DefaultQueue, name}})
				for _, topic := range []string{name, "another", "q"} {
					d.Handle(topic, done)
				}
				f.check(parts.RunOutbox(f.ctx(), d.db.DB, d.Pawl))
			}
			run()
			f.status(outbox.Ready, held...)
			f.status(outbox.Done, others...)
			if all := f.paused(); len(all) != 2 || all[0].Name != name || all[1].Name != name {
				t.Fatalf("listed %v", all)
			}
			f.resume(admin.Topic, name)
			f.resume(admin.Queue, name)
			run()
			f.status(outbox.Done, held...)
		}
	})
}

// Nothing of a paused queue is claimed, and other queues are not affected.
func TestPausedQueueIsNotClaimed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.put(outbox.Message{Topic: "p"})
		f.put(outbox.Message{Topic: "p", Queue: "other"})
		claim := func(queue string, want int) {
			t.Helper()
			msgs, err := f.Outbox.WorkQueue(queue).Claim(f.ctx(), outbox.NewOwnerToken(), time.Minute, 10)
			if err != nil || len(msgs) != want {
				t.Fatalf("claimed %d of %s, want %d: %v", len(msgs), queue, want, err)
			}
		}
		f.pause(admin.Queue, outbox.DefaultQueue)
		claim(outbox.DefaultQueue, 0)
		if e.Name == "postgres" {
			if n := f.db.Count(t, "SELECT count(*) FROM "+f.db.Table("outbox_claim")+"(gen_random_uuid(), 60, 10)"); n != 0 {
				t.Fatalf("SQL claimed %d messages of a paused queue", n)
			}
		}
		if n := f.db.Count(t, "SELECT count(*) FROM "+f.db.Table("outbox_claim")); n != 0 {
			t.Fatal("something is claimed that nobody got")
		}
		claim("other", 1)
		f.put(outbox.Message{Topic: "p"})
		f.counts(outbox.Counts{Ready: 2, InProgress: 1})
		f.resume(admin.Queue, outbox.DefaultQueue)
		if e.Name == "postgres" {
			if n := f.db.Count(t, "SELECT count(*) FROM "+f.db.Table("outbox_claim")+"(gen_random_uuid(), 60, 1)"); n != 1 {
				t.Fatalf("SQL claimed %d messages, want 1", n)
			}
			claim(outbox.DefaultQueue, 1)
			return
		}
		claim(outbox.DefaultQueue, 2)
	})
}

// When a loop asks how long to sleep, what is paused does not count: else it
// would spin.
func TestPausedQueueIsNotDue(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.put(outbox.Message{Topic: "p"})
		looks := func(want bool) {
			t.Helper()
			_, due, err := worker.NextDue(f.ctx(), f.db, op.OutboxNextDue{Queue: outbox.DefaultQueue})
			if err != nil || due != want {
				t.Fatalf("a queue's next is due: %v, want %v: %v", due, want, err)
			}
			polled, _, err := engine.Get(f.ctx(), f.db, op.FleetPoll{Queues: []string{outbox.DefaultQueue, "other"}})
			if err != nil || (polled.Micros != nil) != want {
				t.Fatalf("a poll finds something due: %v, want %v: %v", polled.Micros != nil, want, err)
			}
		}
		looks(true)
		f.pause(admin.Queue, outbox.DefaultQueue)
		looks(false)
		f.resume(admin.Queue, outbox.DefaultQueue)
		looks(true)
		f.pause(admin.Topic, "p")
		f.drain(done)
		f.wantParked(1)
		looks(false)
		f.resume(admin.Topic, "p")
		looks(true)
	})
}

func TestPauseFails(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		broken := on(t, f.db, &flaky{DB: f.db.DB, fail: func(string) bool { return true }}, pawl.Options{})
		if got, err := broken.Admin.Pause(f.ctx(), admin.Topic, "p", ""); got || !errors.Is(err, errFlaky) {
			t.Fatal(got, err)
		}
		if got, err := broken.Admin.Resume(f.ctx(), admin.Topic, "p"); got || !errors.Is(err, errFlaky) {
			t.Fatal(got, err)
		}
		if _, err := broken.Admin.Pauses(f.ctx()); !errors.Is(err, errFlaky) {
			t.Fatal(err)
		}
	})
}

// Of returns what the last Look found, whichever process paused it.
func TestPauseIsLearned(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		operator := f.another(pawl.Options{})
		of := func(p *pause.Pauses) []worker.PauseState {
			return []worker.PauseState{p.Of("a", "p"), p.Of("b", "p"), p.Of("a", "x"), p.Of("b", "x")}
		}
		says := func(p *pause.Pauses, want ...worker.PauseState) {
			t.Helper()
			if got := of(p); !slices.Equal(got, want) {
				t.Fatalf("it says %v, want %v", got, want)
			}
		}
		const no, queue, topic = worker.NotPaused, worker.QueuePaused, worker.TopicPaused
		says(admin.PausesOf(f.Admin), no, no, no, no)
		operator.pause(admin.Topic, "p")
		operator.pause(admin.Queue, "a")
		says(admin.PausesOf(operator.Admin), queue, topic, queue, no)
		says(admin.PausesOf(f.Admin), no, no, no, no)
		f.check(admin.PausesOf(f.Admin).Refresh(f.ctx()))
		says(admin.PausesOf(f.Admin), queue, topic, queue, no)
		operator.resume(admin.Queue, "a")
		f.check(admin.PausesOf(f.Admin).Refresh(f.ctx()))
		says(admin.PausesOf(f.Admin), topic, topic, no, no)
		operator.resume(admin.Topic, "p")
		f.check(admin.PausesOf(f.Admin).Refresh(f.ctx()))
		says(admin.PausesOf(f.Admin), no, no, no, no)
	})
}
