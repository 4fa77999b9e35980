package outbox

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/work"
)

// The work-queue calls, for programs that run their own loop. Whoever claims
// chooses an owner token, fresh for every claim; only with that token can the
// messages be settled. Ids that are unknown, doubled, or held by someone else
// are ignored: the count returned says how many were touched.

// Claim takes up to n due messages of DefaultQueue under a lease, oldest due
// first. None due is no error.
//
// Messages whose lease has run out are due, but are claimed apart from others and
// before them, for one of them may have ended the process that held it: claim when
// you hold nothing, and if that happens again, fewer of them come in one claim. Only
// the lease of a message that was claimed alone, as one of those, counts as a failed
// attempt when it runs out.
//
// A message that cannot be read is not returned: it fails, with the reason.
func (o *Outbox) Claim(ctx context.Context, owner OwnerToken, lease time.Duration, n int) ([]*Message, error) {
	return o.ClaimFrom(ctx, DefaultQueue, owner, lease, n)
}

// ClaimFrom is Claim for any queue.
func (o *Outbox) ClaimFrom(ctx context.Context, queue string, owner OwnerToken, lease time.Duration, n int) ([]*Message, error) {
	if err := checkClaim(queue, owner, lease, n); err != nil {
		return nil, err
	}
	n = min(n, work.MaxBatch)
	return o.claimSelf(ctx, owner, n, "outbox/claim_any", queue, [16]byte(owner), lease, n)
}

// claimSelf is a claim that the program makes itself.
func (o *Outbox) claimSelf(ctx context.Context, owner OwnerToken, n int, op string, args ...any) ([]*Message, error) {
	return o.claimBy(ctx, &engine.Call{Op: op, Args: args}, owner, n)
}

// claimBy is claimSelf by a call.
func (o *Outbox) claimBy(ctx context.Context, c *engine.Call, owner OwnerToken, n int) ([]*Message, error) {
	for {
		var got delivery
		// Expired leases come back in the same transaction (OBX-097).
		reap := engine.Count("outbox/reap", reapRuns)
		if err := o.db.Do(ctx, reap, collecting(c, owner, n, &got)); err != nil {
			return nil, err
		}
		o.logReaped(ctx, reap.N)
		o.logClaimed(ctx, owner, len(got.msgs))
		if len(got.faults) == 0 {
			return got.msgs, nil
		}
		if msgs, err := o.failUnreadable(ctx, owner, &got); err != nil || len(msgs) > 0 {
			return msgs, err
		}
	}
}

func checkClaim(queue string, owner OwnerToken, lease time.Duration, n int) error {
	switch {
	case owner == OwnerToken{}:
		return engine.Invalid("owner token", "zero")
	case lease < time.Millisecond:
		return engine.Invalid("lease", "shorter than a millisecond")
	case n < 1:
		return engine.Invalid("batch size", "less than 1")
	}
	return engine.CheckText("queue", queue, MaxQueue, true)
}

// claim runs calls and then, unless n is 0, a worker loop's claim, in one
// transaction. A loop claims again at once when it got n: an engine may leave older
// messages to one of the next claims.
func (o *Outbox) claim(ctx context.Context, calls []*engine.Call, queue string, owner OwnerToken, lease time.Duration, n int) (got delivery, err error) {
	if n > 0 {
		calls = append(calls, claimCall("outbox/claim", []any{queue, [16]byte(owner), lease, n, true}, owner, n, &got))
	}
	if len(calls) == 0 {
		return got, nil
	}
	if err := o.db.Do(ctx, calls...); err != nil {
		return delivery{}, err
	}
	return got, nil
}

// delivery is what a claim answers with.
type delivery struct {
	msgs   []*Message
	faults map[*Message]error // why some of them cannot be read; nil: all can
}

// claimCall claims, and collects the messages.
func claimCall(op string, args []any, owner OwnerToken, n int, got *delivery) *engine.Call {
	return collecting(&engine.Call{Op: op, Args: args}, owner, n, got)
}

// collecting has a call collect the messages that it answers with.
func collecting(c *engine.Call, owner OwnerToken, n int, got *delivery) *engine.Call {
	s := claimScan{owner: owner}
	c.Reset = func() { got.msgs, got.faults = got.msgs[:0], nil }
	c.Each = func(r engine.Row) error {
		if got.msgs == nil {
			got.msgs = make([]*Message, 0, n)
		}
		m, fault := s.scan(r)
		if m.WorkItemID == 0 {
			return fault // whatever it is, nobody could settle it
		}
		got.msgs = append(got.msgs, m)
		if fault != nil {
			got.note(m, fault)
		}
		return nil
	}
	return c
}

// claimScan scans claimed rows; what is not part of a message is reused.
type claimScan struct {
	owner                OwnerToken
	correlation, headers *string
	due                  *time.Time
	priority             int64
	until                time.Time
	dest                 []any
}

func (s *claimScan) scan(r engine.Row) (*Message, error) {
	m := &Message{Owner: s.owner}
	s.dest = append(s.dest[:0], (*int64)(&m.WorkItemID), (*[16]byte)(&m.ID), &m.Topic, &s.correlation, &s.headers, &m.Payload, &m.CreatedAt, &s.due,
		&m.RetryCount, &m.Queue, &s.priority, &s.until)
	s.correlation, s.headers, s.due = nil, nil, nil
	err := r.Scan(s.dest...)
	return m, m.fill(s.correlation, s.headers, s.due, s.priority, err)
}

