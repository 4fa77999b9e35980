package model_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// The model is joins in a map. A random sequence of calls is made on both, and
// after each call every join's counters and members are compared with it.

// D-30, D-31, D-32, D-33, D-34, D-36, D-38, JOIN-001, JOIN-003: any sequence of
// calls leaves the counters that the states of the members say.
func TestModelOnSQLite(t *testing.T) {
	db := dbtest.SQLiteAt(t, filepath.Join(t.TempDir(), "model.db"), sqlite.Options{Relaxed: true})
	dbtest.Migrate(t, db)
	checks(t, 20)
	runModel(t, dbtest.Database{DB: db, SQL: db.SQL(), Table: func(name string) string { return name }})
}

// D-30, D-31, D-32, D-33, D-34, D-36, D-38, JOIN-001, JOIN-003: the same on PostgreSQL.
func TestModelOnPostgres(t *testing.T) {
	checks(t, 15)
	runModel(t, dbtest.OpenPostgres(t))
}

// checks sets how many sequences rapid tries, unless the command line says it.
func checks(t *testing.T, everyday int) {
	if slices.ContainsFunc(os.Args, func(arg string) bool { return strings.Contains(arg, "rapid.checks") }) {
		return
	}
	if os.Getenv("PAWL_LONG") != "" {
		everyday *= 50
	}
	if err := flag.Set("rapid.checks", strconv.Itoa(everyday)); err != nil {
		t.Fatal(err)
	}
}

func runModel(t *testing.T, d dbtest.Database) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newModel(t, rt, d)
		rt.Repeat(map[string]func(*rapid.T){
			"start": m.start, "enqueue": m.enqueue, "attach": m.attach, "attach again": m.attach, "claim": m.claim, "claim again": m.claim,
			"ack": m.ack, "ack more": m.ack, "fail": m.fail, "fail more": m.fail, "exchange": m.exchange, "exchange more": m.exchange, "abandon": m.abandon, "release": m.release, "reap": m.reap,
			"report": m.report, "cancel": m.cancel, "redrive": m.redrive, "discard": m.discard, "wait": m.wait, "drain": m.drain,
			"": m.compare,
		})
		m.drain(rt)
		m.compare(rt)
	})
}

// step is a message as the model knows it.
type step struct {
	id    outbox.MessageID
	at    outbox.Position
	state outbox.Status
	owner outbox.OwnerToken
	lost  []outbox.OwnerToken // of claims whose lease ran out
}

// fanIn is a join as the model knows it.
type fanIn struct {
	id                          join.ID
	expected, completed, failed int
	status                      join.Status
	members                     map[*step]join.Status
	waits                       []*waiting
}

// waiting is a wait: what it is to send, and whether it has.
type waiting struct {
	id      outbox.MessageID
	lenient bool
	sent    string
}

type model struct {
	t     *testing.T
	d     dbtest.Database
	box   *parts.Outbox
	joins *parts.Joins
	fans  []*fanIn
	steps []*step
}

const (
	mostSteps = 12
	mostJoins = 3
	mostWaits = 3
)

func newModel(t *testing.T, rt *rapid.T, d dbtest.Database) *model {
	tables := []string{"outbox_join_wait", "outbox_join_result", "outbox_join_member", "outbox_join", "outbox_message", "outbox_ready", "outbox_claim", "outbox_done", "outbox_exception"}
	for _, table := range tables {
		if _, err := d.SQL.Exec("DELETE FROM " + d.Table(table)); err != nil {
			rt.Fatal(err)
		}
	}
	box := parts.NewOutbox(d.DB, worker.Options{})
	m := &model{t: t, d: d, box: box, joins: parts.NewJoins(d.DB, box, join.Options{}, nil)}
	m.start(rt)
	m.enqueue(rt)
	return m
}

func (m *model) ctx() context.Context { return m.t.Context() }

func must(rt *rapid.T, err error) {
	rt.Helper()
	if err != nil {
		rt.Fatal(err)
	}
}

func (m *model) start(rt *rapid.T) {
	if len(m.fans) == mostJoins {
		rt.Skip()
	}
	f := &fanIn{expected: rapid.IntRange(1, 5).Draw(rt, "expected"), status: join.Pending, members: map[*step]join.Status{}}
	id, err := m.joins.Start(m.ctx(), join.Spec{ExpectedSteps: f.expected})
	must(rt, err)
	f.id = id
	m.fans = append(m.fans, f)
}

func (m *model) enqueue(rt *rapid.T) {
	n := min(rapid.IntRange(1, 5).Draw(rt, "how many"), mostSteps-len(m.steps))
	if n == 0 {
		rt.Skip()
	}
	ids, err := m.box.EnqueueBatch(m.ctx(), slices.Repeat([]outbox.Message{{Topic: "step"}}, n))
	must(rt, err)
	for _, id := range ids {
		info, err := m.box.Get(m.ctx(), id)
		must(rt, err)
		m.steps = append(m.steps, &step{id: id, at: info.Position, state: outbox.Ready})
	}
}

