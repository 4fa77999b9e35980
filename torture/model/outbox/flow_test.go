package model_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/throttle"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// D-211, D-212, D-214: whatever is enqueued with and without ordering keys and unique keys, claimed,
// settled, cancelled and lost, while limits come and go: of a key one message is claimed at a time and
// in order, a unique key has one message, limits hold, a claim gets all that they allow, and in the
// end everything is handled.
func TestFlowModel(t *testing.T) {
	checks(t, 80) // before others run beside this: it sets a flag of the process
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		db := e.Open(t)
		f := &fixture{Outbox: parts.NewOutbox(db, worker.Options{}), t: t, db: db}
		rapid.Check(t, func(rt *rapid.T) {
			for _, table := range []string{"message", "ready", "claim", "done", "exception", "order", "unique", "limit", "limit_claim"} {
				f.exec("DELETE FROM " + f.db.Table("outbox_"+table))
			}
			m := &flowModel{fixture: f, limits: throttle.New(f.db, nil), topics: map[string]int{}}
			rt.Repeat(map[string]func(*rapid.T){
				"enqueue": m.enqueueOne, "enqueue more": m.enqueueOne, "enqueue another": m.enqueueOne, "claim some": m.claimSome, "claim all": m.claimAll,
				"settle": m.settleOne, "settle more": m.settleOne, "cancel": m.cancelOne, "lapse": m.lapseAll, "limit": m.limitTopic, "limit the queue": m.limitQueue,
				"limit each topic": m.limitEach, "clean up": m.cleanUp,
			})
			m.drain(rt)
		})
	})
}

// flowMessage is a message as the model knows it.
type flowMessage struct {
	at          outbox.Position
	topic       string
	key, unique string
	owner       outbox.OwnerToken // zero: it is ready
}

func (o *flowMessage) held() bool { return o.owner != outbox.OwnerToken{} }

type flowModel struct {
	*fixture
	limits *throttle.Limits
	open   []*flowMessage // in the order in which they were enqueued; those that have ended are gone
	topics map[string]int // limits
	each   int            // the limit of each topic that has none of its own, or 0
	queue  int            // its limit, or 0
}

func (m *flowModel) enqueueOne(rt *rapid.T) {
	msg := &flowMessage{
		topic:  rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "topic"),
		key:    rapid.SampledFrom([]string{"", "", "k", "l"}).Draw(rt, "key"),
		unique: rapid.SampledFrom([]string{"", "", "", "u", "v"}).Draw(rt, "unique key"),
	}
	earlier := slices.IndexFunc(m.open, func(o *flowMessage) bool { return msg.unique != "" && o.unique == msg.unique })
	var again bool
	as := outbox.Message{Topic: msg.topic, OrderingKey: msg.key, UniqueKey: msg.unique}
	if msg.unique != "" {
		as.Unique = &outbox.UniqueOptions{Duplicate: &again}
	}
	id, err := m.Enqueue(m.ctx(), as)
	if err != nil || again != (earlier >= 0) {
		rt.Fatalf("enqueued: duplicate %v, %v; want %v", again, err, earlier >= 0)
	}
	info, err := m.Get(m.ctx(), id)
	if err != nil {
		rt.Fatal(err)
	}
	msg.at = info.Position
	if earlier < 0 {
		m.open = append(m.open, msg)
	} else if msg.at != m.open[earlier].at {
		rt.Fatalf("the earlier message is %d, want %d", msg.at, m.open[earlier].at)
	}
}

// eligible returns what might be claimed without limits: of a key the first.
func (m *flowModel) eligible() (all []*flowMessage) {
	seen := map[string]bool{}
	for _, o := range m.open {
		if o.key != "" && seen[o.key] {
			continue
		}
		seen[o.key] = true
		if !o.held() {
			all = append(all, o)
		}
	}
	return all
}

