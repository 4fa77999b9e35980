package check

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/torture/internal/history"
)

// tape is a history that a test writes by hand, a second for each event, and its end.
type tape struct {
	events   history.List
	seqs     map[string]int64
	now      int64
	ledger   []string
	rows     []Message
	effects  []Effect
	runs     []Run
	flows    []Flow
	final    Final
	guards   []Guard
	withheld bool // it does not say that the run was drained
}

const second = int64(time.Second)

func newTape() *tape { return &tape{seqs: map[string]int64{}} }

// in returns the time in some seconds.
func (t *tape) in(seconds int64) int64 { return t.now + seconds*second }

func (t *tape) add(process, op string, outcome history.Outcome, e history.Event) *tape {
	t.now += second
	t.seqs[process]++
	e.At, e.Process, e.Seq, e.Op, e.Outcome = t.now, process, t.seqs[process], op, outcome
	t.events = append(t.events, e)
	return t
}

// both writes the begin and the outcome of an operation.
func (t *tape) both(process, op string, outcome history.Outcome, e history.Event) *tape {
	begin := e
	begin.Detail, begin.Until = "", 0
	if op == history.Handle {
		begin.Until = t.in(100)
	}
	if op == history.Acquire {
		begin.Token = 0
	}
	return t.add(process, op, history.Began, begin).add(process, op, outcome, e)
}

func msg(id string) history.Event { return history.Event{Message: id} }

// commits enqueues messages that the ledger has.
func (t *tape) commits(ids ...string) *tape {
	for _, id := range ids {
		t.both("p", history.Enqueue, history.OK, msg(id))
		t.ledger = append(t.ledger, id)
	}
	return t
}

// done handles messages, which are done then.
func (t *tape) done(ids ...string) *tape {
	for _, id := range ids {
		t.both("w", history.Handle, history.OK, msg(id)).settled("w", id, history.Done)
		t.rows = append(t.rows, Message{ID: id, State: Done})
	}
	return t
}

func (t *tape) settled(process, id, detail string) *tape {
	return t.add(process, history.Settled, history.OK, history.Event{Message: id, Detail: detail})
}

// keyed enqueues a message of a key, at a place.
func (t *tape) keyed(id string, place int64) *tape {
	t.both("p", history.Enqueue, history.OK, history.Event{Message: id, Key: "k", Place: place})
	t.ledger = append(t.ledger, id)
	return t
}

// begins lets a process handle a message under a lease of so many seconds.
func (t *tape) begins(process, id string, seconds int64) *tape {
	return t.add(process, history.Handle, history.Began, history.Event{Message: id, Topic: "t", Until: t.in(seconds)})
}

func (t *tape) rewind() *tape {
	t.final.Rewinds = append(t.final.Rewinds, Rewind{From: t.now, To: t.in(1)})
	t.now += 2 * second
	return t
}

func (t *tape) lease(process, op string, outcome history.Outcome, token, seconds int64, detail string) *tape {
	return t.both(process, op, outcome, history.Event{Name: "l", Token: token, Until: t.in(seconds), Detail: detail})
}

func (t *tape) check(tt *testing.T) *Report {
	tt.Helper()
	if !t.withheld {
		t.add("n", history.Phase, history.OK, history.Event{Detail: history.Drained})
	}
	f := t.final
	f.Ledger, f.Messages, f.Effects, f.Runs, f.Flows = slices.Values(t.ledger), slices.Values(t.rows), slices.Values(t.effects), slices.Values(t.runs), slices.Values(t.flows)
	if t.guards != nil {
		f.Guards = slices.Values(t.guards)
	}
	report, err := Check(t.events, f)
	if err != nil {
		tt.Fatal(err)
	}
	return report
}

// aJoin is a join of two members, which are done.
func aJoin(t *tape) *tape {
	t.commits("a", "b").add("p", history.Join, history.OK, history.Event{Name: "j", Detail: "2"})
	for _, id := range []string{"a", "b"} {
		t.add("p", history.Member, history.OK, history.Event{Message: id, Name: "j"})
	}
	t.final.Joins = []Join{{Name: "j", Total: 2, Done: 2, Fired: 1}}
	return t
}

