package model_test

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// The model is an outbox in a map. A random sequence of calls is made on both,
// and after each call everything the outbox says about itself is compared with
// the model.

// modelled is a database under test with the clock that the model goes by.
type modelled struct {
	dbtest.Database
	// exact: the model's clock is the database's, so that times and order can
	// be compared to the microsecond. Otherwise the database's clock runs by
	// itself; then a duration is either over by the next call or never.
	exact bool
	clock *time.Time
}

// D-10, D-11, D-12, D-13, D-16, D-23, D-24, D-25, D-26, D-102, OBX-016, OBX-027,
// OBX-035, OBX-042, OBX-050: any sequence of calls leaves what a map would say.
func TestModelOnSQLite(t *testing.T) {
	clock := time.Date(2026, 1, 2, 3, 4, 5, 678000, time.UTC)
	db := dbtest.SQLiteAt(t, filepath.Join(t.TempDir(), "model.db"), sqlite.Options{Relaxed: true, Now: func() time.Time { return clock }})
	dbtest.Migrate(t, db)
	runModel(t, &modelled{
		Database: dbtest.Database{DB: db, SQL: db.SQL(), Table: func(name string) string { return name }},
		exact:    true, clock: &clock,
	})
}

// D-10, D-11, D-12, D-13, D-16, D-23, D-24, D-25, D-26, D-102, OBX-016, OBX-027,
// OBX-035, OBX-042, OBX-050: the same on PostgreSQL, on the server's own clock.
func TestModelOnPostgres(t *testing.T) {
	runModel(t, &modelled{Database: dbtest.OpenPostgres(t), clock: new(time.Time)})
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

func runModel(t *testing.T, d *modelled) {
	checks(t, 80)
	rapid.Check(t, func(rt *rapid.T) {
		for _, table := range []string{"message", "ready", "claim", "done", "exception"} {
			if _, err := d.SQL.Exec("DELETE FROM " + d.Table("outbox_"+table)); err != nil {
				rt.Fatal(err)
			}
		}
		m := newModel(t, rt, d)
		rt.Repeat(map[string]func(*rapid.T){
			"enqueue": m.enqueue, "enqueue in a transaction": m.enqueueTx,
			"claim": m.claim, "claim again": m.claim, "claim once more": m.claim, "fail another": m.fail, "redrive another": m.redrive, "handle": m.handle, "ack": m.ack, "abandon": m.abandon, "fail": m.fail, "exchange": m.exchange, "release": m.release, "extend": m.extend,
			"reap": m.reap, "redrive": m.redrive, "discard": m.discard, "clean up": m.cleanUp, "pass time": m.passTime,
			"": m.compare,
		})
	})
}

// known is a message as the model knows it.
type known struct {
	msg       outbox.Message
	status    outbox.Status // never Scheduled
	at        time.Time
	retry     int
	owner     outbox.OwnerToken
	until     time.Time
	suspect   int // as in the database: see outbox_claim_queue_suspects
	lastError string
	redrives  int
	ended     time.Time           // acked or discarded
	lost      []outbox.OwnerToken // of claims whose lease ran out
}

type model struct {
	t      *testing.T
	d      *modelled
	o      *parts.Outbox
	byID   map[outbox.Position]*known
	owners []outbox.OwnerToken
	minted []outbox.MessageID // every id that ever was handed out, or invented
}

// stored has the states that are stored, each at the place that is its number.
var stored = []outbox.Status{outbox.Ready, outbox.InProgress, outbox.Done, outbox.Failed, outbox.Discarded, outbox.Expired}

const (
	retention  = time.Hour
	workerName = "worker-7"
	farAway    = 24 * time.Hour
	mostItems  = 40 // fewer than the runs one reap takes
)

func newModel(t *testing.T, rt *rapid.T, d *modelled) *model {
	keep := retention
	if !d.exact {
		keep = time.Millisecond
		*d.clock = time.Now()
	}
	return &model{t: t, d: d, o: parts.NewOutbox(d.DB, worker.Options{Retention: keep, Worker: workerName}),
		byID: map[outbox.Position]*known{}, owners: []outbox.OwnerToken{outbox.NewOwnerToken()}}
}

func (m *model) ctx() context.Context { return m.t.Context() }

func (m *model) now() time.Time { return *m.d.clock }

// tick moves the clock. Without control over it, a microsecond of the model's
// stands for every call and two milliseconds for the end of a short duration.
func (m *model) tick(d time.Duration) {
	*m.d.clock = m.now().Add(d)
	if !m.d.exact && d >= time.Millisecond {
		m.d.Pass(d)
	}
}

// ids returns the model's ids in order.
func (m *model) ids() []outbox.Position { return slices.Sorted(maps.Keys(m.byID)) }

func (m *model) find(id outbox.MessageID) *known {
	for _, k := range m.byID {
		if k.msg.ID == id {
			return k
		}
	}
	return nil
}

// duration draws how long something is to last: short ones are over after the
// next tick, long ones last.
func (m *model) duration(rt *rapid.T, label string) time.Duration {
	if m.d.exact {
		return time.Duration(rapid.SampledFrom([]int64{1, 1000, 30_000, 300_000}).Draw(rt, label)) * time.Millisecond
	}
	return rapid.SampledFrom([]time.Duration{time.Millisecond, farAway}).Draw(rt, label)
}

// over lets a short duration end where the clock is not ours.
func (m *model) over(d time.Duration) {
	if !m.d.exact && d == time.Millisecond {
		m.tick(2 * time.Millisecond)
	}
}

func (m *model) message(rt *rapid.T) outbox.Message {
	msg := outbox.Message{
		Topic:         rapid.SampledFrom([]string{"a", "A", "größe"}).Draw(rt, "topic"),
		Payload:       rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(rt, "payload"),
		CorrelationID: rapid.SampledFrom([]string{"", "c-1"}).Draw(rt, "correlation id"),
		Queue:         rapid.SampledFrom([]string{"", "", "", "", "other"}).Draw(rt, "queue"),
		Priority:      rapid.SampledFrom([]int{0, 0, 0, 0, 0, 0, -5, 100}).Draw(rt, "priority"),
	}
	if rapid.Bool().Draw(rt, "with headers") {
		msg.Headers = map[string]string{"trace": "1", "ü": ""}
	}
	dues := []time.Duration{0, 0, 0, 0, 0, -time.Second, farAway}
	if m.d.exact {
		dues = append(dues, time.Millisecond, 20*time.Second)
	}
	if d := rapid.SampledFrom(dues).Draw(rt, "due"); d != 0 {
		msg.Due = m.now().Add(d)
	}
	switch rapid.IntRange(0, 5).Draw(rt, "id") {
	case 0:
		msg.ID = outbox.MessageID(uuid.New())
	case 1:
		if len(m.minted) > 0 {
			msg.ID = rapid.SampledFrom(m.minted).Draw(rt, "old id")
		}
	}
	return msg
}

func (m *model) messages(rt *rapid.T) []outbox.Message {
	n := rapid.SampledFrom([]int{1, 1, 2, 5, 9}).Draw(rt, "how many")
	n = min(n, mostItems-len(m.byID))
	var msgs []outbox.Message
	for range n {
		if len(msgs) > 0 && rapid.Bool().Draw(rt, "like the last") {
			same := msgs[len(msgs)-1]
			if rapid.IntRange(0, 3).Draw(rt, "id too") > 0 {
				same.ID = outbox.MessageID{}
			}
			msgs = append(msgs, same)
			continue
		}
		msgs = append(msgs, m.message(rt))
	}
	return msgs
}

func (m *model) enqueue(rt *rapid.T) {
	msgs := m.messages(rt)
	m.tick(time.Microsecond)
	var ids []outbox.MessageID
	var err error
	if len(msgs) == 1 && rapid.Bool().Draw(rt, "single") {
		ids = make([]outbox.MessageID, 1)
		ids[0], err = m.o.Enqueue(m.ctx(), msgs[0])
	} else {
		ids, err = m.o.EnqueueBatch(m.ctx(), msgs)
	}
	m.enqueued(rt, msgs, ids, err, true)
}

func (m *model) enqueueTx(rt *rapid.T) {
	msgs := m.messages(rt)
	commit := rapid.Bool().Draw(rt, "commit")
	m.tick(time.Microsecond)
	tx, err := m.d.SQL.BeginTx(m.ctx(), nil)
	if err != nil {
		rt.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	ids, err := m.o.EnqueueBatchTx(m.ctx(), tx, msgs)
	end := tx.Rollback
	if commit {
		end = tx.Commit
	}
	if endErr := end(); endErr != nil {
		rt.Fatal(endErr)
	}
	m.enqueued(rt, msgs, ids, err, commit)
}

// enqueued takes over what an enqueue should have done.
func (m *model) enqueued(rt *rapid.T, msgs []outbox.Message, ids []outbox.MessageID, err error, committed bool) {
	if err != nil || len(ids) != len(msgs) {
		rt.Fatalf("enqueue: %v, %d ids for %d messages", err, len(ids), len(msgs))
	}
	candidates := map[outbox.MessageID][]outbox.Message{}
	for i, id := range ids {
		if id.IsZero() || (!msgs[i].ID.IsZero() && id != msgs[i].ID) {
			rt.Fatalf("id %v for a message with id %v", id, msgs[i].ID)
		}
		if msgs[i].ID.IsZero() && slices.Contains(m.minted, id) {
			rt.Fatalf("id %v handed out twice", id)
		}
		candidates[id] = append(candidates[id], msgs[i])
		m.minted = append(m.minted, id)
	}
	if !committed {
		return
	}
	for id, same := range candidates {
		if m.find(id) != nil {
			continue // known: nothing is added
		}
		info, err := m.o.Get(m.ctx(), id)
		if err != nil {
			rt.Fatalf("find what was enqueued: %v", err)
		}
		i := slices.IndexFunc(same, func(msg outbox.Message) bool { return sameMessage(&msg, &info.Message) })
		if i < 0 {
			rt.Fatalf("found %+v, enqueued %+v", info, same)
		}
		if _, taken := m.byID[info.Position]; taken {
			rt.Fatalf("position %d given twice", info.Position)
		}
		k := &known{msg: same[i], at: m.now(), status: outbox.Ready}
		k.msg.ID, k.msg.Position = id, info.Position
		if !k.msg.Due.IsZero() {
			k.at = k.msg.Due
		}
		m.byID[info.Position] = k
	}
}

// sameMessage compares what a producer said with what is stored.
func sameMessage(want, got *outbox.Message) bool {
	queue, due := cmp.Or(want.Queue, outbox.DefaultQueue), want.Due.Truncate(time.Microsecond)
	if due.Unix() < 0 {
		due = time.Time{} // D-8: now
	}
	return want.Topic == got.Topic && string(want.Payload) == string(got.Payload) && want.CorrelationID == got.CorrelationID &&
		queue == got.Queue && want.Priority == got.Priority && maps.Equal(want.Headers, got.Headers) &&
		due.Equal(got.Due)
}

func (m *model) claim(rt *rapid.T) {
	queue := rapid.SampledFrom([]string{outbox.DefaultQueue, outbox.DefaultQueue, outbox.DefaultQueue, outbox.DefaultQueue, "other", "unknown"}).Draw(rt, "queue")
	n := rapid.SampledFrom([]int{1, 3, 10, 5000, 5000}).Draw(rt, "how many")
	lease := m.duration(rt, "lease")
	owner := rapid.SampledFrom(append(m.owners, outbox.NewOwnerToken())).Draw(rt, "owner")
	if !slices.Contains(m.owners, owner) {
		m.owners = append(m.owners, owner)
	}
	m.claimAs(rt, owner, queue, n, lease)
}

// handle is what a worker does: it claims what is due and acks it.
func (m *model) handle(rt *rapid.T) {
	owner := outbox.NewOwnerToken()
	m.claimAs(rt, owner, outbox.DefaultQueue, 5000, farAway)
	var held []outbox.Position
	for _, id := range m.ids() {
		if m.byID[id].owner == owner {
			held = append(held, id)
		}
	}
	m.ackAs(rt, owner, held)
}

func (m *model) claimAs(rt *rapid.T, owner outbox.OwnerToken, queue string, n int, lease time.Duration) {
	m.tick(time.Microsecond)
	m.expire()
	want := m.due(queue)
	suspects := len(want) > 0 && want[0].suspect > 0
	for i := 0; suspects && i < min(n, len(want)); i++ {
		n = min(n, max(i, want[i].suspect))
	}
	want = want[:min(n, len(want))]
	got, err := m.o.WorkQueue(queue).Claim(m.ctx(), owner, lease, n)
	if err != nil {
		rt.Fatal(err)
	}
	if len(got) != len(want) {
		rt.Fatalf("claimed %d messages, want %d", len(got), len(want))
	}
	m.checkClaimed(rt, got, want)
	m.merge(got)
	for _, c := range got {
		k := m.byID[c.Position]
		k.status, k.owner, k.until = outbox.InProgress, owner, m.now().Add(lease)
		if suspects {
			k.suspect = len(got)
		}
	}
	m.over(lease)
}

// due returns what can be claimed, in the order in which it is: suspects of one
// priority or, where there are none, all others.
func (m *model) due(queue string) (due []*known) {
	for _, k := range m.byID {
		if k.status == outbox.Ready && !k.at.After(m.now()) && cmp.Or(k.msg.Queue, outbox.DefaultQueue) == queue {
			due = append(due, k)
		}
	}
	slices.SortFunc(due, func(a, b *known) int {
		return cmp.Or(cmp.Compare(min(b.suspect, 1), min(a.suspect, 1)),
			cmp.Compare(a.msg.Priority, b.msg.Priority), a.at.Compare(b.at), cmp.Compare(a.msg.Position, b.msg.Position))
	})
	return slices.DeleteFunc(due, func(k *known) bool {
		first := due[0]
		return first.suspect > 0 && (k.suspect == 0 || k.msg.Priority != first.msg.Priority)
	})
}

func (m *model) checkClaimed(rt *rapid.T, got []*outbox.Message, want []*known) {
	seen := map[outbox.Position]bool{}
	priorities := map[int]int{}
	for i, c := range got {
		k := m.byID[c.Position]
		if k == nil || seen[c.Position] || k.status != outbox.Ready || k.at.After(m.now()) || !sameMessage(&k.msg, c) || c.ID != k.msg.ID || c.RetryCount != k.retry {
			rt.Fatalf("claimed %+v, the model has %+v", c, k)
		}
		if m.d.exact && c.Position != want[i].msg.Position {
			rt.Fatalf("claimed %d at place %d, want %d: oldest due first", c.Position, i, want[i].msg.Position)
		}
		seen[c.Position] = true
		priorities[c.Priority]++
	}
	for _, k := range want {
		priorities[k.msg.Priority]--
	}
	for p, n := range priorities {
		if n != 0 {
			rt.Fatalf("%d messages of priority %d too many", n, p)
		}
	}
}

// merge lets neighbours that were claimed together share the place of the
// first, to which they go back when they are released.
func (m *model) merge(got []*outbox.Message) {
	for i := 1; i < len(got); i++ {
		a, b := m.byID[got[i-1].Position], m.byID[got[i].Position]
		if b.msg.Position == a.msg.Position+1 && a.retry == b.retry && a.msg.Priority == b.msg.Priority {
			b.at = a.at
		}
	}
}

// expire is what reaping does.
func (m *model) expire() (n int64) {
	for _, k := range m.byID {
		if k.status == outbox.InProgress && k.until.Before(m.now()) {
			k.lost = append(k.lost, k.owner)
			k.back(m.now())
			switch k.suspect {
			case 0:
				k.suspect = worker.MaxBatch
			case 1:
				k.retry++
				k.lastError = "lease expired"
			default:
				k.suspect = (k.suspect + 1) / 2
			}
			n++
		}
	}
	return n
}

func (k *known) back(at time.Time) {
	k.status, k.at, k.owner, k.until = outbox.Ready, at, outbox.OwnerToken{}, time.Time{}
}

// holders returns the owners of what is in progress.
func (m *model) holders() (owners []outbox.OwnerToken) {
	for _, id := range m.ids() {
		if k := m.byID[id]; k.status == outbox.InProgress && !slices.Contains(owners, k.owner) {
			owners = append(owners, k.owner)
		}
	}
	return owners
}

// chosen draws an owner and ids for a settling call and returns which messages
// it should touch.
func (m *model) chosen(rt *rapid.T) (owner outbox.OwnerToken, ids []outbox.Position, touched []*known) {
	owner = rapid.SampledFrom(append(m.owners, outbox.NewOwnerToken())).Draw(rt, "owner")
	if holders := m.holders(); len(holders) > 0 && rapid.IntRange(0, 4).Draw(rt, "stranger") > 0 {
		owner = rapid.SampledFrom(holders).Draw(rt, "holder")
	}
	var held []outbox.Position
	for _, id := range m.ids() {
		if m.byID[id].status == outbox.InProgress && m.byID[id].owner == owner {
			held = append(held, id)
		}
	}
	pools := [][]outbox.Position{{0, -7, 1, 1 << 40, 1 << 62, math.MaxInt64, math.MinInt64}, m.ids(), held, held, held}
	for _, pool := range pools {
		if len(pool) > 0 {
			ids = append(ids, rapid.SliceOfN(rapid.SampledFrom(pool), 0, 6).Draw(rt, "ids")...)
		}
	}
	if rapid.Bool().Draw(rt, "all") {
		ids = append(ids, held...)
	}
	for _, id := range held {
		if slices.Contains(ids, id) {
			touched = append(touched, m.byID[id])
		}
	}
	return owner, ids, touched
}

func wantCount(rt *rapid.T, got int64, err error, want int) {
	if err != nil || got != int64(want) {
		rt.Fatalf("touched %d, %v, want %d", got, err, want)
	}
}

func (m *model) ack(rt *rapid.T) {
	owner, ids, _ := m.chosen(rt)
	m.ackAs(rt, owner, ids)
}

func (m *model) ackAs(rt *rapid.T, owner outbox.OwnerToken, ids []outbox.Position) {
	m.tick(time.Microsecond)
	want := 0
	for id, k := range m.byID {
		if k.status == outbox.InProgress && k.owner == owner && slices.Contains(ids, id) {
			k.status, k.ended, k.owner = outbox.Done, m.now(), outbox.OwnerToken{}
			want++
		}
	}
	n, err := m.o.WorkQueue("").Ack(m.ctx(), owner, ids...)
	wantCount(rt, n, err, want)
}

// exchange settles, in one transaction, items under the claims that hold them and
// under those that were lost before.
func (m *model) exchange(rt *rapid.T) {
	var held []outbox.Position
	for _, id := range m.ids() {
		if m.byID[id].status == outbox.InProgress {
			held = append(held, id)
		}
	}
	if len(held) == 0 {
		rt.Skip()
	}
	m.tick(time.Microsecond)
	var fails op.OutboxFail
	var acks op.OutboxAck
	settle := func(id outbox.Position, owner outbox.OwnerToken, fail bool) {
		h := op.Held{Owner: owner, Lo: int64(id), N: 1}
		if fail {
			why := "it broke"
			fails.Runs = append(fails.Runs, op.Failure{Held: h, Reported: op.Reported{Error: &why}})
			acks.Failed = append(acks.Failed, op.Span{Lo: h.Lo, N: h.N})
		} else {
			acks.Runs = append(acks.Runs, h)
		}
	}
	for _, id := range slices.Sorted(slices.Values(rapid.SliceOfNDistinct(rapid.SampledFrom(held), 1, len(held), rapid.ID).Draw(rt, "items"))) {
		k := m.byID[id]
		for _, owner := range k.lost {
			if owner != k.owner { // who claims twice under one token cannot say which claim is meant
				settle(id, owner, rapid.Bool().Draw(rt, "lost and failed"))
			}
		}
		fail := rapid.Bool().Draw(rt, "fail")
		settle(id, k.owner, fail)
		k.owner = outbox.OwnerToken{}
		if k.status = outbox.Done; fail {
			k.status, k.lastError = outbox.Failed, "it broke"
		} else {
			k.ended = m.now()
		}
	}
	fails.Keep, fails.Count, fails.Worker, acks.Worker = 1, len(acks.Runs) == 0, workerName, workerName
	var calls []*engine.Call // as a worker settles
	if len(fails.Runs) > 0 {
		calls = append(calls, engine.Ask(fails))
	}
	if len(acks.Runs) > 0 {
		calls = append(calls, engine.Ask(acks))
	}
	if err := m.d.Do(m.ctx(), calls...); err != nil {
		rt.Fatal(err)
	}
}

func (m *model) cause(rt *rapid.T) (kept string, cause error) {
	text := rapid.SampledFrom([]string{"", "it broke", "größer\x00\xff"}).Draw(rt, "cause")
	if text == "" {
		return "", nil
	}
	return map[string]string{"it broke": text, "größer\x00\xff": "größer\uFFFD\uFFFD"}[text], errors.New(text)
}

func (m *model) abandon(rt *rapid.T) {
	owner, ids, touched := m.chosen(rt)
	text, cause := m.cause(rt)
	delays := []time.Duration{0, 0, 0, farAway}
	if m.d.exact {
		delays = append(delays, -1, 1500*time.Millisecond) // -1: the default backoff
	}
	delay := rapid.SampledFrom(delays).Draw(rt, "delay")
	m.tick(time.Microsecond)
	if delay >= 0 {
		cause = outbox.RetryAfter(delay, cause)
		text = cmp.Or(text, cause.Error())
	}
	n, err := m.o.WorkQueue("").Abandon(m.ctx(), owner, cause, ids...)
	wantCount(rt, n, err, len(touched))
	for _, k := range touched {
		k.retry++
		k.suspect = 0
		wait := delay
		if delay < 0 {
			wait = engine.Backoff(k.retry)
		}
		k.back(m.now().Add(wait))
		k.lastError = cmp.Or(text, k.lastError)
	}
}

func (m *model) fail(rt *rapid.T) {
	owner, ids, touched := m.chosen(rt)
	text, cause := m.cause(rt)
	m.tick(time.Microsecond)
	n, err := m.o.WorkQueue("").Fail(m.ctx(), owner, cause, ids...)
	wantCount(rt, n, err, len(touched))
	for _, k := range touched {
		k.status, k.owner = outbox.Failed, outbox.OwnerToken{}
		k.lastError = cmp.Or(text, k.lastError)
	}
}

func (m *model) release(rt *rapid.T) {
	owner, ids, touched := m.chosen(rt)
	m.tick(time.Microsecond)
	n, err := m.o.Release(m.ctx(), owner, ids...)
	wantCount(rt, n, err, len(touched))
	for _, k := range touched {
		k.back(k.at)
	}
}

func (m *model) extend(rt *rapid.T) {
	owner, ids, touched := m.chosen(rt)
	lease := m.duration(rt, "lease")
	m.tick(time.Microsecond)
	n, err := m.o.Extend(m.ctx(), owner, lease, ids...)
	wantCount(rt, n, err, len(touched))
	for _, k := range touched {
		k.until = m.now().Add(lease)
	}
	m.over(lease)
}

func (m *model) reap(rt *rapid.T) {
	m.tick(time.Microsecond)
	want := m.expire()
	n, err := m.o.WorkQueue("").ReapExpired(m.ctx())
	wantCount(rt, n, err, int(want))
}

// state is the state that lists and counts show: of what waits, whether it is due.
func (m *model) state(k *known) outbox.Status {
	switch later := k.status == outbox.Ready && k.at.After(m.now()); {
	case later && k.retry > 0:
		return outbox.Retrying
	case later:
		return outbox.Scheduled
	}
	return k.status
}

// failedFilter draws a filter and returns what it selects of the messages in some states, those of the
// first state first.
func (m *model) failedFilter(rt *rapid.T, states ...outbox.Status) (f outbox.FailedFilter, selected []*known) {
	if rapid.Bool().Draw(rt, "by ids") {
		f.IDs = []outbox.Position{-1, math.MaxInt64}
		if ids := m.ids(); len(ids) > 0 {
			f.IDs = append(f.IDs, rapid.SliceOfN(rapid.SampledFrom(ids), 0, 10).Draw(rt, "ids")...)
		}
	}
	f.Topic = rapid.SampledFrom([]string{"", "", "a", "A"}).Draw(rt, "topic")
	f.Limit = rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(rt, "limit")
	for _, state := range states {
		for _, id := range m.ids() {
			k := m.byID[id]
			if m.state(k) == state && (f.IDs == nil || slices.Contains(f.IDs, id)) && (f.Topic == "" || f.Topic == k.msg.Topic) && (f.Limit == 0 || len(selected) < f.Limit) {
				selected = append(selected, k)
			}
		}
	}
	return f, selected
}

func (m *model) redrive(rt *rapid.T) {
	m.tick(time.Microsecond)
	f, selected := m.failedFilter(rt, outbox.Failed, outbox.Retrying)
	done, err := m.o.Redrive(m.ctx(), f)
	wantCount(rt, done.Changed, err, len(selected))
	for _, k := range selected {
		if k.status == outbox.Failed {
			k.retry, k.redrives, k.suspect = 0, k.redrives+1, 0
		}
		k.back(m.now())
	}
	if rapid.Bool().Draw(rt, "then handle") {
		m.handle(rt)
	}
}

func (m *model) discard(rt *rapid.T) {
	f, selected := m.failedFilter(rt, outbox.Failed)
	m.tick(time.Microsecond)
	done, err := m.o.Discard(m.ctx(), f)
	wantCount(rt, done.Changed, err, len(selected))
	for _, k := range selected {
		k.status, k.ended = outbox.Discarded, m.now()
	}
}

func (m *model) cleanUp(rt *rapid.T) {
	if !m.d.exact {
		m.tick(2 * time.Millisecond) // longer than the retention
	}
	gone := 0
	for id, k := range m.byID {
		if over := k.status == outbox.Done || k.status == outbox.Discarded; over && (!m.d.exact || k.ended.Before(m.now().Add(-retention))) {
			delete(m.byID, id)
			gone++
		}
	}
	n, err := m.o.CleanUp(m.ctx())
	wantCount(rt, n, err, gone)
}

func (m *model) passTime(rt *rapid.T) {
	d := 2 * time.Millisecond
	if m.d.exact {
		d = rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, 45 * time.Second, 2 * time.Hour}).Draw(rt, "time")
	}
	m.tick(d)
}

