package join_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// A worker that was stopped past its lease claims its own messages again, and
// then settles both attempts in one exchange.

// lapsed has a worker lose its claim of n messages and claim them again. It
// returns what it holds as both attempts know it.
func (f *fixture) lapsed(n int) (stale, current []enginetest.Held) {
	f.t.Helper()
	lost, items := f.claim(n)
	f.lapse()
	reaped, err := f.box.WorkQueue("").ReapExpired(f.ctx())
	f.check(err)
	if reaped != int64(n) {
		f.t.Fatalf("reaped %d messages, want %d", reaped, n)
	}
	again, _ := f.claim(n)
	var at []int64
	for _, id := range items {
		at = append(at, int64(id))
	}
	slices.Sort(at)
	return holds(lost, at), holds(again, at)
}

func holds(owner outbox.OwnerToken, at []int64) (held []enginetest.Held) {
	for _, id := range at {
		held = append(held, enginetest.Held{Owner: owner, Span: enginetest.Span{Lo: id, N: 1}})
	}
	return held
}

// joined makes one run of what follows each other.
func joined(held []enginetest.Held) []enginetest.Held {
	return []enginetest.Held{{Owner: held[0].Owner, Span: enginetest.Span{Lo: held[0].Lo, N: int64(len(held))}}}
}

// interleaved are the runs of two holders in order of position.
func interleaved(a, b []enginetest.Held) (all []enginetest.Held) {
	for i := range a {
		all = append(all, a[i], b[i])
	}
	return all
}

// exchanged settles in one transaction and insists on how many messages that moved.
func (f *fixture) exchanged(acks, fails []enginetest.Held, acked, failed int64) {
	f.t.Helper()
	calls := enginetest.Settle(acks, fails)
	f.check(f.db.Do(f.ctx(), calls...))
	moved := map[string]int64{}
	for _, c := range calls {
		moved[c.Name()] = c.N
	}
	if moved["outbox/ack"] != acked || moved["outbox/fail"] != failed {
		f.t.Fatalf("settled %v, want %d acked and %d failed", moved, acked, failed)
	}
}

// D-13, D-30, D-39, JOIN-001: one exchange has what became of messages under two
// claims of them, the lost one and the one that holds: each counts once, as what
// its holder says.
func TestTwiceAcked(t *testing.T) { dbtest.Each(t, twice(true, true)) }

func TestTwiceFailed(t *testing.T) { dbtest.Each(t, twice(false, false)) }

func TestTwiceStaleAcked(t *testing.T) { dbtest.Each(t, twice(true, false)) }

func TestTwiceStaleFailed(t *testing.T) { dbtest.Each(t, twice(false, true)) }

func twice(staleAcks, currentAcks bool) func(*testing.T, dbtest.Engine) {
	return func(t *testing.T, e dbtest.Engine) {
		for name, arrange := range map[string]func([]enginetest.Held) []enginetest.Held{
			"runs":    joined,
			"singles": func(h []enginetest.Held) []enginetest.Held { return h },
		} {
			t.Run(name, func(t *testing.T) {
				f := open(t, e)
				id, _ := f.members(10)
				other := f.start(10) // a second join of the same messages
				f.check(f.Attach(f.ctx(), other, f.memberIDs(id)...))
				f.wait(id)
				s, c := f.lapsed(10 + 1) // and the wait
				s, c = arrange(s[:10]), arrange(c[:10])
				var acks, fails []enginetest.Held
				switch {
				case staleAcks && currentAcks:
					acks = interleaved(s, c)
				case staleAcks:
					acks, fails = s, c
				case currentAcks:
					acks, fails = c, s
				default:
					fails = interleaved(s, c)
				}
				if currentAcks {
					f.exchanged(acks, fails, 10, 0)
					f.progress(id, 10, 0, join.Completed)
					f.progress(other, 10, 0, join.Completed)
				} else {
					f.exchanged(acks, fails, 0, 10)
					f.progress(id, 0, 10, join.Failed)
					f.progress(other, 0, 10, join.Failed)
				}
				f.expireAll()
				f.drain(nil)
				f.sent("done", map[bool]int{true: 1}[currentAcks])
				f.sent("failed", map[bool]int{false: 1}[currentAcks])
			})
		}
	}
}

// memberIDs are the messages of a join.
func (f *fixture) memberIDs(id join.ID) (ids []outbox.MessageID) {
	f.t.Helper()
	members, err := engine.Collect(f.Members(f.ctx(), id, join.MembersOptions{}), 100)
	f.check(err)
	for _, m := range members {
		ids = append(ids, m.MessageID)
	}
	return ids
}