func follow(t *tape, id string) *tape {
	return t.both("w", history.Wait, history.OK, history.Event{Message: id, Name: "j"})
}

func aRun(t *tape, id string) *tape {
	return t.both("w", history.Run, history.OK, history.Event{Message: id, Name: "job", Nominal: 7})
}

type story struct {
	name string
	want string // what is broken; "" for nothing, several separated by ";"
	tell func(t *tape)
}

// D-284: what is lost although it was committed, and what exists although it was not, is refused;
// what the database itself lost is not.
func TestCommits(t *testing.T) { tellAll(t, commitStories()) }

func commitStories() []story {
	return []story{
		{"everything done", "", func(t *tape) { t.commits("a", "b").done("a", "b") }},
		{"done and deleted", "", func(t *tape) { t.commits("a").done("a").rows = nil }},
		{"done by nobody", checkLost, func(t *tape) { t.commits("a").rows = []Message{{ID: "a", State: Done}} }},
		{"done by an ack that nobody knows of", "", func(t *tape) {
			t.commits("a").add("w", history.Ack, history.Began, msg("a")).rows = []Message{{ID: "a", State: Done}}
		}},
		{"a row that was kept is lost in a failover", checkLost, func(t *tape) {
			t.both("p", history.Enqueue, history.OK, msg("a"))
			keeps := t.in(1)
			t.add("p", history.Enqueue, history.Began, msg("b")).rewind().final.Rewinds[0].Keeps = keeps
		}},
		{"a message is lost", checkLost, func(t *tape) { t.commits("a", "b").done("a") }},
		{"lost after a handler failed", checkLost, func(t *tape) { t.commits("a").both("w", history.Handle, history.Failed, msg("a")) }},
		{"a row is lost", checkLost, func(t *tape) { t.both("p", history.Enqueue, history.OK, msg("a")) }},
		{"a row and its message are lost by the database", "", func(t *tape) { t.both("p", history.Enqueue, history.OK, msg("a")).rewind() }},
		{"a row is lost whose commit a stopped process notes after the rewind", "", func(t *tape) {
			t.add("p", history.Enqueue, history.Began, msg("a")).rewind().add("p", history.Enqueue, history.OK, msg("a"))
		}},
		{"a row is lost after the rewind", checkLost, func(t *tape) { t.rewind().both("p", history.Enqueue, history.OK, msg("a")) }},
		{"a message is lost in a failover, its row is kept", checkLost, func(t *tape) { t.commits("a").rewind() }},
		{"a row is lost in a failover, its message is kept", checkPhantom, func(t *tape) {
			t.both("p", history.Enqueue, history.OK, msg("a")).rewind()
			t.rows = []Message{{ID: "a", State: Done}}
		}},
		{"handled, then lost in a failover", "", func(t *tape) {
			t.both("p", history.Enqueue, history.OK, msg("a")).both("w", history.Handle, history.OK, msg("a")).rewind()
		}},
		{"of a job, taken away before its handler knew the run", "", func(t *tape) {
			t.both("w", history.Handle, history.Failed, history.Event{Message: "a", Topic: history.JobTopic})
		}},
		{"lost in a failover, and handled", checkPhantom, func(t *tape) {
			t.both("p", history.Enqueue, history.OK, msg("a")).rewind().both("w", history.Handle, history.OK, msg("a"))
		}},
		{"an unknown commit that succeeded", "", func(t *tape) {
			t.both("p", history.Enqueue, history.Unknown, msg("a")).done("a").ledger = []string{"a"}
		}},
		{"an unknown commit that succeeded, and is lost", checkLost, func(t *tape) {
			t.both("p", history.Enqueue, history.Unknown, msg("a")).ledger = []string{"a"}
		}},
		{"an unknown commit that did not succeed", "", func(t *tape) { t.both("p", history.Enqueue, history.Unknown, msg("a")) }},
		{"an unknown commit without a row, handled", checkPhantom, func(t *tape) {
			t.both("p", history.Enqueue, history.Unknown, msg("a")).both("w", history.Handle, history.OK, msg("a"))
		}},
		{"an unknown commit without a row, in the database", checkPhantom, func(t *tape) {
			t.both("p", history.Enqueue, history.Unknown, msg("a")).rows = []Message{{ID: "a", State: Done}}
		}},
		{"rolled back", "", func(t *tape) { t.both("p", history.Enqueue, history.Failed, msg("a")) }},
		{"rolled back, then repeated", "", func(t *tape) { t.both("p", history.Enqueue, history.Failed, msg("a")).commits("a").done("a") }},
		{"rolled back and handled", checkPhantom, func(t *tape) {
			t.both("p", history.Enqueue, history.Failed, msg("a")).both("w", history.Handle, history.Failed, msg("a"))
		}},
		{"rolled back, its row is there", checkPhantom, func(t *tape) {
			t.both("p", history.Enqueue, history.Failed, msg("a")).done("a").ledger = []string{"a"}
		}},
		{"handled, and nobody enqueued it", checkPhantom, func(t *tape) { t.both("w", history.Handle, history.OK, msg("a")) }},
	}
}

