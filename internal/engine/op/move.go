package op

import "github.com/bravellian/pawl/internal/engine"

// Phases of a move. The old database has the first three, the new one the others.
const (
	Copying = "copying" // it is worked on as before; messages are copied
	Closed  = "closed"  // nobody can write; the rest is copied
	Moved   = "moved"   // it is over: the other database is the store
	Filling = "filling" // nobody else can write
	Arrived = "arrived" // it is over: this is the store
)

// Move is the state of a database of which, or into which, a store is moved. All but Store are
// nil where none is.
type Move struct {
	Store      [16]byte // the generation, which differs between databases
	ID         *[16]byte
	Role       *string // "from" or "to"
	Phase      *string
	Place      *string // of the other database, without a password
	SchemaName *string // there
	Prefix     *string
}

// MoveRead reads the state. One row.
type MoveRead struct{ engine.Rows[Move] }

// MovePut sets the state. It returns 0, and changes nothing, if the phase is another than the one
// it is to follow.
type MovePut struct {
	engine.Changes
	ID         [16]byte
	Was        string // any other word if there is none
	Role       string
	Phase      string
	Place      string
	SchemaName string
	Prefix     string
}

// MoveTouch locks the state until the transaction ends. It returns 0 if it is another.
type MoveTouch struct {
	engine.Changes
	ID    [16]byte
	Phase string
}

// MoveForget deletes the state.
type MoveForget struct{ engine.Changes }

// MovedTable is how far a table was copied.
type MovedTable struct {
	Name   string
	Last   string // key of the last row, as JSON
	N      int64
	IsOver bool
}

// MoveTables reads how far the tables were copied.
type MoveTables struct{ engine.Rows[MovedTable] }

// MoveCopied sets how far a table was copied. It returns 0, and changes nothing, if it is not as
// far as was believed.
type MoveCopied struct {
	engine.Changes
	Name   string
	Before string // Last until now; "" for a table that was not begun
	Last   string
	N      int64
	IsOver bool
}

// MoveClear deletes how far the tables were copied.
type MoveClear struct{ engine.Changes }

// Reach is the highest position that was given to anybody, below 2^47 and from there on; 0 where
// there was none, or none after those that came with a move.
type Reach struct{ Low, High int64 }

// MoveReach reads it. One row.
type MoveReach struct{ engine.Rows[Reach] }

// MoveAhead makes the next positions higher than those.
type MoveAhead struct {
	engine.Changes
	Low  int64
	High int64
}
