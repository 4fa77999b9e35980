package check

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bravellian/pawl/torture/internal/history"
)

// taped is a run of the simulator that can be changed.
type taped struct {
	events  history.List
	rows    []Message
	ledger  []string
	effects []Effect
	runs    []Run
	final   Final
	rnd     *rand.Rand
	twice   int64 // how many messages are counted twice
}

func record(seed uint64) *taped {
	events, f := simulate(seed, 900, false)
	return &taped{
		events: events, rows: slices.Collect(f.Messages), ledger: slices.Collect(f.Ledger), effects: slices.Collect(f.Effects), runs: slices.Collect(f.Runs), final: f,
	}
}

// clone returns a copy that can be changed on its own.
func (t *taped) clone(seed uint64) *taped {
	c := *t
	c.events, c.rows, c.ledger, c.effects, c.runs = slices.Clone(t.events), slices.Clone(t.rows), slices.Clone(t.ledger), slices.Clone(t.effects), slices.Clone(t.runs)
	c.final.Joins = slices.Clone(t.final.Joins)
	c.rnd = rand.New(rand.NewPCG(seed, 3))
	return &c
}

// pick returns the number of a random event that fits; −1 if none does.
func (t *taped) pick(fits func(e history.Event) bool) int {
	var all []int
	for i, e := range t.events {
		if fits(e) {
			all = append(all, i)
		}
	}
	if len(all) == 0 {
		return -1
	}
	return all[t.rnd.IntN(len(all))]
}

func is(op string, outcome history.Outcome) func(history.Event) bool {
	return func(e history.Event) bool { return e.Op == op && e.Outcome == outcome }
}

// insert adds an event of a process of its own right behind another event.
func (t *taped) insert(behind int, process string, e history.Event) {
	e.At, e.Process, e.Seq = t.events[behind].At+1, process, 1
	t.events = append(t.events, e)
}

// drop removes an event as if it had never been written: the numbers have no gap.
func (t *taped) drop(i int) {
	process := t.events[i].Process
	t.events = slices.Delete(t.events, i, i+1)
	seq := int64(0)
	for i := range t.events {
		if t.events[i].Process == process {
			seq++
			t.events[i].Seq = seq
		}
	}
}

func (t *taped) stopped(process string) bool {
	return slices.ContainsFunc(t.events, func(e history.Event) bool {
		return e.Op == history.Fault && e.Detail == history.Stop && e.Name == process
	})
}

func (t *taped) check(tt *testing.T) *Report {
	f := t.final
	f.Ledger, f.Messages, f.Effects, f.Runs = slices.Values(t.ledger), slices.Values(t.rows), slices.Values(t.effects), slices.Values(t.runs)
	counted := t.twice
	for i := range t.rows {
		if t.rows[i].State == Done {
			counted++
		}
	}
	f.Counted = &counted
	report, err := Check(t.events, f)
	if err != nil {
		tt.Fatal(err)
	}
	return report
}

// change breaks one thing, and reports whether there was one to break.
type change struct {
	name, want string
	do         func(t *taped) bool
}

// changeRow changes a random row that fits.
func changeRow(t *taped, fits func(Message) bool, do func(i int)) bool {
	var all []int
	for i, m := range t.rows {
		if fits(m) {
			all = append(all, i)
		}
	}
	if len(all) == 0 {
		return false
	}
	do(all[t.rnd.IntN(len(all))])
	return true
}

// D-283: one change of a clean run that matters is refused, by the check that it concerns.
func TestMutatedHistories(t *testing.T) {
	const seeds, least = 8, 3
	var runs []*taped
	for seed := range uint64(seeds) {
		runs = append(runs, record(seed))
	}
	for _, c := range slices.Concat(changedEvents(), changedLeases(), changedEnds()) {
		t.Run(c.name, func(t *testing.T) {
			changed := 0
			for seed, run := range runs {
				run = run.clone(uint64(seed))
				if !c.do(run) {
					continue
				}
				changed++
				report := run.check(t)
				if !slices.ContainsFunc(report.Checks, func(r Result) bool { return r.Check == c.want && r.Total > 0 }) {
					t.Errorf("seed %d: %q found nothing", seed, c.want)
				}
			}
			if changed < least {
				t.Errorf("only %d of %d runs have something to change", changed, seeds)
			}
		})
	}
}

