package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

func pauses() []engine.Operation {
	return []engine.Operation{PauseEnd{}, PauseList{}, PausePut{}, PauseUnpark{}}
}

// Pause is what is paused.
type Pause struct {
	Kind   string // "queue" or "topic"
	Name   string
	At     time.Time
	Actor  string
	Reason *string
	Ending bool // what was laid aside has yet to come back
}

// PausePut pauses a queue or topic. It answers 1, or 0 if it was paused before.
type PausePut struct {
	engine.Number
	Kind   string
	Name   string
	Lane   int64 // where a topic's messages are laid aside
	Reason *string
	Note   Note
}

// PauseEnd ends a pause: a queue's is over then, what was laid aside of a topic has yet
// to come back, see PauseUnpark. It answers 1, or 0 if it was not paused.
type PauseEnd struct {
	engine.Number
	Kind string
	Name string
	Note Note
}

// PauseUnpark brings back what was laid aside of a topic whose pause ends. It answers how
// many runs came back; the pause is forgotten when none do.
type PauseUnpark struct {
	engine.Number
	Topic string
	Most  int
}

// PauseList reads what is paused.
type PauseList struct{ engine.Rows[Pause] }
