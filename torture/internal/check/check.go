// Package check decides whether a run broke a promise of docs/reliability.md. It reads
// what all processes wrote down and the end state of the database, and believes neither
// alone.
//
// A history is partial: a process may be killed between an effect and its event. Every
// check therefore asks only for what must hold in each case that the events allow, so a
// violation is a broken promise and never bad luck.
package check

import (
	"time"

	"github.com/bravellian/pawl/torture/internal/history"
)

// History is what the processes wrote down.
type History interface {
	// Each calls do for each event in the order of time. It can be called again.
	Each(do func(*history.Event) error) (history.Defects, error)
}

// step is an event and what it is about.
type step struct {
	*history.Event
	process int32
	index   int32
	message *message // nil if it is about none
	began   int64    // when the operation began, 0 if that is not known
	// stale reports whether the lease under which a handler or claim begins may have
	// ended, so that nothing follows from its beginning.
	stale bool
}

// is reports whether a step is of an operation with an outcome.
func (s *step) is(op string, outcome history.Outcome) bool {
	return s.Op == op && s.Outcome == outcome
}

// begins reports whether a process begins to hold the message, as it knows.
func (s *step) begins() bool {
	return s.message != nil && (s.is(history.Handle, history.Began) || s.is(history.Claim, history.OK))
}

// attempts reports whether a handler begins, or somebody claims the message.
func (s *step) attempts() bool { return s.begins() || s.message != nil && s.Op == history.Try }

// rule is a check: event is called for each step in the order of time, end at the end.
type rule struct {
	name  string
	event func(*step)
	end   func()
}

// run is a check of one history.
type run struct {
	final     *Final
	messages  messages
	processes processes
	report    *Report
	results   map[string]*Result
	drainedAt int64
}

