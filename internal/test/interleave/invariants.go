package interleave

import (
	"fmt"
	"slices"
)

// What must hold whatever the order of steps was: in every committed state, from one to the next,
// between the states and what sessions were answered, and once a worker has handled what was left.

// checkState checks a committed state.
func (w *world) checkState(s *snapshot) {
	w.checkPlaces(s)
	w.checkKeys(s)
	w.checkJoins(s)
	w.checkTimers(s)
}

// checkPlaces: no message is lost or doubled.
func (w *world) checkPlaces(s *snapshot) {
	for id := range s.messages {
		places := 0
		for _, in := range []map[int64]place{s.ready, s.claim, s.done} {
			if _, ok := in[id]; ok {
				places++
			}
		}
		if s.exceptions[id].status >= 3 {
			places++
		}
		if places != 1 {
			w.wrong("message %d is in %d places", id, places)
		}
	}
	for _, in := range []map[int64]place{s.ready, s.claim, s.done} {
		for id := range in {
			if _, ok := s.messages[id]; !ok {
				w.wrong("a run has message %d, which does not exist", id)
			}
		}
	}
}

// checkKeys: no message of a key is claimed while an earlier one has not ended, and none of them
// waits for nothing.
func (w *world) checkKeys(s *snapshot) {
	heads := map[string]int64{}
	for id, o := range s.order {
		if s.ended(id) {
			w.wrong("message %d has ended and is still in the line of %s", id, o.key)
		}
		if o.head {
			if other, twice := heads[o.key]; twice {
				w.wrong("key %s has two heads, %d and %d", o.key, other, id)
			}
			heads[o.key] = id
		}
	}
	for id, o := range s.order {
		if _, ok := heads[o.key]; !ok {
			w.wrong("message %d waits in the line of %s, which has no head", id, o.key)
		}
	}
	for id := range s.claim {
		key, ordered := w.scenario.Keys[id]
		for other, k := range w.scenario.Keys {
			if _, there := s.messages[other]; ordered && k == key && other < id && there && !s.ended(other) {
				w.wrong("message %d of %s is claimed before %d has ended", id, key, other)
			}
		}
	}
}

// checkJoins: counts equal members, members equal messages, and the waits of a join that has
// ended are due.
func (w *world) checkJoins(s *snapshot) {
	counted := map[string]joinRow{}
	for _, m := range s.members {
		c := counted[m.join]
		switch m.status {
		case 1:
			c.completed++
		case 2:
			c.failed++
		}
		counted[m.join] = c
		w.checkMember(s, m)
	}
	for name, j := range s.joins {
		if c := counted[name]; c.completed != j.completed || c.failed != j.failed {
			w.wrong("%s counts %d and %d, its members are %d and %d", name, j.completed, j.failed, c.completed, c.failed)
		}
		if over := j.completed+j.failed == j.expected; over != (j.status == 1 || j.status == 2) && j.status != 3 {
			w.wrong("%s has counted %d and %d of %d and its status is %d", name, j.completed, j.failed, j.expected, j.status)
		}
	}
	for id, join := range s.waits {
		if r, ready := s.ready[id]; ready && !r.due && s.joins[join].status != 0 {
			w.wrong("%s has ended and its wait %d is not due", join, id)
		}
	}
}

// checkMember compares a member with its message.
func (w *world) checkMember(s *snapshot, m member) {
	_, done := s.done[m.id]
	switch {
	case m.status == 0 && s.joins[m.join].status == 0 && s.ended(m.id):
		w.wrong("message %d has ended and is not counted in %s", m.id, m.join)
	case m.status == 1 && !done && !w.reported(m.id):
		w.wrong("message %d counts as completed in %s and is not done", m.id, m.join)
	case m.status == 2 && s.exceptions[m.id].status < 3:
		w.wrong("message %d counts as failed in %s and has not failed", m.id, m.join)
	}
}

// reported reports whether a step was counted by hand.
func (w *world) reported(id int64) bool {
	return slices.ContainsFunc(w.events, func(v Event) bool { return v.Kind == Reported && v.ID == id })
}

// checkTimers: a timer is either a message or not.
func (w *world) checkTimers(s *snapshot) {
	for id, t := range s.timers {
		if _, sent := s.messages[id]; sent != (t.status == 2 && t.owner == "") {
			w.wrong("timer %d has status %d, its message exists: %t", id, t.status, sent)
		}
	}
}

// checkChange checks what one commit changed.
func (w *world) checkChange(before, now *snapshot, events []Event) {
	w.checkEnded(before, now)
	for id, c := range before.claim {
		n, still := now.claim[id]
		if still && n.owner != c.owner && len(events) == 1 {
			w.wrong("message %d went from %s to %s without becoming ready", id, c.owner, n.owner)
		}
	}
	for _, v := range events {
		for id := v.ID; v.Kind == Extended && v.N == v.Of && id < v.ID+v.Of; id++ {
			if now.claim[id].owner != v.Owner {
				w.wrong("%v: message %d is not under that lease", v, id)
			}
		}
	}
	w.checkLeases(before, now, events)
}