// D-285, D-321: two claims of a message at once, claims beyond a limit, and what is handled after it was
// over are refused, unless the lease ended or the database was rewound in between; so are
// attempts of pawl's own handlers that none of them made.
func TestClaims(t *testing.T) { tellAll(t, slices.Concat(claimStories(), overStories())) }

func claimStories() []story {
	raw := func(t *tape, process, op string, outcome history.Outcome, seconds int64) *tape {
		return t.add(process, op, outcome, history.Event{Message: "a", Topic: "t", Until: t.in(seconds)})
	}
	return []story{
		{"a handler beside another", checkExclusive, func(t *tape) { t.commits("a").begins("v", "a", 10).done("a") }},
		{"a handler after the lease of another", "", func(t *tape) { t.commits("a").begins("v", "a", 1).done("a") }},
		{"a handler after another was rewound", "", func(t *tape) { t.commits("a").begins("v", "a", 99).rewind().done("a") }},
		{"a handler twice in a process", checkExclusive, func(t *tape) { t.commits("a").begins("w", "a", 10).done("a") }},
		{"a handler whose end is known by the lease", checkExclusive, func(t *tape) {
			t.final.Lease = 30 * time.Second
			t.commits("a").add("v", history.Handle, history.Began, msg("a")).done("a")
		}},
		{"a handler beside another that was stopped", "", func(t *tape) {
			t.final.Lease = 30 * time.Second
			t.commits("a").add("n", history.Fault, history.Began, history.Event{Name: "v", Detail: history.Stop})
			t.add("v", history.Handle, history.Began, msg("a")).done("a")
		}},
		{"a claim beside a handler", checkExclusive, func(t *tape) {
			raw(t.commits("a").begins("v", "a", 20), "c", history.Claim, history.OK, 20).add("v", history.Handle, history.OK, msg("a"))
			raw(raw(t, "c", history.Ack, history.Began, 0), "c", history.Ack, history.OK, 0).rows = []Message{{ID: "a", State: Done}}
		}},
		{"a claim that came too late", "", func(t *tape) {
			raw(t.commits("a").begins("v", "a", 20), "c", history.Claim, history.OK, 0).add("v", history.Handle, history.OK, msg("a"))
			t.done("a")
		}},
		{"a claim that is given back", "", func(t *tape) {
			raw(t.commits("a"), "c", history.Claim, history.OK, 50)
			raw(t, "c", history.Abandon, history.Began, 0).done("a")
		}},
		{"a claim that is extended", checkExclusive, func(t *tape) {
			raw(t.commits("a"), "c", history.Claim, history.OK, 2)
			raw(t, "c", history.Extend, history.OK, 50).done("a")
		}},
		{"a stale claim that is extended", checkExclusive, func(t *tape) {
			raw(t.commits("a"), "c", history.Claim, history.OK, 1).begins("w", "a", 50)
			raw(t, "c", history.Extend, history.OK, 50).add("w", history.Handle, history.OK, msg("a")).settled("w", "a", history.Done)
			t.rows = []Message{{ID: "a", State: Done}}
		}},
		{"a stale claim that is acknowledged", checkExclusive, func(t *tape) {
			raw(t.commits("a"), "c", history.Claim, history.OK, 1).begins("w", "a", 50)
			raw(raw(t, "c", history.Ack, history.Began, 0), "c", history.Ack, history.OK, 0).add("w", history.Handle, history.OK, msg("a"))
			t.rows = []Message{{ID: "a", State: Done}}
		}},
		{"a limit is kept", "", func(t *tape) {
			t.final.Limits = map[string]int{"t": 2}
			t.commits("a", "b", "c").begins("v", "a", 10).begins("v", "b", 1).begins("v", "c", 10).now += 20 * second
			t.done("a", "b", "c")
		}},
		{"a limit is exceeded", checkLimits, func(t *tape) {
			t.final.Limits = map[string]int{"t": 2}
			t.commits("a", "b", "c").begins("v", "a", 10).begins("v", "b", 10).begins("v", "c", 10).now += 20 * second
			t.done("a", "b", "c")
		}},
	}
}

