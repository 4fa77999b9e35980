package quick

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/bravellian/pawl/torture/internal/quick/history"
)

// Run compares what processes reported with what the database says, and returns what of it
// breaks a promise.
func Run(events []history.Event, f *Final) []string {
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b history.Event) int { return cmp.Compare(a.At, b.At) })
	c := &checker{Final: f, byOp: map[string][]history.Event{}, outcomes: map[string]map[string]history.Outcome{}}
	for _, e := range events {
		c.byOp[e.Op] = append(c.byOp[e.Op], e)
	}
	c.ledger = map[string]bool{}
	for _, id := range f.Ledger {
		c.ledger[id] = true
	}
	for _, check := range []func(){
		c.enqueues, c.messages, c.handled, c.settled, c.keys, c.joins, c.inbox, c.timers, c.leases, c.jobs,
	} {
		check()
	}
	return c.found
}

type checker struct {
	*Final
	byOp     map[string][]history.Event
	outcomes map[string]map[string]history.Outcome
	ledger   map[string]bool
	found    []string
	counts   map[string]int
}

// most is how many violations of a kind are written in full.
const most = 20

func (c *checker) violation(kind, format string, args ...any) {
	if c.counts == nil {
		c.counts = map[string]int{}
	}
	if c.counts[kind]++; c.counts[kind] <= most {
		c.found = append(c.found, kind+": "+fmt.Sprintf(format, args...))
	}
}

// rewound reports whether what was committed at a time may be lost.
func (c *checker) rewound(from, to int64) bool {
	return slices.ContainsFunc(c.Rewinds, func(r Rewind) bool { return from <= r.To && to >= r.From })
}

// ends is how the operations of a kind ended, by message or name. One that only began ended
// with its process: what became of it is unknown.
func (c *checker) ends(op string, id func(history.Event) string) map[string]history.Outcome {
	if known, ok := c.outcomes[op]; ok {
		return known
	}
	all := map[string]history.Outcome{}
	for _, e := range c.byOp[op] {
		if e.Outcome == history.Began {
			all[id(e)] = history.Unknown
		} else {
			all[id(e)] = e.Outcome
		}
	}
	c.outcomes[op] = all
	return all
}

func ofMessage(e history.Event) string { return e.Message }
func ofName(e history.Event) string    { return e.Name }

// enqueues: a message is there exactly if its transaction committed.
func (c *checker) enqueues() {
	began := map[string]int64{}
	for _, e := range c.byOp["enqueue"] {
		switch {
		case e.Outcome == history.Began:
			began[e.Message] = e.At
		case e.Outcome == history.OK && !c.ledger[e.Message] && !c.rewound(began[e.Message], e.At):
			c.violation("lost commit", "the row of message %s, committed by %s, is not there", e.Message, e.Process)
		case e.Outcome == history.Failed && c.ledger[e.Message]:
			c.violation("made up", "the row of message %s is there, and %s rolled it back", e.Message, e.Process)
		}
	}
	for _, id := range c.Ledger {
		if _, ok := c.Messages[id]; !ok {
			c.violation("lost", "the row of message %s is there, and the message is not", id)
		}
	}
	for id := range c.ends("enqueue", ofMessage) {
		if m, ok := c.Messages[id]; ok && !c.ledger[id] {
			c.violation("made up", "message %s (%s) is there, and its row is not", id, m.Topic)
		}
	}
}

// messages: everything ends.
func (c *checker) messages() {
	const done = 2
	for id, m := range c.Messages {
		if m.Status != done {
			c.violation("not done", "message %s of topic %s has status %d after %d attempts", id, m.Topic, m.Status, m.Attempts)
		}
	}
}

// handled: what committed was handled, what was rolled back was not.
func (c *checker) handled() {
	handled := map[string]bool{}
	ends := c.ends("enqueue", ofMessage)
	for _, e := range slices.Concat(c.byOp["handle"], c.byOp["ack"], c.byOp["claim"]) {
		if ends[e.Message] == history.Failed {
			c.violation("rolled back", "%s of message %s by %s", e.Op, e.Message, e.Process)
		}
		if e.Op == "ack" && e.Outcome != history.Failed || e.Op == "handle" && e.Outcome == history.OK {
			handled[e.Message] = true
		}
	}
	for _, id := range c.Ledger {
		if m, ok := c.Messages[id]; ok && !handled[id] {
			c.violation("not handled", "message %s of topic %s is done, and nobody handled it", id, m.Topic)
		}
	}
}

// sure is how soon after its handler began an attempt has to be settled so that its lease
// was valid: no handler begins with less than a third of it. A worker whose lease was over
// reports an ack that changed nothing as an ack as well.
const sure = int64(2*time.Second) / 3 // of load.Lease

// settled: what is acked is not begun again.
func (c *checker) settled() {
	acked := c.acked()
	for _, e := range c.byOp["handle"] {
		at := acked[e.Message]
		if at == 0 || e.Outcome != history.Began || e.At < at || c.rewound(at, e.At) || c.stopped(e.Process, at, e.At) {
			continue
		}
		c.violation("doubled", "message %s of topic %s was acked at %d, and %s begins it again at %d", e.Message, e.Topic, at, e.Process, e.At)
	}
}

// acked is when messages were acked of which that is sure.
func (c *checker) acked() map[string]int64 {
	began := map[[2]string]int64{}
	for _, e := range c.byOp["handle"] {
		key := [2]string{e.Process, e.Message}
		switch {
		case e.Outcome != history.Began:
		case began[key] == 0:
			began[key] = e.At
		default:
			began[key] = -1 // more than one: which of them is settled is not known
		}
	}
	acked := map[string]int64{}
	for _, e := range c.byOp["settled"] {
		at := began[[2]string{e.Process, e.Message}]
		if e.Detail == "acked" && acked[e.Message] == 0 && at > 0 && e.At-at < sure {
			acked[e.Message] = e.At
		}
	}
	return acked
}

// stopped reports whether a process was stopped for a while between two times: it may begin
// late what it claimed in time.
func (c *checker) stopped(process string, from, to int64) bool {
	const around = int64(20e9)
	return slices.ContainsFunc(c.byOp["fault"], func(e history.Event) bool {
		return e.Name != "" && len(process) > len(e.Name) && process[:len(e.Name)+1] == e.Name+"." &&
			e.At <= to && e.At >= from-around && (e.Detail == "stop" || e.Detail == "stop-briefly")
	})
}

// keys: of a key, a message begins when the one before it is done.
func (c *checker) keys() {
	type place struct {
		id       string
		n        int64
		began    int64
		finished int64
	}
	all := map[string]*place{}
	lines := map[string][]*place{}
	for _, e := range c.byOp["handle"] {
		if e.Key == "" || !c.ledger[e.Message] {
			continue
		}
		p := all[e.Message]
		if p == nil {
			p = &place{id: e.Message, n: e.Place}
			all[e.Message] = p
			lines[e.Key] = append(lines[e.Key], p)
		}
		switch {
		case e.Outcome == history.Began && p.began == 0:
			p.began = e.At
		case e.Outcome == history.OK && p.finished == 0:
			p.finished = e.At
		}
	}
	for key, line := range lines {
		slices.SortFunc(line, func(a, b *place) int { return cmp.Compare(a.n, b.n) })
		for i := range len(line) - 1 {
			a, b := line[i], line[i+1]
			if (a.finished == 0 || b.began < a.finished) && !c.rewound(a.began, b.began) {
				c.violation("order", "key %s: %d (%s) begins at %d, and %d (%s) is done at %d", key, b.n, b.id, b.began, a.n, a.id, a.finished)
			}
		}
	}
}
