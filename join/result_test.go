package join_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// results returns the results of a join's members by position, "-" for none.
func (f *fixture) results(id join.ID) (all []string) {
	f.t.Helper()
	members, err := engine.Collect(f.Members(f.ctx(), id, join.MembersOptions{}), 100)
	f.check(err)
	slices.SortFunc(members, func(a, b join.Member) int { return int(a.Position - b.Position) })
	for _, m := range members {
		if m.Result == nil {
			all = append(all, "-")
			continue
		}
		all = append(all, string(m.Result))
	}
	return all
}

// hasResults fails unless the members of a join have these results, by position.
func (f *fixture) hasResults(id join.ID, want ...string) {
	f.t.Helper()
	if got := f.results(id); !slices.Equal(got, want) {
		f.t.Errorf("results %.200q, want %.200q", got, want)
	}
}

// stored returns how many results are stored.
func (f *fixture) stored() (n int) {
	f.t.Helper()
	f.db.Row(f.t, "SELECT count(*) FROM "+f.db.Table("outbox_join_result"), &n)
	return n
}

// returning is a handler that sets a result.
func returning(result string) outbox.Handler {
	return func(_ context.Context, m *outbox.Message) error { return m.SetResult([]byte(result)) }
}

// D-207: a follow-up reads what its steps returned: the last that each set, nothing of those that set
// none.
func TestResults(t *testing.T) { dbtest.Each(t, testResults) }

func testResults(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, steps := f.members(8)
	f.wait(id)
	sum, handled := 0, atomic.Int64{}
	f.drain(map[string]outbox.Handler{
		"step": func(_ context.Context, m *outbox.Message) error {
			handled.Add(1)
			text := append([]byte("10"), m.Payload...)
			err := errors.Join(m.SetResult([]byte("replaced")), m.SetResult(text))
			if string(m.Payload) == "3" {
				err = m.SetResult([]byte{})
			}
			text[0] = 'x' // it is the handler's
			return err
		},
		"done": func(ctx context.Context, m *outbox.Message) error {
			from, err := f.From(ctx, m)
			if err != nil {
				return err
			}
			members, err := engine.Collect(f.Members(ctx, from[0].ID, join.MembersOptions{}), 100)
			for _, member := range members {
				n, _ := strconv.Atoi(string(member.Result))
				sum += n
			}
			return err
		},
	})
	if handled.Load() != int64(len(steps)) || sum != 7*100+0+1+2+4+5+6+7 {
		t.Errorf("%d steps ran, their results are %d", handled.Load(), sum)
	}
	f.hasResults(id, "100", "101", "102", "-", "104", "105", "106", "107")
	if n := f.stored(); n != 7 {
		t.Errorf("%d results are stored", n)
	}
}

// D-207: a result is stored with the ack alone: not of an attempt that failed, and of a retried step
// the last attempt's.
func TestResultsOfAttempts(t *testing.T) { dbtest.Each(t, testResultsOfAttempts) }

func testResultsOfAttempts(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, _ := f.members(4)
	errNo := errors.New("no")
	f.box.Handle("step", func(_ context.Context, m *outbox.Message) error {
		step, first := string(m.Payload), m.RetryCount == 0
		if step == "2" && !first {
			return nil
		}
		if err := m.SetResult(fmt.Append(nil, "attempt ", m.RetryCount)); err != nil {
			return err
		}
		switch {
		case step == "0":
			return outbox.Permanent(errNo)
		case step == "3" && first:
			panic("odd")
		case first:
			return errNo
		}
		return nil
	}, outbox.HandlerOptions{Retry: &outbox.RetryPolicy{MaxAttempts: 10, Delay: func(int) time.Duration { return 0 }}})
	f.check(f.box.Run(f.ctx()))
	f.progress(id, 3, 1, join.Failed)
	f.hasResults(id, "-", "attempt 1", "-", "attempt 1")
}

// D-207: any bytes, up to 64 KiB; more is refused at once and changes nothing.
func TestResultTooLarge(t *testing.T) { dbtest.Each(t, testResultTooLarge) }

func testResultTooLarge(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, _ := f.members(1)
	largest := bytes.Repeat([]byte{0, 0xff, '"', '\n'}, limits.Result/4)
	var refused error
	f.drain(map[string]outbox.Handler{"step": func(_ context.Context, m *outbox.Message) error {
		err := m.SetResult(largest)
		refused = m.SetResult(append(largest, 'x'))
		return err
	}})
	f.refused("result", refused)
	f.hasResults(id, string(largest))
}

