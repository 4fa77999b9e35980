package engine

import (
	"context"
	"iter"
)

// EndTeller is a DB whose processes tell each other of messages that have ended. What is asked or told may
// get lost: who waits reads now and then.
type EndTeller interface {
	// HearEnds has ended called with the positions of which others told, or with nil when something may
	// have been missed, until leave is called.
	HearEnds(ended func(positions []int64)) (leave func())
	// AskEnds asks the other processes to tell of the ends of these messages for the next 15 seconds. The
	// caller hears, and reads once more. An error means that they may not be asked.
	AskEnds(ctx context.Context, positions []int64) error
	// TellEnds tells who asked for the end of some of these messages, which are committed. It does not wait,
	// and costs nothing if nobody asked.
	TellEnds(positions iter.Seq[int64])
}