func changedEvents() []change {
	handles := is(history.Handle, history.Began)
	return []change{
		{"a commit is a rollback", checkPhantom, func(t *taped) bool {
			i := t.pick(is(history.Enqueue, history.OK))
			t.events[i].Outcome = history.Failed
			return true
		}},
		{"a rollback is a commit", checkLost, func(t *taped) bool {
			i := t.pick(is(history.Enqueue, history.Failed))
			t.events[i].Outcome = history.OK
			return true
		}},
		{"an enqueue is not announced", checkHistory, func(t *taped) bool {
			id := t.events[t.pick(is(history.Enqueue, history.OK))].Message
			t.drop(t.pick(func(e history.Event) bool { return is(history.Enqueue, history.Began)(e) && e.Message == id }))
			return true
		}},
		{"a handler beside another", checkExclusive, func(t *taped) bool {
			i := t.pick(func(e history.Event) bool { return handles(e) && e.Until > e.At && !t.stopped(e.Process) })
			e := t.events[i]
			e.Until = e.At + simLease
			t.insert(i, "intruder", e)
			return true
		}},
		{"a handler after it was done", checkDone, func(t *taped) bool {
			i := t.pick(func(e history.Event) bool { return is(history.Settled, history.OK)(e) && e.Detail == history.Done })
			t.insert(i, "intruder", history.Event{Op: history.Handle, Outcome: history.Began, Message: t.events[i].Message, Until: t.events[i].At + simLease})
			return true
		}},
		{"a claim after it was acknowledged", checkDone, func(t *taped) bool {
			i := t.pick(is(history.Ack, history.OK))
			t.insert(i, "intruder", history.Event{Op: history.Claim, Outcome: history.OK, Message: t.events[i].Message, Until: t.events[i].At + simLease})
			return true
		}},
		{"done is failed for good", checkTerminal, func(t *taped) bool {
			i := t.pick(func(e history.Event) bool { return is(history.Settled, history.OK)(e) && e.Detail == history.Done })
			t.events[i].Detail = history.GivenUp
			return true
		}},
		{"more of a limited topic", checkLimits, func(t *taped) bool {
			i := t.pick(func(e history.Event) bool { return handles(e) && e.Topic == "limited" && !t.stopped(e.Process) })
			if i < 0 {
				return false
			}
			for _, process := range []string{"x", "y"} {
				t.insert(i, process, history.Event{Op: history.Handle, Outcome: history.Began, Message: process, Topic: "limited", Until: t.events[i].At + simLease})
			}
			return true
		}},
		{"places of a key are exchanged", checkOrder, exchange},
		{"a handler begins after the expiry", checkExpiry, func(t *taped) bool {
			e := t.events[t.pick(func(e history.Event) bool { return handles(e) && e.Until > e.At && !t.stopped(e.Process) })]
			found := false
			for i := range t.events {
				if o := &t.events[i]; o.Op == history.Enqueue && o.Message == e.Message {
					o.Expires, found = e.At-int64(slow)-1, true
				}
			}
			return found
		}},
		// D-616
		{"a message is counted twice", checkCounters, func(t *taped) bool { t.twice++; return true }},
		{"a message whose unique key was taken since", checkUnique, func(t *taped) bool {
			first := map[string]string{}
			i := t.pick(func(e history.Event) bool {
				if !is(history.Enqueue, history.OK)(e) || e.Name == "" {
					return false
				}
				_, later := first[e.Name]
				if !later {
					first[e.Name] = e.Message
				}
				return later
			})
			if i < 0 {
				return false
			}
			t.insert(i, "intruder", history.Event{Op: history.Handle, Outcome: history.Began, Message: first[t.events[i].Name], Until: t.events[i].At + simLease})
			return true
		}},
		{"a duplicate of what is over", checkUnique, func(t *taped) bool {
			key := map[string]string{}
			for _, e := range t.events {
				if e.Op == history.Enqueue {
					key[e.Message] = e.Name
				}
			}
			i := t.pick(func(e history.Event) bool {
				return e.Op == history.Settled && e.Detail == history.Done && key[e.Message] != ""
			})
			if i < 0 {
				return false
			}
			id := t.events[i].Message
			t.insert(i, "x", history.Event{Op: history.Duplicate, Outcome: history.OK, Message: id, Name: key[id], Nominal: t.events[i].At + 1})
			return true
		}},
		{"a timer that fired is cancelled", checkTimers, func(t *taped) bool {
			i := t.pick(is(history.Fire, history.OK))
			if i < 0 {
				return false
			}
			id := t.events[i].Message
			t.insert(i, "x", history.Event{Op: history.Cancel, Outcome: history.OK, Message: id})
			return true
		}},
		{"a second run", checkJobs, func(t *taped) bool {
			i := t.pick(is(history.Run, history.Began))
			if i < 0 {
				return false
			}
			t.insert(i, "x", history.Event{Op: history.Run, Outcome: history.Began, Name: "job", Nominal: t.events[i].Nominal, Message: "another"})
			return true
		}},
		{"a second follow-up", checkJoins, func(t *taped) bool {
			i := t.pick(is(history.Wait, history.OK))
			if i < 0 {
				return false
			}
			t.insert(i, "x", history.Event{Op: history.Wait, Outcome: history.OK, Name: t.events[i].Name, Message: "another"})
			return true
		}},
		{"the end is not drained", checkDrained, func(t *taped) bool {
			t.drop(t.pick(func(e history.Event) bool { return e.Detail == history.Drained }))
			return true
		}},
		{"time goes back", checkHistory, func(t *taped) bool {
			i := t.pick(func(e history.Event) bool { return e.Process == "nemesis" && e.Seq > 1 })
			t.events[i].At -= 1000 * simLease
			return true
		}},
	}
}