// some draws steps that a call is to touch, by position.
func (m *model) some(rt *rapid.T, from []*step) []*step {
	if len(from) == 0 {
		rt.Skip()
	}
	chosen := rapid.SliceOfNDistinct(rapid.SampledFrom(from), 1, min(6, len(from)), func(s *step) outbox.Position { return s.at }).Draw(rt, "steps")
	slices.SortFunc(chosen, func(a, b *step) int { return cmp.Compare(a.at, b.at) })
	return chosen
}

func (m *model) fan(rt *rapid.T) *fanIn {
	return m.fans[rapid.IntRange(0, len(m.fans)-1).Draw(rt, "join")]
}

// count is one step that ended for a join: the model in a nutshell.
func (f *fanIn) count(s *step, as join.Status) bool {
	if status, member := f.members[s]; !member || status != join.Pending || f.status != join.Pending {
		return false
	}
	f.members[s] = as
	if as == join.Completed {
		f.completed++
	} else {
		f.failed++
	}
	if f.completed+f.failed == f.expected {
		f.status = join.Completed
		if f.failed > 0 {
			f.status = join.Failed
		}
	}
	return true
}

// settled counts a step as what has become of its message.
func (f *fanIn) settled(s *step) {
	switch s.state {
	case outbox.Done:
		f.count(s, join.Completed)
	case outbox.Failed, outbox.Discarded:
		f.count(s, join.Failed)
	}
}

func (m *model) attach(rt *rapid.T) {
	f, chosen := m.fan(rt), m.some(rt, m.steps)
	// Which of several that ended before the attach count, when there are more
	// than are expected, is nobody's promise: one by one it is clear.
	ended := func(s *step) bool { return s.state != outbox.Ready && s.state != outbox.InProgress }
	if slices.ContainsFunc(chosen, ended) {
		chosen = chosen[:1]
	}
	ids := make([]outbox.MessageID, len(chosen))
	for i, s := range chosen {
		ids[i] = s.id
	}
	if rapid.Bool().Draw(rt, "in a transaction") {
		tx, err := m.d.SQL.BeginTx(m.ctx(), nil)
		must(rt, err)
		defer tx.Rollback()
		must(rt, m.joins.AttachTx(m.ctx(), tx, f.id, ids...))
		if rapid.Bool().Draw(rt, "roll back") {
			return
		}
		must(rt, tx.Commit())
	} else {
		must(rt, m.joins.Attach(m.ctx(), f.id, ids...))
	}
	for _, s := range chosen {
		if _, member := f.members[s]; !member {
			f.members[s] = join.Pending
			f.settled(s)
		}
	}
}

func (m *model) claim(rt *rapid.T) {
	owner := outbox.NewOwnerToken()
	got, err := m.box.WorkQueue("").Claim(m.ctx(), owner, time.Hour, rapid.IntRange(1, 8).Draw(rt, "how many"))
	must(rt, err)
	for _, c := range got {
		i := slices.IndexFunc(m.steps, func(s *step) bool { return s.at == c.Position })
		if i < 0 || m.steps[i].state != outbox.Ready {
			rt.Fatalf("claimed %+v", c)
		}
		m.steps[i].state, m.steps[i].owner = outbox.InProgress, owner
	}
}

// held are the steps that somebody has claimed.
func (m *model) held() (held []*step) {
	for _, s := range m.steps {
		if s.state == outbox.InProgress {
			held = append(held, s)
		}
	}
	return held
}

// settle draws an owner and steps, his and others', settles them and returns
// those that were his.
func (m *model) settle(rt *rapid.T, call func(owner outbox.OwnerToken, ids []outbox.Position) (int64, error)) (his []*step) {
	chosen := m.some(rt, m.held())
	owner := chosen[0].owner
	if rapid.IntRange(0, 9).Draw(rt, "others' too") == 0 {
		chosen = m.steps
	}
	var ids []outbox.Position
	for _, s := range chosen {
		ids = append(ids, s.at)
		if s.state == outbox.InProgress && s.owner == owner {
			his = append(his, s)
		}
	}
	n, err := call(owner, ids)
	if err != nil || int(n) != len(his) {
		rt.Fatalf("settled %d, want %d: %v", n, len(his), err)
	}
	return his
}

// became gives steps a new state and counts them.
func (m *model) became(steps []*step, state outbox.Status) {
	for _, s := range steps {
		s.state = state
		for _, f := range m.fans {
			f.settled(s)
		}
	}
}