// D-207: a result is stored for each of the joins of its message, one that is over included, and
// nowhere for a message of none, which is acked all the same.
func TestResultsOfJoins(t *testing.T) { dbtest.Each(t, testResultsOfJoins) }

func testResultsOfJoins(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	one, steps := f.members(1)
	two, over := f.start(2), f.start(1)
	f.check(f.Attach(f.ctx(), two, steps...))
	f.check(f.Attach(f.ctx(), over, steps...))
	_, err := f.Cancel(f.ctx(), over)
	f.check(err)
	plain := f.enqueue("plain", 1)
	f.drain(map[string]outbox.Handler{"step": returning("both"), "plain": returning("nobody's")})
	for _, id := range []join.ID{one, two, over} {
		f.hasResults(id, "both")
	}
	if got := f.find(plain[0]); got.Status != outbox.Done {
		t.Errorf("a message of no join is %v", got.Status)
	}
	if n := f.stored(); n != 3 {
		t.Errorf("%d results are stored", n)
	}
}

// D-207: the messages of a batch have results of their own.
func TestResultsOfBatch(t *testing.T) { dbtest.Each(t, testResultsOfBatch) }

func testResultsOfBatch(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, _ := f.members(3)
	f.box.HandleBatch("step", func(_ context.Context, messages []*outbox.Message) []error {
		errs := make([]error, len(messages))
		for i, m := range messages {
			errs[i] = m.SetResult(append([]byte("of "), m.Payload...))
			if string(m.Payload) == "1" {
				errs[i] = outbox.Permanent(errors.New("no"))
			}
		}
		return errs
	}, outbox.BatchOptions{Max: 3, Wait: 10 * time.Second})
	f.check(f.box.Run(f.ctx()))
	f.hasResults(id, "of 0", "-", "of 2")
}

// D-207: a message that a component acks in a transaction of its own has a result, too: the wait of a
// join may be a step of another.
func TestResultOfWait(t *testing.T) { dbtest.Each(t, testResultOfWait) }

func testResultOfWait(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	inner, _ := f.members(1)
	outer := f.start(1)
	f.check(f.Attach(f.ctx(), outer, f.wait(inner)))
	f.box.Use(func(next outbox.Handler) outbox.Handler {
		return func(ctx context.Context, m *outbox.Message) error {
			if err := m.SetResult([]byte("of " + m.Topic)); err != nil {
				return err
			}
			return next(ctx, m)
		}
	})
	for _, topic := range []string{"step", "done"} {
		f.box.Handle(topic, succeed)
	}
	f.check(f.box.Run(f.ctx()))
	f.progress(outer, 1, 0, join.Completed)
	f.hasResults(inner, "of step")
	f.hasResults(outer, "of "+join.DefaultTopic)
}

// stores returns a call that stores a result for each of what is held.
func stores(result string, held ...enginetest.Held) *engine.Call {
	var o op.JoinResults
	for _, h := range held {
		o.Results = append(o.Results, op.JoinResult{Owner: h.Owner, ID: h.Lo, Result: []byte(result)})
	}
	return engine.Ask(o)
}

// D-207, D-13: who lost the lease stores no result, beside its successor's or alone, and who holds
// stores it again after a commit whose outcome was unknown.
func TestResultOfLostLease(t *testing.T) { dbtest.Each(t, testResultOfLostLease) }

func testResultOfLostLease(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, _ := f.members(3)
	stale, current := f.lapsed(3)
	does := func(want int64, calls ...*engine.Call) {
		t.Helper()
		f.check(f.db.Do(f.ctx(), calls...))
		if calls[0].N != want {
			t.Errorf("stored %d results, want %d", calls[0].N, want)
		}
	}
	does(0, stores("lost", stale...))
	f.hasResults(id, "-", "-", "-")
	does(1, stores("not acked", current[1]))
	does(1, stores("replaced", stale[1], current[1]), enginetest.Settle(current[1:2], nil)[0])
	f.hasResults(id, "-", "replaced", "-")
	f.progress(id, 1, 0, join.Pending)
	does(2, stores("held", interleaved(stale, current)...), enginetest.Settle(current, nil)[0])
	does(0, stores("late", current...), enginetest.Settle(current, nil)[0])
	f.hasResults(id, "held", "replaced", "held")
	f.progress(id, 3, 0, join.Completed)
}

// D-207: a worker that comes back after its lease was lost puts its result in nobody's place.
func TestResultOfLateWorker(t *testing.T) { dbtest.Each(t, testResultOfLateWorker) }

