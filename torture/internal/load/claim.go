package load

import (
	"context"
	"time"

	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/torture/internal/history"
)

// claim takes messages by the calls that programs make who have a loop of their own.
func (p *process) claim(ctx context.Context) error {
	for sleep(ctx, p.between(0, 60*time.Millisecond)) {
		if p.chance(0.1) {
			p.reap(ctx)
		}
		p.claimSome(ctx)
	}
	return nil
}

// reap gives back what other claimers' crashes left: no worker does for this queue.
func (p *process) reap(ctx context.Context) {
	ctx, cancel := attempt(ctx)
	defer cancel()
	_, _ = p.pawl.Outbox.WorkQueue("").ReapExpired(ctx)
}

func (p *process) claimSome(stop context.Context) {
	ctx, cancel := attempt(stop)
	defer cancel()
	owner := outbox.NewOwnerToken()
	until := time.Now().Add(Lease)
	claim := p.claimByGo
	if p.Place.Postgres() && p.chance(0.5) {
		claim = p.claimBySQL
	}
	all, err := claim(ctx, owner, 1+p.rand.IntN(20))
	if err != nil {
		return // what it claimed after all expires
	}
	for _, m := range all {
		p.ended(raw(history.Claim, m, until, owner), history.OK)
	}
	if len(all) == 0 || !sleep(stop, p.between(0, 20*time.Millisecond)) {
		p.giveBack(ctx, all, owner, until)
		return
	}
	if p.chance(0.2) {
		until = p.extend(ctx, all, owner, until)
	}
	if p.linger(stop) {
		ctx, cancel = attempt(stop)
		defer cancel()
	}
	if p.chance(0.3) { // all at once
		p.settleAll(ctx, all, owner, until)
		return
	}
	for _, m := range all {
		p.settleOne(ctx, m, owner, until)
	}
}

func (p *process) claimByGo(ctx context.Context, owner outbox.OwnerToken, n int) ([]*outbox.Message, error) {
	return p.pawl.Outbox.WorkQueue(RawQueue).Claim(ctx, owner, Lease, n)
}

// claimBySQL claims as programs in other languages do.
func (p *process) claimBySQL(ctx context.Context, owner outbox.OwnerToken, n int) ([]*outbox.Message, error) {
	tx, err := p.store.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	rows, err := tx.QueryContext(ctx, p.store.Text(`SELECT id, message_id, topic, retry_count FROM {s}outbox_claim(?, ?, ?, ?)`),
		owner.String(), int(Lease.Seconds()), n, RawQueue)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []*outbox.Message
	for rows.Next() {
		m := &outbox.Message{}
		if err := rows.Scan(&m.Position, &m.ID, &m.Topic, &m.RetryCount); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return all, tx.Commit()
}

func raw(op string, m *outbox.Message, until time.Time, owner outbox.OwnerToken) history.Event {
	return history.Event{Op: op, Message: m.ID.String(), Topic: m.Topic, Attempt: m.RetryCount + 1, Until: until.UnixNano(), Detail: owner.String()}
}

func positions(all []*outbox.Message) (ids []outbox.Position) {
	for _, m := range all {
		ids = append(ids, m.Position)
	}
	return ids
}

// extend extends all; of those that are not extended it cannot be said which they are.
func (p *process) extend(ctx context.Context, all []*outbox.Message, owner outbox.OwnerToken, until time.Time) time.Time {
	for _, m := range all {
		p.ended(raw(history.Extend, m, until, owner), history.Began)
	}
	later := time.Now().Add(Lease)
	n, err := p.pawl.Outbox.Extend(ctx, owner, Lease, positions(all)...)
	o := outcomeOf(n, len(all), err)
	if o == history.OK {
		until = later
	}
	for _, m := range all {
		p.ended(raw(history.Extend, m, until, owner), o)
	}
	return until
}

// outcomeOf says how a call for several messages ended for each of them.
func outcomeOf(n int64, want int, err error) history.Outcome {
	switch {
	case err == nil && n == int64(want):
		return history.OK
	case err == nil && n == 0:
		return history.Failed
	default:
		return history.Unknown
	}
}

func (p *process) settleAll(ctx context.Context, all []*outbox.Message, owner outbox.OwnerToken, until time.Time) {
	for _, m := range all {
		p.ended(raw(history.Ack, m, until, owner), history.Began)
	}
	n, err := p.pawl.Outbox.WorkQueue("").Ack(ctx, owner, positions(all)...)
	for _, m := range all {
		p.ended(raw(history.Ack, m, until, owner), outcomeOf(n, len(all), err))
	}
}

// linger waits sometimes: for a while, or until others may have what was claimed.
func (p *process) linger(stop context.Context) bool {
	switch {
	case p.chance(0.1):
		return sleep(stop, Lease+p.between(0, Lease/4))
	case p.chance(0.2):
		return sleep(stop, p.between(0, Lease/2))
	default:
		return false
	}
}

func (p *process) giveBack(ctx context.Context, all []*outbox.Message, owner outbox.OwnerToken, until time.Time) {
	for _, m := range all {
		p.ended(raw(history.Abandon, m, until, owner), history.Began)
	}
	n, err := p.pawl.Outbox.Release(ctx, owner, positions(all)...)
	for _, m := range all {
		p.ended(raw(history.Abandon, m, until, owner), outcomeOf(n, len(all), err))
	}
}

func (p *process) settleOne(ctx context.Context, m *outbox.Message, owner outbox.OwnerToken, until time.Time) {
	op, call := history.Ack, func() (int64, error) { return p.pawl.Outbox.WorkQueue("").Ack(ctx, owner, m.Position) }
	switch {
	case p.chance(0.1):
		op, call = history.Abandon, func() (int64, error) {
			return p.pawl.Outbox.WorkQueue("").Abandon(ctx, owner, outbox.RetryAfter(100*time.Millisecond, errPlanned), m.Position)
		}
	case p.chance(0.03):
		return // forgotten: it expires
	}
	p.ended(raw(op, m, until, owner), history.Began)
	n, err := call()
	p.ended(raw(op, m, until, owner), outcomeOf(n, 1, err))
}