func (m *model) ack(rt *rapid.T) {
	m.became(m.settle(rt, func(owner outbox.OwnerToken, ids []outbox.Position) (int64, error) {
		return m.box.WorkQueue("").Ack(m.ctx(), owner, ids...)
	}), outbox.Done)
}

func (m *model) fail(rt *rapid.T) {
	m.became(m.settle(rt, func(owner outbox.OwnerToken, ids []outbox.Position) (int64, error) {
		return m.box.WorkQueue("").Fail(m.ctx(), owner, errors.New("no"), ids...)
	}), outbox.Failed)
}

// exchange settles, in one transaction, what is claimed, and once more what was
// claimed before its lease ran out: what a worker does that was stopped past its lease.
func (m *model) exchange(rt *rapid.T) {
	if rapid.Bool().Draw(rt, "stopped past its lease") {
		m.reap(rt)
		m.claim(rt)
	}
	chosen := m.some(rt, m.held())
	mixed := m.allCount(chosen)
	var acks, fails []enginetest.Held
	states := map[outbox.Status][]*step{}
	add := func(owner outbox.OwnerToken, s *step, fail bool) {
		h := enginetest.Held{Owner: owner, Span: enginetest.Span{Lo: int64(s.at), N: 1}}
		if fail {
			fails = append(fails, h)
		} else {
			acks = append(acks, h)
		}
	}
	for _, s := range chosen {
		fail := mixed && rapid.Bool().Draw(rt, "fail")
		for _, owner := range append(s.lost, outbox.NewOwnerToken()) {
			if rapid.Bool().Draw(rt, "lost too") {
				add(owner, s, rapid.Bool().Draw(rt, "lost and failed"))
			}
		}
		add(s.owner, s, fail)
		state := outbox.Done
		if fail {
			state = outbox.Failed
		}
		states[state] = append(states[state], s)
	}
	calls := enginetest.Settle(acks, fails)
	must(rt, m.d.Do(m.ctx(), calls...))
	moved := int64(0)
	for _, c := range calls {
		moved += c.N
	}
	if int(moved) != len(chosen) {
		rt.Fatalf("settled %d, want %d", moved, len(chosen))
	}
	m.became(states[outbox.Failed], outbox.Failed)
	m.became(states[outbox.Done], outbox.Done)
}

// allCount reports whether every one of these steps can count in its joins. Which of
// them do, when they are more than are expected and some fail, is nobody's promise.
func (m *model) allCount(steps []*step) bool {
	for _, f := range m.fans {
		n := 0
		for _, s := range steps {
			if status, member := f.members[s]; member && status == join.Pending {
				n++
			}
		}
		if n > f.expected-f.completed-f.failed {
			return false
		}
	}
	return true
}

func (m *model) abandon(rt *rapid.T) {
	m.became(m.settle(rt, func(owner outbox.OwnerToken, ids []outbox.Position) (int64, error) {
		return m.box.WorkQueue("").Abandon(m.ctx(), owner, outbox.RetryAfter(0, errors.New("again")), ids...)
	}), outbox.Ready)
}

func (m *model) release(rt *rapid.T) {
	m.became(m.settle(rt, func(owner outbox.OwnerToken, ids []outbox.Position) (int64, error) {
		return m.box.Release(m.ctx(), owner, ids...)
	}), outbox.Ready)
}

// reap ends all leases.
func (m *model) reap(rt *rapid.T) {
	_, err := m.d.SQL.ExecContext(m.ctx(), "UPDATE "+m.d.Table("outbox_claim")+" SET locked_until = "+m.d.Ago(time.Second))
	must(rt, err)
	n, err := m.box.WorkQueue("").ReapExpired(m.ctx())
	must(rt, err)
	for _, s := range m.steps {
		if s.state == outbox.InProgress {
			s.state, s.lost = outbox.Ready, append(s.lost, s.owner)
			n--
		}
	}
	if n != 0 {
		rt.Fatalf("reaped %d too many", n)
	}
}

func (m *model) report(rt *rapid.T) {
	f, s := m.fan(rt), m.some(rt, m.steps)[0]
	as, call := join.Completed, m.joins.ReportCompleted
	if rapid.Bool().Draw(rt, "failed") {
		as, call = join.Failed, m.joins.ReportFailed
	}
	counted, err := call(m.ctx(), f.id, s.id)
	if _, member := f.members[s]; !member {
		if !errors.Is(err, join.ErrNotMember) {
			rt.Fatalf("reported for one that is no member: %v", err)
		}
		return
	}
	if want := f.count(s, as); err != nil || counted != want {
		rt.Fatalf("counted %v, %v, want %v", counted, err, want)
	}
}