func overStories() []story {
	failed := func(t *tape) *tape {
		return t.commits("a").both("w", history.Handle, history.Failed, msg("a")).settled("w", "a", history.GivenUp)
	}
	end := func(t *tape, s State, n int) { t.rows = []Message{{ID: "a", State: s, Attempts: n}} }
	return []story{
		{"handled again after it was done", checkDone, func(t *tape) { t.commits("a").done("a").both("w", history.Handle, history.OK, msg("a")) }},
		{"handled again after a rewind", "", func(t *tape) {
			t.commits("a").done("a").rewind().both("w", history.Handle, history.OK, msg("a"))
		}},
		{"handled again after it was done behind a rewind", checkDone, func(t *tape) {
			t.commits("a").rewind().done("a").both("w", history.Handle, history.OK, msg("a"))
		}},
		{"begun by a stale process after it was done", "", func(t *tape) { t.commits("a").done("a").begins("v", "a", 0) }},
		{"redelivered before it was settled", "", func(t *tape) { t.commits("a").both("w", history.Handle, history.OK, msg("a")).done("a") }},
		{"done, and ready at the end", checkTerminal + ";" + checkDrained, func(t *tape) { end(t.commits("a").done("a"), Ready, 0) }},
		{"done, and failed at the end", checkTerminal, func(t *tape) { end(t.commits("a").done("a"), Failed, 0) }},
		{"failed for good", "", func(t *tape) { end(failed(t), Failed, 1) }},
		{"failed for good, and handled", checkTerminal, func(t *tape) { end(failed(t).begins("w", "a", 9), Failed, 1) }},
		{"failed for good, and redriven", "", func(t *tape) { failed(t).add("n", history.Redrive, history.OK, msg("a")).done("a") }},
		{"failed for good, and done", checkTerminal, func(t *tape) { end(failed(t).settled("w", "a", history.Done), Done, 1) }},
		{"failed for good, and done at the end", checkTerminal, func(t *tape) { end(failed(t), Done, 1) }},
		{"an attempt without a handler", checkAttempts, func(t *tape) { end(t.commits("a"), Failed, 1) }},
		{"more attempts than handlers", checkAttempts, func(t *tape) { end(failed(t), Failed, 2) }},
		{"attempts of pawl's own handler", "", func(t *tape) { end(t.add("w", history.Try, history.OK, msg("a")), Done, 1) }},
		{"an attempt of a wait that nobody began", checkAttempts, func(t *tape) {
			end(t.add("w", history.Wait, history.OK, history.Event{Message: "b", Name: "j"}), Done, 1)
		}},
		{"more attempts than pawl's own handler began", checkAttempts, func(t *tape) { end(t.add("w", history.Try, history.OK, msg("a")), Done, 2) }},
		{"left ready", checkDrained, func(t *tape) { end(t.commits("a"), Ready, 0) }},
		{"left claimed", checkDrained, func(t *tape) { end(t.commits("a"), Claimed, 0) }},
		{"not drained", checkDrained, func(t *tape) { t.commits("a").done("a").withheld = true }},
	}
}

