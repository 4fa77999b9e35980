package check

import (
	"testing"
	"time"

	"github.com/bravellian/pawl/torture/internal/history"
)

// D-444: what begins or is claimed after its expiry, and what expires before it or without one, is refused;
// nothing follows once the clock was stepped.
func TestExpiry(t *testing.T) {
	expiring := func(t *tape, seconds int64) *tape {
		t.both("p", history.Enqueue, history.OK, history.Event{Message: "a", Expires: t.in(seconds)}).ledger = []string{"a"}
		return t
	}
	claims := func(t *tape, asked int64) {
		t.final.Lease = 5 * time.Second
		t.add("c", history.Claim, history.OK, history.Event{Message: "a", Until: t.in(asked) + int64(t.final.Lease)})
		t.add("c", history.Ack, history.Began, msg("a")).add("c", history.Ack, history.OK, msg("a")).rows = []Message{{ID: "a", State: Done}}
	}
	fault := func(t *tape, detail string) *tape {
		return t.add("n", history.Fault, history.Began, history.Event{Detail: detail})
	}
	ends := func(t *tape, state State) { t.rows = []Message{{ID: "a", State: state}} }
	tellAll(t, []story{
		{"begun in time", "", func(t *tape) { expiring(t, 3).done("a") }},
		{"begun as late as a process may be", "", func(t *tape) {
			expiring(t, 3).now += int64(slow)
			t.done("a")
		}},
		{"begun late", checkExpiry, func(t *tape) {
			expiring(t, 3).now += int64(slow) + 1
			t.done("a")
		}},
		{"again in time, then late", checkExpiry, func(t *tape) { expiring(t, 4).both("w", history.Handle, history.Failed, msg("a")).done("a") }},
		{"begun late by a process that was stopped", "", func(t *tape) {
			expiring(t, 2).add("n", history.Fault, history.Began, history.Event{Name: "w", Detail: history.Stop}).done("a")
		}},
		{"begun late after another fault", checkExpiry, func(t *tape) { fault(expiring(t, 2), "server-kill").done("a") }},
		{"begun late after a step of the clock", "", func(t *tape) { fault(expiring(t, 2), "clock-back").done("a") }},
		{"a claim in time that is known late", "", func(t *tape) { claims(expiring(t, 2), 0) }},
		{"a claim that is asked for late", checkExpiry, func(t *tape) { claims(expiring(t, 1), 0) }},
		{"expired", "", func(t *tape) { ends(expiring(t, 2), Expired) }},
		{"expired in a handler", "", func(t *tape) { ends(expiring(t, 4).both("w", history.Handle, history.Failed, msg("a")), Expired) }},
		{"expired after it was done", checkTerminal, func(t *tape) { ends(expiring(t, 9).done("a"), Expired); t.now += 9 * second }},
		{"expired before its time", checkExpiry, func(t *tape) { ends(expiring(t, 9), Expired) }},
		{"expired without a time", checkExpiry, func(t *tape) { ends(t.commits("a"), Expired) }},
		{"expired before its time, by a step of the clock", "", func(t *tape) { ends(fault(expiring(t, 9), "clock-forward"), Expired) }},
		{"expired and lost", checkLost, func(t *tape) { expiring(t, 2) }},
	})
}