func (m *model) cancel(rt *rapid.T) {
	if rapid.IntRange(0, 3).Draw(rt, "really") > 0 {
		rt.Skip()
	}
	f := m.fan(rt)
	ended, err := m.joins.Cancel(m.ctx(), f.id)
	if err != nil || ended != (f.status == join.Pending) {
		rt.Fatalf("cancelled a %v join: %v, %v", f.status, ended, err)
	}
	if ended {
		f.status = join.Cancelled
	}
}

// dead draws failed steps and calls what deals with those.
func (m *model) dead(rt *rapid.T, call func(context.Context, outbox.FailedFilter) (acts.Bulk, error)) (touched []*step) {
	var filter outbox.FailedFilter
	for _, s := range m.some(rt, m.steps) {
		filter.IDs = append(filter.IDs, s.at)
		if s.state == outbox.Failed {
			touched = append(touched, s)
		}
	}
	if b, err := call(m.ctx(), filter); err != nil || int(b.Changed) != len(touched) {
		rt.Fatalf("touched %d, want %d: %v", b.Changed, len(touched), err)
	}
	return touched
}

func (m *model) redrive(rt *rapid.T) {
	for _, s := range m.dead(rt, m.box.Redrive) {
		s.state = outbox.Ready
		for _, f := range m.fans {
			if f.members[s] == join.Failed && f.status == join.Pending {
				f.members[s] = join.Pending
				f.failed--
			}
		}
	}
}

func (m *model) discard(rt *rapid.T) {
	for _, s := range m.dead(rt, m.box.Discard) {
		s.state = outbox.Discarded
	}
}

func (m *model) wait(rt *rapid.T) {
	f := m.fan(rt)
	if len(f.waits) == mostWaits {
		rt.Skip()
	}
	w := &waiting{lenient: rapid.Bool().Draw(rt, "lenient")}
	id, err := m.joins.Wait(m.ctx(), f.id, join.Wait{
		OnComplete: outbox.Message{Topic: "done", Queue: "sink"}, OnFail: outbox.Message{Topic: "failed", Queue: "sink"}, AllowFailures: w.lenient, Queue: "waits",
	})
	must(rt, err)
	w.id = id
	f.waits = append(f.waits, w)
}

// drain handles waits, and nothing else, and insists on what they sent.
func (m *model) drain(rt *rapid.T) {
	box := parts.NewOutbox(m.d.DB, worker.Options{StopWhenEmpty: true, Logger: slog.New(slog.DiscardHandler), Queues: []string{"waits"}})
	parts.NewJoins(m.d.DB, box, join.Options{}, nil)
	must(rt, box.Run(m.ctx()))
	want := map[string]int{}
	for _, f := range m.fans {
		forgiven := false
		for _, w := range f.waits {
			switch {
			case w.sent != "" || f.status == join.Pending:
			case f.status == join.Cancelled:
				w.sent = "nothing"
			case f.failed > 0 && !w.lenient:
				w.sent = "failed"
			default:
				w.sent, forgiven = "done", true
			}
			want[w.sent]++
			state := outbox.Done
			if w.sent == "" {
				state = outbox.Ready
			}
			if got, err := m.box.Get(m.ctx(), w.id); err != nil || got.Status != state || got.RetryCount != 0 {
				rt.Fatalf("the wait is %+v, %v, want it %v", got, err, state)
			}
		}
		if forgiven {
			f.status = join.Completed
		}
	}
	for _, topic := range []string{"done", "failed"} {
		got, err := engine.Collect(m.box.List(m.ctx(), outbox.ListOptions{Topic: topic}), 100)
		if err != nil || len(got) != want[topic] {
			rt.Fatalf("%d messages of topic %s were sent, %v, want %d", len(got), topic, err, want[topic])
		}
	}
}

func (m *model) compare(rt *rapid.T) {
	for _, f := range m.fans {
		j, err := m.joins.Get(m.ctx(), f.id)
		must(rt, err)
		if j.ExpectedSteps != f.expected || j.CompletedSteps != f.completed || j.FailedSteps != f.failed || j.Status != f.status {
			rt.Fatalf("the join is %+v\nthe model %+v", j, f)
		}
		members, err := engine.Collect(m.joins.Members(m.ctx(), f.id, join.MembersOptions{}), 100)
		must(rt, err)
		got, want := map[outbox.MessageID]join.Status{}, map[outbox.MessageID]join.Status{}
		counted := map[join.Status]int{}
		for _, member := range members {
			got[member.MessageID] = member.Status
			counted[member.Status]++
		}
		for s, status := range f.members {
			want[s.id] = status
		}
		if !maps.Equal(got, want) || counted[join.Completed] != j.CompletedSteps || counted[join.Failed] != j.FailedSteps {
			rt.Fatalf("the members are %v\nthe model has %v\nthe counters %+v", got, want, j)
		}
	}
}