// D-286: handlers of a key that overlap, or begin or succeed in another order than the commits,
// are refused.
func TestOrder(t *testing.T) { tellAll(t, orderStories()) }

func orderStories() []story {
	retry := func(t *tape, id string) *tape { return t.both("w", history.Handle, history.Failed, msg(id)) }
	return []story{
		{"in order", "", func(t *tape) { t.keyed("a", 1).keyed("b", 2).done("a", "b") }},
		{"in order with a redelivery", "", func(t *tape) {
			t.keyed("a", 1).keyed("b", 2).both("w", history.Handle, history.OK, msg("a")).done("a", "b")
		}},
		{"out of order", checkOrder, func(t *tape) { t.keyed("a", 1).keyed("b", 2).done("b", "a") }},
		{"begun before its predecessor", checkOrder, func(t *tape) { retry(t.keyed("a", 1).keyed("b", 2), "b").done("a", "b") }},
		{"overtaken by its successor", checkOrder, func(t *tape) { retry(t.keyed("a", 1).keyed("b", 2), "a").done("b", "a") }},
		{"two at once", checkOrder, func(t *tape) {
			t.keyed("a", 1).keyed("b", 2).begins("v", "a", 5).done("b")
			t.now += 9 * second
			t.rows = append(t.rows, Message{ID: "a", State: Failed})
		}},
		{"the second after the lease of the first", checkOrder, func(t *tape) { t.keyed("a", 1).keyed("b", 2).begins("v", "a", 1).done("b", "a") }},
		{"an unknown commit has no place", "", func(t *tape) {
			t.both("p", history.Enqueue, history.Unknown, history.Event{Message: "a", Key: "k", Place: 1})
			t.keyed("b", 2).done("b", "a").ledger = []string{"a", "b"}
		}},
		{"nor has one whose producer was killed", "", func(t *tape) {
			t.add("q", history.Enqueue, history.Began, history.Event{Message: "a", Key: "k", Place: 1})
			t.keyed("b", 2).done("b", "a").ledger = []string{"a", "b"}
		}},
	}
}

// D-287: a join that counts or fires otherwise than its members, an effect, a timer or a nominal
// time that comes twice or never is refused.
func TestOnce(t *testing.T) { tellAll(t, slices.Concat(joinStories(), onceStories())) }

func joinStories() []story {
	return []story{
		{"a join", "", func(t *tape) { follow(follow(aJoin(t).done("a", "b"), "f"), "f") }},
		{"two follow-ups", checkJoins, func(t *tape) { follow(follow(aJoin(t).done("a", "b"), "f"), "g") }},
		{"another follow-up after a rewind", "", func(t *tape) { follow(follow(aJoin(t).done("a", "b"), "f").rewind(), "g") }},
		{"a follow-up too early", checkJoins, func(t *tape) { follow(aJoin(t).done("a"), "f").done("b") }},
		{"no follow-up", checkJoins, func(t *tape) { aJoin(t).done("a", "b") }},
		{"fired twice", checkJoins, func(t *tape) { follow(aJoin(t).done("a", "b"), "f").final.Joins[0].Fired = 2 }},
		{"never fired", checkJoins, func(t *tape) { follow(aJoin(t).done("a", "b"), "f").final.Joins[0].Fired = 0 }},
		{"counts too much", checkJoins, func(t *tape) { follow(aJoin(t).done("a", "b"), "f").final.Joins[0].Done = 3 }},
		{"counts a failure that is none", checkJoins, func(t *tape) {
			j := &follow(aJoin(t).done("a", "b"), "f").final.Joins[0]
			j.Done, j.Failed = 1, 1
		}},
		{"other steps than it was started with", checkJoins, func(t *tape) {
			j := &follow(aJoin(t).done("a", "b"), "f").final.Joins[0]
			j.Total = 3
		}},
		{"a join is lost", checkJoins, func(t *tape) { follow(aJoin(t).done("a", "b"), "f").final.Joins = nil }},
	}
}

