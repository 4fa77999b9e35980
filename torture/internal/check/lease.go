package check

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/bravellian/pawl/torture/internal/history"
	"github.com/bravellian/pawl/torture/internal/leasetest"
)

const (
	checkTokens    = "tokens grow and stale ones are refused"
	checkHistories = "histories of leases are linearizable"
)

// call is one operation on a lease, from when it was asked for to when it certainly had
// its effect, if it had one.
type call struct {
	leasetest.Event
	from, to int64
}

// asked is an operation without an outcome yet.
type asked struct {
	process int32
	op      string
	name    string
}

// asking is when it was asked for, and the greatest token that was known then.
type asking struct {
	from, token int64
	newest      int64
}

// holding is the lease as its last holder knows it.
type holding struct {
	token, until int64
}

// leased is what is known of a lease.
type leased struct {
	newest  int64 // the greatest token that a process knows
	seen    map[int64]bool
	holding holding
	rewinds int // how many are among the calls
	steps   int // … and of steps of the clock
	calls   []call
}

// leases is the check of all leases.
type leases struct {
	*run
	names map[string]*leased
	open  map[asked][]asking
}

// leaseRule: each acquisition's token is greater than all that were known when it was
// asked for, a guarded write with a token that was outdated then is refused, and all that
// happened to a name could have happened one after the other, which is reported as a
// check of its own.
func (r *run) leaseRule() rule {
	l := &leases{r, map[string]*leased{}, map[asked][]asking{}}
	return rule{name: checkTokens, event: l.event, end: l.end}
}

func (l *leases) get(name string) *leased {
	n := l.names[name]
	if n == nil {
		n = &leased{seen: map[int64]bool{}}
		l.names[name] = n
	}
	return n
}

func (l *leases) event(s *step) {
	switch s.Op {
	case history.Acquire, history.Renew, history.Release, history.Guard:
	default:
		return
	}
	n := l.get(s.Name)
	n.expire(s.At)
	l.rewind(n, s.At)
	l.step(n, s.At)
	key := asked{s.process, s.Op, s.Name}
	if s.Outcome == history.Began {
		l.open[key] = append(l.open[key], asking{s.At, s.Token, n.newest})
		return
	}
	open := l.open[key]
	// Several at once cannot be told apart but by their token: the earliest is right for each.
	i := slices.IndexFunc(open, func(a asking) bool { return a.token == 0 || a.token == s.Token })
	if i < 0 {
		return // the check of the history reports it
	}
	a := open[i]
	if l.open[key] = slices.Delete(open, i, i+1); len(open) == 1 {
		delete(l.open, key)
	}
	l.outcome(s, n, a)
}

// expire notes that the lease may have run out, when it has.
func (n *leased) expire(at int64) {
	if h := &n.holding; h.until != 0 && at > h.until {
		n.calls = append(n.calls, call{leasetest.Event{Kind: leasetest.Expired, Token: h.token, OK: true}, h.until, h.until})
		h.until = 0
	}
}

// rewind notes rewinds of the database.
func (l *leases) rewind(n *leased, at int64) {
	for n.rewinds < len(l.final.Rewinds) && l.final.Rewinds[n.rewinds].From <= at {
		w := l.final.Rewinds[n.rewinds]
		n.calls = append(n.calls, call{leasetest.Event{Kind: leasetest.Rewinding}, w.From, w.From}, call{leasetest.Event{Kind: leasetest.Rewound}, w.To, w.To})
		n.rewinds++
	}
}

// step notes that the lease may have run out in steps of the database's clock.
func (l *leases) step(n *leased, at int64) {
	for n.steps < len(l.final.Steps) && l.final.Steps[n.steps].From <= at {
		w := l.final.Steps[n.steps]
		n.calls = append(n.calls, call{leasetest.Event{Kind: leasetest.Expired, Token: n.newest, OK: true}, w.From, w.To})
		n.steps++
	}
}

// outcome adds an operation to the calls of its lease, and compares its token.
func (l *leases) outcome(s *step, n *leased, a asking) {
	c := call{leasetest.Event{Token: s.Token, OK: s.Outcome == history.OK, Unknown: s.Outcome == history.Unknown}, a.from, s.At}
	if c.Unknown {
		c.to += int64(l.final.Late)
	}
	refused := s.Outcome == history.Failed
	switch s.Op {
	case history.Acquire:
		if c.Kind = leasetest.Acquired; refused && s.Detail != history.Held {
			return
		}
		if c.OK {
			l.acquired(s, n, a)
		}
	case history.Renew, history.Guard:
		if c.Unknown || refused && s.Detail != history.Lost {
			return
		}
		if c.Kind = leasetest.Wrote; s.Op == history.Renew {
			c.Kind = leasetest.Renewed
		}
		if c.OK {
			l.let(s, n, a)
		}
	case history.Release:
		if c.Kind = leasetest.Closed; refused {
			c.Unknown, c.to = true, s.At+int64(l.final.Late)
		}
	}
	n.calls = append(n.calls, c)
}

