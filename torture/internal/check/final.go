package check

import (
	"iter"
	"time"
)

// State is the state of a message in the database.
type State uint8

// The states. What is not in the database is Absent.
const (
	Absent State = iota
	Ready
	Claimed
	Done
	Failed
	Discarded
	Expired
)

// String returns the state's name.
func (s State) String() string {
	names := []string{"absent", "ready", "claimed", "done", "failed", "discarded", "expired"}
	if int(s) < len(names) {
		return names[s]
	}
	return "unknown"
}

// terminal reports whether nobody but an operator changes the state again.
func (s State) terminal() bool { return s >= Done }

// failed reports whether it is over and was not handled, as joins count.
func (s State) failed() bool { return s >= Failed }

// Final is the end state of a run, and what it was configured with. Sequences that are
// nil are empty; each is read once.
type Final struct {
	// Ledger are the ids of messages whose row in the user's table exists now. After a
	// failover or a restore these are the rows that the database kept.
	Ledger iter.Seq[string]
	// Messages are those in the database.
	Messages iter.Seq[Message]
	// Effects are the rows of the table that effects of Inbox.Once write to.
	Effects iter.Seq[Effect]
	// Guards are the rows that guarded transactions wrote, in the order of their writes. Nil:
	// they wrote none, and are not checked by them.
	Guards iter.Seq[Guard]
	// Runs are the jobs' recorded runs and misses.
	Runs  iter.Seq[Run]
	Jobs  []Job
	Joins []Join
	// Flows are what flows and their steps wrote, and how they ended.
	Flows  iter.Seq[Flow]
	Timers []Timer // those still scheduled

	// Counted is how many messages the workers' counters have as done; nil: they were not read.
	Counted *int64

	// Limits are how many messages of a topic may be claimed at once: the greatest that
	// was set in the run.
	Limits map[string]int
	// Rewinds are when the database's history was rewound, in order.
	Rewinds []Rewind
	// Steps are when the database's clock was stepped forward, in order.
	Steps []Step
	// Lease is for how long a worker's claims last. A handler begins with a third of it
	// left. Handlers whose event has no Until are checked by that; zero: they are not.
	Lease time.Duration
	// Waits is how long what is due may wait beside faults; zero: any time.
	Waits time.Duration
	// Late is how long after its process stopped waiting a call on a lease may still take
	// effect; zero: a minute.
	Late time.Duration
	// Examples is how many violations of a check are reported in full; zero: ten.
	Examples int
}

// Message is a message in the database.
type Message struct {
	ID       string `json:"id"`
	State    State  `json:"state"`
	Attempts int    `json:"attempts"` // that are counted
}

// Effect is how often a message of the inbox had its effect.
type Effect struct {
	Source  string `json:"source"`
	Message string `json:"message"`
	Count   int    `json:"count"`
}

// Guard is a row that a transaction wrote under the guard of a lease.
type Guard struct {
	Name  string `json:"name"`
	Token int64  `json:"token"`
}

// Join is a join's row.
type Join struct {
	Name   string `json:"name"`
	Total  int    `json:"total"`
	Done   int    `json:"done"`
	Failed int    `json:"failed"`
	Fired  int    `json:"fired"` // waits that sent their follow-up
}

// Flow is what is in the database of a flow. One that has written nothing and has no result may be missing.
type Flow struct {
	ID      string         `json:"id"`
	Rows    map[string]int `json:"rows,omitempty"`    // that its steps wrote, by their names
	Signals []int64        `json:"signals,omitempty"` // that were sent, by the rows of their senders
	Result  string         `json:"result,omitempty"`
	Error   string         `json:"error,omitempty"` // with which it failed
}

// Timer is a timer that is still scheduled.
type Timer struct {
	ID  string `json:"id"`
	Due int64  `json:"due"` // nanoseconds
}

// Run is a run that a job has recorded, or a nominal time that it recorded as missed.
type Run struct {
	Job     string `json:"job"`
	Nominal int64  `json:"nominal"`
	Message string `json:"message,omitempty"` // of a run
	Missed  bool   `json:"missed,omitempty"`
}

// Job is a job with one nominal time every Every nanoseconds from From to To, both included.
type Job struct {
	Name            string
	From, To, Every int64
}

// Rewind is a failover or restore after which the database lacks what it had. From is
// when it began. To is the last moment at which a process may still have worked with
// what is gone: when the new server is reached by all, plus a lease. What a process
// recorded until To may be lost; what it recorded before Keeps is not.
type Rewind struct {
	From  int64 `json:"from"`
	To    int64 `json:"to"`
	Keeps int64 `json:"keeps"`
}

// Step is a step forward of the database's clock. Leases that were granted before end for the
// database at once. From is before it, To the last moment at which a process may still
// take such a lease for valid.
type Step struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// all returns the values of a sequence that may be nil.
func all[T any](s iter.Seq[T]) iter.Seq[T] {
	if s == nil {
		return func(func(T) bool) {}
	}
	return s
}
