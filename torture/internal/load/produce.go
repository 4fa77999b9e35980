package load

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/expiry"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
	"github.com/bravellian/pawl/torture/internal/history"
	"github.com/bravellian/pawl/torture/internal/store"
)

// producer is a process that enqueues.
type producer struct {
	*process
	lines  []*line
	made   int        // lines so far
	asked  time.Time  // when it last asked how much there is to do
	timers []timer.ID // that may be cancelled
	tokens int        // of the inbox, and flows with keys so far
	begun  []asked    // signals that flows wait for
}

// line is an ordering key and how many messages it has.
type line struct {
	key   string
	place int64
}

// How many keys a producer uses at once, and until which place.
const (
	linesAtOnce = 16
	lastPlace   = 100
)

// step is a transaction: it returns what it does, to be written before the commit.
type step func(ctx context.Context, tx *sql.Tx) ([]history.Event, error)

// produce makes transactions until the process is to stop.
func (p *process) produce(ctx context.Context) error {
	r := &producer{process: p}
	for len(r.lines) < linesAtOnce {
		r.lines = append(r.lines, r.newLine())
	}
	for sleep(ctx, p.between(0, 2*p.Pace)) && r.wanted(ctx) {
		if p.chance(0.03) {
			r.cancelTimer(ctx)
			continue
		}
		if r.chance(0.2) {
			r.steer(ctx)
		}
		r.transact(ctx, r.choose())
	}
	return nil
}

// backlog is how many messages there may be for workers before producers wait: more than a
// claim takes of each, and few enough to be handled soon when all is over. Those of flows take longer.
func (r *producer) backlog() int {
	if r.Flows {
		return 1000
	}
	return 4000
}

// wanted waits while there is much to do, and reports whether the process goes on.
func (r *producer) wanted(ctx context.Context) bool {
	const often, pause = 200 * time.Millisecond, 30 * time.Millisecond
	if time.Since(r.asked) < often {
		return ctx.Err() == nil
	}
	for {
		r.asked = time.Now()
		asking, cancel := attempt(ctx)
		n, err := r.store.Ready(asking)
		cancel()
		if err == nil && n < r.backlog() {
			return ctx.Err() == nil
		}
		if !sleep(ctx, pause) {
			return false
		}
	}
}

// choose draws what the next transaction does.
func (r *producer) choose() step {
	kinds := []struct {
		weight int
		step   step
	}{
		{20, r.plain}, {20, r.keyed}, {20, r.batch}, {10, r.flaky}, {8, r.unique}, {5, r.limited}, {8, r.timer},
		{4, r.join}, {r.flowWeight(), r.flow}, {8, r.inbox}, {4, r.queued}, {8, r.raw},
	}
	total := 0
	for _, k := range kinds {
		total += k.weight
	}
	n := r.rand.IntN(total)
	for _, k := range kinds {
		if n -= k.weight; n < 0 {
			return k.step
		}
	}
	return r.plain
}

// flowWeight is how often flows are drawn: 30 times of 145, or 800 of 915.
func (r *producer) flowWeight() int {
	if r.Flows {
		return 800
	}
	return 30
}

// transact runs a step in a transaction, and writes down what is attempted and how it ends.
func (r *producer) transact(ctx context.Context, do step) {
	ctx, cancel := attempt(ctx)
	defer cancel()
	tx, err := r.store.Begin(ctx)
	if err != nil {
		return // nothing was attempted
	}
	defer tx.Rollback()
	events, err := do(ctx, tx)
	if err == nil && r.chance(0.2) {
		err = r.cells(ctx, tx)
	}
	if err == nil {
		err = r.ledger(ctx, tx, events)
	}
	for _, e := range events {
		r.ended(e, begin(e))
	}
	outcome := history.Failed
	switch {
	case err != nil || r.chance(0.08): // by a fault, or on purpose
		_ = tx.Rollback()
	default:
		outcome = history.OK
		if err := tx.Commit(); err != nil {
			outcome = history.Unknown
		}
	}
	r.settle(events, outcome)
}