func testResultOfLateWorker(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, _ := f.members(1)
	begun, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	late := on(t, f.db, f.db.DB, join.Options{})
	var attempts atomic.Int64
	late.box.Handle("step", func(_ context.Context, m *outbox.Message) error {
		if attempts.Add(1) == 1 {
			close(begun)
			<-goOn
			return m.SetResult([]byte("late"))
		}
		return m.SetResult([]byte("again"))
	})
	go func() { ended <- late.box.Run(f.ctx()) }()
	<-begun
	f.lapse()
	_, err := f.box.WorkQueue("").ReapExpired(f.ctx())
	f.check(err)
	dbtest.Until(t, "another worker has acked", func() bool {
		f.drain(map[string]outbox.Handler{"step": returning("in time")})
		j, err := f.Get(f.ctx(), id)
		f.check(err)
		return j.CompletedSteps+j.FailedSteps == j.ExpectedSteps
	})
	want := f.results(id)
	close(goOn)
	f.check(<-ended)
	f.progress(id, 1, 0, join.Completed)
	if want[0] == "late" {
		t.Error("stored without a lease")
	}
	f.hasResults(id, want...)
}

// D-207: results are deleted with their join.
func TestResultsAreCleaned(t *testing.T) { dbtest.Each(t, testResultsAreCleaned) }

func testResultsAreCleaned(t *testing.T, e dbtest.Engine) {
	f := open(t, e, join.Options{Retention: retention})
	_, steps := f.members(3)
	pending := f.start(4)
	f.check(f.Attach(f.ctx(), pending, steps...)) // so that all are kept, however they are acked
	f.drain(map[string]outbox.Handler{"step": returning("r")})
	if n := f.stored(); n != 6 {
		t.Errorf("%d results are stored", n)
	}
	f.age()
	f.cleaned(0, 1)
	f.hasResults(pending, "r", "r", "r")
	if n := f.stored(); n != 3 {
		t.Errorf("%d results are left", n)
	}
}

// D-207, D-31: a step that is attached while its result is being stored gets it.
func TestResultWhileAttaching(t *testing.T) {
	t.Parallel()
	f := open(t, dbtest.Engine{Name: "postgres", Open: dbtest.OpenPostgres})
	id, steps := f.start(1), f.enqueue("step", 1)
	owner, items := f.claim(1)
	held := enginetest.Held{Owner: owner, Span: enginetest.Span{Lo: int64(items[steps[0]]), N: 1}}
	tx := f.db.Begin(t)
	f.check(f.AttachTx(f.ctx(), tx, id, steps...))
	settle := func() error {
		return f.db.Do(f.ctx(), stores("r", held), enginetest.Settle([]enginetest.Held{held}, nil)[0])
	}
	f.overlap(settle, tx.Commit)
	f.progress(id, 1, 0, join.Completed)
	f.hasResults(id, "r")
}

// D-207: programs in other languages store a result in the transaction of the ack.
func TestResultRoutine(t *testing.T) {
	t.Parallel()
	f := open(t, dbtest.Engine{Name: "postgres", Open: dbtest.OpenPostgres})
	id, steps := f.members(2)
	owner, items := f.claim(2)
	at := items[steps[0]]
	tx := f.db.Begin(t)
	for _, c := range []struct {
		token  outbox.OwnerToken
		at     outbox.Position
		result string
		want   bool
	}{
		{outbox.NewOwnerToken(), at, "lost", false}, {owner, at + 100, "nobody's", false},
		{owner, at, "replaced", true}, {owner, at, "grün", true}, {owner, items[steps[1]], "x", true}, {owner, items[steps[1]], "", true},
	} {
		var stored bool
		f.check(tx.QueryRowContext(f.ctx(), "SELECT "+f.db.Table("outbox_set_result")+"($1, $2, $3)", c.token.String(), int64(c.at), c.result).Scan(&stored))
		if stored != c.want {
			t.Errorf("%q of %d is stored: %v", c.result, c.at, stored)
		}
	}
	var n int
	f.check(tx.QueryRowContext(f.ctx(), "SELECT "+f.db.Table("outbox_ack")+"($1, $2)", owner.String(), []int64{int64(at), int64(items[steps[1]])}).Scan(&n))
	f.check(tx.Commit())
	f.progress(id, 2, 0, join.Completed)
	f.hasResults(id, "grün", "-")
	_, err := f.db.SQL.ExecContext(f.ctx(), "SELECT "+f.db.Table("outbox_set_result")+"($1, 1, repeat('x', 65537))", owner.String())
	if err == nil || !strings.Contains(err.Error(), "result: more than 65536 bytes") {
		t.Error(err)
	}
}