// compare checks what is stored, and asks for it in one way or another.
func (m *model) compare(rt *rapid.T) {
	all, err := engine.Collect(m.o.List(m.ctx(), outbox.ListOptions{}), 10_000)
	if err != nil {
		rt.Fatal(err)
	}
	want := m.ids()
	slices.Reverse(want)
	m.compareList(rt, all, want, "all")
	if m.d.CheckPlaces(m.t); m.t.Failed() {
		rt.Fatal("a message is not in exactly one place")
	}
	ask := []func(*rapid.T){m.compareCounts, m.compareStates, m.compareOne, m.compareView}
	ask[rapid.IntRange(0, len(ask)-1).Draw(rt, "ask")](rt)
}

func (m *model) compareList(rt *rapid.T, got []outbox.Info, want []outbox.Position, what string) {
	if len(got) != len(want) {
		rt.Fatalf("list of %s has %d messages, want %d", what, len(got), len(want))
	}
	for i := range got {
		info := &got[i]
		if info.Position != want[i] {
			rt.Fatalf("list of %s has %d at place %d, want %d", what, info.Position, i, want[i])
		}
		m.compareInfo(rt, info)
	}
}

func (m *model) compareInfo(rt *rapid.T, i *outbox.Info) {
	k := m.byID[i.Position]
	if k == nil {
		rt.Fatalf("unknown message %+v", i)
	}
	by := ""
	if k.status == outbox.Done {
		by = workerName
	}
	leased := k.status == outbox.InProgress
	switch {
	case i.ID != k.msg.ID || !sameMessage(&k.msg, &i.Message), i.Status != k.status, i.Status == outbox.Done != (k.status == outbox.Done),
		i.RetryCount != k.retry, i.LastError != k.lastError, i.Redrives != k.redrives, i.ProcessedBy != by,
		i.ProcessedAt.IsZero() == (k.status == outbox.Done), i.LockedUntil.IsZero() == leased, (i.Owner != outbox.OwnerToken{}) != leased,
		leased && i.Owner != k.owner:
		rt.Fatalf("stored %+v\nmodel  %+v", i, k)
	}
	if !m.d.exact {
		return
	}
	if leased && !i.LockedUntil.Equal(k.until) || k.status == outbox.Done && !i.ProcessedAt.Equal(k.ended) ||
		(k.status == outbox.Ready || leased) && !i.NextAttemptAt.Equal(k.at.Truncate(time.Microsecond)) {
		rt.Fatalf("times stored %+v\nmodel  %+v", i, k)
	}
}