// checkEnded: what has ended stays as it ended.
func (w *world) checkEnded(before, now *snapshot) {
	const format = "%s had ended with status %d and has now %d"
	for id, d := range before.done {
		if now.done[id] != d {
			w.wrong("message %d was done and is so no longer", id)
		}
	}
	for id, e := range before.exceptions {
		if status := now.exceptions[id].status; e.status >= 3 && status != e.status {
			w.wrong(format, fmt.Sprint("message ", id), e.status, status)
		}
	}
	for name, j := range before.joins {
		if status := now.joins[name].status; j.status != 0 && status != j.status {
			w.wrong(format, name, j.status, status)
		}
	}
	for id, t := range before.timers {
		if status := now.timers[id].status; t.status >= 2 && status != t.status {
			w.wrong(format, fmt.Sprint("timer ", id), t.status, status)
		}
	}
}

// checkLeases: a lease has one holder at a time, tokens grow, and who was guarded had the lease
// until its transaction ended.
func (w *world) checkLeases(before, now *snapshot, events []Event) {
	for name, l := range before.leases {
		n := now.leases[name]
		if n.token < l.token || n.holder != l.holder && n.holder != "" && n.token == l.token {
			w.wrong("lease %s went from token %d of %q to %d of %q", name, l.token, l.holder, n.token, n.holder)
		}
		if l.held && n.holder != "" && n.holder != l.holder && !slices.ContainsFunc(events, func(v Event) bool { return v.Kind == Counted }) {
			w.wrong("lease %s was taken from %q, who held it", name, l.holder)
		}
	}
	for _, v := range events {
		if v.Kind == Guarded && v.N > 0 && (before.leases[v.Owner].token != v.N || now.leases[v.Owner].token != v.N) {
			w.wrong("%v: the token was %d when it committed", v, now.leases[v.Owner].token)
		}
	}
}

// checkEvents compares answers with the state: who was told that it settled a message did, and
// nobody else.
func (w *world) checkEvents(s *snapshot) {
	told := map[Kind]int64{} // how many messages, by what they were told to be
	handed := map[int64]int64{}
	for _, v := range w.events {
		told[v.Kind] += v.N
		if v.Kind == Claimed {
			handed[v.ID]++
		}
		if v.Stranger && v.N != 0 {
			w.wrong("%v: it never held that", v)
		}
		for id := v.ID; v.Kind == Acked && v.N == v.Of && id < v.ID+v.Of; id++ {
			if s.done[id].owner != v.Owner {
				w.wrong("%v: message %d is done by %q", v, id, s.done[id].owner)
			}
		}
	}
	w.checkAttempts(s, handed)
	w.checkTold(s, told)
}

// checkTold: as many have ended in each way as sessions were told.
func (w *world) checkTold(s *snapshot, told map[Kind]int64) {
	ended := map[Kind]int64{Acked: int64(len(s.done))}
	for _, e := range s.exceptions {
		ended[map[int64]Kind{3: Failed, 4: Canceled}[e.status]]++
	}
	for _, t := range s.timers {
		if t.status == 4 && !w.scenario.Replaces {
			ended[Canceled]++
		}
	}
	for _, k := range []Kind{Acked, Failed, Canceled} {
		if told[k] != ended[k] && !(k == Canceled && w.scenario.Replaces) {
			w.wrong("%d were %s by what sessions were told, and %d are", told[k], k, ended[k])
		}
	}
}

// checkAttempts: attempts are counted only where a message was handed out.
func (w *world) checkAttempts(s *snapshot, handed map[int64]int64) {
	for id, e := range s.exceptions {
		if e.retry > handed[id] {
			w.wrong("message %d has %d attempts and was handed out %d times", id, e.retry, handed[id])
		}
	}
	for id, n := range s.attempts {
		if n > handed[id] {
			w.wrong("message %d has %d failed attempts and was handed out %d times", id, n, handed[id])
		}
	}
}

// checkDrained: everything that could be handled was, and each join that ended was followed up
// once.
func (w *world) checkDrained(s *snapshot) {
	for id := range s.messages {
		join, waits := s.waits[id]
		if !s.ended(id) && !(waits && s.joins[join].status == 0) {
			w.wrong("message %d is never handled", id)
		}
	}
	for id, o := range s.order {
		w.wrong("message %d stays in the line of %s", id, o.key)
	}
	for id, t := range s.timers {
		if t.status < 2 {
			w.wrong("timer %d never ends", id)
		}
	}
	for id, join := range s.waits {
		sent := 0
		for _, m := range s.messages {
			if m.owner == followUp(id) {
				sent++
			}
		}
		if want := map[int64]int{1: 1, 2: 1}[s.joins[join].status]; sent != want {
			w.wrong("%s has status %d and its wait %d sent %d messages", join, s.joins[join].status, id, sent)
		}
	}
}
