package worker_test

import (
	"fmt"
	"time"
)

// plan decides what happens when, until nothing goes wrong any more, everything is done, and
// all processes have stopped.
func (m *simulation) plan() {
	at := func(n int, name string, do func()) {
		for range n {
			m.after(m.upTo(m.horizon), name, do)
		}
	}
	for left := m.items; left > 0; {
		n := 1 + m.rng.IntN(left)
		left -= n
		m.after(m.upTo(m.horizon), "", func() { m.produce(n) })
	}
	at(m.rng.IntN(10), "", m.setTimers)
	at(m.rng.IntN(3), "", m.pauseSome)
	at(m.rng.IntN(3), "", func() { m.restart(m.live()) })
	if m.failBefore+m.failAfter+m.slow > 0 {
		at(m.rng.IntN(3), "outage", func() { m.outage(&m.away, time.Minute/2) })
		at(m.rng.IntN(2), "no writes", func() { m.outage(&m.readOnly, time.Minute/2) })
		at(m.rng.IntN(2), "slow", func() { m.outage(&m.sluggish, 10*time.Second) })
		at(m.rng.IntN(4), "", func() { m.crash(m.live()) })
		at(m.rng.IntN(4), "", func() { m.suspend(m.live()) })
		at(pick(m.stepper, 0, 0, 20), "", m.endLease)
	}
	m.after(m.horizon+time.Second, "calm", m.calmDown)
}

func (m *simulation) produce(n int) {
	q := m.rng.IntN(len(m.queues))
	s := m.queues[q]
	topic := pick(m.stepper, "t", "t", "u", "limited", "slots")
	for range n {
		if m.chance(200) {
			topic = pick(m.stepper, "t", "u", "limited", "slots")
		}
		delay := time.Duration(0)
		if m.chance(200) {
			delay = m.upTo(20 * time.Second)
		}
		id := s.add(1, topic, delay)[0]
		s.entries[id-1].prior = pick(m.stepper, 0, 0, 0, 1, 5)
	}
	m.note("%d items come to queue %d", n, q)
	if !m.chance(m.silent) {
		s.notify()
	}
}

func (m *simulation) setTimers() {
	m.clock.add(1+m.rng.IntN(10), "timer", m.upTo(15*time.Second))
	if !m.chance(m.silent) {
		m.clock.notify()
	}
}

// pauseSome pauses a topic or a queue for a while.
func (m *simulation) pauseSome() {
	q, topic := m.rng.IntN(len(m.queues)), pick(m.stepper, "", "t", "u", "slots")
	if m.calm || m.queues[q].paused[topic] {
		return
	}
	m.note("pause %q of queue %d", topic, q)
	m.queues[q].pause(topic, true)
	mark := pauseMark{time.Now(), map[*lane]time.Duration{}}
	for _, p := range m.processes {
		mark.spent[p.lanes[q]] = p.lanes[q].spentNow()
	}
	m.pausedAt[pauseKey{q, topic}] = mark
	m.after(m.upTo(20*time.Second), "", func() { m.resume(q, topic) })
}

func (m *simulation) resume(q int, topic string) {
	m.note("resume %q of queue %d", topic, q)
	delete(m.pausedAt, pauseKey{q, topic})
	m.queues[q].pause(topic, false)
	m.queues[q].notify()
	m.hindered = time.Now()
}

// outage makes the database fail for a while.
func (m *simulation) outage(which *bool, most time.Duration) {
	if m.calm || *which {
		return
	}
	*which = true
	m.after(m.upTo(most), "over", func() {
		*which = false
		m.hindered = time.Now().Add(40 * time.Second) // until loops have backed off
	})
}

// live returns a process that works; nil if there is none.
func (m *simulation) live() *process {
	var live []*process
	for _, p := range m.processes {
		if !p.killed && p.stopped.IsZero() {
			live = append(live, p)
		}
	}
	if len(live) == 0 || m.calm {
		return nil
	}
	return pick(m.stepper, live...)
}

func (m *simulation) halt(p *process) {
	m.note("process %d is stopped", p.n)
	p.stopped, p.excused = time.Now(), p.frozen
	p.stop()
	m.watchStop(p)
}