func onceStories() []story {
	inbox := func(t *tape, outcome history.Outcome, n int) {
		t.both("w", history.Inbox, outcome, history.Event{Message: "a", Name: "s"})
		if n > 0 {
			t.effects = []Effect{{"s", "a", n}}
		}
	}
	timer := func(t *tape) *tape { return t.both("p", history.Timer, history.OK, msg("a")) }
	fire := func(t *tape) *tape { return t.both("w", history.Fire, history.OK, msg("a")) }
	cancel := func(t *tape, o history.Outcome) *tape { return t.both("p", history.Cancel, o, msg("a")) }
	record := func(t *tape, id string) { t.runs = append(t.runs, Run{"job", 7, id, id == ""}) }
	return []story{
		{"an effect", "", func(t *tape) { inbox(t, history.OK, 1) }},
		{"an effect twice", checkInbox, func(t *tape) { inbox(t, history.OK, 2) }},
		{"an effect in two rows", checkInbox, func(t *tape) { inbox(t, history.OK, 1); t.effects = append(t.effects, t.effects[0]) }},
		{"an effect is lost", checkInbox, func(t *tape) { inbox(t, history.OK, 0) }},
		{"an effect is lost by the database", "", func(t *tape) { inbox(t, history.OK, 0); t.rewind() }},
		{"an unknown effect", "", func(t *tape) { inbox(t, history.Unknown, 0) }},
		{"an effect that nobody asked for", checkInbox, func(t *tape) { t.effects = []Effect{{"s", "a", 1}} }},
		{"a timer fires", "", func(t *tape) { fire(timer(t)) }},
		{"a timer is cancelled", "", func(t *tape) { cancel(timer(t), history.OK) }},
		{"a timer is cancelled too late", "", func(t *tape) { cancel(fire(timer(t)), history.Failed) }},
		{"a timer fires too early", checkTimers, func(t *tape) {
			fire(t.both("p", history.Timer, history.OK, history.Event{Message: "a", Nominal: t.in(10)}))
		}},
		{"a timer is cancelled, and fires", checkTimers, func(t *tape) { fire(cancel(timer(t), history.OK)) }},
		{"a timer is cancelled, and fires after a rewind", "", func(t *tape) { fire(cancel(timer(t), history.OK).rewind()) }},
		{"a timer fires, and is cancelled", checkTimers, func(t *tape) { cancel(fire(timer(t)), history.OK) }},
		{"a timer is lost", checkTimers, func(t *tape) { timer(t) }},
		{"a timer is lost by the database", "", func(t *tape) { timer(t).rewind() }},
		{"a timer may have been cancelled", "", func(t *tape) { cancel(timer(t), history.Unknown) }},
		{"a timer is due and left", checkTimers, func(t *tape) { timer(t).final.Timers = []Timer{{"a", 1}} }},
		{"a timer is not due", "", func(t *tape) { timer(t).final.Timers = []Timer{{"a", 1 << 61}} }},
		{"a timer is cancelled and left", checkTimers, func(t *tape) { cancel(timer(t), history.OK).final.Timers = []Timer{{"a", 1 << 61}} }},
		{"a timer that failed fires", checkTimers, func(t *tape) { fire(t.both("p", history.Timer, history.Failed, msg("a"))) }},
		{"a timer that nobody scheduled", checkTimers, func(t *tape) { fire(t) }},
		{"a run", "", func(t *tape) { record(aRun(aRun(t, "a"), "a"), "a") }},
		{"a run is missed", "", func(t *tape) { record(t, "") }},
		{"a second run", checkJobs, func(t *tape) { record(aRun(aRun(t, "b"), "a"), "a") }},
		{"a second run after a rewind", "", func(t *tape) { record(aRun(aRun(t, "b").rewind(), "a"), "a") }},
		{"a run that is not recorded", checkJobs, func(t *tape) { aRun(t, "a") }},
		{"a run that is recorded twice", checkJobs, func(t *tape) { record(aRun(t, "a"), "a"); record(t, "a") }},
		{"a run that is recorded as missed", checkJobs, func(t *tape) { record(aRun(t, "a"), "") }},
		{"a run with another message", checkJobs, func(t *tape) { record(aRun(t, "a"), "b") }},
		{"a run that nobody handled", checkJobs, func(t *tape) { record(t, "a") }},
		{"a time is left out", checkJobs, func(t *tape) {
			record(aRun(t, "a"), "a")
			t.final.Jobs = []Job{{"job", 7, 14, 7}}
		}},
	}
}

