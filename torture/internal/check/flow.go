package check

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/bravellian/pawl/torture/internal/history"
)

const checkFlows = "a flow's steps, signals and end count once"

// Order is what a flow is asked to do. Its steps write rows that have their names.
type Order struct {
	Waits  int  `json:"waits,omitempty"`  // how many signals it takes
	Parts  int  `json:"parts,omitempty"`  // of its fan-out
	Ships  bool `json:"ships,omitempty"`  // it calls another flow
	Within int  `json:"within,omitempty"` // so many milliseconds it waits for the first signal; then it asks again, without a limit
	Sleeps int  `json:"sleeps,omitempty"` // milliseconds
	Fails  bool `json:"fails,omitempty"`  // it fails in the end, and is undone
}

// Receipt is what a flow returns.
type Receipt struct {
	Charge string  `json:"charge"` // the id of the flow
	Taken  []int64 `json:"taken"`  // signals, as they were taken
	Parts  []int   `json:"parts"`  // ten times each item
	Ship   int     `json:"ship"`   // what the other flow returned
}

// The rows of flows.
const (
	Booked  = "book" // by a step in a transaction
	Shipped = "ship" // by one of the flow that it calls
	Over    = "over" // at its end, with a message
	Undone  = "undo" // at least once, where it is undone
)

// Shipping is what the other flow returns.
const Shipping = 7

// flowing is what is known of a flow.
type flowing struct {
	order   *Order
	stored  map[string]int64 // steps, and when that was known
	sent    map[int64]int64  // signals, and when that was known
	cancels int              // that may have come
	end     Flow
}

// flowRule: a step does not run in an attempt that begins after it is known to be stored; what a
// step writes in its transaction is there once, as are the row and the message of its end; each signal
// is taken once; and a flow ends as it is asked to, or as cancelled.
func (r *run) flowRule() rule {
	flows := map[string]*flowing{}
	get := func(id string) *flowing {
		f := flows[id]
		if f == nil {
			f = &flowing{stored: map[string]int64{}, sent: map[int64]int64{}}
			flows[id] = f
		}
		return f
	}
	return rule{
		name: checkFlows,
		event: func(s *step) {
			switch {
			case s.is(history.Enqueue, history.Began) && s.Topic == history.FlowTopic:
				f := get(s.Message)
				f.order = &Order{}
				if err := json.Unmarshal([]byte(s.Detail), f.order); err != nil {
					r.violate(checkHistory, s.Message, "", "its order is %q: %v", s.Detail, err)
				}
			case s.Op == history.Step:
				r.flowStep(s, get(s.Message))
			case s.Op == history.Signal:
				get(s.Message).signal(s)
			}
		},
		end: func() {
			for f := range all(r.final.Flows) {
				if id := f.ID; len(f.Rows)+len(f.Signals) > 0 || flows[id] != nil {
					get(id).end = f
				}
			}
			for _, id := range slices.Sorted(maps.Keys(flows)) {
				r.checkFlow(id, flows[id])
			}
		},
	}
}

// flowStep is about a step that runs, or is stored. One that undoes may run again: its row is not of pawl's transaction.
func (r *run) flowStep(s *step, f *flowing) {
	known := f.stored[s.Name]
	if known != 0 && r.rewound(known, s.At) {
		known = 0
	}
	switch {
	case s.Outcome == history.OK:
		f.stored[s.Name] = s.At
	case s.Outcome == history.Began && s.Name != Undone && known != 0 && s.Nominal > known && !s.stale:
		r.about(checkFlows, s.index, s.Name, "the step runs at %d in an attempt that began at %d; it was stored at %d", s.At, s.Nominal, known)
	}
}

func (f *flowing) signal(s *step) {
	switch {
	case s.Name == history.Cancelling && s.Outcome == history.Began:
		f.cancels++
	case s.Name == history.Cancelling && s.Outcome == history.Failed:
		f.cancels--
	case s.Name != history.Cancelling && s.Outcome == history.OK:
		f.sent[s.Place] = s.At
	}
}

// checkFlow compares how a flow ended with what it was asked to do.
func (r *run) checkFlow(id string, f *flowing) {
	m, _ := r.messages.get(id)
	fail := func(format string, args ...any) { r.violate(checkFlows, id, "", format, args...) }
	rows := f.end.Rows
	for _, what := range []string{Booked, Shipped, Over, Undone} {
		switch known := f.stored[what]; {
		case rows[what] > 1 && what != Undone: // that is no transaction of pawl's
			fail("it has %d rows of %q", rows[what], what)
		case rows[what] == 1 && what != Undone && !m.has(kept):
			fail("it has a row of %q, and its own is not in the ledger", what)
		case rows[what] == 0 && known != 0 && !r.lost(known):
			fail("its step %q was stored at %d, and its row is not there", what, known)
		}
	}
	for n, known := range f.sent {
		if !slices.Contains(f.end.Signals, n) && !r.lost(known) {
			fail("signal %d was sent at %d, and its row is not there", n, known)
		}
	}
	if m.has(kept) && f.order != nil {
		r.report.Flows++
	}
	switch {
	case !m.has(kept):
		if len(f.end.Signals) > 0 {
			fail("it got signals, and its row is not in the ledger")
		}
	case f.order == nil:
		fail("nobody began it")
	case m.state == Done:
		r.checkDoneFlow(f, fail)
	case m.state == Expired || m.state == Discarded && f.cancels == 0:
		fail("it is %s at the end", m.state)
	case m.state.failed():
		r.checkFailedFlow(f, fail)
	}
}

func (r *run) checkDoneFlow(f *flowing, fail func(format string, args ...any)) {
	rows, o := f.end.Rows, f.order
	var got Receipt
	if err := json.Unmarshal([]byte(f.end.Result), &got); err != nil {
		fail("its result is %q: %v", f.end.Result, err)
		return
	}
	taken := slices.Sorted(slices.Values(got.Taken))
	right := got.Charge == f.end.ID && len(taken) == o.Waits && len(got.Parts) == o.Parts && got.Ship == shipping(o)
	for i, n := range taken {
		right = right && n == int64(i+1) && slices.Contains(f.end.Signals, n)
	}
	for i, v := range got.Parts {
		right = right && v == 10*i
	}
	switch {
	case o.Fails:
		fail("it is done, and was to fail")
	case !right:
		fail("its result is %s; it was asked for %+v, and got signals %v", f.end.Result, *o, f.end.Signals)
	case rows[Booked] != 1 || rows[Over] != 1 || rows[Shipped] != shipping(o)/Shipping:
		fail("it is done, and has the rows %v", rows)
	case rows[Undone] > 0:
		fail("it is done, and was undone")
	}
}

// shipping is what the other flow returns, if it is called.
func shipping(o *Order) int {
	if o.Ships {
		return Shipping
	}
	return 0
}

func (r *run) checkFailedFlow(f *flowing, fail func(format string, args ...any)) {
	rows := f.end.Rows
	switch {
	case !f.order.Fails && f.cancels == 0:
		fail("it failed: %s", f.end.Error)
	case rows[Over] > 0:
		fail("it failed, and what follows its end was done")
	case f.cancels == 0 && (rows[Booked] != 1 || rows[Shipped] != shipping(f.order)/Shipping):
		fail("it failed before it was to: %s; it has the rows %v", f.end.Error, rows)
	case rows[Booked] > 0 && rows[Undone] == 0:
		fail("it failed, and was not undone")
	}
}