// D-445: a message that begins after a later one with its unique key was committed, and a duplicate of what was
// over or never there, are refused; neither is what a rewind explains.
func TestUnique(t *testing.T) {
	keyed := func(t *tape, id string, outcome history.Outcome) *tape {
		t.both("p", history.Enqueue, outcome, history.Event{Message: id, Name: "k"})
		if outcome == history.OK {
			t.ledger = append(t.ledger, id)
		}
		return t
	}
	// told is an answer to a question of so many seconds before it.
	told := func(t *tape, id string, seconds int64) *tape {
		return t.add("q", history.Duplicate, history.OK, history.Event{Message: id, Name: "k", Nominal: t.in(1 - seconds)})
	}
	ok := history.OK
	tellAll(t, []story{
		{"one after the other", "", func(t *tape) { keyed(keyed(t, "a", ok).done("a"), "b", ok).done("b") }},
		{"one takes the place of another", "", func(t *tape) { told(keyed(t, "a", ok), "a", 1).done("a") }},
		{"one takes the place of another of its transaction", "", func(t *tape) {
			e := history.Event{Message: "a", Name: "k"}
			told(t.add("q", history.Enqueue, history.Began, e), "a", 1).add("q", history.Enqueue, history.Failed, e)
		}},
		{"two wait", checkUnique, func(t *tape) { keyed(keyed(t, "a", ok), "b", ok).done("a", "b") }},
		{"two wait, of keys of their own", "", func(t *tape) {
			keyed(t, "a", ok).both("p", history.Enqueue, ok, history.Event{Message: "b", Name: "other"}).done("a", "b").ledger = []string{"a", "b"}
		}},
		{"another one is rolled back", "", func(t *tape) { keyed(keyed(t, "a", ok), "b", history.Failed).done("a") }},
		{"one runs before another is committed", "", func(t *tape) {
			e := history.Event{Message: "b", Name: "k"}
			keyed(t, "a", ok).add("p", history.Enqueue, history.Began, e).both("w", history.Handle, ok, msg("a"))
			t.add("p", history.Enqueue, ok, e).settled("w", "a", history.Done).done("b")
			t.ledger, t.rows = append(t.ledger, "b"), append(t.rows, Message{ID: "a", State: Done})
		}},
		{"one is replaced", "", func(t *tape) {
			keyed(keyed(t, "a", ok), "b", ok).done("b").rows = append(t.rows, Message{ID: "a", State: Discarded})
		}},
		{"one is replaced, and claimed", checkUnique, func(t *tape) {
			keyed(keyed(t, "a", ok), "b", ok).add("c", history.Claim, ok, history.Event{Message: "a", Until: t.in(9)})
			t.done("b").rows = append(t.rows, Message{ID: "a", State: Discarded})
		}},
		{"the later one is taken away", "", func(t *tape) {
			keyed(t, "a", ok).both("p", history.Enqueue, ok, history.Event{Message: "b", Name: "k"}).rewind().done("a")
		}},
		{"begun by a process that was stopped", "", func(t *tape) {
			t.final.Lease = time.Second
			keyed(t, "a", ok).add("n", history.Fault, history.Began, history.Event{Name: "v", Detail: history.Stop}).done("a")
			keyed(t, "b", ok).add("v", history.Handle, history.Began, msg("a")).done("b")
		}},
		{"a duplicate of what nobody enqueued", checkUnique, func(t *tape) { told(t, "a", 1) }},
		{"a duplicate of what has another key", checkUnique, func(t *tape) {
			t.both("p", history.Enqueue, ok, history.Event{Message: "a", Name: "other"}).ledger = []string{"a"}
			told(t, "a", 1).done("a")
		}},
		{"a duplicate of what was rolled back", checkUnique, func(t *tape) { told(keyed(t, "a", history.Failed), "a", 1) }},
		{"a duplicate of what is done", checkUnique, func(t *tape) { told(keyed(t, "a", ok).done("a"), "a", 0) }},
		{"a duplicate of what is done meanwhile", "", func(t *tape) { told(keyed(t, "a", ok).done("a"), "a", 2) }},
		{"a duplicate of what is done, before a rewind", "", func(t *tape) { told(keyed(t, "a", ok).done("a").rewind(), "a", 0) }},
		{"a duplicate of what was replaced", checkUnique, func(t *tape) {
			told(keyed(keyed(t, "a", ok), "b", ok), "a", 0).done("b").rows = append(t.rows, Message{ID: "a", State: Discarded})
		}},
		{"a duplicate of what is replaced meanwhile", "", func(t *tape) {
			told(keyed(keyed(t, "a", ok), "b", ok), "a", 2).done("b").rows = append(t.rows, Message{ID: "a", State: Discarded})
		}},
	})
}