// expireAll has everything claimable again that is claimed.
func (f *fixture) expireAll() {
	f.t.Helper()
	f.lapse()
	_, err := f.box.WorkQueue("").ReapExpired(f.ctx())
	f.check(err)
}

// D-13, D-30: the two claims overlap only in part, and some is failed and some
// acked: of every message what its holder says counts, and nothing else.
func TestTwiceInParts(t *testing.T) { dbtest.Each(t, testTwiceInParts) }

func testTwiceInParts(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.members(9)
	s, c := f.lapsed(9)
	// The lost claim says: all acked. The one that holds has failed 3 to 5, acked 0 to 4
	// of the rest, and is still at work on the last two.
	fails := append(joined(s[6:9]), joined(c[3:6])...)
	acks := append(joined(s), joined(c[0:3])...)
	acks = append(acks, c[6])
	f.exchanged(acks, fails, 4, 3)
	f.progress(id, 4, 3, join.Pending)
	for i, m := range msgs {
		want := outbox.Done
		switch {
		case i >= 7:
			want = outbox.InProgress
		case i >= 3 && i < 6:
			want = outbox.Failed
		}
		if got := f.find(m).Status; got != want {
			t.Errorf("message %d is %v, want %v", i, got, want)
		}
	}
	f.exchanged(joined(c[7:9]), nil, 2, 0)
	f.progress(id, 6, 3, join.Failed)
}

// D-30: a run that is asked for twice under its one owner counts once, also where
// more are members than the join expects.
func TestTwiceTheSameRun(t *testing.T) { dbtest.Each(t, testTwiceTheSameRun) }

func testTwiceTheSameRun(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id := f.start(2)
	f.check(f.Attach(f.ctx(), id, f.enqueue("step", 3)...))
	owner, items := f.claim(3)
	var at []int64
	for _, i := range items {
		at = append(at, int64(i))
	}
	slices.Sort(at)
	held := holds(owner, at)
	f.exchanged(append(joined(held[:2]), held[:2]...), nil, 2, 0)
	f.progress(id, 2, 0, join.Completed)
	f.exchanged(append(joined(held[2:]), held[2:]...), nil, 1, 0)
	f.progress(id, 2, 0, join.Completed)
}

// D-490: one message cannot be two steps of a join, nor its wait: the join would wait for ever. The
// error says where they stand, and nothing is stored.
func TestStepsAreDistinct(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		id, other, spec := outbox.MessageID(uuid.New()), outbox.MessageID(uuid.New()), join.Spec{ID: uuid.New()}
		step := func(id outbox.MessageID) outbox.Message { return outbox.Message{ID: id, Topic: "step"} }
		after := join.Wait{OnComplete: outbox.Message{Topic: "after"}}
		first, err := f.FanOut(f.ctx(), spec, []outbox.Message{{Topic: "known"}, {Topic: "known"}}, join.Wait{})
		f.check(err)
		for name, tt := range map[string]struct {
			spec  join.Spec
			steps []outbox.Message
			wait  join.Wait
			want  string
		}{
			"two":           {join.Spec{}, []outbox.Message{step(other), step(id), {Topic: "step"}, step(id)}, after, "at 1 and 3"},
			"more expected": {join.Spec{ExpectedSteps: 7}, []outbox.Message{step(id), step(id)}, after, "at 0 and 1"},
			"no wait":       {join.Spec{}, []outbox.Message{step(id), step(id)}, join.Wait{}, "at 0 and 1"},
			"known":         {join.Spec{}, []outbox.Message{step(first.Messages[0]), step(first.Messages[0])}, after, "at 0 and 1"},
			"derived":       {spec, []outbox.Message{{Topic: "step"}, step(first.Messages[0])}, after, "at 0 and 1"},
			"the wait":      {join.Spec{}, []outbox.Message{step(other), step(id)}, join.Wait{ID: id, OnComplete: after.OnComplete}, "step 1"},
		} {
			var invalid *engine.InvalidError
			if _, err := f.FanOut(f.ctx(), tt.spec, tt.steps, tt.wait); !errors.As(err, &invalid) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v, want %q", name, err, tt.want)
			}
			tx := f.db.Begin(t)
			if _, err := f.FanOutTx(f.ctx(), tx, tt.spec, tt.steps, tt.wait); !errors.As(err, &invalid) {
				t.Errorf("%s: %v in a transaction", name, err)
			}
			f.check(tx.Rollback())
		}
		f.sent("step", 0)
		f.sent(join.DefaultTopic, 0)
		f.check(f.box.Run(f.ctx()))
		// Attaching one twice counts it once.
		started := f.start(1)
		f.check(f.Attach(f.ctx(), started, first.Messages[0], first.Messages[0]))
	})
}
