package worker

import (
	"sync"
	"time"
)

// Gate lets loops make room for each other. What comes back from an expired lease
// is suspected of having killed its worker; a loop that is about to handle such
// suspects first waits until nothing else runs behind its gate, and nothing begins
// while they run, so that only they pay if the process ends again (D-12). All loops
// of a process should share one. The zero value is ready; it is safe for concurrent
// use.
//
// Neither side waits for ever. A loop that cannot be alone within 5 s gives up, for
// as long as it has waited, and waits twice as long the next time. Suspects that
// have run for 15 s go on in company. After suspects others have as much time as
// those took, waiting included.
type Gate struct {
	mu       sync.Mutex
	seats    map[*seat]struct{}
	holding  int           // seats that hold something
	alone    *seat         // has the process to itself, or waits for that
	working  bool          // it has
	since    time.Time     // when it began to wait
	began    time.Time     // when it was alone
	rest     time.Time     // before then nobody begins to wait
	patience time.Duration // of the next who waits; 0: firstPatience
}

// Gated is a database whose loops share a gate with those of other databases.
type Gated interface{ Gate() *Gate }

const (
	firstPatience = 5 * time.Second
	aloneLimit    = 15 * time.Second
)

// pass is what a loop may do now.
type pass int

const (
	together pass = iota // claim what is no suspect
	aside                // claim nothing
	alone                // claim suspects
)

// seat is a loop's place behind a gate. But for want it is used by the loop's
// goroutine alone.
type seat struct {
	gate  *Gate
	wake  func() // must not call the gate
	holds bool
	wants bool // suspects are due; guarded by the gate
}

// join adds a loop. wake is called when it may be worth to enter again.
func (g *Gate) join(wake func()) *seat {
	s := &seat{gate: g, wake: wake}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.seats == nil {
		g.seats = map[*seat]struct{}{}
	}
	g.seats[s] = struct{}{}
	return s
}

// close removes a loop that has ended.
func (s *seat) close() {
	s.leave()
	g := s.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.seats, s)
	if g.alone == s {
		g.freeLocked(g.since)
	}
}

// want notes whether suspects are due.
func (s *seat) want(suspects bool) {
	g := s.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	news := suspects && !s.wants
	s.wants = suspects
	switch {
	case news:
		s.wake()
	case !suspects && g.alone == s && !g.working: // another process has them
		g.freeLocked(g.since)
	}
}

// enter is asked before each claim; idle says that the loop holds nothing. The
// loop counts as holding something until leave, unless the answer is aside.
func (s *seat) enter(idle bool) pass {
	g, now := s.gate, time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.overdueLocked(now)
	if g.alone == nil && s.wants && !now.Before(g.rest) {
		g.alone, g.since = s, now
	}
	switch {
	case g.alone == nil:
		g.holdLocked(s, true)
		return together
	case g.alone != s || g.working || !idle:
		return aside
	}
	if g.holdLocked(s, false); g.holding > 0 {
		return aside
	}
	g.holdLocked(s, true)
	g.working, g.began, g.patience = true, now, 0
	return alone
}

// leave says that the loop holds nothing.
func (s *seat) leave() {
	if !s.holds {
		return
	}
	g := s.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holdLocked(s, false)
	switch {
	case g.alone == s && g.working:
		g.freeLocked(time.Now())
	case g.alone != nil && g.holding == 0:
		g.alone.wake()
	}
}

// waits reports whether there are suspects that the loop will soon handle, and
// until when entering has no result.
func (s *seat) waits() (until time.Time, ok bool) {
	g := s.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.alone != nil:
		return g.limitLocked(), g.alone == s
	case s.wants:
		return g.rest, time.Until(g.rest) < firstPatience
	}
	return time.Time{}, false
}

// eager reports whether the loop should enter although it expects nothing.
func (s *seat) eager() bool {
	g := s.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	return s.wants && (g.alone == s || g.alone == nil && !time.Now().Before(g.rest))
}

// holdLocked notes whether a seat holds something.
func (g *Gate) holdLocked(s *seat, holds bool) {
	switch {
	case holds && !s.holds:
		g.holding++
	case !holds && s.holds:
		g.holding--
	}
	s.holds = holds
}

// limitLocked is when others no longer wait for the one that is alone, or wants to be.
func (g *Gate) limitLocked() time.Time {
	if g.working {
		return g.began.Add(aloneLimit)
	}
	return g.since.Add(max(g.patience, firstPatience))
}

func (g *Gate) overdueLocked(now time.Time) {
	if g.alone == nil || now.Before(g.limitLocked()) {
		return
	}
	if !g.working {
		g.patience = 2 * max(g.patience, firstPatience)
	}
	g.freeLocked(now)
}

// freeLocked lets all loops claim, and nobody be alone for as long as this took.
func (g *Gate) freeLocked(now time.Time) {
	g.rest = now.Add(now.Sub(g.since))
	g.alone, g.working = nil, false
	for s := range g.seats {
		s.wake()
	}
}