// begin is what is written of an operation before the commit. Whatever is a member of a join is
// written by then: a process that is killed after the commit could not. An answer is one whatever
// becomes of the transaction.
func begin(e history.Event) history.Outcome {
	if e.Op == history.Member || e.Op == history.Duplicate {
		return history.OK
	}
	return history.Began
}

// settle writes the end of a transaction. After one whose end is not known, the order of
// commits is not either: its keys are not used again.
func (r *producer) settle(events []history.Event, o history.Outcome) {
	for _, e := range events {
		if begin(e) == history.OK {
			continue
		}
		r.ended(e, o)
		if e.Key != "" && o != history.OK {
			for i, l := range r.lines {
				if l.key == e.Key {
					r.lines[i] = r.newLine()
				}
			}
		}
		if e.Topic == topicApprove && o == history.OK && r.chance(0.5) {
			if id, err := outbox.ParseMessageID(e.Detail); err == nil {
				r.begun = append(r.begun, asked{id, e.Place})
			}
		}
		if e.Op == history.Timer && o == history.OK && r.chance(0.3) {
			if id, err := outbox.ParseMessageID(e.Message); err == nil {
				r.timers = append(r.timers, id)
			}
		}
	}
}

// cells updates rows of two tables, in the one order. A fault locks them in the other.
func (r *producer) cells(ctx context.Context, tx *sql.Tx) error {
	n := 1 + r.rand.IntN(store.Cells)
	return errors.Join(
		r.store.Exec(ctx, tx, `UPDATE {s}torture_a SET n = n + 1 WHERE id = ?`, n),
		r.store.Exec(ctx, tx, `UPDATE {s}torture_b SET n = n + 1 WHERE id = ?`, n))
}