// exchange swaps the places of two messages of a key that were handled.
func exchange(t *taped) bool {
	first := map[string]history.Event{} // by key, one of which the handler succeeded
	unknown := map[string]bool{}
	ok := map[string]bool{}
	for _, e := range t.events {
		if is(history.Enqueue, history.Unknown)(e) {
			unknown[e.Message] = true
		}
		if is(history.Settled, history.OK)(e) && e.Detail == history.Done {
			ok[e.Message] = true
		}
	}
	for _, e := range t.events {
		if e.Key == "" || !is(history.Handle, history.OK)(e) || unknown[e.Message] || !ok[e.Message] || t.stopped(e.Process) {
			continue
		}
		earlier, found := first[e.Key]
		if !found {
			first[e.Key] = e
			continue
		}
		if earlier.Message == e.Message {
			continue
		}
		for i := range t.events {
			switch t.events[i].Message {
			case e.Message:
				t.events[i].Place = earlier.Place
			case earlier.Message:
				t.events[i].Place = e.Place
			}
		}
		return true
	}
	return false
}

func changedLeases() []change {
	acquired := is(history.Acquire, history.OK)
	// earlier returns an acquisition of the same lease that was known before another was asked for.
	earlier := func(t *taped, e history.Event) *history.Event {
		for i := range t.events {
			if o := &t.events[i]; acquired(*o) && o.Name == e.Name && o.At < e.At-simLease/2 {
				return o
			}
		}
		return nil
	}
	return []change{
		{"a token comes again", checkTokens, func(t *taped) bool {
			i := t.pick(func(e history.Event) bool { return acquired(e) && earlier(t, e) != nil })
			t.events[i].Token = earlier(t, t.events[i]).Token
			return true
		}},
		{"a lease is taken from its holder", checkHistories, func(t *taped) bool {
			i := t.pick(func(e history.Event) bool { return acquired(e) && e.Until > e.At })
			e := t.events[i]
			begin := e
			begin.Outcome, begin.Token, begin.Until = history.Began, 0, 0
			t.insert(i, "thief", begin)
			e.Token++
			t.insert(i, "thief", e)
			last := &t.events[len(t.events)-1]
			last.Seq, last.At = 2, last.At+1
			return true
		}},
		{"a stale holder writes", checkTokens, func(t *taped) bool {
			i := t.pick(func(e history.Event) bool { return acquired(e) && earlier(t, e) != nil })
			old := earlier(t, t.events[i])
			e := history.Event{Op: history.Guard, Outcome: history.Began, Name: old.Name, Token: old.Token}
			t.insert(i, "stale", e)
			e.Outcome = history.OK
			t.insert(i, "stale", e)
			last := &t.events[len(t.events)-1]
			last.Seq, last.At = 2, last.At+1
			return true
		}},
	}
}

