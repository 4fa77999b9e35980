package op

import "github.com/bravellian/pawl/internal/engine"

func generations() []engine.Operation {
	return []engine.Operation{GenerationLook{}, GenerationRestored{}}
}

// GenerationLook has the engine see whether the database's history is still the one
// that it remembers. The engine keeps the answer itself: whoever asks is given no row.
type GenerationLook struct {
	engine.Rows[GenerationSight]
}

// GenerationSight is what a server says of its generation.
type GenerationSight struct {
	Mark    *string // differs between generations; nil on a standby
	Number  *int64
	Written *int64 // how much is written
}

// GenerationRestored begins a new generation after a restore, whatever it was: with
// ids and fencing tokens above everything that may have been given out, and nobody
// holds a lease or counts as working. It answers the generation's number.
type GenerationRestored struct{ engine.Number }
