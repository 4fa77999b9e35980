// Package work is the one work-queue contract of pawl and the one loop that
// serves it: claim under a lease, handle, settle. Outbox, timers, job runs and
// the inbox queue share it.
//
// The fence is the owner token. Whoever claims does so under a token of its
// own; settling touches only what still carries that token, so a worker whose
// lease ran out cannot undo what its successor does (D-13).
package work

import (
	"slices"
	"time"

	"github.com/google/uuid"
)

// OwnerToken identifies one claim. The loop takes a fresh one for every claim
// call, so that even a former claim of the same process is a stranger.
type OwnerToken uuid.UUID

// NewOwnerToken returns a random token.
func NewOwnerToken() OwnerToken { return OwnerToken(uuid.New()) }

// String returns the token as a lower-case hyphenated UUID.
func (t OwnerToken) String() string { return uuid.UUID(t).String() }

// ItemID is an item's position in its queue.
type ItemID int64

// Held is an item as its holder knows it.
type Held struct {
	Owner OwnerToken
	ID    ItemID
}

// Retry puts an item back after a failed attempt.
type Retry struct {
	Held
	Delay *time.Duration // nil: the default backoff
	Error string
}

// Failure ends an item for good.
type Failure struct {
	Held
	Error string
}

// Release puts an item back without counting an attempt.
type Release struct {
	Held
	Delay time.Duration // 0: at once, in its old place
}

// Settlement is what becomes of items that were claimed. The order within it
// does not matter; an item should appear once.
type Settlement struct {
	Acks     []Held
	Retries  []Retry
	Failures []Failure
	Releases []Release
}

// Len is how many items the settlement covers.
func (s *Settlement) Len() int {
	return len(s.Acks) + len(s.Retries) + len(s.Failures) + len(s.Releases)
}

// dueAtOnce reports whether some of it can be claimed again right away.
func (s *Settlement) dueAtOnce() bool {
	for _, r := range s.Releases {
		if r.Delay <= 0 {
			return true
		}
	}
	for _, r := range s.Retries {
		if r.Delay != nil && *r.Delay <= 0 {
			return true
		}
	}
	return false
}

// Run is consecutive ids: Lo … Lo+N−1.
type Run struct{ Lo, N int64 }

// Runs sorts ids, drops doubles, and joins neighbours into runs (D-23).
func Runs(ids []ItemID) []Run {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	var runs []Run
	for _, id := range ids {
		if k := len(runs) - 1; k >= 0 && int64(id) <= runs[k].Lo+runs[k].N {
			runs[k].N = max(runs[k].N, int64(id)-runs[k].Lo+1)
			continue
		}
		runs = append(runs, Run{int64(id), 1})
	}
	return runs
}
