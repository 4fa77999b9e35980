package job_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/pause"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
)

// taken is runs under one claim.
type taken struct {
	owner outbox.OwnerToken
	ids   []outbox.Position
	msgs  []*outbox.Message
}

// take claims runs by hand and insists on how many they are.
func (f *fixture) take(n int) taken {
	f.t.Helper()
	owner := outbox.NewOwnerToken()
	msgs, err := f.WorkQueue().Claim(f.ctx(), owner, lease, 100)
	f.check(err)
	if len(msgs) != n {
		f.t.Fatalf("claimed %d runs, want %d", len(msgs), n)
	}
	t := taken{owner: owner, msgs: msgs}
	for _, m := range msgs {
		t.ids = append(t.ids, m.Position)
	}
	return t
}

func (f *fixture) abandon(held taken, delay time.Duration) {
	f.t.Helper()
	n, err := f.box.WorkQueue("").Abandon(f.ctx(), held.owner, outbox.RetryAfter(delay, errors.New("no paper")), held.ids...)
	f.check(err)
	if int(n) != len(held.ids) {
		f.t.Fatalf("abandoned %d", n)
	}
}

// D-85
func TestClaim(t *testing.T) { dbtest.Each(t, testClaim) }

func testClaim(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	jb := full()
	f.put(jb)
	f.take(0)
	id := f.trigger(name)
	held := f.take(1)
	m := held.msgs[0]
	if m.ID != id || m.Topic != jb.Topic || string(m.Payload) != string(jb.Payload) || m.Headers[job.HeaderJob] != name || m.Headers["tenant"] != "7" ||
		m.Queue != jb.Queue || m.Priority != jb.Priority || m.RetryCount != 0 || m.Owner != held.owner {
		t.Fatalf("claimed %+v", m)
	}
	if r := f.run(id); r.Status != job.Running || r.StartedAt.IsZero() {
		t.Fatalf("it is %+v", r)
	}
	f.take(0)
	if n, err := f.WorkQueue().Ack(t.Context(), outbox.NewOwnerToken(), held.ids...); n != 0 || err != nil {
		t.Fatalf("a stranger acked %d, %v", n, err)
	}
	if n, err := f.WorkQueue().Ack(t.Context(), held.owner, held.ids...); n != 1 || err != nil {
		t.Fatalf("acked %d, %v", n, err)
	}
	if r := f.run(id); r.Status != job.Succeeded || r.EndedAt.Before(r.StartedAt) {
		t.Fatalf("it is %+v", r)
	}
}

// D-85: other messages are left to others, also those a run has become one with.
func TestClaimOnlyRuns(t *testing.T) { dbtest.Each(t, testClaimOnlyRuns) }

func testClaimOnlyRuns(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	want := map[outbox.MessageID]bool{}
	for range 3 {
		f.enqueue()
		want[f.trigger(name)] = true
	}
	f.enqueue()
	owner := outbox.NewOwnerToken()
	all, err := f.box.WorkQueue("").Claim(t.Context(), owner, lease, 100)
	f.check(err)
	for _, m := range all {
		n, err := f.box.Release(t.Context(), owner, m.Position)
		f.check(err)
		if n != 1 {
			t.Fatal("not released")
		}
	}
	for _, m := range f.take(3).msgs {
		if !want[m.ID] {
			t.Fatalf("claimed %+v", m)
		}
	}
	if got := f.delivered(); len(got) != 4 {
		t.Fatalf("%d of 4 other messages were delivered", len(got))
	}
}

// D-326: a run whose topic was paused while it waited, that was claimed, and is put back after the pause, is
// one that workers claim.
func TestClaimOfParked(t *testing.T) { dbtest.Each(t, testClaimOfParked) }

func testClaimOfParked(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	jb := f.hourly()
	f.put(jb)
	id := f.trigger(name)
	pauses := pause.New(f.db, quiet())
	_, err := pauses.Pause(f.ctx(), pause.Topic, jb.Topic, "")
	f.check(err)
	owner := outbox.NewOwnerToken()
	msgs, err := f.box.WorkQueue("").Claim(f.ctx(), owner, lease, 1)
	f.check(err)
	held := op.Held{Owner: owner, Lo: int64(msgs[0].Position), N: 1}
	f.check(f.db.Do(f.ctx(), engine.Ask(op.OutboxPark{Runs: []op.Parked{{Held: held, Topic: jb.Topic}}})))
	run := f.take(1)
	_, err = pauses.Resume(f.ctx(), pause.Topic, jb.Topic)
	f.check(err)
	f.check(pauses.RefreshAndUnpark(f.ctx()))
	f.abandon(run, 0)
	if got := f.delivered(); len(got) != 1 || got[id] != 1 {
		t.Fatalf("delivered %v, want %v", got, id)
	}
}

// D-85
func TestClaimSettle(t *testing.T) { dbtest.Each(t, testClaimSettle) }