// Ack marks messages as handled (the seed's "mark dispatched").
func (o *Outbox) Ack(ctx context.Context, owner OwnerToken, ids ...WorkItemID) (int64, error) {
	return o.settle(ctx, owner, ids, func(c *columns) *engine.Call { return c.ack(o.opts.Worker, &columns{}) })
}

// Abandon puts messages back for another attempt after the default backoff,
// and counts this one as failed because of cause, which may be nil.
func (o *Outbox) Abandon(ctx context.Context, owner OwnerToken, cause error, ids ...WorkItemID) (int64, error) {
	return o.settle(ctx, owner, ids, func(c *columns) *engine.Call { return c.abandon(nil, causeText(cause)) })
}

// AbandonAfter is Abandon with a delay in place of the backoff (the seed's
// "reschedule").
func (o *Outbox) AbandonAfter(ctx context.Context, owner OwnerToken, delay time.Duration, cause error, ids ...WorkItemID) (int64, error) {
	if delay < 0 {
		return 0, engine.Invalid("delay", "negative")
	}
	return o.settle(ctx, owner, ids, func(c *columns) *engine.Call { return c.abandon(&delay, causeText(cause)) })
}

// Fail marks messages as failed for good because of cause.
func (o *Outbox) Fail(ctx context.Context, owner OwnerToken, cause error, ids ...WorkItemID) (int64, error) {
	return o.settle(ctx, owner, ids, func(c *columns) *engine.Call { return c.fail(causeText(cause)) })
}

// Release puts messages back at once without counting an attempt.
func (o *Outbox) Release(ctx context.Context, owner OwnerToken, ids ...WorkItemID) (int64, error) {
	return o.settle(ctx, owner, ids, func(c *columns) *engine.Call { return c.release(0) })
}

// Extend makes the lease of messages last for another lease from now.
func (o *Outbox) Extend(ctx context.Context, owner OwnerToken, lease time.Duration, ids ...WorkItemID) (int64, error) {
	if lease < time.Millisecond {
		return 0, engine.Invalid("lease", "shorter than a millisecond")
	}
	return o.settle(ctx, owner, ids, func(c *columns) *engine.Call { return c.extend(lease) })
}

// ReapExpired puts messages back whose lease has run out, and returns how many they
// were. See Claim for what becomes of them. Run does this by itself.
func (o *Outbox) ReapExpired(ctx context.Context) (int64, error) {
	var total int64
	if _, err := o.adopt(ctx); err != nil {
		return 0, err
	}
	for {
		n, err := o.reap(ctx)
		total += n
		if err != nil || n == 0 {
			o.logReaped(ctx, total)
			return total, err
		}
	}
}

// adoptEvery is how often a worker looks for lanes that got lost.
const adoptEvery = 10 * time.Second

// adoptSometimes is adopt, unless this outbox just did.
func (o *Outbox) adoptSometimes(ctx context.Context) error {
	if last := o.adopted.Load(); time.Now().UnixNano()-last < int64(adoptEvery) || !o.adopted.CompareAndSwap(last, time.Now().UnixNano()) {
		return nil
	}
	_, err := o.adopt(ctx)
	return err
}

// adopt makes lanes known that messages lie in and the database does not know: a
// program enqueued into them that had been told of them by a history which is gone.
// Those of queues that nobody knows stay; the doctor shows them.
func (o *Outbox) adopt(ctx context.Context) (int64, error) {
	call := engine.Count("outbox/adopt", o.opts.Queues)
	if err := o.db.Do(ctx, call); err != nil {
		return 0, err
	}
	if call.N > 0 {
		o.log.WarnContext(ctx, "queues that the database had lost are known again, with their messages", "count", call.N)
		for _, q := range o.opts.Queues {
			o.db.Ring(q)
		}
	}
	return call.N, nil
}

// reapRuns bounds one transaction: every message of a run gets a row.
const reapRuns = 50

func (o *Outbox) reap(ctx context.Context, more ...*engine.Call) (int64, error) {
	call := engine.Count("outbox/reap", reapRuns)
	err := o.db.Do(ctx, append([]*engine.Call{call}, more...)...)
	if err == nil && call.N > 0 {
		for _, q := range o.opts.Queues {
			o.db.Ring(q)
		}
	}
	return call.N, err
}

func (o *Outbox) settle(ctx context.Context, owner OwnerToken, ids []WorkItemID, call func(*columns) *engine.Call) (int64, error) {
	var c columns
	for _, r := range work.Runs(slices.DeleteFunc(slices.Clone(ids), impossible)) {
		c.add(owner, r)
	}
	if len(c.lo) == 0 {
		return 0, nil
	}
	settle := call(&c)
	if err := o.db.Do(ctx, settle); err != nil {
		return 0, err
	}
	return settle.N, nil
}

// impossible tells ids that no message can have. Sums with them may leave the
// range of the engine's integers.
func impossible(id WorkItemID) bool { return id < 1 || id >= 1<<positionBits }

func causeText(cause error) *string {
	if cause == nil {
		return nil
	}
	return work.Optional(work.ErrorText(fmt.Sprint(cause)))
}
