package anydriver

import (
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// Suspects (D-12): what comes back from an expired lease may have ended its worker's process.
// The column suspect of ready and claim is 0 for all others. In ready it is how many messages
// a claim may take together with the run, all of them suspects; in claim it is how many there
// were. A claim of suspects that expires too is claimed in halves next, and only an expired
// claim of a single message counts as a failed attempt.

// firstSuspects is how many suspects that expired once a claim may take: as many as any
// claim, so that a plain crash costs one more claim.
const firstSuspects = 1000

// outboxSuspectsDue reports whether a suspect is due in a queue that is not paused.
type outboxSuspectsDue struct {
	engine.Rows[existence]
	Queue string
}

// outboxSuspectsPick reads due suspects of a lane, oldest first.
type outboxSuspectsPick ofLane

const leaseExpired = "lease expired"

// suspectAgain puts a run back whose lease has expired. It keeps so many failed attempts of a
// message.
func suspectAgain(t *txn, r run, keep int) error {
	r.At = t.now
	switch r.Suspect {
	case 0:
		r.Suspect = firstSuspects
	case 1:
		reason := leaseExpired
		return retryLater(t, r, t.now, false, attempt{Reported: op.Reported{Error: &reason}, keep: keep})
	default:
		r.Suspect = (r.Suspect + 1) / 2
	}
	return toReady(t, r)
}

func claimSuspects(t *txn, o op.OutboxClaimSuspects, each func(engine.Row) error) error {
	_, err := takeSuspects(t, claimRequest{o.Queue, o.Owner, t.now + o.Lease.Microseconds(), int64(o.Most), each, nil, nil, 0})
	return err
}

func claimAny(t *txn, o op.OutboxClaimAny, each func(engine.Row) error) error {
	c := claimRequest{o.Queue, o.Owner, t.now + o.Lease.Microseconds(), int64(o.Most), each, nil, nil, 0}
	if n, err := takeSuspects(t, c); err != nil || n > 0 {
		return err
	}
	return claimRegular(t, c)
}

func suspects(t *txn, o op.OutboxSuspects) (int64, error) {
	_, due, err := one(t, outboxSuspectsDue{Queue: o.Queue})
	if due {
		return 1, err
	}
	return 0, err
}

// takeSuspects claims suspects of the first lane that has some, and returns how many.
func takeSuspects(t *txn, c claimRequest) (int64, error) {
	lanes, err := rows(t, outboxClaimLanes{Queue: c.queue})
	if err != nil {
		return 0, err
	}
	lanes = withoutOrdered(lanes)
	if limited(lanes) {
		return takeSuspectsWithin(t, c, lanes)
	}
	for _, l := range lanes {
		picked, total, err := pickSuspects(t, l.ID, c.most)
		if err != nil {
			return 0, err
		}
		if total > 0 {
			return l.hold(t, c, together(picked))
		}
	}
	return 0, nil
}

// pickSuspects removes due suspects of a lane from ready, oldest first, no more than any of
// them may be claimed with.
func pickSuspects(t *txn, lane, most int64) (picked []run, total int64, err error) {
	err = each(t, outboxSuspectsPick{Lane: lane}, func(r *run) error {
		if most = min(most, r.Suspect); total >= most {
			return errStop
		}
		picked = append(picked, *r)
		total = min(total+r.N, most)
		return nil
	})
	if err != nil || len(picked) == 0 {
		return nil, 0, err
	}
	var sum int64
	for _, r := range picked {
		if err := t.do(outboxWithdrawDelete{Lo: r.Lo}); err != nil {
			return nil, 0, err
		}
		sum += r.N
	}
	last := &picked[len(picked)-1]
	last.N -= sum - total
	rest := *last
	if rest.Lo, rest.N = last.end(), sum-total; rest.N > 0 {
		err = toReady(t, rest)
	}
	return picked, total, err
}

// together returns suspects as they are claimed: each knows how many there are.
func together(picked []run) []run {
	var total int64
	for _, r := range picked {
		total += r.N
	}
	for i := range picked {
		picked[i].Suspect = total
	}
	return merge(picked)
}

// suspect is a suspect run of a job or timer, and with how many others it may be claimed.
type suspect struct {
	ID      int64
	Suspect int
}

// dueOf returns due runs of jobs or timers: those that are suspects, no more than any of them may
// be claimed with, or others where there are none. It returns how many are suspects.
func dueOf(t *txn, first engine.Answering[suspect], others engine.Answering[position], most int) (ids []int64, suspects int, err error) {
	err = each(t, first, func(s *suspect) error {
		if most = min(most, s.Suspect); len(ids) >= most {
			return errStop
		}
		ids = append(ids, s.ID)
		return nil
	})
	if err == nil && len(ids) == 0 {
		ids, err = positions(t, others)
		return ids, 0, err
	}
	return ids, len(ids), err
}
