package op

import "github.com/bravellian/pawl/internal/engine"

// GenerationCheck makes the engine check whether the database's history changed. The engine
// keeps the result itself: the caller gets no row.
type GenerationCheck struct {
	engine.Rows[GenerationState]
}

// GenerationState is the state of a server's history.
type GenerationState struct {
	Mark    *string // differs between generations; nil on a standby
	Number  *int64
	Written *int64 // how much is written
}

// GenerationRestored begins a new generation after a restore: with ids and fencing tokens
// above all that may have been allocated, without held leases and without registered
// workers. It returns the generation's number.
type GenerationRestored struct{ engine.Number }
