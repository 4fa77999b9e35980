package job_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
)

// enqueue stores a message of topic "other" and returns its id.
func (f *fixture) enqueue() outbox.MessageID {
	f.t.Helper()
	id, err := f.box.Enqueue(f.ctx(), outbox.Message{Topic: "other"})
	f.check(err)
	return id
}

// messageID is the id of a message that is no run.
func (f *fixture) messageID() outbox.MessageID { return f.enqueue() }

// delivered handles everything there is, and returns which messages that were.
func (f *fixture) delivered() map[outbox.MessageID]int {
	f.t.Helper()
	seen := map[outbox.MessageID]int{}
	for {
		owner := outbox.NewOwnerToken()
		msgs, err := f.box.WorkQueue("").Claim(f.ctx(), owner, lease, 100)
		f.check(err)
		if len(msgs) == 0 {
			return seen
		}
		for _, m := range msgs {
			seen[m.ID]++
			n, err := f.box.WorkQueue("").Ack(f.ctx(), owner, m.Position)
			f.check(err)
			if n != 1 {
				f.t.Fatal("not acked")
			}
		}
	}
}

// D-84: the messages of pending runs are taken back, and never delivered.
func TestDeletePending(t *testing.T) { dbtest.Each(t, testDeletePending) }

func testDeletePending(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	other := f.hourly()
	other.Name = "other"
	f.put(f.hourly(), other)
	mine := []job.RunID{f.trigger(name), f.made().ID}
	keep := f.trigger("other")
	f.check(f.Delete(t.Context(), name))
	for _, id := range mine {
		if _, err := f.GetRun(t.Context(), id); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("the run is still there: %v", err)
		}
		if m, err := f.box.Get(t.Context(), id); err != nil || m.Status != outbox.Discarded || m.LastError == "" {
			t.Errorf("its message is %+v, %v", m, err)
		}
	}
	got := f.delivered()
	if got[keep] != 1 || got[mine[0]] != 0 || got[mine[1]] != 0 {
		t.Fatalf("delivered %v, want %v and its neighbours, not %v", got, keep, mine)
	}
	f.statuses(name)
	if b, err := f.box.Redrive(t.Context(), outbox.FailedFilter{}); err != nil || b.Changed != 0 {
		t.Fatalf("%d were redriven, %v", b.Changed, err)
	}
}

// D-84: also where they have become one run of messages with their neighbours, as
// after a worker died that had claimed all of them.
func TestDeleteMiddle(t *testing.T) { dbtest.Each(t, testDeleteMiddle) }

func testDeleteMiddle(t *testing.T, e dbtest.Engine) {
	for what, order := range map[string]string{"middle": "omo", "front": "moo", "back": "oom", "two": "ommo", "apart": "omomo", "alone": "m", "all": "mmm"} {
		t.Run(what, func(t *testing.T) {
			f := open(t, e)
			f.put(f.hourly())
			gone, stay := map[outbox.MessageID]bool{}, map[outbox.MessageID]bool{}
			for _, c := range order {
				if c == 'm' {
					gone[f.trigger(name)] = true
				} else {
					stay[f.enqueue()] = true
				}
			}
			msgs, err := f.box.WorkQueue("").Claim(t.Context(), outbox.NewOwnerToken(), 50*time.Millisecond, 100)
			f.check(err)
			f.db.Pass(100 * time.Millisecond)
			if n, err := f.WorkQueue().ReapExpired(t.Context()); err != nil || int(n) != len(order) || len(msgs) != len(order) {
				t.Fatalf("reaped %d of %d, %v", n, len(msgs), err)
			}
			f.db.Pass(2500 * time.Millisecond) // the backoff
			f.check(f.Delete(t.Context(), name))
			got := f.delivered()
			for id := range stay {
				if got[id] != 1 {
					t.Errorf("a neighbour was delivered %d times", got[id])
				}
			}
			for id := range gone {
				if got[id] != 0 {
					t.Error("a run of the deleted job was delivered")
				}
			}
			counts, err := f.box.Count(t.Context())
			f.check(err)
			if want := (outbox.Counts{Done: int64(len(stay)), Discarded: int64(len(gone))}); counts != want {
				t.Fatalf("the outbox has %+v, want %+v", counts, want)
			}
		})
	}
}

