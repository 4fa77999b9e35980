package worker

import (
	"slices"
	"sync"
	"time"
)

// Gate keeps what may have killed its worker apart from everything else. Items that come
// back from an expired lease are suspects; a loop that is about to handle suspects first
// waits until no other loop of the gate holds anything, and no loop claims while they run,
// so that only they are lost if the process ends again (D-12). All loops of a process
// should share one. The zero value is ready to use; it is safe for concurrent use.
//
// Both waits are bounded. A loop that does not get exclusive use within 5 s withdraws its
// request for as long as it has waited, and the limit doubles for the next request. After
// suspects have run for 15 s the other loops claim again. After exclusive use nobody
// requests it for as long as it took, waiting included.
type Gate struct {
	mu        sync.Mutex
	members   []*member
	busy      int           // members that hold something
	exclusive *member       // has exclusive use, or waits for it
	running   bool          // exclusive has it, and does not wait any more
	requested time.Time     // when exclusive began to wait
	started   time.Time     // when exclusive use began
	notBefore time.Time     // before then no request is made
	waitLimit time.Duration // of the next request; 0: firstWaitLimit
}

// Gated is a database whose loops share a gate with those of other databases.
type Gated interface{ Gate() *Gate }

const (
	firstWaitLimit = 5 * time.Second
	exclusiveLimit = 15 * time.Second
)

// permission is what a loop may claim.
type permission int

const (
	shared    permission = iota // what is no suspect
	blocked                     // nothing
	exclusive                   // suspects
)

// member is a loop of a gate. The gate guards its last two fields.
type member struct {
	gate        *Gate
	wake        func() // must not call the gate
	holds       bool
	hasSuspects bool // suspects are due
}

// join adds a loop. wake is called when entering again may have another result.
func (g *Gate) join(wake func()) *member {
	s := &member{gate: g, wake: wake}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members = append(g.members, s)
	return s
}

// close removes a loop that has ended.
func (s *member) close() {
	s.leave()
	g := s.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members = slices.DeleteFunc(g.members, func(other *member) bool { return other == s })
	if g.exclusive == s {
		g.releaseLocked(g.requested)
	}
}

// setSuspects records whether suspects are due.
func (s *member) setSuspects(suspects bool) {
	g := s.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	changed := suspects && !s.hasSuspects
	s.hasSuspects = suspects
	switch {
	case changed:
		s.wake()
	case !suspects && g.exclusive == s && !g.running: // another process has them
		g.releaseLocked(g.requested)
	}
}

// enter is called before each claim; idle means that the loop holds nothing. The loop
// counts as holding something until leave, unless the answer is blocked.
func (s *member) enter(idle bool) permission {
	g, now := s.gate, time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.enforceLimitLocked(now)
	if g.exclusive == nil && s.hasSuspects && !now.Before(g.notBefore) {
		g.exclusive, g.requested = s, now
	}
	switch {
	case g.exclusive == nil:
		g.setHoldsLocked(s, true)
		return shared
	case g.exclusive != s || g.running || !idle:
		return blocked
	}
	if g.setHoldsLocked(s, false); g.busy > 0 {
		return blocked
	}
	g.setHoldsLocked(s, true)
	g.running, g.started, g.waitLimit = true, now, 0
	return exclusive
}

// enterBeside is enter for an item that the loop did not claim. Any goroutine may call it. It
// is false if suspects are due or run.
func (s *member) enterBeside() bool {
	g := s.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.exclusive != nil || s.hasSuspects {
		return false
	}
	g.setHoldsLocked(s, true)
	return true
}

// leave records that the loop holds nothing.
func (s *member) leave() {
	g := s.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if !s.holds {
		return
	}
	g.setHoldsLocked(s, false)
	switch {
	case g.exclusive == s && g.running:
		g.releaseLocked(time.Now())
	case g.exclusive != nil && g.busy == 0:
		g.exclusive.wake()
	}
}

// waitsUntil reports whether there are suspects that the loop will soon handle, and until
// when entering has no result.
func (s *member) waitsUntil() (until time.Time, ok bool) {
	g := s.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.exclusive != nil:
		return g.limitLocked(), g.exclusive == s
	case s.hasSuspects:
		return g.notBefore, time.Until(g.notBefore) < firstWaitLimit
	}
	return time.Time{}, false
}

// shouldEnter reports whether the loop should enter although it expects nothing.
func (s *member) shouldEnter() bool {
	g := s.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	return s.hasSuspects && (g.exclusive == s || g.exclusive == nil && !time.Now().Before(g.notBefore))
}

// setHoldsLocked records whether a member holds something.
func (g *Gate) setHoldsLocked(s *member, holds bool) {
	switch {
	case holds && !s.holds:
		g.busy++
	case !holds && s.holds:
		g.busy--
	}
	s.holds = holds
}

// limitLocked returns when the exclusive use, or the wait for it, is cut short.
func (g *Gate) limitLocked() time.Time {
	if g.running {
		return g.started.Add(exclusiveLimit)
	}
	return g.requested.Add(max(g.waitLimit, firstWaitLimit))
}

// enforceLimitLocked ends an exclusive use, or the wait for it, that is past its limit.
func (g *Gate) enforceLimitLocked(now time.Time) {
	if g.exclusive == nil || now.Before(g.limitLocked()) {
		return
	}
	if !g.running {
		g.waitLimit = 2 * max(g.waitLimit, firstWaitLimit)
	}
	g.releaseLocked(now)
}

// releaseLocked lets all loops claim, and no request be made for as long as this one took.
func (g *Gate) releaseLocked(now time.Time) {
	g.notBefore = now.Add(now.Sub(g.requested))
	g.exclusive, g.running = nil, false
	for _, s := range g.members {
		s.wake()
	}
}