// D-288: a token that does not grow, a stale holder that is let through, and a history of a lease
// that no order explains are refused.
func TestLeases(t *testing.T) { tellAll(t, leaseStories()) }

func leaseStories() []story {
	const ok, failed = history.OK, history.Failed
	take := func(t *tape, process string, token, seconds int64) *tape {
		return t.lease(process, history.Acquire, ok, token, seconds, "")
	}
	both := checkTokens + ";" + checkHistories
	return []story{
		{"one after the other", "", func(t *tape) { take(take(t, "a", 1, 9).lease("a", history.Release, ok, 1, 0, ""), "b", 2, 9) }},
		{"one after the other's end", "", func(t *tape) { take(take(t, "a", 1, 3), "b", 2, 9) }},
		{"one beside the other", checkHistories, func(t *tape) { take(take(t, "a", 1, 9), "b", 2, 9) }},
		{"one beside the other after a rewind", "", func(t *tape) { take(take(t, "a", 1<<12, 9).rewind(), "b", 2<<12, 9) }},
		{"a token twice", both, func(t *tape) { take(take(t, "a", 1, 3), "b", 1, 9) }},
		{"a token that shrinks", both, func(t *tape) { take(take(t, "a", 1<<12, 3), "b", 1, 9) }},
		{"a token that shrinks after a rewind", both, func(t *tape) { take(take(t, "a", 2<<12, 3).rewind(), "b", 1<<12, 9) }},
		{"a token that skips one", checkHistories, func(t *tape) { take(take(t, "a", 1, 3), "b", 3, 9) }},
		{"a token that skips an unknown one", "", func(t *tape) {
			take(take(t, "a", 1, 3).add("c", history.Acquire, history.Began, history.Event{Name: "l"}), "b", 3, 9)
		}},
		{"a guard holds", "", func(t *tape) { take(t, "a", 1, 9).lease("a", history.Guard, ok, 1, 0, "") }},
		{"a guard refuses the stale", "", func(t *tape) {
			take(take(t, "a", 1, 3), "b", 2, 9).lease("a", history.Guard, failed, 1, 0, history.Lost)
		}},
		{"a guard lets the stale through", both, func(t *tape) { take(take(t, "a", 1, 3), "b", 2, 9).lease("a", history.Guard, ok, 1, 0, "") }},
		{"a guard refuses the holder", checkHistories, func(t *tape) { take(t, "a", 1, 9).lease("a", history.Guard, failed, 1, 0, history.Lost) }},
		{"guarded rows", "", func(t *tape) {
			take(take(t, "a", 1, 4).lease("a", history.Guard, ok, 1, 0, ""), "b", 2, 9).lease("b", history.Guard, ok, 2, 0, "")
			t.guards = []Guard{{"l", 1}, {"l", 2}}
		}},
		{"a guarded row is lost", checkGuards, func(t *tape) {
			take(t, "a", 1, 9).lease("a", history.Guard, ok, 1, 0, "").guards = []Guard{}
		}},
		{"a guarded row is lost by the database", "", func(t *tape) {
			take(t, "a", 1, 9).lease("a", history.Guard, ok, 1, 0, "").rewind().guards = []Guard{}
		}},
		{"a row is there that the guard refused", checkGuards, func(t *tape) {
			take(take(t, "a", 1, 3), "b", 2, 9).lease("a", history.Guard, failed, 1, 0, history.Lost).guards = []Guard{{"l", 1}}
		}},
		{"a row of the stale after one of the holder", checkGuards, func(t *tape) {
			take(t, "a", 1, 4).add("a", history.Guard, history.Began, history.Event{Name: "l", Token: 1})
			take(t, "b", 2, 9).lease("b", history.Guard, ok, 2, 0, "").guards = []Guard{{"l", 2}, {"l", 1}}
		}},
		{"a renewal of the stale", both, func(t *tape) { take(take(t, "a", 1, 3), "b", 2, 9).lease("a", history.Renew, ok, 1, 9, "") }},
		{"a renewal keeps others out", checkHistories, func(t *tape) { take(take(t, "a", 1, 5).lease("a", history.Renew, ok, 1, 9, ""), "b", 2, 9) }},
		{"refused, and it is free", checkHistories, func(t *tape) { t.lease("a", history.Acquire, failed, 0, 0, history.Held) }},
		{"refused by an error", "", func(t *tape) { t.lease("a", history.Acquire, failed, 0, 0, "connection refused") }},
	}
}