func changedEnds() []change {
	state := func(s State) func(Message) bool { return func(m Message) bool { return m.State == s } }
	return []change{
		{"a message that only failed is gone", checkLost, func(t *taped) bool {
			over := map[string]bool{}
			for _, e := range t.events {
				over[e.Message] = over[e.Message] || is(history.Handle, history.OK)(e)
			}
			i := t.pick(func(e history.Event) bool {
				return e.Detail == history.GivenUp && !over[e.Message] && slices.Contains(t.ledger, e.Message)
			})
			if i < 0 {
				return false
			}
			id := t.events[i].Message
			t.drop(i)
			t.rows = slices.DeleteFunc(t.rows, func(m Message) bool { return m.ID == id })
			return true
		}},
		{"done is ready", checkDrained, func(t *taped) bool { return changeRow(t, state(Done), func(i int) { t.rows[i].State = Ready }) }},
		{"done is discarded", checkTerminal, func(t *taped) bool {
			known := t.events[t.pick(func(e history.Event) bool { return e.Op == history.Settled && e.Detail == history.Done })].Message
			return changeRow(t, func(m Message) bool { return m.ID == known }, func(i int) { t.rows[i].State = Discarded })
		}},
		{"attempts too many", checkAttempts, func(t *taped) bool { return changeRow(t, state(Done), func(i int) { t.rows[i].Attempts += 50 }) }},
		{"a row of the ledger is gone", checkPhantom, func(t *taped) bool {
			i := t.rnd.IntN(len(t.ledger))
			t.ledger = slices.Delete(t.ledger, i, i+1)
			return true
		}},
		{"an effect is there twice", checkInbox, func(t *taped) bool { t.effects[0].Count++; return true }},
		{"an effect is gone", checkInbox, func(t *taped) bool {
			i := t.pick(is(history.Inbox, history.OK))
			t.effects = slices.DeleteFunc(t.effects, func(f Effect) bool { return f.Message == t.events[i].Message })
			return true
		}},
		{"a join counts one more", checkJoins, func(t *taped) bool { t.final.Joins[0].Done++; return true }},
		{"a join fires again", checkJoins, func(t *taped) bool { t.final.Joins[0].Fired++; return true }},
		{"a run is recorded again", checkJobs, func(t *taped) bool { t.runs = append(t.runs, t.runs[0]); return true }},
		{"a run is not recorded", checkJobs, func(t *taped) bool { t.runs = t.runs[1:]; return true }},
		{"a timer is left", checkTimers, func(t *taped) bool { t.final.Timers = []Timer{{"late", 5}}; return true }},
	}
}
