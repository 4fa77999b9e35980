package operatetest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/dbtest"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/pause"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

func pauseTests() tests {
	return tests{
		"refused":       testPauseRefused,
		"list":          testPauseList,
		"names":         testPauseNames,
		"claims":        testPausedQueueHandsOutNothing,
		"looks":         testPausedQueueIsNotDue,
		"no database":   testPauseFails,
		"another's eye": testPauseIsLearned,
	}
}

func testPauseRefused(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ctx := f.ctx()
	for _, kind := range []pause.Kind{pause.Topic, pause.Queue} {
		for _, name := range []string{"", " \t", "a\x00b", "\xff", strings.Repeat("ä", pause.MaxName+1)} {
			_, err := f.Pauses.Pause(ctx, kind, name, "")
			f.refused(string(kind), err)
			_, err = f.Pauses.Resume(ctx, kind, name)
			f.refused(string(kind), err)
		}
		for _, reason := range []string{"a\x00b", "\xff", strings.Repeat("ä", pause.MaxReason+1)} {
			_, err := f.Pauses.Pause(ctx, kind, "x", reason)
			f.refused("reason", err)
		}
	}
	_, err := f.Pauses.Pause(ctx, "job", "x", "")
	f.refused("kind", err)
	_, err = f.Pauses.Resume(ctx, "", "x")
	f.refused("kind", err)
	if len(f.paused()) != 0 || len(f.trail(audit.Filter{})) != 0 {
		t.Fatalf("what was refused left %v and %v", f.paused(), f.trail(audit.Filter{}))
	}
}

func testPauseList(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.resumes(false, pause.Topic, "x")
	f.resumes(false, pause.Queue, "x")
	before := time.Now().Add(-time.Minute)
	for _, kind := range []pause.Kind{pause.Topic, pause.Queue} {
		for _, name := range []string{"y", "x"} {
			got, err := f.Pauses.Pause(audit.WithActor(f.ctx(), "alice"), kind, name, "because")
			if err != nil || !got {
				t.Fatal(got, err)
			}
		}
	}
	got, err := f.Pauses.Pause(audit.WithActor(f.ctx(), "bob"), pause.Topic, "x", "another reason")
	if err != nil || got {
		t.Fatalf("paused twice: %v, %v", got, err)
	}
	all := f.paused()
	for i, want := range []pause.Pause{{Kind: pause.Queue, Name: "x"}, {Kind: pause.Queue, Name: "y"}, {Kind: pause.Topic, Name: "x"}, {Kind: pause.Topic, Name: "y"}} {
		if i >= len(all) {
			t.Fatalf("listed %v", all)
		}
		p := all[i]
		if p.Kind != want.Kind || p.Name != want.Name || p.Actor != "alice" || p.Reason != "because" || p.Ending || p.Since.Before(before) || p.Since.Location() != time.UTC {
			t.Fatalf("listed %+v", p)
		}
	}
	f.resume(pause.Topic, "x")
	f.resumes(false, pause.Topic, "x")
	f.resume(pause.Queue, "y")
	f.resumes(false, pause.Queue, "y")
	if all := f.paused(); len(all) != 2 || all[0].Name != "x" || all[1].Name != "y" {
		t.Fatalf("left are %v", all)
	}
	if n := len(f.trail(audit.Filter{Action: audit.Pause})); n != 4 {
		t.Fatalf("%d pauses are noted, want 4: those that changed something", n)
	}
	if n := len(f.trail(audit.Filter{Action: audit.Resume})); n != 2 {
		t.Fatalf("%d resumptions are noted, want 2", n)
	}
}

// odd are names that SQL, JSON or Go might stumble over.
func odd() []string {
	return []string{
		`o'Brien "quoted" \back\ %s $1 ?1`, "żółć 日本語 🐾", "line\nbreak\ttab", " leading and trailing ", strings.Repeat("ß", pause.MaxName), "Case", "case", "null", "'; DROP TABLE x; --",
	}
}

func testPauseNames(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, name := range odd() {
		held := []outbox.WorkItemID{f.put(outbox.Message{Topic: name}), f.put(outbox.Message{Topic: "q", Queue: name})}
		others := []outbox.WorkItemID{f.put(outbox.Message{Topic: "another"}), f.put(outbox.Message{Topic: "q"})}
		f.pause(pause.Topic, name)
		f.pause(pause.Queue, name)
		run := func() {
			d := on(t, f.db, f.db.DB, pawl.Options{StopWhenEmpty: true, Queues: []string{outbox.DefaultQueue, name}})
			for _, topic := range []string{name, "another", "q"} {
				d.Handle(topic, outbox.HandlerFunc(done))
			}
			f.check(d.Outbox.Run(f.ctx()))
		}
		run()
		f.status(outbox.Ready, held...)
		f.status(outbox.Done, others...)
		if all := f.paused(); len(all) != 2 || all[0].Name != name || all[1].Name != name {
			t.Fatalf("listed %v", all)
		}
		f.resume(pause.Topic, name)
		f.resume(pause.Queue, name)
		run()
		f.status(outbox.Done, held...)
	}
}

