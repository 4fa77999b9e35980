package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// FlowCancel is the name of the signal that cancels a flow.
const FlowCancel = ""

// Headers of the messages of parts and of child flows.
const (
	FlowPart = "flow-part" // the step that it is a part of
	FlowRun  = "flow-run"  // the flow that it belongs to
)

// The kinds of rows that FlowLoad and FlowShow return.
const (
	FlowClock  = iota - 3 // the database's time, once, of no flow
	FlowWait              // what the flow is, or was, parked for; of FlowShow
	FlowSignal            // a signal; the others are steps
	FlowDone
	FlowFailed
	FlowBegun
	FlowTimedOut
	FlowEnding // of the flow: it has failed, and its effects are being undone
)

// FlowStates returns the words for the kinds of steps, from FlowDone on.
func FlowStates() engine.Words { return engine.Words{"done", "failed", "begun", "timed out", "ending"} }

// FlowStep is what a run of a flow need not do again.
type FlowStep struct {
	Owner  [16]byte
	ID     int64  // the position of the flow's message
	Name   string // unique in the flow with Kind
	Kind   int
	Nr     int // the order of steps
	Retry  int // how many attempts of the message had failed
	Signal int // the number of the signal that it took, or 0
	Result []byte
}

// FlowKeep stores steps, in order of their positions, whose messages their owners hold, and holds
// these until the transaction ends. One that is stored already stays as it is. It changes as many rows
// as are held.
type FlowKeep struct {
	engine.Changes
	Steps []FlowStep
}

// FlowLoad reads the steps of flows, their signals, and the time.
type FlowLoad struct {
	engine.Rows[FlowRow]
	engine.Bounded
	IDs []int64
}

// FlowRow is a step as it is stored, or a signal.
type FlowRow struct {
	ID        int64
	Kind      int
	Nr        int
	Name      string
	Retry     int
	Signal    int // of a step: the number of the one it took, or 0; of a signal: its own
	Result    []byte
	CreatedAt time.Time
}

// FlowParked is a claimed flow that is to be parked until a signal comes, or until a delay has
// passed; nil: for ever.
type FlowParked struct {
	Owner [16]byte
	ID    int64
	Name  string // of the signal
	Delay *time.Duration
}

// FlowPark parks flows, in order of their positions, without counting an attempt. One that has
// the signal it waits for, or one that cancels it, is due at once. It returns how many were held.
type FlowPark struct {
	engine.Number
	Parks []FlowParked
}

// FlowPutSignal sends a flow a signal, and makes it due if it waits for that. It changes 0 rows if
// the message is unknown, 1 if it was sent, 2 if the flow is over.
type FlowPutSignal struct {
	engine.Changes
	MessageID [16]byte
	Name      string
	Payload   []byte
}

// FlowShow reads for people: what flows are parked for, and of their steps and signals at most so many.
// Steps are in their order, from a number on; signals are the newest that no step took.
type FlowShow struct {
	engine.Rows[FlowShown]
	engine.Bounded
	IDs  []int64
	From int // only steps with this number, and later ones
	Most int
	Cut  int // bytes of a result; the rest is left out
}

// FlowShown is a row as FlowRow has it, or a wait.
type FlowShown struct {
	FlowRow
	Size   int       // of its result, whole
	JoinID *[16]byte // of a wait: the join that is not over; nil: for a signal, or a time
}
