// Package interleave runs the transactions of two or three sessions step by step, in every order
// or in many, and checks after each order what must hold whatever the order was.
//
// A [Scenario] is a state and the transactions of its sessions. A [Machine] is a scenario on a
// database: it starts the sessions, moves one of them by one step, and checks the outcome.
// [Explore] chooses who moves. On PostgreSQL a step is one statement, those inside of stored
// routines included ([Postgres]); on SQLite, where writers are serialized, it is a transaction
// ([SQLite]).
package interleave

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Machine is what sessions move on.
type Machine interface {
	// Start puts everything back to where it begins.
	Start() error
	// Runnable returns the sessions that can move, in ascending order; none at the end.
	Runnable() []int
	// Advance moves a session by one step, and waits until nothing moves any more.
	Advance(session int) error
	// Finish returns what is wrong with the outcome.
	Finish() error
}

// Options say how much Explore explores.
type Options struct {
	// Most is how many different schedules are run at most.
	Most int
	// Preemptions is how often a schedule takes a session's turn away that could go on, as long
	// as all such schedules are run one after the other. Most faults need one or two.
	Preemptions int
	// Systematic is how many of Most are run in that way; the others are random.
	Systematic int
	// Seed is that of the random ones.
	Seed uint64
}

// Result is what was explored.
type Result struct {
	// Schedules is how many different ones were run.
	Schedules int
	// Complete reports that there are no others.
	Complete bool
}

// Failure is a schedule after which something is wrong.
type Failure struct {
	// Schedule is who moved: "AAB", the first session twice and then the second.
	Schedule string
	Err      error
}

func (f *Failure) Error() string { return f.Schedule + ": " + f.Err.Error() }

func (f *Failure) Unwrap() error { return f.Err }

// Explore runs schedules until there are no others, as many as asked for were run, or one fails:
// then the error is a *Failure. First it runs those with few preemptions, depth first, then
// random ones.
func Explore(m Machine, o Options) (r Result, err error) {
	e := &explorer{m: m, seen: map[string]bool{}}
	systematic := min(o.Systematic, o.Most)
	complete := false
	for bound := 0; bound <= o.Preemptions && !complete && len(e.seen) < systematic; bound++ {
		if complete, err = e.systematic(bound, systematic); err != nil {
			return e.result(false), err
		}
	}
	random := rand.New(rand.NewPCG(o.Seed, 0))
	for tries := 0; !complete && len(e.seen) < o.Most && tries < 2*o.Most; tries++ {
		if _, err := e.run(func(ready []int, _ int) int { return ready[random.IntN(len(ready))] }); err != nil {
			return e.result(false), err
		}
	}
	return e.result(complete), nil
}

// Replay runs one schedule. Who is not in it any more, or cannot move, moves in the order of
// the sessions.
func Replay(m Machine, schedule string) error {
	e := &explorer{m: m, seen: map[string]bool{}}
	_, err := e.run(func(ready []int, step int) int {
		if step < len(schedule) {
			if i := int(schedule[step] - 'A'); slices.Contains(ready, i) {
				return i
			}
		}
		return ready[0]
	})
	return err
}

type explorer struct {
	m    Machine
	seen map[string]bool
}

func (e *explorer) result(complete bool) Result { return Result{len(e.seen), complete} }

// choice is a moment at which several sessions could move.
type choice struct {
	ready []int
	taken int // index in ready
	used  int // preemptions before it
	prev  int // who moved before; -1 at the start
}

// cost is 1 if choosing ready[i] preempts the session that moved before.
func (c *choice) cost(i int) int {
	if c.prev >= 0 && c.ready[i] != c.prev && slices.Contains(c.ready, c.prev) {
		return 1
	}
	return 0
}

// systematic runs all schedules with at most bound preemptions, until most were run in all.
// complete reports that the bound kept it from nothing.
func (e *explorer) systematic(bound, most int) (complete bool, err error) {
	var stack []choice
	cut := false
	for {
		next, prev, used := 0, -1, 0
		_, err := e.run(func(ready []int, _ int) int {
			if next == len(stack) {
				c := choice{ready: slices.Clone(ready), used: used, prev: prev}
				c.taken = max(0, slices.Index(ready, prev)) // go on, which is never a preemption
				stack = append(stack, c)
			}
			c := &stack[next]
			next++
			if !slices.Equal(c.ready, ready) { // woken by the server in another order: explore from here
				stack = stack[:next]
				*c = choice{ready: slices.Clone(ready), used: used, prev: prev, taken: max(0, slices.Index(ready, prev))}
			}
			used += c.cost(c.taken)
			prev = ready[c.taken]
			return prev
		})
		if err != nil {
			return false, err
		}
		more := backtrack(&stack, bound, &cut)
		if !more {
			return !cut, nil
		}
		if len(e.seen) >= most {
			return false, nil
		}
	}
}

// backtrack makes the last choice that has an alternative within the bound take it. Alternatives
// are taken cyclically, beginning behind the one that was taken first.
func backtrack(stack *[]choice, bound int, cut *bool) bool {
	for s := *stack; len(s) > 0; s = s[:len(s)-1] {
		c := &s[len(s)-1]
		first := max(0, slices.Index(c.ready, c.prev))
		for i := (c.taken + 1) % len(c.ready); i != first; i = (i + 1) % len(c.ready) {
			if c.used+c.cost(i) <= bound {
				c.taken = i
				*stack = s
				return true
			}
			*cut = true
		}
	}
	return false
}

// run runs one schedule to its end.
func (e *explorer) run(choose func(ready []int, step int) int) (schedule string, err error) {
	var b strings.Builder
	if err := e.m.Start(); err != nil {
		return "", fmt.Errorf("start: %w", err)
	}
	for step := 0; ; step++ {
		ready := e.m.Runnable()
		if len(ready) == 0 {
			break
		}
		i := choose(ready, step)
		b.WriteByte(byte('A' + i))
		if err := e.m.Advance(i); err != nil {
			return b.String(), &Failure{b.String(), err}
		}
		if step > maxSteps {
			return b.String(), &Failure{b.String(), errEndless}
		}
	}
	e.seen[b.String()] = true
	if err := e.m.Finish(); err != nil {
		return b.String(), &Failure{b.String(), err}
	}
	return b.String(), nil
}

// maxSteps is more than any scenario takes.
const maxSteps = 2000

var errEndless = errors.New("it does not end")
