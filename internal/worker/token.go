// Package worker is the one work-queue contract of pawl and the one loop that
// serves it: claim under a lease, handle, settle. Outbox, timers, job runs and
// the inbox queue share it.
//
// The fence is the owner token. Whoever claims does so under a token of its
// own; settling touches only what still carries that token, so a worker whose
// lease ran out cannot undo what its successor does (D-13).
package worker

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/google/uuid"
)

// OwnerToken identifies one claim. The loop takes a fresh one for every claim
// call, so that even a former claim of the same process is a stranger.
type OwnerToken uuid.UUID

// NewOwnerToken returns a random token.
func NewOwnerToken() OwnerToken { return OwnerToken(uuid.New()) }

// Tag marks the owner tokens of one process, so that the owner of a
// claim can be told apart. 0 is none.
type Tag uint32

// TagOf returns the tag of the process that goes by an id in the list of workers:
// its last bits, which are random in UUIDs of versions 4 and 7.
func TagOf(id uuid.UUID) Tag { return Tag(binary.BigEndian.Uint32(id[12:])) }

// NewOwnerToken returns a token that carries the tag, a UUID of version 8: 32 bits
// tag, the other 90 random. What guards a claim are the random ones.
func (t Tag) NewOwnerToken() OwnerToken {
	token := NewOwnerToken()
	if t != 0 {
		binary.BigEndian.PutUint32(token[:], uint32(t))
		token[6] = token[6]&0x0f | 0x80
	}
	return token
}

// Tag returns the tag that a token carries, or 0.
func (t OwnerToken) Tag() Tag {
	if uuid.UUID(t).Version() != 8 {
		return 0
	}
	return Tag(binary.BigEndian.Uint32(t[:]))
}

// String returns the token as a lower-case hyphenated UUID.
func (t OwnerToken) String() string { return uuid.UUID(t).String() }

// MarshalText encodes the token as String does.
func (t OwnerToken) MarshalText() ([]byte, error) { return uuid.UUID(t).MarshalText() }

// UnmarshalText decodes what MarshalText encodes.
func (t *OwnerToken) UnmarshalText(text []byte) error { return (*uuid.UUID)(t).UnmarshalText(text) }

// ItemID is an item's position in its queue.
type Position int64

// Held is an item as its holder knows it.
type Held struct {
	Owner OwnerToken
	ID    Position
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
	// Unbegun says that its handler did not begin. A suspect stays one then.
	Unbegun bool
}

// Park parks an item until the pause of its topic ends, without counting an
// attempt.
type Park struct {
	Held
	Topic string
}

// Settlement is what becomes of items that were claimed. The order within it
// does not matter; an item should appear once.
type Settlement struct {
	Acks     []Held
	Retries  []Retry
	Failures []Failure
	Releases []Release
	Parks    []Park
}

// Len is how many items the settlement covers.
func (s *Settlement) Len() int {
	return len(s.Acks) + len(s.Retries) + len(s.Failures) + len(s.Releases) + len(s.Parks)
}

// soonest returns how soon some of it can be claimed again; ok is false for
// never.
func (s *Settlement) soonest() (d time.Duration, ok bool) {
	note := func(delay time.Duration) {
		if !ok || delay < d {
			d, ok = delay, true
		}
	}
	if len(s.Parks) > 0 { // at once, if the pause is over
		note(0)
	}
	for _, r := range s.Releases {
		note(r.Delay)
	}
	for _, r := range s.Retries {
		if r.Delay != nil {
			note(*r.Delay)
		}
	}
	return d, ok
}

// Run is consecutive ids: Lo … Lo+N−1.
type Run struct{ Lo, N int64 }

// Runs sorts ids, drops doubles, and joins neighbours into runs (D-23).
func Runs(ids []Position) []Run {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	var runs []Run
	var last Position
	for i, id := range slices.Compact(ids) {
		if i > 0 && id-1 == last { // id-1 wraps only for the lowest, which comes first
			runs[len(runs)-1].N++
		} else {
			runs = append(runs, Run{int64(id), 1})
		}
		last = id
	}
	return runs
}
