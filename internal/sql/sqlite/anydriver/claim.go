package anydriver

import (
	"math"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// outboxClaimDue reports whether anything is due in a queue that is not paused.
type outboxClaimDue struct {
	engine.Rows[existence]
	Queue    string
	Suspects bool // whether suspects count
}

// outboxClaimLanes reads the lanes of a queue by kind and priority, none of a paused one, and those
// of limits only if they have messages.
type outboxClaimLanes struct {
	engine.Rows[queueLane]
	Queue string
}

// queueLane is a lane of a queue.
type queueLane struct {
	ID, Priority, Kind int64
	Topic              string // with a limit
	Limited            bool   // there are limits in the database
	Head               *int64 // when the oldest message of a limit's lane was due; nil: none is
}

// outboxClaimPick reads due runs of a lane that are no suspects, oldest first.
type outboxClaimPick ofLane

// outboxClaimCut removes the head of a lane up to and including a run.
type outboxClaimCut struct {
	engine.Changes
	Lane, At, Lo int64
}

// outboxClaimInsert puts a run under lease.
type outboxClaimInsert struct {
	engine.Changes
	run
	Owner [16]byte
}

// outboxClaimMessages reads the messages of a claimed run.
type outboxClaimMessages struct {
	engine.Rows[op.OutboxClaimed]
	Lo, End     int64
	Retry       int64
	Queue       string
	Priority    int64
	LockedUntil int64
}

// claimRequest has the parameters that all claims of the outbox share.
type claimRequest struct {
	queue  string
	owner  [16]byte
	until  int64
	most   int64
	each   func(engine.Row) error
	wait   *time.Duration // see op.OutboxClaim
	apart  *string
	groups int64 // the lane of messages with ordering keys, and of what takes turns; 0: there are none
}

func claim(t *txn, o op.OutboxClaim, each func(engine.Row) error) error {
	return claimRegular(t, claimRequest{o.Queue, o.Owner, t.now + o.Lease.Microseconds(), int64(o.Most), each, o.Wait, o.Apart, 0})
}

// claimRegular claims what is not suspect.
func claimRegular(t *txn, c claimRequest) error {
	lanes, err := claimableLanes(t, &c)
	if err != nil {
		return err
	}
	if limited(lanes) || c.apart != nil {
		return claimWithin(t, c, lanes)
	}
	if err := lateFirst(t, lanes, c.wait); err != nil {
		return err
	}
	return besideGroups(t, &c, lanes, func(runs []run) error {
		n, err := new(queueLane).hold(t, c, runs)
		c.most -= n
		return err
	}, func() error {
		for i := 0; i < len(lanes) && c.most > 0; i++ {
			n, err := lanes[i].claim(t, c)
			if err != nil {
				return err
			}
			c.most -= n
		}
		return nil
	})
}

// claim claims messages of a lane, and returns how many.
func (l *queueLane) claim(t *txn, c claimRequest) (int64, error) {
	runs, err := takeLane(t, l.ID, c.most)
	if err != nil {
		return 0, err
	}
	return l.hold(t, c, runs)
}

// hold puts runs under lease, returns their messages to the caller, and how many there are.
func (l *queueLane) hold(t *txn, c claimRequest, runs []run) (total int64, err error) {
	for _, r := range runs {
		r.LockedUntil = c.until
		if err := toClaim(t, r, c.owner); err != nil {
			return 0, err
		}
		if err := t.ask(outboxClaimMessages{Lo: r.Lo, End: r.end(), Retry: r.Retry, Queue: c.queue, Priority: l.Priority, LockedUntil: r.LockedUntil}, c.each); err != nil {
			return 0, err
		}
		total += r.N
	}
	return total, nil
}

// claimableLanes returns the lanes from which a claim takes, those of limits last. If there may be messages with
// ordering keys it registers those to which they go.
func claimableLanes(t *txn, c *claimRequest) ([]queueLane, error) {
	lanes, err := rows(t, outboxClaimLanes{Queue: c.queue})
	k := slices.IndexFunc(lanes, func(l queueLane) bool { return l.Kind == int64(engine.Ordered) })
	if err != nil || k < 0 {
		return lanes, err
	}
	due, err := rows(t, outboxOrderPick{Lane: lanes[k].ID, Low: firstTurn, High: math.MaxInt64, Most: 1})
	if err != nil || len(due) == 0 {
		return withoutOrdered(lanes), err
	}
	c.groups = lanes[k].ID
	registered, err := registerOrder(t, c.queue)
	if registered {
		lanes, err = rows(t, outboxClaimLanes{Queue: c.queue})
	}
	return withoutOrdered(lanes), err
}

// withoutOrdered returns the lanes from which messages are claimed.
func withoutOrdered(lanes []queueLane) []queueLane {
	return slices.DeleteFunc(lanes, func(l queueLane) bool { return l.Kind == int64(engine.Ordered) })
}

// limited reports whether limits hold for a queue's claims: there is one, or there are messages in
// the lane of one that was removed, which is behind the others.
func limited(lanes []queueLane) bool {
	k := len(lanes)
	return k > 0 && (lanes[0].Limited || lanes[k-1].Kind == int64(engine.Limited))
}

// lateFirst moves the lane to the front whose oldest message has been due for longer than wait.
func lateFirst(t *txn, lanes []queueLane, wait *time.Duration) error {
	if wait == nil || len(lanes) < 2 {
		return nil
	}
	late, oldest := 0, t.now-wait.Microseconds()
	for i, l := range lanes {
		head, err := pick(t, l.ID, 1)
		if err != nil {
			return err
		}
		if len(head) > 0 && head[0].At < oldest {
			late, oldest = i, head[0].At
		}
	}
	first := lanes[late]
	copy(lanes[1:late+1], lanes[:late])
	lanes[0] = first
	return nil
}

// takeLane removes due messages of a lane from ready, at most so many.
func takeLane(t *txn, lane, most int64) ([]run, error) {
	picked, err := pick(t, lane, most)
	if err != nil || len(picked) == 0 {
		return nil, err
	}
	last := &picked[len(picked)-1]
	if err := t.do(outboxClaimCut{Lane: lane, At: last.At, Lo: last.Lo}); err != nil {
		return nil, err
	}
	var total int64
	for _, r := range picked {
		total += r.N
	}
	if over := total - most; over > 0 {
		last.N -= over
		rest := *last
		rest.Lo, rest.N = last.end(), over
		if err := toReady(t, rest); err != nil {
			return nil, err
		}
	}
	return merge(picked), nil
}

// pick reads due runs of a lane, oldest first, until they hold need messages.
func pick(t *txn, lane, need int64) (picked []run, err error) {
	err = each(t, outboxClaimPick{Lane: lane}, func(r *run) error {
		picked = append(picked, *r)
		if need -= r.N; need <= 0 {
			return errStop
		}
		return nil
	})
	return picked, err
}

// merge joins runs that follow each other, were tried equally often and are equally
// suspect.
func merge(runs []run) []run {
	out := runs[:0:0]
	for _, r := range runs {
		if k := len(out) - 1; k >= 0 && out[k].end() == r.Lo && out[k].Retry == r.Retry && out[k].Suspect == r.Suspect && out[k].Lane == r.Lane {
			out[k].N += r.N
			out[k].At = min(out[k].At, r.At)
			continue
		}
		out = append(out, r)
	}
	return out
}
