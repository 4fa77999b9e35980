package queue

import (
	"context"
	"time"
)

// Work is how a component claims and settles its items for programs that run loops of their own.
type Work[T, ID any] struct {
	// Claim claims at most n due items. Everything but n was checked.
	Claim func(ctx context.Context, owner [16]byte, lease time.Duration, n int) ([]*T, error)
	// Settle ends the claim of items, and returns how many owner held.
	Settle func(ctx context.Context, owner [16]byte, ids []ID, o Outcome) (int64, error)
	// Reap puts back what has expired, and returns how much.
	Reap func(ctx context.Context) (int64, error)
}

// How a claim ends.
const (
	Done = iota
	Abandoned
	Failed
)

// Outcome is how a claim ends.
type Outcome struct {
	As    int            // Done, Abandoned or Failed
	Delay *time.Duration // until the next attempt; nil: the backoff
	Error *string        // why; nil: no reason was given
}
