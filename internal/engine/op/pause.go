package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// Pause is what is paused.
type Pause struct {
	Kind   string // "queue" or "topic"
	Name   string
	At     time.Time
	Actor  string
	Reason *string
	Ending bool // parked messages are yet to be put back
}

// PausePut pauses a queue or topic. It returns 1, or 0 if it was paused before.
type PausePut struct {
	engine.Number `call:"act_pause"`
	Kind          string
	Name          string
	Lane          int64   // where a topic's messages are parked
	Reason        *string `text:"any"`
	Note          Note
}

// PauseEnd ends a pause: a queue's is over then, a topic's parked messages are yet to be put
// back, see PauseUnpark. It returns 1, or 0 if it was not paused.
type PauseEnd struct {
	engine.Number `call:"act_resume"`
	Kind          string
	Name          string
	Note          Note
}

// PauseUnpark puts back parked messages of a topic whose pause ends. It returns how many runs
// were put back; the pause is deleted when there are none.
type PauseUnpark struct {
	engine.Number `call:"outbox_unpark_runs"`
	Topic         string
	Most          int
}

// PauseList reads what is paused.
type PauseList struct{ engine.Rows[Pause] }
