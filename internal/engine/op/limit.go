package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// Limit bounds the messages of a topic or queue, or of each topic of a pattern.
type Limit struct {
	Kind        string // "queue", "topic" or "each"
	Name        string
	Concurrency *int64     // how many are claimed at once; nil: any number
	Rate        *int64     // how many are claimed in each period; nil: any number
	Micros      int64      // the period
	Burst       int64      // how many may be claimed at once, by the rate
	NextAt      *time.Time // when the next one may be claimed, by the rate; nil: it was never used
	At          time.Time
	Actor       string
	Reason      *string
	Declared    *string // what a program declares, where somebody else set the limit
}

// LimitPut sets a limit. It returns 1, or 0 if it was set so before. What is claimed when it is set
// counts against the concurrency.
type LimitPut struct {
	engine.Number `call:"act_limit"`
	Kind          string
	Name          string
	Concurrency   *int
	Rate          *int
	Period        time.Duration
	Burst         int
	Reason        *string `text:"any"`
	Note          Note
}

// LimitDeclare sets a limit in the name of a program or, without concurrency and rate, removes it. It
// returns 1, 0 if nothing changes, or -1 if somebody else set the limit: that one
// stays, and shows what is declared.
type LimitDeclare struct {
	engine.Number `call:"limit_declare"`
	Kind          string
	Name          string
	Concurrency   *int
	Rate          *int
	Period        time.Duration
	Burst         int
	Owner         string
	Reason        string  `text:"any"`
	Declared      *string // what is declared, in words; nil: nothing
}

// LimitRemove removes a limit. It returns 1, or 0 if there was none.
type LimitRemove struct {
	engine.Number `call:"act_unlimit"`
	Kind          string
	Name          string
	Note          Note
}

// LimitList reads the limits.
type LimitList struct{ engine.Rows[Limit] }

// LimitFor reads the limits that messages of a topic in a queue are under. There is none for a topic
// of a pattern where nothing was claimed lately.
type LimitFor struct {
	engine.Rows[LimitHeld]
	Queue, Topic string
}

// LimitHeld is a limit of a topic or queue.
type LimitHeld struct {
	Kind        string // "queue" or "topic"
	Name        string
	Pattern     string // of the limit for each topic that this one is of, or empty
	Concurrency *int64
	Rate        *int64
	Micros      int64
	NextAt      *time.Time
	Claimed     int64
}

// LimitUse reads how much of the limits is used. What waits is counted up to 1 000 runs.
type LimitUse struct{ engine.Rows[LimitUsed] }

// LimitUsed is how much of a limit is used.
type LimitUsed struct {
	Kind    string
	Name    string
	Claimed int64 // messages that count against the concurrency
	Waiting int64 // messages of a topic that are due, and were met by a claim
	Micros  int64 // for how long the oldest of these has been due
}