// Check checks a history against the end state.
func Check(h History, final Final) (*Report, error) {
	if final.Examples == 0 {
		final.Examples = 10
	}
	if final.Late == 0 {
		final.Late = time.Minute
	}
	r := &run{
		final: &final, messages: newMessages(), processes: newProcesses(), results: map[string]*Result{},
		report: &Report{Outcomes: map[string]int{}, Faults: map[string]int{}},
	}
	rules := r.rules()
	defects, err := h.Each(func(e *history.Event) error {
		r.event(e, rules)
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.defects(defects)
	r.readFinal()
	for _, rule := range rules {
		rule.end()
	}
	for _, rule := range rules {
		r.report.Checks = append(r.report.Checks, *r.result(rule.name))
	}
	r.count()
	return r.report, r.explain(h)
}

// rules returns the checks. Where one follows another's notes the order matters: those
// before holding see who held a message before the event, those after it who does now.
func (r *run) rules() []rule {
	return []rule{
		r.historyRule(), r.lostRule(), r.phantomRule(), r.orderRule(), r.exclusiveRule(), r.limitRule(), r.doneRule(), r.terminalRule(),
		r.joinRule(), r.flowRule(), r.inboxRule(), r.leaseRule(), r.guardRule(), {name: checkHistories, event: func(*step) {}, end: func() {}}, r.jobRule(), r.timerRule(),
		r.expiryRule(), r.uniqueRule(), r.waitRule(), r.attemptRule(), r.drainedRule(), r.countersRule(),
	}
}

func (r *run) event(e *history.Event, rules []rule) {
	s := step{Event: e}
	if e.Message != "" {
		s.message, s.index = r.messages.get(e.Message)
	}
	r.processes.note(&s)
	s.stale = r.stale(&s)
	r.report.Events++
	r.report.Outcomes[e.Op+" "+string(e.Outcome)]++
	switch {
	case s.is(history.Fault, history.Began):
		r.report.Faults[e.Detail]++
	case s.stale && s.begins():
		r.report.Stale++
	}
	for i := range rules {
		rules[i].event(&s)
	}
	// The rules ask what was before this event.
	if s.begins() {
		s.message.begins++
		s.message.set(begun)
		if !s.stale {
			s.message.lastBegun = s.At
		}
	}
	if s.message != nil && s.Op == history.Try {
		s.message.begins++
	}
	if s.message != nil && s.is(history.Handle, history.OK) {
		s.message.set(handled)
	}
}

// stale says when nothing follows from the begin of a handler or claim: its lease has
// ended, or its process was stopped or the database's clock stepped, so that it may have ended.
func (r *run) stale(s *step) bool {
	return r.stepped(s.At, s.At) || s.Until != 0 && s.Until <= s.At || r.processes.all[s.process].stoppedUntil > s.At
}

// until returns the end of the lease under which a handler or claim begins.
func (r *run) until(s *step) int64 {
	if s.Until == 0 && s.Op == history.Handle {
		return s.At + int64(r.final.Lease)/3
	}
	return s.Until
}

// rewound reports whether what was recorded at a time can have been lost at a later one.
func (r *run) rewound(recorded, later int64) bool {
	for _, w := range r.final.Rewinds {
		if recorded >= w.Keeps && recorded <= w.To && later >= w.From {
			return true
		}
	}
	return false
}

// stepped reports whether the database's clock was stepped forward between two times, so that
// a lease of the first may have ended before the second.
func (r *run) stepped(from, to int64) bool {
	for _, w := range r.final.Steps {
		if from <= w.To && to >= w.From {
			return true
		}
	}
	return false
}

// lost reports whether what was recorded at a time can be lost at the end.
func (r *run) lost(recorded int64) bool { return r.rewound(recorded, 1<<62) }

// lostWithin is lost for what was recorded at some time between two: a process that was stopped notes late
// what it did before a rewind.
func (r *run) lostWithin(from, to int64) bool {
	for _, w := range r.final.Rewinds {
		if from <= w.To && to >= w.Keeps {
			return true
		}
	}
	return false
}

// readFinal reads who is in the ledger and in the database.
func (r *run) readFinal() {
	for id := range all(r.final.Ledger) {
		m, _ := r.messages.get(id)
		m.set(kept)
		r.report.Kept++
	}
	for f := range all(r.final.Messages) {
		m, i := r.messages.get(f.ID)
		if m.state != Absent {
			r.violate(checkHistory, f.ID, "", "the database has it twice: %s and %s", m.state, f.State)
		}
		if f.State == Absent {
			r.violate(checkHistory, f.ID, "", "the end state lists it as absent")
		}
		r.messages.at(i).state, m.attempts = f.State, int32(f.Attempts)
	}
}

func (r *run) count() {
	r.report.Messages, r.report.Processes = r.messages.n, len(r.processes.all)-1
	r.messages.each(func(_ int32, m *message) {
		if m.has(handled) {
			r.report.Handled++
		}
		if m.has(begun) && m.begins > 1 {
			r.report.Redelivered++
		}
	})
}

// process is a start of a process.
type process struct {
	name         string
	seq, at      int64
	stoppedUntil int64 // when it is known to run again for long enough
}

// processes are those that wrote an event; number 0 is none.
type processes struct {
	number map[string]int32
	all    []process
}

func newProcesses() processes {
	return processes{number: map[string]int32{}, all: make([]process, 1)}
}

func (p *processes) get(name string) int32 {
	n, ok := p.number[name]
	if !ok {
		n = int32(len(p.all))
		p.number[name] = n
		p.all = append(p.all, process{name: name})
	}
	return n
}

// wakes is how long after SIGCONT a process may act on what it checked before SIGSTOP.
const wakes = int64(3 * time.Second)

// note sets the number of a step's process, and remembers which processes are stopped.
func (p *processes) note(s *step) {
	s.process = p.get(s.Process)
	if s.Op != history.Fault || s.Name == "" || s.Detail != history.Stop && s.Detail != history.StopBriefly {
		return
	}
	switch target := &p.all[p.get(s.Name)]; s.Outcome {
	case history.Began:
		target.stoppedUntil = 1 << 62
	default:
		target.stoppedUntil = s.At + wakes
	}
}