// room returns how many of a topic may be claimed; all of the queue for "".
func (m *flowModel) room(topic string) int {
	limit, held := cmp.Or(m.topics[topic], m.each), 0
	if topic == "" {
		limit = m.queue
	}
	if limit == 0 {
		return len(m.open)
	}
	for _, o := range m.open {
		if o.held() && (topic == "" || o.topic == topic) {
			held++
		}
	}
	return max(limit-held, 0)
}

// most returns how many messages claims get in all.
func (m *flowModel) most() (total int) {
	counts := map[string]int{}
	for _, o := range m.eligible() {
		counts[o.topic]++
	}
	for topic, n := range counts {
		total += min(n, m.room(topic))
	}
	return min(total, m.room(""))
}

// claimUpTo claims once, and returns how many messages came.
func (m *flowModel) claimUpTo(rt *rapid.T, n int) int {
	owner, msgs := m.claim(n)
	if len(msgs) > min(n, m.most()) {
		rt.Fatalf("claimed %d of %d that may be claimed", len(msgs), m.most())
	}
	eligible := m.eligible()
	rooms := map[string]int{"a": m.room("a"), "b": m.room("b"), "c": m.room("c")}
	for _, msg := range msgs {
		i := slices.IndexFunc(eligible, func(o *flowMessage) bool { return o.at == msg.Position })
		if i < 0 {
			rt.Fatalf("message %d of key %q was claimed and must not be", msg.Position, msg.OrderingKey)
		}
		if rooms[msg.Topic]--; rooms[msg.Topic] < 0 {
			rt.Fatalf("more of topic %s than its limit allows", msg.Topic)
		}
		eligible[i].owner = owner
	}
	return len(msgs)
}

func (m *flowModel) claimSome(rt *rapid.T) {
	may := m.most()
	if n := rapid.IntRange(1, 4).Draw(rt, "how many"); m.claimUpTo(rt, n) == 0 && may > 0 {
		rt.Fatalf("claimed none of %d", may)
	}
}

// claimAll claims until nothing comes: suspects come apart from others.
func (m *flowModel) claimAll(rt *rapid.T) {
	for m.claimUpTo(rt, 1000) > 0 {
	}
	if left := m.most(); left > 0 {
		rt.Fatalf("%d could have been claimed", left)
	}
}

func (m *flowModel) settleOne(rt *rapid.T) {
	held := slices.DeleteFunc(slices.Clone(m.open), func(o *flowMessage) bool { return !o.held() })
	if len(held) == 0 {
		return
	}
	o := rapid.SampledFrom(held).Draw(rt, "which")
	switch rapid.IntRange(0, 5).Draw(rt, "how") {
	case 0:
		m.touched(1)(m.WorkQueue("").Fail(m.ctx(), o.owner, errors.New("no"), o.at))
		m.ended(o)
	case 1:
		m.touched(1)(m.WorkQueue("").Abandon(m.ctx(), o.owner, outbox.RetryAfter(0, nil), o.at))
	case 2:
		m.touched(1)(m.Release(m.ctx(), o.owner, o.at))
	default:
		m.touched(1)(m.WorkQueue("").Ack(m.ctx(), o.owner, o.at))
		m.ended(o)
	}
	o.owner = outbox.OwnerToken{}
}

func (m *flowModel) ended(o *flowMessage) {
	m.open = slices.DeleteFunc(m.open, func(other *flowMessage) bool { return other == o })
}

func (m *flowModel) cancelOne(rt *rapid.T) {
	ready := slices.DeleteFunc(slices.Clone(m.open), func(o *flowMessage) bool { return o.held() })
	if len(ready) == 0 {
		return
	}
	o := rapid.SampledFrom(ready).Draw(rt, "which")
	m.touched(1)(m.Cancel(m.ctx(), "no more", o.at))
	m.ended(o)
}

// lapseAll lets all leases run out.
func (m *flowModel) lapseAll(*rapid.T) {
	m.lapse()
	if _, err := m.WorkQueue("").ReapExpired(m.ctx()); err != nil {
		m.t.Fatal(err)
	}
	for _, o := range m.open {
		o.owner = outbox.OwnerToken{}
	}
}

