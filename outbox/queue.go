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
// first. Messages whose lease has run out count as due. None due is no error.
func (o *Outbox) Claim(ctx context.Context, owner OwnerToken, lease time.Duration, n int) ([]*Message, error) {
	return o.ClaimFrom(ctx, DefaultQueue, owner, lease, n)
}

// ClaimFrom is Claim for any queue.
func (o *Outbox) ClaimFrom(ctx context.Context, queue string, owner OwnerToken, lease time.Duration, n int) ([]*Message, error) {
	if err := checkClaim(queue, owner, lease, n); err != nil {
		return nil, err
	}
	// Expired leases come back in the same transaction (OBX-097).
	reap := engine.Count("outbox/reap", reapRuns)
	msgs, err := o.claim(ctx, []*engine.Call{reap}, queue, owner, lease, min(n, work.MaxBatch), false)
	if err == nil {
		o.logReaped(ctx, reap.N)
		o.logClaimed(ctx, owner, len(msgs))
	}
	return msgs, err
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

// claim runs calls and then, unless n is 0, a claim, in one transaction. loops
// says that the caller claims again at once when it got n: then an engine may
// leave older messages to one of the next claims.
func (o *Outbox) claim(ctx context.Context, calls []*engine.Call, queue string, owner OwnerToken, lease time.Duration, n int, loops bool) ([]*Message, error) {
	var msgs []*Message
	if n > 0 {
		calls = append(calls, claimCall("outbox/claim", []any{queue, [16]byte(owner), lease, n, loops}, owner, n, &msgs))
	}
	if len(calls) == 0 {
		return nil, nil
	}
	if err := o.db.Do(ctx, calls...); err != nil {
		return nil, err
	}
	return msgs, nil
}

// claimCall collects the messages that a claim answers with.
func claimCall(op string, args []any, owner OwnerToken, n int, msgs *[]*Message) *engine.Call {
	s := claimScan{owner: owner}
	return &engine.Call{
		Op: op, Args: args,
		Reset: func() { *msgs = (*msgs)[:0] },
		Each: func(r engine.Row) error {
			if *msgs == nil {
				*msgs = make([]*Message, 0, n)
			}
			m, err := s.scan(r)
			*msgs = append(*msgs, m)
			return err
		},
	}
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
	err := r.Scan(s.dest...)
	m.fill(s.correlation, s.headers, s.due, s.priority)
	return m, err
}

func (m *Message) fill(correlation, headers *string, due *time.Time, priority int64) {
	if correlation != nil {
		m.CorrelationID = *correlation
	}
	if due != nil {
		m.Due = due.UTC()
	}
	m.Headers = decodeHeaders(headers)
	m.CreatedAt = m.CreatedAt.UTC()
	m.Priority = int(priority)
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

// ReapExpired puts messages back whose lease has run out, which counts as a
// failed attempt, and returns how many they were. Run does this by itself.
func (o *Outbox) ReapExpired(ctx context.Context) (int64, error) {
	var total int64
	for {
		n, err := o.reap(ctx)
		total += n
		if err != nil || n == 0 {
			o.logReaped(ctx, total)
			return total, err
		}
	}
}

// reapRuns bounds one transaction: every message of a run gets a row.
const reapRuns = 50

func (o *Outbox) reap(ctx context.Context) (int64, error) {
	call := engine.Count("outbox/reap", reapRuns)
	err := o.db.Do(ctx, call)
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