// watchStop checks a process once it has stopped.
func (m *simulation) watchStop(p *process) {
	m.after(100*time.Millisecond, "", func() {
		switch {
		case p.killed:
		case m.returned(p):
			p.checked = true
			m.checkEnded(p)
		default:
			m.watchStop(p)
		}
	})
}

func (m *simulation) restart(p *process) {
	if p == nil {
		return
	}
	m.halt(p)
	m.after(m.upTo(5*time.Second), "", func() { m.launch() })
}

func (m *simulation) crash(p *process) {
	if p == nil {
		return
	}
	m.note("process %d is killed", p.n)
	m.kill(p)
	m.after(m.upTo(5*time.Second), "", func() { m.launch() })
}

func (m *simulation) suspend(p *process) {
	if p == nil || p.frozen {
		return
	}
	m.note("process %d is frozen", p.n)
	m.freeze(p)
	m.after(m.upTo(2*m.lease+time.Second), "", func() {
		m.note("process %d goes on", p.n)
		m.unfreeze(p)
	})
}

func (m *simulation) endLease() {
	s := m.queues[m.rng.IntN(len(m.queues))]
	if n := len(s.entries); n > 0 && !m.calm {
		id := int64(1 + m.rng.IntN(n))
		m.note("the lease of item %d ends early", id)
		s.endLease(id)
	}
}

// calmDown ends what goes wrong. Once everything is done the processes stop.
func (m *simulation) calmDown() {
	m.calm = true
	deadline := time.Now().Add(m.drainLimit())
	var check func()
	check = func() {
		switch {
		case m.left() == "":
			// Idle loops must not spin either.
			m.after(20*time.Second, "stop all", m.stopAll)
		case time.Now().After(deadline):
			m.complain("not done after %v: %s", m.drainLimit(), m.left())
			m.stopAll()
		default:
			m.after(time.Second, "", check)
		}
	}
	m.after(40*time.Second, "", check)
}

// drainLimit is how long what is left may take once nothing goes wrong: backoffs, leases that
// expire, and suspects that wait for each other, one after the other.
func (m *simulation) drainLimit() time.Duration {
	return 10*time.Minute + time.Duration(m.items)*(m.longest+2*m.lease+time.Second)
}

// left says what is not done; "" if everything is.
func (m *simulation) left() string {
	for q, s := range append(m.queues[:len(m.queues):len(m.queues)], m.clock) {
		for _, e := range s.entries {
			if e.place < acked {
				return fmt.Sprintf("item %d of queue %d is %v, suspect %d, due for %v", e.id, q, e.place, e.suspect, time.Since(e.at))
			}
		}
	}
	return ""
}

func (m *simulation) stopAll() {
	for _, p := range m.processes {
		if !p.killed && p.stopped.IsZero() {
			m.halt(p)
		}
	}
	var check func()
	check = func() {
		all := len(m.running) == 0
		for _, p := range m.processes {
			all = all && (p.checked || p.killed && m.returned(p))
		}
		if m.over = all; !all {
			m.after(100*time.Millisecond, "", check)
		}
	}
	check()
}

// returned reports whether all loops of a process have.
func (m *simulation) returned(p *process) bool {
	m.mu.Lock()
	ended := p.ended
	m.mu.Unlock()
	return ended == len(p.lanes)+1
}

// verdicts checks what became of everything.
func (m *simulation) verdicts() {
	for q, s := range append(m.queues[:len(m.queues):len(m.queues)], m.clock) {
		for _, w := range s.violations() {
			m.complain("queue %d: %s", q, w)
		}
		for _, e := range s.entries {
			if e.ends != 1 {
				m.complain("item %d of queue %d is %v, ended %d times", e.id, q, e.place, e.ends)
			}
			if m.attempts > 0 && e.retry > m.attempts+e.lapses {
				m.complain("item %d of queue %d: %d retries of %d attempts", e.id, q, e.retry, m.attempts)
			}
		}
		good := map[int64]int{}
		for key, r := range m.runs {
			if key.queue == q && r.ended && r.how == succeeds && !r.cancelled {
				good[key.ID]++
			}
		}
		for id, n := range good {
			if e := s.entries[id-1]; n > 1+e.lapses {
				m.complain("item %d of queue %d succeeded %d times, its lease lapsed %d times", id, q, n, e.lapses)
			}
		}
	}
}