// A paused queue hands out nothing to whoever asks, and says so to nobody else.
func testPausedQueueHandsOutNothing(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(outbox.Message{Topic: "p"})
	f.put(outbox.Message{Topic: "p", Queue: "other"})
	claim := func(queue string, want int) {
		t.Helper()
		msgs, err := f.Outbox.ClaimFrom(f.ctx(), queue, outbox.NewOwnerToken(), time.Minute, 10)
		if err != nil || len(msgs) != want {
			t.Fatalf("claimed %d of %s, want %d: %v", len(msgs), queue, want, err)
		}
	}
	f.pause(pause.Queue, outbox.DefaultQueue)
	claim(outbox.DefaultQueue, 0)
	if e.Name != "sqlite" {
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
	f.resume(pause.Queue, outbox.DefaultQueue)
	if e.Name != "sqlite" {
		if n := f.db.Count(t, "SELECT count(*) FROM "+f.db.Table("outbox_claim")+"(gen_random_uuid(), 60, 1)"); n != 1 {
			t.Fatalf("SQL claimed %d messages, want 1", n)
		}
		claim(outbox.DefaultQueue, 1)
		return
	}
	claim(outbox.DefaultQueue, 2)
}

// Who looks for work, to sleep until then, is not told of what is paused: else it
// would spin.
func testPausedQueueIsNotDue(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(outbox.Message{Topic: "p"})
	looks := func(want bool) {
		t.Helper()
		for _, o := range []engine.Answering[op.Wait]{op.OutboxNextDue{Queue: outbox.DefaultQueue}, op.FleetLook{Queues: []string{outbox.DefaultQueue, "other"}}} {
			_, due, err := worker.NextDue(f.ctx(), f.db, o)
			if err != nil || due != want {
				t.Fatalf("%s says %v, want %v: %v", engine.NameOf(o), due, want, err)
			}
		}
	}
	looks(true)
	f.pause(pause.Queue, outbox.DefaultQueue)
	looks(false)
	f.resume(pause.Queue, outbox.DefaultQueue)
	looks(true)
	f.pause(pause.Topic, "p")
	f.drain(done)
	f.aside(1)
	looks(false)
	f.resume(pause.Topic, "p")
	looks(true)
}

func testPauseFails(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	broken := on(t, f.db, &flaky{DB: f.db.DB, fail: func(string) bool { return true }}, pawl.Options{})
	if got, err := broken.Pauses.Pause(f.ctx(), pause.Topic, "p", ""); got || !errors.Is(err, errFlaky) {
		t.Fatal(got, err)
	}
	if got, err := broken.Pauses.Resume(f.ctx(), pause.Topic, "p"); got || !errors.Is(err, errFlaky) {
		t.Fatal(got, err)
	}
	if _, err := broken.Pauses.List(f.ctx()); !errors.Is(err, errFlaky) {
		t.Fatal(err)
	}
}

// What Of says is what the last look found, by whichever process.
func testPauseIsLearned(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	admin := f.another(pawl.Options{})
	of := func(p *pause.Pauses) []worker.Pause {
		return []worker.Pause{p.Of("a", "p"), p.Of("b", "p"), p.Of("a", "x"), p.Of("b", "x")}
	}
	says := func(p *pause.Pauses, want ...worker.Pause) {
		t.Helper()
		if got := of(p); !slices.Equal(got, want) {
			t.Fatalf("it says %v, want %v", got, want)
		}
	}
	const no, queue, topic = worker.NotPaused, worker.QueuePaused, worker.TopicPaused
	says(f.Pauses, no, no, no, no)
	admin.pause(pause.Topic, "p")
	admin.pause(pause.Queue, "a")
	says(admin.Pauses, queue, topic, queue, no)
	says(f.Pauses, no, no, no, no)
	f.check(f.Pauses.Look(f.ctx()))
	says(f.Pauses, queue, topic, queue, no)
	admin.resume(pause.Queue, "a")
	f.check(f.Pauses.Look(f.ctx()))
	says(f.Pauses, topic, topic, no, no)
	admin.resume(pause.Topic, "p")
	f.check(f.Pauses.Look(f.ctx()))
	says(f.Pauses, no, no, no, no)
}