// D-84: a run that waits for another attempt is pending, too.
func TestDeleteRetrying(t *testing.T) { dbtest.Each(t, testDeleteRetrying) }

func testDeleteRetrying(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	id := f.trigger(name)
	f.abandon(f.take(1), time.Hour)
	f.check(f.Delete(t.Context(), name))
	if m, err := f.box.Get(t.Context(), id); err != nil || m.Status != outbox.Discarded {
		t.Fatalf("its message is %+v, %v", m, err)
	}
	if _, err := f.GetRun(t.Context(), id); !errors.Is(err, job.ErrNotFound) {
		t.Fatal(err)
	}
}

// D-84: a run whose handler is at work goes on to its end.
func TestDeleteRunning(t *testing.T) { dbtest.Each(t, testDeleteRunning) }

func testDeleteRunning(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	id := f.trigger(name)
	handled := 0
	f.drain("make", func(context.Context, *outbox.Message) error {
		handled++
		return f.Delete(f.ctx(), name)
	})
	if r := f.run(id); handled != 1 || r.Status != job.Succeeded || r.EndedAt.IsZero() {
		t.Fatalf("handled %d times, it is %+v", handled, r)
	}
	if _, err := f.Get(t.Context(), name); !errors.Is(err, job.ErrNotFound) {
		t.Fatal(err)
	}
}

// D-84, D-85
func TestDeleteHistory(t *testing.T) { dbtest.Each(t, testDeleteHistory) }

func testDeleteHistory(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	jb := f.hourly()
	jb.Overlap = job.Skip
	f.put(jb)
	f.trigger(name)
	f.drain("make", done)
	f.trigger(name)
	f.drain("make", func(context.Context, *outbox.Message) error { return outbox.Permanent(errors.New("no paper")) })
	f.trigger(name)
	f.made() // skipped
	f.check(f.Delete(t.Context(), name))
	seen := map[job.Status]int{}
	for _, r := range f.runs(name) {
		seen[r.Status]++
	}
	if len(seen) != 3 || seen[job.Succeeded] != 1 || seen[job.Failed] != 1 || seen[job.Skipped] != 1 {
		t.Fatalf("what is left is %v", seen)
	}
}

// D-82, D-84: a job made again under the name is another job, and may have a run
// at a time of the first one.
func TestDeleteAndMake(t *testing.T) { dbtest.Each(t, testDeleteAndMake) }

func testDeleteAndMake(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	before := f.made()
	f.drain("make", done)
	f.check(f.Delete(t.Context(), name))
	f.put(f.hourly())
	if got := f.get(name); !got.LastRunID.IsZero() || !got.Enabled {
		t.Fatalf("the new job begins as %+v", got)
	}
	f.set(name, "next_time = (SELECT r.scheduled_time FROM "+f.db.Table("job_run")+" r), due_at = (SELECT r.scheduled_time FROM "+f.db.Table("job_run")+" r)")
	f.fire()
	after := f.statuses(name, job.Succeeded, job.Pending)[1]
	if !after.ScheduledAt.Equal(before.ScheduledAt) || f.get(name).LastRunID != after.ID {
		t.Fatalf("made %+v after %+v", after, before)
	}
	f.drain("make", done)
	f.statuses(name, job.Succeeded, job.Succeeded)
}

// D-84
func TestDeleteTwice(t *testing.T) { dbtest.Each(t, testDeleteTwice) }

func testDeleteTwice(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	f.check(f.Delete(t.Context(), name))
	if err := f.another().Delete(t.Context(), name); !errors.Is(err, job.ErrNotFound) {
		t.Fatal(err)
	}
	f.nothing()
}

// D-84: a deleted job makes no runs, not even one that was due.
func TestDeleteDue(t *testing.T) { dbtest.Each(t, testDeleteDue) }

func testDeleteDue(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	f.asleep(3 * time.Hour)
	f.check(f.Delete(t.Context(), name))
	if n := f.fire(); n != 0 {
		t.Fatalf("%d were due", n)
	}
	f.statuses(name)
}