// let is about a renewal or a guarded write that succeeded.
func (l *leases) let(s *step, n *leased, a asking) {
	if s.Token < a.newest && !l.rewound(s.At, s.At) {
		l.violate(checkTokens, "", s.Name, "%s of %s with token %d succeeds at %d; token %d was known when it began", s.Op, s.Process, s.Token, s.At, a.newest)
	}
	if s.Op == history.Renew && s.Token == n.holding.token {
		n.holding.until = s.Until
	}
}

func (l *leases) acquired(s *step, n *leased, a asking) {
	if s.Token <= a.newest || n.seen[s.Token] {
		l.violate(checkTokens, "", s.Name, "%s acquires it with token %d at %d; token %d was known when it asked", s.Process, s.Token, s.At, a.newest)
	}
	n.seen[s.Token] = true
	for _, w := range l.final.Steps {
		if a.from <= w.To && s.At >= w.From {
			n.calls = append(n.calls, call{leasetest.Event{Kind: leasetest.Expired, Token: s.Token, OK: true}, a.from, max(s.At, w.To)})
		}
	}
	expired := call{leasetest.Event{Kind: leasetest.Expired, Token: s.Token, OK: true}, s.Until, s.Until}
	switch {
	case s.Until == 0: // nobody knows how long it lasts
		expired.from, expired.to = a.from, s.At
		n.calls = append(n.calls, expired)
	case s.Token < n.newest: // its process was late to know
		n.calls = append(n.calls, expired)
	default:
		n.holding = holding{s.Token, s.Until}
	}
	n.newest = max(n.newest, s.Token)
}

func (l *leases) end() {
	for _, n := range l.names {
		n.expire(math.MaxInt64)
	}
	for key, open := range l.open {
		n := l.get(key.name)
		for _, a := range open {
			p := l.processes.all[key.process]
			c := call{leasetest.Event{Unknown: true, Token: a.token}, a.from, p.at + int64(l.final.Late)}
			switch key.op {
			case history.Acquire:
				c.Kind = leasetest.Acquired
			case history.Release:
				c.Kind = leasetest.Closed
			default:
				continue // a renewal or write that nobody knows of proves nothing
			}
			n.calls = append(n.calls, c)
		}
	}
	for name, n := range l.names {
		l.linearize(name, n.calls)
	}
}

// part is how many calls are compared at once, at least: the time for a comparison grows
// with the square.
const part = 200

// linearize compares a lease's calls with the model, in parts that end with an
// acquisition: after it, the world is known.
func (l *leases) linearize(name string, calls []call) {
	slices.SortStableFunc(calls, func(a, b call) int { return cmp.Compare(a.from, b.from) })
	world := leasetest.World{Free: true}
	for len(calls) > 0 {
		now, later, next := l.divide(calls)
		if !l.possible(name, world, now) {
			return // what follows follows from nothing
		}
		calls, world = later, next
	}
}

// divide returns the calls of the next part, and what comes after it.
func (l *leases) divide(calls []call) (now, later []call, next leasetest.World) {
	for i := part; i < len(calls); i++ {
		c := calls[i]
		if c.Kind != leasetest.Acquired || !c.OK || c.Unknown || l.rewound(c.from, c.to) || !separates(calls, c) {
			continue
		}
		for _, o := range calls {
			switch {
			case o == c || o.to < c.from:
				now = append(now, o)
			case o.from > c.to:
				later = append(later, o)
			case o.Kind == leasetest.Acquired:
				// It was refused while another acquired the lease: it proves nothing.
			default: // of an earlier token: whether it is before or after c, nothing follows
				now = append(now, o)
			}
		}
		return now, later, leasetest.World{Token: c.Token}
	}
	return calls, nil, next
}

// separates reports whether the world after an acquisition is known: nothing that overlaps
// it may change it afterwards.
func separates(calls []call, c call) bool {
	for _, o := range calls {
		if o.from > c.to {
			break
		}
		if o == c || o.to < c.from {
			continue
		}
		if o.Unknown || o.Kind == leasetest.Acquired && o.OK || o.Token == c.Token {
			return false
		}
	}
	return true
}

// patience is for one part.
const patience = 20 * time.Second

func (l *leases) possible(name string, world leasetest.World, calls []call) bool {
	var ops []porcupine.Operation
	for i, c := range calls {
		ops = append(ops, porcupine.Operation{ClientId: i, Input: c.Kind, Call: c.from, Output: c.Event, Return: c.to})
	}
	l.report.Histories++
	switch porcupine.CheckOperationsTimeout(leasetest.Model(world), ops, patience) {
	case porcupine.Ok:
		return true
	case porcupine.Unknown:
		l.report.Undecided++
		return false
	}
	l.violate(checkHistories, "", name, "its %d calls from %d to %d cannot have happened one after the other", len(calls), calls[0].from, calls[len(calls)-1].to)
	return false
}