func (m *model) compareCounts(rt *rapid.T) {
	var want outbox.Counts
	for _, k := range m.byID {
		*map[outbox.Status]*int64{
			outbox.Ready: &want.Ready, outbox.Scheduled: &want.Scheduled, outbox.Retrying: &want.Retrying, outbox.InProgress: &want.InProgress, outbox.Done: &want.Done,
			outbox.Failed: &want.Failed, outbox.Discarded: &want.Discarded,
		}[m.state(k)]++
	}
	got, err := m.o.Count(m.ctx())
	if err != nil || got != want {
		rt.Fatalf("counts %+v, %v, want %+v", got, err, want)
	}
}

// compareStates lists one random state, maybe of one topic, in pages.
func (m *model) compareStates(rt *rapid.T) {
	status := rapid.SampledFrom([]outbox.Status{outbox.Ready, outbox.InProgress, outbox.Done, outbox.Failed, outbox.Discarded, outbox.Scheduled, outbox.Retrying}).Draw(rt, "state")
	topic := rapid.SampledFrom([]string{"", "", "a"}).Draw(rt, "topic")
	var want []outbox.Position
	for _, id := range m.ids() {
		k := m.byID[id]
		if m.state(k) == status && (topic == "" || topic == k.msg.Topic) {
			want = append(want, id)
		}
	}
	slices.Reverse(want)
	var got []outbox.Info
	limit := rapid.SampledFrom([]int{3, 1000}).Draw(rt, "limit")
	for f := (outbox.ListOptions{Status: status, Topic: topic}); ; {
		page, err := engine.Collect(m.o.List(m.ctx(), f), limit)
		if err != nil {
			rt.Fatal(err)
		}
		got = append(got, page...)
		if len(page) < limit {
			break
		}
		f.After = &page[len(page)-1]
	}
	m.compareList(rt, got, want, string(status))
}

