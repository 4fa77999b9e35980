package worker_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bravellian/pawl/internal/worker"
	"github.com/google/uuid"
)

// What has to hold at every step of a simulation. Checks of claims and settlements run with the
// lock of their store.

// slack is for what happens within a step.
const slack = 50 * time.Millisecond

// claimed checks a claim of items, which are still as they were before it.
func (m *simulation) claimed(q int, owner uuid.UUID, suspects bool, items []*entry) {
	m.checks.Lock()
	defer m.checks.Unlock()
	l := m.asking
	m.owners[owner] = l
	m.claims[owner] = len(m.claims) + 1
	if suspects {
		m.suspects[owner], m.suspected = time.Now(), time.Now()
	}
	l.busy, l.latest = time.Now(), owner
	for _, e := range items {
		m.note("process %d claims item %d of queue %d in claim %d, suspect %d", l.p.n, e.id, q, m.claims[owner], e.suspect)
		if from := later(e.since, e.at); !suspects && e.topic != "limited" {
			m.checkWaited(q, e, from)
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// checkWaited complains of an item that waited while some loop was idle all the time, and
// nothing kept it from the item.
func (m *simulation) checkWaited(q int, e *entry, from time.Time) {
	if time.Since(from) < m.bound() || m.anySuspects(q) {
		return
	}
	for _, p := range m.processes {
		if p.killed || p.frozen || !p.stopped.IsZero() {
			continue
		}
		l := p.lanes[q]
		since := later(later(from, l.busy), later(p.troubled.Add(m.healing(l)), later(m.hindered, m.suspected.Add(2*time.Second))))
		if waited := time.Since(since); l.runs == 0 && waited > m.bound() {
			m.complain("item %d of queue %d waited for %v while process %d had nothing to do", e.id, q, waited, p.n)
		}
	}
}

// anySuspects reports whether there are suspects: they keep loops of other queues from work.
// The lock of store q is held.
func (m *simulation) anySuspects(q int) (found bool) {
	for i, s := range m.queues {
		if i != q {
			s.mu.Lock()
		}
		for _, e := range s.entries[s.ended:] {
			found = found || e.suspect > 0 && (e.place == ready || e.place == leased)
		}
		if i != q {
			s.mu.Unlock()
		}
	}
	return found
}

// bound is how long an idle loop may take to find an item without a notification: a poll has
// just missed it, its reply and the next due time take their time, and so does the next poll.
func (m *simulation) bound() time.Duration {
	return m.pollMost*11/10 + 8*m.latency + slack
}

// healing is how long a loop may need after something went wrong.
func (m *simulation) healing(l *lane) time.Duration {
	return 2*m.backoff(l.failures+1)*12/10 + 35*time.Second
}

func (m *simulation) backoff(failures int) time.Duration {
	if failures == 0 {
		return 0
	}
	return min(250*time.Millisecond<<min(failures-1, 7), 25*time.Second)
}

// settling checks a settlement against what the handlers did.
func (m *simulation) settling(q int, done *worker.Settlement) {
	m.checks.Lock()
	defer m.checks.Unlock()
	if done.Len() > 0 {
		m.note("process %d settles %s", m.asking.p.n, settlementText(done))
		m.asking.busy = time.Now()
		m.asking.progress()
	}
	for _, h := range helds(done) {
		if m.queues[q].entries[h.ID-1].suspect > 0 {
			m.suspected = time.Now()
		}
	}
	for _, h := range done.Acks {
		if r := m.runs[runKey{q, h}]; r == nil || !r.ended || r.how != succeeds {
			m.complain("item %d acked, its handler: %v", h.ID, r)
		}
	}
	for _, t := range done.Retries {
		r := m.runs[runKey{q, t.Held}]
		switch {
		case r == nil || !r.ended || t.Delay == nil:
			m.complain("item %d counts an attempt that was not made: %v", t.ID, r)
		case r.how == retriesAfter && *t.Delay != max(r.delay, policyDelay(r.retry+1)), (r.how == fails || r.how == panics || r.how == exits) && *t.Delay != policyDelay(r.retry+1):
			m.complain("item %d is retried after %v: %v", t.ID, *t.Delay, r)
		case r.how == succeeds || r.how == snoozes || r.how == failsForGood || m.policy().Exhausted(r.retry+1):
			m.complain("item %d is retried: %v", t.ID, r)
		}
	}
	for _, f := range done.Failures {
		r := m.runs[runKey{q, f.Held}]
		switch {
		case r == nil && m.policy().Exhausted(m.queues[q].entries[f.ID-1].retry):
		case r != nil && r.ended && (r.how == failsForGood || r.how != succeeds && r.how != snoozes && m.policy().Exhausted(r.retry+1)):
		default:
			m.complain("item %d failed for good: %v", f.ID, r)
		}
	}
	for _, f := range done.Releases {
		r := m.runs[runKey{q, f.Held}]
		switch {
		case f.NotStarted:
			if r != nil {
				m.complain("item %d released as not started: %v", f.ID, r)
			}
		case r == nil:
			m.complain("item %d released as started", f.ID)
		case r.ended && r.how == snoozes:
			if f.Delay != r.delay {
				m.complain("item %d snoozes for %v: %v", f.ID, f.Delay, r)
			}
		case r.ended && r.cancelled && !r.lane.p.stopped.IsZero(): // it ended after it was released
		case r.ended && (r.how == succeeds || !r.cancelled):
			m.complain("item %d released though its handler ended by itself: %v", f.ID, r)
		case !r.ended && r.lane.p.stopped.IsZero():
			m.complain("item %d released while its handler runs: %v", f.ID, r)
		}
	}
	for _, p := range done.Parks {
		if r := m.runs[runKey{q, p.Held}]; r != nil {
			m.complain("item %d parked: %v", p.ID, r)
		}
	}
}

// settlementText lists a settlement in an order of its own: that of several claims is none.
func settlementText(done *worker.Settlement) string {
	var all []string
	for _, h := range done.Acks {
		all = append(all, fmt.Sprintf("%d acked", h.ID))
	}
	for _, r := range done.Retries {
		all = append(all, fmt.Sprintf("%d retried in %v", r.ID, *r.Delay))
	}
	for _, f := range done.Failures {
		all = append(all, fmt.Sprintf("%d failed", f.ID))
	}
	for _, r := range done.Releases {
		all = append(all, fmt.Sprintf("%d released for %v, not started %v", r.ID, r.Delay, r.NotStarted))
	}
	for _, p := range done.Parks {
		all = append(all, fmt.Sprintf("%d parked", p.ID))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// runKey is an item under a claim.
type runKey struct {
	queue int
	worker.Held
}

// begins checks that a handler may begin.
func (m *simulation) begins(r *run) {
	l, p, now := r.lane, r.lane.p, time.Now()
	key := runKey{l.n, r.held}
	if m.runs[key] != nil {
		m.complain("item %d handed out twice under one claim", r.held.ID)
	}
	r.began, r.suspect = now, m.suspects[r.held.Owner]
	m.runs[key] = r
	e := m.queues[l.n].get(r.held.ID)
	if !p.frozen && !e.endedEarly {
		if e.place != leased || e.owner != r.held.Owner {
			m.complain("item %d handled without a lease: it is %v", e.id, e.place)
		}
		if left := e.until.Sub(now); left < m.lease/3 {
			m.complain("item %d begun with %v left of its lease", e.id, left)
		}
	}
	concurrent := 0
	for other := range m.running {
		o := other.lane
		switch {
		case o.n == l.n && other.held.ID == r.held.ID && !o.p.frozen && !p.frozen && !e.endedEarly && other.ctx.Err() == nil:
			m.complain("item %d handled by processes %d and %d at once", e.id, o.p.n, p.n)
		case o.p != p:
			continue
		}
		if o == l && (!m.ownSlots || other.topic != "slots") {
			concurrent++
		}
		// After 15 s of suspects alone the others go on, D-12.
		beside := now.Sub(r.suspect) < 11*time.Second || now.Sub(other.suspect) < 11*time.Second
		if other.held.Owner != r.held.Owner && beside && !p.frozen {
			m.complain("item %d begun beside item %d: suspects since %v and %v", e.id, other.held.ID, r.suspect.Sub(m.began), other.suspect.Sub(m.began))
		}
	}
	if r.topic == "slots" {
		if p.slotted++; p.slotted > m.slots {
			m.complain("%d items run in %d slots", p.slotted, m.slots)
		}
	}
	if (!m.ownSlots || r.topic != "slots") && concurrent+1 > m.handlers {
		m.complain("%d handlers run, not %d", concurrent+1, m.handlers)
	}
	if !p.stopped.IsZero() && !p.frozen && l.calls == 0 && now.After(p.stopped) {
		m.complain("item %d begun %v after the stop", e.id, now.Sub(p.stopped))
	}
	m.checkPaused(r)
	m.running[r] = true
	l.runs++
}

// checkPaused complains of an item that begins though its topic is paused: when the process
// knows, or should have read it.
func (m *simulation) checkPaused(r *run) {
	l := r.lane
	for _, topic := range []string{"", r.topic} {
		since, ok := m.pausedAt[pauseKey{l.n, topic}]
		if !ok || l.p.frozen {
			continue
		}
		spent, known := since.spent[l]
		if !known || !l.p.troubled.Before(since.at) || l.resting.After(since.at) {
			continue // it started since, or had no chance to read it, or backs off from a failure
		}
		if unread := time.Since(since.at) - (l.spentNow() - spent); unread > 900*time.Millisecond+slack {
			m.complain("item %d begun %v after topic %q was paused", r.held.ID, unread, topic)
		}
	}
}

type pauseKey struct {
	queue int
	topic string
}

// pauseMark is when a pause began, and how long loops had been reading until then.
type pauseMark struct {
	at    time.Time
	spent map[*lane]time.Duration
}

func (l *lane) spentNow() time.Duration {
	if l.inside > 0 {
		return l.spent + time.Since(l.entered)
	}
	return l.spent
}

// mostBarren is how many calls in a second may come to nothing.
const mostBarren = 60

// asks checks that a call may be made now.
func (m *simulation) asks(l *lane, c *call) {
	now := time.Now()
	if now.Sub(l.window) >= time.Second {
		l.barren, l.window = 0, now
	}
	if l.barren++; l.barren > mostBarren {
		m.complain("lane %d of process %d spins: %d calls within %v, the last is %s", l.n, l.p.n, l.barren, now.Sub(l.window), c.op)
	}
	if l.schedules {
		return
	}
	switch c.op {
	case "exchange", "suspects":
		// While it stops it tries more often, and after a second if something was enqueued meanwhile.
		if least := min(m.backoff(l.failures)*8/10, time.Second); l.failures > 0 && l.p.stopped.IsZero() && now.Sub(l.failed) < least {
			m.complain("process %d claims %v after failure %d, not %v", l.p.n, now.Sub(l.failed), l.failures, least)
		}
		l.calls++
	case "nextdue":
		l.calls++
	case "pauses":
		l.calls++
		l.enter()
	case "reap":
		l.enter()
	}
}

func (l *lane) enter() {
	if l.inside++; l.inside == 1 {
		l.entered = time.Now()
	}
}

// answered records that a call has returned.
func (m *simulation) answered(l *lane, c *call, err error) {
	switch c.op {
	case "exchange", "suspects":
		l.calls--
		if l.failures++; err == nil {
			if l.failures > 1 {
				l.resting = time.Now() // it goes on now
			}
			l.failures = 0
		}
		l.failed = time.Now()
		if err != nil {
			m.orphans[l.latest] = true
		}
		l.latest = uuid.UUID{}
	case "nextdue":
		l.calls--
	case "pauses", "reap":
		if c.op == "pauses" {
			l.calls--
		}
		if l.inside--; l.inside == 0 {
			l.spent += time.Since(l.entered)
		}
		if err == nil && c.op == "reap" {
			l.unread = 0
		} else if err != nil {
			l.unread++
			l.resting = time.Now().Add(min(750*time.Millisecond<<min(l.unread, 5), 25*time.Second) * 12 / 10)
		}
	}
	if err != nil {
		l.p.troubled = time.Now()
	} else if c.got > 0 {
		l.progress()
	}
}

// progress records that something came of a lane's calls.
func (l *lane) progress() { l.barren = 0 }

// checkDispatch complains of what was due while a scheduler had nothing to do.
func (m *simulation) checkDispatch(s source, due time.Time) {
	bound := time.Duration(20+4*len(m.clock.entries))*m.latency + time.Second
	if m.silent > 0 {
		bound += 30 * time.Second // until they look by themselves
	}
	for _, p := range m.processes {
		if p.killed || p.frozen || !p.stopped.IsZero() {
			continue
		}
		since := later(later(due, p.troubled.Add(40*time.Second)), m.hindered)
		if waited := time.Since(since); waited > bound {
			m.complain("%s due %v ago while process %d ran", s.name, waited, p.n)
		}
	}
}

// checkEnded checks that a process which has stopped left nothing behind.
func (m *simulation) checkEnded(p *process) {
	took := p.endedAt.Sub(p.stopped)
	if most := max(m.grace, 0) + 2*time.Second + 10*time.Second + m.slowest + slack; !p.killed && !p.excused && took > most {
		m.complain("process %d took %v to stop, not %v", p.n, took, most)
	}
	if p.killed || !p.troubled.Before(p.stopped) || m.hindered.After(p.stopped) {
		return
	}
	for q, s := range m.queues {
		for _, e := range s.entries {
			if e.place == leased && m.owners[e.owner] == p.lanes[q] && !m.orphans[e.owner] {
				m.complain("process %d has stopped and left item %d of queue %d leased", p.n, e.id, q)
			}
		}
	}
}
