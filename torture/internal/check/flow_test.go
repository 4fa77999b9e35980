package check

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/bravellian/pawl/torture/internal/history"
)

// D-790: a step that runs after it was stored, rows, signals and ends of flows that come twice or never, and a flow
// that ends otherwise than asked, are refused; what a rewind explains is not.
func TestFlows(t *testing.T) { tellAll(t, slices.Concat(flowStories(), endStories())) }

// D-835: flows that the database has are counted, those that were rolled back and other messages are not.
func TestFlowsAreCounted(t *testing.T) {
	for _, kept := range []int{0, 1} {
		tape := ordered(newTape().commits("m").done("m"), nil)
		finished(tape, nil)
		if tape.rows = append(tape.rows, Message{ID: "m", State: Done}); kept == 0 {
			tape.ledger, tape.rows, tape.flows = []string{"m"}, tape.rows[1:], nil
		}
		if got := tape.check(t).Flows; got != kept {
			t.Errorf("%d flows, want %d", got, kept)
		}
	}
}

// ordered begins the flow "a", of two signals and a part, which calls another one.
func ordered(t *tape, change func(o *Order)) *tape {
	o := Order{Waits: 2, Parts: 1, Ships: true}
	if change != nil {
		change(&o)
	}
	detail, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	e := history.Event{Message: "a", Topic: history.FlowTopic, Detail: string(detail)}
	t.add("p", history.Enqueue, history.Began, e).add("p", history.Enqueue, history.OK, e).ledger = []string{"a"}
	t.add("w", history.Try, history.OK, msg("a"))
	t.flows = []Flow{{
		ID: "a", Rows: map[string]int{Booked: 1, Shipped: 1, Over: 1}, Signals: []int64{1, 2}, Result: `{"charge":"a","taken":[2,1],"parts":[0],"ship":7}`,
	}}
	return t
}

// finished is a flow that is done.
func finished(t *tape, change func(f *Flow)) {
	t.settled("w", "a", history.Done).rows = []Message{{ID: "a", State: Done}}
	if change != nil {
		change(&t.flows[0])
	}
}

// undone is a flow that failed.
func undone(t *tape, change func(f *Flow)) {
	t.settled("w", "a", history.GivenUp).rows = []Message{{ID: "a", State: Failed}}
	t.flows[0].Result, t.flows[0].Error = "", "planned failure"
	delete(t.flows[0].Rows, Over)
	t.flows[0].Rows[Undone] = 2
	if change != nil {
		change(&t.flows[0])
	}
}

func flowStories() []story {
	// step runs a step in an attempt that began so many seconds before.
	step := func(t *tape, outcome history.Outcome, seconds int64) *tape {
		return t.both("w", history.Step, outcome, history.Event{Message: "a", Name: Booked, Nominal: t.in(1 - seconds)})
	}
	signal := func(t *tape, n int64) *tape {
		return t.both("q", history.Signal, history.OK, history.Event{Message: "a", Name: "approval", Place: n})
	}
	without := func(what string) func(f *Flow) { return func(f *Flow) { delete(f.Rows, what) } }
	twice := func(what string) func(f *Flow) { return func(f *Flow) { f.Rows[what] = 2 } }
	return []story{
		{"done", "", func(t *tape) { finished(signal(step(ordered(t, nil), history.OK, 0), 1), nil) }},
		{"a step again that is not known to be stored", "", func(t *tape) {
			finished(step(step(ordered(t, nil), history.Unknown, 0), history.OK, 0), nil)
		}},
		{"a step again in a later attempt", checkFlows, func(t *tape) { finished(step(step(ordered(t, nil), history.OK, 0), history.OK, 0), nil) }},
		{"a step again in an attempt that began before", "", func(t *tape) { finished(step(step(ordered(t, nil), history.OK, 0), history.Unknown, 2), nil) }},
		{"a step again after a rewind", "", func(t *tape) { finished(step(step(ordered(t, nil), history.OK, 0).rewind(), history.OK, 0), nil) }},
		{"a step again after a rewind before it", checkFlows, func(t *tape) {
			finished(step(step(ordered(t, nil).rewind(), history.OK, 0), history.OK, 0), nil)
		}},
		{"a step that was stored is lost", checkFlows, func(t *tape) {
			ordered(t, func(o *Order) { o.Fails = true })
			t.both("q", history.Signal, history.OK, history.Event{Message: "a", Name: history.Cancelling})
			undone(step(t, history.OK, 0), without(Booked))
		}},
		{"a step that was stored is taken away", "", func(t *tape) {
			t.both("q", history.Signal, history.OK, history.Event{Message: "a", Name: history.Cancelling})
			undone(step(ordered(t, nil), history.OK, 0).rewind(), without(Booked))
		}},
		{"booked twice", checkFlows, func(t *tape) { finished(ordered(t, nil), twice(Booked)) }},
		{"never booked", checkFlows, func(t *tape) { finished(ordered(t, nil), without(Booked)) }},
		{"shipped twice", checkFlows, func(t *tape) { finished(ordered(t, nil), twice(Shipped)) }},
		{"never shipped", checkFlows, func(t *tape) { finished(ordered(t, nil), without(Shipped)) }},
		{"shipped, and not asked to", checkFlows, func(t *tape) { finished(ordered(t, func(o *Order) { o.Ships = false }), nil) }},
		{"over twice", checkFlows, func(t *tape) { finished(ordered(t, nil), twice(Over)) }},
		{"never over", checkFlows, func(t *tape) { finished(ordered(t, nil), without(Over)) }},
		{"a signal is lost by its sender's row", checkFlows, func(t *tape) {
			finished(signal(ordered(t, func(o *Order) { o.Waits = 0 }), 3), func(f *Flow) {
				f.Result = `{"charge":"a","taken":[],"parts":[0],"ship":7}`
			})
		}},
		{"a signal is taken away", "", func(t *tape) { finished(signal(ordered(t, nil), 3).rewind(), nil) }},
		{"rows of a flow that was rolled back", checkFlows, func(t *tape) {
			t.both("p", history.Enqueue, history.Failed, history.Event{Message: "a", Topic: history.FlowTopic})
			t.events[0].Detail = "{}"
			t.flows = []Flow{{ID: "a", Rows: map[string]int{Booked: 1}}}
		}},
		{"signals of a flow that was rolled back", checkFlows, func(t *tape) {
			t.both("p", history.Enqueue, history.Failed, history.Event{Message: "a", Topic: history.FlowTopic})
			t.events[0].Detail = "{}"
			t.flows = []Flow{{ID: "a", Signals: []int64{1}}}
		}},
		{"a flow is lost", checkLost, func(t *tape) { ordered(t, nil).flows = nil }},
		{"an attempt after it was done", checkDone, func(t *tape) {
			finished(ordered(t, nil), nil)
			t.add("v", history.Try, history.OK, msg("a"))
		}},
		{"an attempt after it failed", checkTerminal, func(t *tape) {
			undone(ordered(t, func(o *Order) { o.Fails = true }), nil)
			t.add("v", history.Try, history.OK, msg("a"))
		}},
	}
}