func (m *flowModel) limitTopic(rt *rapid.T) {
	topic, n := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "topic"), rapid.IntRange(0, 3).Draw(rt, "limit")
	m.topics[topic] = n
	m.put(rt, throttle.Topic, topic, n)
}

func (m *flowModel) limitQueue(rt *rapid.T) {
	m.queue = rapid.SampledFrom([]int{0, 0, 1, 4}).Draw(rt, "limit")
	m.put(rt, throttle.Queue, outbox.DefaultQueue, m.queue)
}

func (m *flowModel) limitEach(rt *rapid.T) {
	m.each = rapid.SampledFrom([]int{0, 1, 2}).Draw(rt, "limit")
	m.put(rt, throttle.Each, "*", m.each)
}

// cleanUp deletes no message: only what limits have left.
func (m *flowModel) cleanUp(rt *rapid.T) {
	if _, err := worker.Purge(m.ctx(), m.db, op.OutboxPurge{Age: time.Hour, Look: 100}); err != nil {
		rt.Fatal(err)
	}
}

// put sets a limit; 0: none.
func (m *flowModel) put(rt *rapid.T, kind throttle.Kind, name string, n int) {
	var err error
	if n == 0 {
		_, err = m.limits.Remove(m.ctx(), kind, name)
	} else {
		_, err = m.limits.Set(m.ctx(), kind, name, throttle.Bounds{Concurrency: n}, "")
	}
	if err != nil {
		rt.Fatal(err)
	}
}

// drain handles what is left, with the limits that there are.
func (m *flowModel) drain(rt *rapid.T) {
	m.lapseAll(rt)
	for len(m.open) > 0 {
		m.claimAll(rt)
		held := slices.DeleteFunc(slices.Clone(m.open), func(o *flowMessage) bool { return !o.held() })
		if len(held) == 0 {
			rt.Fatalf("%d are left and cannot be claimed", len(m.open))
		}
		for _, o := range held {
			m.touched(1)(m.WorkQueue("").Ack(m.ctx(), o.owner, o.at))
			m.ended(o)
		}
	}
	m.db.CheckPlaces(m.t)
	if c, err := m.Count(m.ctx()); err != nil || c.Ready+c.Scheduled+c.Retrying+c.InProgress != 0 {
		rt.Fatalf("%+v, %v", c, err)
	}
}

// fixture is an outbox on a database of its own.
type fixture struct {
	*parts.Outbox
	t  *testing.T
	db dbtest.Database
}

func (f *fixture) ctx() context.Context { return f.t.Context() }

func (f *fixture) exec(statement string) {
	f.t.Helper()
	if _, err := f.db.SQL.ExecContext(f.ctx(), statement); err != nil {
		f.t.Fatalf("%s: %v", statement, err)
	}
}

// claim claims up to n messages under a fresh token.
func (f *fixture) claim(n int) (outbox.OwnerToken, []*outbox.Message) {
	f.t.Helper()
	owner := outbox.NewOwnerToken()
	msgs, err := f.WorkQueue("").Claim(f.ctx(), owner, time.Minute, n)
	if err != nil {
		f.t.Fatal(err)
	}
	return owner, msgs
}

// lapse makes the leases of all claims end.
func (f *fixture) lapse() {
	f.t.Helper()
	past := map[bool]string{true: "1", false: "'2000-01-01'"}[f.db.Engine() == "sqlite"]
	f.exec("UPDATE " + f.db.Table("outbox_claim") + " SET locked_until = " + past)
}

// touched insists on what a settling call reported.
func (f *fixture) touched(want int64) func(int64, error) {
	return func(n int64, err error) {
		f.t.Helper()
		if err != nil || n != want {
			f.t.Fatalf("touched %d messages, want %d: %v", n, want, err)
		}
	}
}