// D-298: a step of the database's clock ends leases that processes take for valid, and nothing else
// is excused by it.
func TestSteps(t *testing.T) {
	step := func(t *tape) *tape {
		t.final.Steps = append(t.final.Steps, Step{From: t.in(1), To: t.in(2)})
		t.now += 3 * second
		return t
	}
	acquire := func(t *tape, process string, token int64) *tape {
		return t.lease(process, history.Acquire, history.OK, token, 99, "")
	}
	tellAll(t, []story{
		{"a handler after the lease of another was ended by a step", "", func(t *tape) { step(t.commits("a").begins("v", "a", 99)).done("a") }},
		{"a handler beside another one after a step", checkExclusive, func(t *tape) { step(t.commits("a")).begins("v", "a", 99).done("a") }},
		{"a handler that begins late in a step", "", func(t *tape) {
			t.commits("a").done("a")
			t.final.Steps = []Step{{From: t.in(1), To: t.in(5)}}
			t.begins("v", "a", 99)
		}},
		{"a handler after a step of what is done", checkDone, func(t *tape) { step(t.commits("a").done("a")).begins("v", "a", 99) }},
		{"a lease that a step ended", "", func(t *tape) { acquire(step(acquire(t, "a", 1)), "b", 2) }},
		{"a lease beside another after a step", checkHistories, func(t *tape) { acquire(acquire(step(t), "a", 1), "b", 2) }},
	})
}

// D-289: a history with a gap, and effects that were not announced, are refused.
func TestWholeness(t *testing.T) { tellAll(t, wholeStories()) }

func wholeStories() []story {
	return []story{
		{"an event is missing", checkHistory, func(t *tape) { t.commits("a").done("a").events = slices.Delete(t.events, 3, 4) }},
		{"an event is there twice", checkHistory, func(t *tape) { t.commits("a").done("a").events = append(t.events, t.events[4]) }},
		{"an effect is not announced", checkHistory, func(t *tape) {
			t.add("p", history.Enqueue, history.OK, msg("a")).done("a").ledger = []string{"a"}
			t.rows = nil
		}},
		{"time goes back", checkHistory, func(t *tape) { t.commits("a").done("a").events[0].At = 3 * second / 2; t.events[1].At = second }},
		{"a message is there twice", checkHistory, func(t *tape) { t.commits("a").done("a").rows = append(t.rows, t.rows[0]) }},
	}
}

func tellAll(t *testing.T, stories []story) {
	t.Helper()
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			tape := newTape()
			s.tell(tape)
			report := tape.check(t)
			var broken []string
			for _, c := range report.Checks {
				if c.Total > 0 {
					broken = append(broken, c.Check)
				}
			}
			if got := strings.Join(broken, ";"); got != s.want {
				t.Errorf("broken: %q, want %q\n%s", got, s.want, report)
			}
		})
	}
}