// ledger writes a row for each message.
func (r *producer) ledger(ctx context.Context, tx *sql.Tx, events []history.Event) error {
	var rows []string
	var args []any
	for _, e := range events {
		if e.Op == history.Enqueue {
			rows = append(rows, "(?, ?)")
			args = append(args, e.Message, r.Process)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return r.store.Exec(ctx, tx, `INSERT INTO {s}torture_ledger (id, process) VALUES `+strings.Join(rows, ", "), args...)
}

// message is a message whose id is sometimes its producer's and sometimes pawl's.
func (r *producer) message(topic string, b body) outbox.Message {
	if r.chance(0.1) {
		b.Filler = strings.Repeat("x", r.rand.IntN(8<<10))
	}
	m := outbox.Message{Topic: topic, Payload: encode(b)}
	if r.chance(0.5) {
		m.ID = outbox.MessageID(r.uuid())
	}
	if topic == topicPlain && r.chance(0.1) {
		m.Due = time.Now().Add(r.between(0, 3*time.Second))
	}
	if (topic == topicPlain || topic == topicRaw) && r.chance(0.1) {
		m.Expires = time.Now()
		if m.Due.After(m.Expires) {
			m.Expires = m.Due
		}
		m.Expires = m.Expires.Add(r.between(time.Millisecond, 10*time.Second)) // so that many expire while they are claimed
	}
	return m
}

func (r *producer) uuid() uuid.UUID {
	id, err := uuid.NewRandomFromReader(r.source)
	if err != nil {
		panic(err) // the source has no end
	}
	return id
}

// enqueue enqueues messages one by one or all at once.
func (r *producer) enqueue(ctx context.Context, tx *sql.Tx, all []outbox.Message) (events []history.Event, err error) {
	var ids []outbox.MessageID
	asked := time.Now()
	const many = 20
	if len(all) > many || r.chance(0.5) {
		ids, err = r.pawl.Outbox.EnqueueBatchTx(ctx, tx, all)
	} else {
		for _, m := range all {
			id, failed := r.enqueueOne(ctx, tx, m)
			if failed != nil {
				err = failed
				break
			}
			ids = append(ids, id)
		}
	}
	for i, id := range ids {
		m := &all[i]
		if m.Unique != nil && *m.Unique.Duplicate {
			events = append(events, history.Event{Op: history.Duplicate, Message: id.String(), Name: m.UniqueKey, Nominal: asked.UnixNano()})
			continue
		}
		b, _ := decode(m.Payload)
		events = append(events, history.Event{
			Op: history.Enqueue, Message: id.String(), Topic: m.Topic, Key: m.OrderingKey, Place: b.Place, Name: m.UniqueKey,
			Nominal: nanoseconds(m.Due), Expires: nanoseconds(m.Expires),
		})
	}
	return events, err
}

// nanoseconds is a time as events have it.
func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// enqueueOne enqueues a message by Go or, as programs in other languages do, by SQL.
func (r *producer) enqueueOne(ctx context.Context, tx *sql.Tx, m outbox.Message) (id outbox.MessageID, err error) {
	if !r.Place.Postgres() || !m.Due.IsZero() || r.chance(0.7) {
		return r.pawl.Outbox.EnqueueTx(ctx, tx, m)
	}
	if m.UniqueKey != "" {
		statement := `SELECT message_id, duplicate FROM {s}outbox_enqueue_unique(?::text, ?::text, ?::text, replace => ?)`
		err = tx.QueryRowContext(ctx, r.store.Text(statement), m.Topic, string(m.Payload), m.UniqueKey, m.Unique.Replace).Scan(&id, m.Unique.Duplicate)
		return id, err
	}
	headers := map[string]string{}
	if m.OrderingKey != "" {
		headers["pawl-ordering-key"] = m.OrderingKey
	}
	text, err := json.Marshal(expiry.Put(headers, m.Expires))
	if err != nil {
		return id, err
	}
	statement := `SELECT {s}outbox_enqueue(?::text, ?::text, message_id => ?::uuid, headers => ?::jsonb, queue => ?)`
	err = tx.QueryRowContext(ctx, r.store.Text(statement), m.Topic, string(m.Payload), m.ID.String(), string(text), cmp.Or(m.Queue, outbox.DefaultQueue)).Scan(&id)
	return id, err
}

func (r *producer) some(topic string, n int) []outbox.Message {
	all := make([]outbox.Message, n)
	for i := range all {
		all[i] = r.message(topic, body{})
	}
	return all
}

func (r *producer) plain(ctx context.Context, tx *sql.Tx) ([]history.Event, error) {
	return r.enqueue(ctx, tx, r.some(topicPlain, 1+r.rand.IntN(3)))
}

func (r *producer) flaky(ctx context.Context, tx *sql.Tx) ([]history.Event, error) {
	return r.enqueue(ctx, tx, r.some(topicFlaky, 1+r.rand.IntN(3)))
}

// uniqueKeys is how many unique keys the producers share.
const uniqueKeys = 20

// unique enqueues messages with unique keys, in their order: transactions that take several do not
// wait for each other in a circle.
func (r *producer) unique(ctx context.Context, tx *sql.Tx) ([]history.Event, error) {
	all := r.some(topicUnique, 1+r.rand.IntN(3))
	for i := range all {
		m := &all[i]
		m.ID = outbox.MessageID{} // it goes without a key
		m.UniqueKey = fmt.Sprintf("unique-%02d", r.rand.IntN(uniqueKeys))
		m.Unique = &outbox.UniqueOptions{Replace: r.chance(0.2), Duplicate: new(bool)}
	}
	slices.SortFunc(all, func(a, b outbox.Message) int { return cmp.Compare(a.UniqueKey, b.UniqueKey) })
	return r.enqueue(ctx, tx, all)
}

func (r *producer) limited(ctx context.Context, tx *sql.Tx) ([]history.Event, error) {
	return r.enqueue(ctx, tx, r.some(Limited, 1+r.rand.IntN(2)))
}

func (r *producer) batch(ctx context.Context, tx *sql.Tx) ([]history.Event, error) {
	return r.enqueue(ctx, tx, r.some(topicPlain, 10+r.rand.IntN(191)))
}

func (r *producer) raw(ctx context.Context, tx *sql.Tx) ([]history.Event, error) {
	if !r.Claims {
		return r.plain(ctx, tx)
	}
	all := r.some(topicRaw, 1+r.rand.IntN(10))
	for i := range all {
		all[i].Queue = RawQueue
	}
	return r.enqueue(ctx, tx, all)
}

func (r *producer) newLine() *line {
	r.made++
	return &line{key: fmt.Sprintf("%s/%d", r.Process, r.made)}
}

func (r *producer) keyed(ctx context.Context, tx *sql.Tx) ([]history.Event, error) {
	n := r.rand.IntN(len(r.lines))
	if r.lines[n].place >= lastPlace {
		r.lines[n] = r.newLine()
	}
	l := r.lines[n]
	all := make([]outbox.Message, 1+r.rand.IntN(3))
	for i := range all {
		l.place++
		all[i] = r.message(topicKeyed, body{Place: l.place})
		all[i].OrderingKey = l.key
	}
	events, err := r.enqueue(ctx, tx, all)
	if len(events) == 0 { // nothing that would end the line did happen: places may have gaps
		return nil, err
	}
	return events, err
}

func (r *producer) timer(ctx context.Context, tx *sql.Tx) ([]history.Event, error) {
	t := timer.Timer{Topic: topicTimer, Due: time.Now().Add(r.between(0, 3*time.Second)), Payload: encode(body{})}
	if r.chance(0.5) {
		t.ID = outbox.MessageID(r.uuid())
	}
	id, err := r.pawl.Timers.ScheduleTx(ctx, tx, t)
	if err != nil {
		return nil, err
	}
	return []history.Event{{Op: history.Timer, Message: id.String(), Topic: topicTimer, Nominal: t.Due.UnixNano()}}, nil
}

// cancelTimer cancels a timer: OK if it was scheduled still, Failed if not.
func (r *producer) cancelTimer(ctx context.Context) {
	if len(r.timers) == 0 {
		return
	}
	ctx, cancel := attempt(ctx)
	defer cancel()
	id := r.timers[len(r.timers)-1]
	r.timers = r.timers[:len(r.timers)-1]
	e := history.Event{Op: history.Cancel, Message: id.String()}
	r.ended(e, history.Began)
	switch cancelled, err := r.pawl.Timers.Cancel(ctx, id); {
	case err != nil:
		r.ended(e, history.Unknown)
	case cancelled:
		r.ended(e, history.OK)
	default:
		r.ended(e, history.Failed)
	}
}

// join fans out: 5 to 20 members, and a follow-up that names the join.
func (r *producer) join(ctx context.Context, tx *sql.Tx) ([]history.Event, error) {
	steps := r.some(topicMember, 5+r.rand.IntN(16))
	id := join.ID(r.uuid())
	fan, err := r.pawl.Joins.FanOutTx(ctx, tx, join.Spec{ID: id}, steps,
		join.Wait{OnComplete: outbox.Message{Topic: topicFollowUp, Payload: encode(body{Name: id.String()})}})
	if err != nil {
		return nil, err
	}
	events := []history.Event{{Op: history.Join, Name: id.String(), Detail: fmt.Sprint(len(steps))}}
	for _, m := range fan.Messages {
		events = append(events,
			history.Event{Op: history.Enqueue, Message: m.String(), Topic: topicMember},
			history.Event{Op: history.Member, Name: id.String(), Message: m.String()})
	}
	return events, nil
}

// inbox enqueues deliveries of one message from outside, one to three of them.
func (r *producer) inbox(ctx context.Context, tx *sql.Tx) ([]history.Event, error) {
	r.tokens++
	b := body{Name: "source", ID: fmt.Sprintf("%s/%d", r.Process, r.tokens)}
	all := make([]outbox.Message, 1+r.rand.IntN(3))
	for i := range all {
		all[i] = r.message(topicInbox, b)
	}
	return r.enqueue(ctx, tx, all)
}

// queued gives a message to the inbox's own queue, perhaps twice.
func (r *producer) queued(ctx context.Context, tx *sql.Tx) ([]history.Event, error) {
	r.tokens++
	id := fmt.Sprintf("%s/%d", r.Process, r.tokens)
	for range 1 + r.rand.IntN(2) {
		_, err := r.pawl.Inbox.EnqueueTx(ctx, tx, inbox.Message{
			Key: inbox.Key{Source: topicQueued, MessageID: id}, Topic: topicQueued, Payload: encode(body{ID: id}),
		})
		if err != nil {
			return nil, err
		}
	}
	return nil, r.store.Exec(ctx, tx, `UPDATE {s}torture_a SET n = n + 1 WHERE id = 1`)
}