func testClaimSettle(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	id := f.trigger(name)
	held := f.take(1)
	started := f.run(id).StartedAt
	if n, err := f.WorkQueue().Abandon(t.Context(), held.owner, errors.New("no paper"), held.ids...); n != 1 || err != nil {
		t.Fatalf("abandoned %d, %v", n, err)
	}
	if r := f.run(id); r.Status != job.Pending || r.Attempts != 1 || r.LastError != "no paper" || !r.EndedAt.IsZero() {
		t.Fatalf("abandoned %+v", r)
	}
	waits, err := f.box.Get(t.Context(), id)
	f.check(err)
	if delay := waits.NextAttemptAt.Sub(started); delay < 500*time.Millisecond { // the first is about a second
		t.Fatalf("it is due again after %v", delay)
	}
	f.db.Pass(1500 * time.Millisecond)
	held = f.take(1)
	if held.msgs[0].RetryCount != 1 || !f.run(id).StartedAt.Equal(started) {
		t.Fatalf("claimed again %+v", held.msgs[0])
	}
	if n, err := f.WorkQueue().Fail(t.Context(), held.owner, errors.New("no ink"), held.ids...); n != 1 || err != nil {
		t.Fatalf("failed %d, %v", n, err)
	}
	if r := f.run(id); r.Status != job.Failed || r.LastError != "no ink" || r.EndedAt.IsZero() {
		t.Fatalf("failed %+v", r)
	}
	f.take(0)
}

// D-85: a run whose worker died comes back, and the dead one's ack is refused.
func TestClaimReaped(t *testing.T) { dbtest.Each(t, testClaimReaped) }

func testClaimReaped(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	id := f.trigger(name)
	owner := outbox.NewOwnerToken()
	msgs, err := f.WorkQueue().Claim(t.Context(), owner, 50*time.Millisecond, 1)
	f.check(err)
	f.db.Pass(100 * time.Millisecond)
	if n, err := f.WorkQueue().ReapExpired(t.Context()); n != 1 || err != nil {
		t.Fatalf("reaped %d, %v", n, err)
	}
	if n, err := f.WorkQueue().Ack(t.Context(), owner, msgs[0].Position); n != 0 || err != nil {
		t.Fatalf("acked %d, %v", n, err)
	}
	if r := f.run(id); r.Status != job.Pending || r.Attempts != 0 {
		t.Fatalf("it is %+v", r)
	}
}

// D-85: whatever the queue, and no more than asked for.
func TestClaimQueues(t *testing.T) { dbtest.Each(t, testClaimQueues) }

func testClaimQueues(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, queue := range []string{"", "a", "b"} {
		jb := f.hourly()
		jb.Name, jb.Queue = "in "+queue, queue
		f.put(jb)
		f.trigger(jb.Name)
	}
	msgs, err := f.WorkQueue().Claim(t.Context(), outbox.NewOwnerToken(), lease, 2)
	f.check(err)
	if len(msgs) != 2 {
		t.Fatalf("claimed %d, want 2", len(msgs))
	}
	f.take(1)
}

// D-85: of workers of pawl's and programs that claim by hand each run has one.
func TestClaimRace(t *testing.T) { dbtest.Each(t, testClaimRace) }

func testClaimRace(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	const all = 60
	for range all {
		f.trigger(name)
	}
	var mu sync.Mutex
	seen := map[job.RunID]int{}
	saw := func(id job.RunID) {
		mu.Lock()
		defer mu.Unlock()
		seen[id]++
	}
	var wg sync.WaitGroup
	for range 3 {
		hand, worker := f.another(), f.another()
		worker.box.Handle("make", func(_ context.Context, m *outbox.Message) error {
			saw(m.ID)
			return nil
		})
		wg.Go(func() {
			if err := worker.box.Run(f.ctx()); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() { hand.byHand(saw) })
	}
	wg.Wait()
	if len(seen) != all {
		t.Errorf("%d of %d runs were handled", len(seen), all)
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("run %v was handled %d times", id, n)
		}
	}
	for _, r := range f.runs(name) {
		if r.Status != job.Succeeded || r.StartedAt.IsZero() {
			t.Errorf("in the end %+v", r)
		}
	}
}

// byHand handles runs, three at a time, until there are none to be had.
func (f *fixture) byHand(saw func(job.RunID)) {
	for {
		owner := outbox.NewOwnerToken()
		msgs, err := f.WorkQueue().Claim(f.ctx(), owner, lease, 3)
		if err != nil {
			f.t.Error(err)
		}
		for _, m := range msgs {
			saw(m.ID)
			if n, err := f.WorkQueue().Ack(f.ctx(), owner, m.Position); n != 1 || err != nil {
				f.t.Errorf("acked %d, %v", n, err)
			}
		}
		if len(msgs) == 0 {
			return
		}
	}
}