// D-446: what is due and waits for longer than the bound is refused, but for times in which faults were on.
func TestWaits(t *testing.T) {
	wait := func(t *tape, seconds int64) *tape { t.now += seconds * second; return t }
	fault := func(t *tape, outcome history.Outcome) *tape {
		return t.add("n", history.Fault, outcome, history.Event{Detail: "black-hole"})
	}
	timer := func(t *tape, due int64) *tape {
		return t.both("p", history.Timer, history.OK, history.Event{Message: "a", Nominal: t.in(due)})
	}
	job := func(t *tape, nominal int64) {
		e := history.Event{Message: "a", Name: "job", Topic: history.JobTopic, Nominal: nominal}
		t.add("w", history.Handle, history.Began, e).add("w", history.Run, history.OK, e).add("w", history.Handle, history.OK, e)
		t.runs = []Run{{Job: "job", Nominal: nominal, Message: "a"}}
	}
	stories := []story{
		{"begun in time", "", func(t *tape) { wait(t.commits("a"), 9).done("a") }},
		{"begun late", checkWaits, func(t *tape) { wait(t.commits("a"), 10).done("a") }},
		{"of what is not known to be committed", "", func(t *tape) {
			wait(t.both("p", history.Enqueue, history.Unknown, msg("a")), 99).done("a").ledger = []string{"a"}
		}},
		{"begun again late", "", func(t *tape) { wait(t.commits("a").both("w", history.Handle, history.Failed, msg("a")), 99).done("a") }},
		{"claimed late", checkWaits, func(t *tape) {
			wait(t.commits("a"), 10).add("c", history.Claim, history.OK, history.Event{Message: "a", Until: t.in(1)})
			wait(t, 9).done("a")
		}},
		{"due later", "", func(t *tape) {
			t.both("p", history.Enqueue, history.OK, history.Event{Message: "a", Nominal: t.in(9)}).ledger = []string{"a"}
			wait(t, 16).done("a")
		}},
		{"due later, and late", checkWaits, func(t *tape) {
			t.both("p", history.Enqueue, history.OK, history.Event{Message: "a", Nominal: t.in(9)}).ledger = []string{"a"}
			wait(t, 17).done("a")
		}},
		{"a timer in time", "", func(t *tape) { wait(timer(t, 9), 16).done("a") }},
		{"a late timer", checkWaits, func(t *tape) { wait(timer(t, 9), 17).done("a") }},
		{"a run in time", "", func(t *tape) { job(wait(t, 9), t.in(-8)) }},
		{"a late run", checkWaits, func(t *tape) { job(wait(t, 9), t.in(-9)) }},
		{"a fault meanwhile", "", func(t *tape) {
			fault(wait(fault(t.commits("a"), history.Began), 20), history.Failed)
			wait(t, 8).done("a")
		}},
		{"a fault meanwhile, and late", checkWaits, func(t *tape) {
			fault(wait(fault(t.commits("a"), history.Began), 20), history.Failed)
			wait(t, 9).done("a")
		}},
		{"two faults at once", "", func(t *tape) {
			fault(fault(t.commits("a"), history.Began), history.Began)
			fault(wait(fault(t, history.OK), 20), history.OK).done("a")
		}},
		{"two faults at once, and late", checkWaits, func(t *tape) {
			fault(fault(t.commits("a"), history.Began), history.Began)
			fault(fault(wait(t, 9), history.OK), history.OK)
			wait(t, 9).done("a")
		}},
		{"a fault that began before, and late", checkWaits, func(t *tape) {
			fault(wait(fault(t, history.Began), 20).commits("a"), history.OK)
			wait(t, 10).done("a")
		}},
		{"a fault that began before and one that lasts", "", func(t *tape) {
			fault(wait(fault(t, history.Began).commits("a"), 20), history.OK)
			wait(fault(wait(t, 5), history.Began), 20).done("a")
		}},
		{"a fault before", checkWaits, func(t *tape) { wait(fault(wait(fault(t, history.Began), 20), history.OK).commits("a"), 10).done("a") }},
	}
	for i := range stories {
		tell := stories[i].tell
		stories[i].tell = func(t *tape) { t.final.Waits = 10 * time.Second; tell(t) }
	}
	tellAll(t, stories)
}