// compareOne looks up one random id, known or not.
func (m *model) compareOne(rt *rapid.T) {
	if ids := m.ids(); len(ids) > 0 {
		id := rapid.SampledFrom(ids).Draw(rt, "id")
		info, err := m.o.GetByPosition(m.ctx(), id)
		if err != nil {
			rt.Fatal(err)
		}
		m.compareInfo(rt, info)
	}
	if len(m.minted) == 0 {
		return
	}
	mid := rapid.SampledFrom(m.minted).Draw(rt, "message id")
	info, err := m.o.Get(m.ctx(), mid)
	switch k := m.find(mid); {
	case k == nil && !errors.Is(err, outbox.ErrNotFound):
		rt.Fatalf("found %+v, %v, want ErrNotFound", info, err)
	case k != nil && err != nil:
		rt.Fatal(err)
	case k != nil:
		m.compareInfo(rt, info)
	}
	if _, err := m.o.GetByPosition(m.ctx(), -1); !errors.Is(err, outbox.ErrNotFound) {
		rt.Fatalf("Get(-1): %v", err)
	}
}

// compareView reads the seed's columns.
func (m *model) compareView(rt *rapid.T) {
	rows, err := m.d.SQL.QueryContext(m.ctx(), `SELECT id, topic, status, is_processed, retry_count, last_error, owner_token, message_id,
		correlation_id, processed_by, locked_until IS NOT NULL, processed_at IS NOT NULL, due_time_utc IS NOT NULL, queue, priority FROM `+m.d.Table("outbox")+` ORDER BY id`)
	if err != nil {
		rt.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	seen := 0
	for ; rows.Next(); seen++ {
		var id outbox.Position
		var topic, messageID, queue string
		var status, retry, priority int
		var processed, locked, ended, due bool
		var lastError, owner, correlation, by sql.NullString
		if err := rows.Scan(&id, &topic, &status, &processed, &retry, &lastError, &owner, &messageID, &correlation, &by, &locked, &ended, &due, &queue, &priority); err != nil {
			rt.Fatal(err)
		}
		k := m.byID[id]
		if k == nil {
			rt.Fatalf("the view has unknown message %d", id)
		}
		wantOwner, wantBy := "", ""
		if k.status == outbox.InProgress {
			wantOwner = k.owner.String()
		}
		if k.status == outbox.Done {
			wantBy = workerName
		}
		row := fmt.Sprint(topic, status, processed, retry, lastError.String, owner.String, messageID, correlation.String, by.String, locked, ended, due, queue, priority)
		want := fmt.Sprint(k.msg.Topic, slices.Index(stored, k.status), k.status == outbox.Done, k.retry, k.lastError, wantOwner, k.msg.ID, k.msg.CorrelationID, wantBy,
			k.status == outbox.InProgress, k.status == outbox.Done, !k.msg.Due.IsZero(), cmp.Or(k.msg.Queue, outbox.DefaultQueue), k.msg.Priority)
		if row != want {
			rt.Fatalf("the view has %s\nthe model %s", row, want)
		}
	}
	if err := rows.Err(); err != nil || seen != len(m.byID) {
		rt.Fatalf("the view has %d rows, %v, want %d", seen, err, len(m.byID))
	}
}