func endStories() []story {
	result := func(text string) func(f *Flow) { return func(f *Flow) { f.Result = text } }
	fails := func(o *Order) { o.Fails = true }
	cancel := func(t *tape, outcome history.Outcome) *tape {
		return t.both("q", history.Signal, outcome, history.Event{Message: "a", Name: history.Cancelling})
	}
	return []story{
		{"a signal is taken twice", checkFlows, func(t *tape) { finished(ordered(t, nil), result(`{"charge":"a","taken":[1,1],"parts":[0],"ship":7}`)) }},
		{"a signal that nobody sent", checkFlows, func(t *tape) { finished(ordered(t, nil), func(f *Flow) { f.Signals = []int64{1} }) }},
		{"a signal too few", checkFlows, func(t *tape) { finished(ordered(t, nil), result(`{"charge":"a","taken":[1],"parts":[0],"ship":7}`)) }},
		{"the charge of another flow", checkFlows, func(t *tape) { finished(ordered(t, nil), result(`{"charge":"b","taken":[1,2],"parts":[0],"ship":7}`)) }},
		{"a part is missing", checkFlows, func(t *tape) { finished(ordered(t, nil), result(`{"charge":"a","taken":[1,2],"parts":[],"ship":7}`)) }},
		{"parts in another order", checkFlows, func(t *tape) {
			finished(ordered(t, func(o *Order) { o.Parts = 2 }), result(`{"charge":"a","taken":[1,2],"parts":[10,0],"ship":7}`))
		}},
		{"another result of the flow that it calls", checkFlows, func(t *tape) { finished(ordered(t, nil), result(`{"charge":"a","taken":[1,2],"parts":[0],"ship":0}`)) }},
		{"no result", checkFlows, func(t *tape) { finished(ordered(t, nil), result("")) }},
		{"done, and undone", checkFlows, func(t *tape) { finished(ordered(t, nil), func(f *Flow) { f.Rows[Undone] = 1 }) }},
		{"done, and was to fail", checkFlows, func(t *tape) { finished(ordered(t, fails), nil) }},
		{"failed as it was to", "", func(t *tape) { undone(ordered(t, fails), nil) }},
		{"failed, and was not to", checkFlows, func(t *tape) { undone(ordered(t, nil), nil) }},
		{"failed too early", checkFlows, func(t *tape) { undone(ordered(t, fails), func(f *Flow) { delete(f.Rows, Shipped) }) }},
		{"failed, and not undone", checkFlows, func(t *tape) { undone(ordered(t, fails), func(f *Flow) { delete(f.Rows, Undone) }) }},
		{"failed, and over", checkFlows, func(t *tape) { undone(ordered(t, fails), func(f *Flow) { f.Rows[Over] = 1 }) }},
		{"cancelled", "", func(t *tape) {
			undone(cancel(ordered(t, nil), history.Unknown), func(f *Flow) { f.Rows = map[string]int{} })
		}},
		{"cancelled, and discarded", "", func(t *tape) {
			undone(cancel(ordered(t, nil), history.OK), nil)
			t.rows[0].State = Discarded
		}},
		{"cancelled too late", "", func(t *tape) { finished(cancel(ordered(t, nil), history.OK), nil) }},
		{"cancelled by a call that had no effect", checkFlows, func(t *tape) { undone(cancel(ordered(t, nil), history.Failed), nil) }},
		{"cancelled, and not undone", checkFlows, func(t *tape) {
			undone(cancel(ordered(t, nil), history.OK), func(f *Flow) { delete(f.Rows, Undone) })
		}},
		{"cancelled, and booked twice", checkFlows, func(t *tape) {
			undone(cancel(ordered(t, nil), history.OK), func(f *Flow) { f.Rows[Booked] = 2 })
		}},
		{"discarded", checkTerminal + ";" + checkFlows, func(t *tape) {
			finished(ordered(t, nil), nil)
			t.rows[0].State = Discarded
		}},
	}
}
