// Package worker defines the work queue that outbox, timers, job runs and the inbox queue
// share, and the loop that serves it: claim under a lease, handle, settle.
//
// The owner token fences writes. Each claim has a token of its own, and settling changes
// only items that still carry it, so a worker whose lease expired cannot undo what the
// next owner does (D-13).
package worker

import (
	"encoding/binary"
	"iter"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Tag marks the owner tokens of one process, so that the owner of a claim can be
// identified. 0 is none.
type Tag uint32

// TagOf returns the tag of the process with this id in the table of workers: the id's last
// 32 bits, which are random in UUIDs of versions 4 and 7.
func TagOf(id uuid.UUID) Tag { return Tag(binary.BigEndian.Uint32(id[12:])) }

// NewOwnerToken returns a token that carries the tag, a UUID of version 8: 32 bits tag, the
// other 90 random. The random bits guard the claim. The loop makes a new one for every claim call, so
// that earlier claims of the same process count as another owner's.
func (t Tag) NewOwnerToken() uuid.UUID {
	token := uuid.New()
	if t != 0 {
		binary.BigEndian.PutUint32(token[:], uint32(t))
		token[6] = token[6]&0x0f | 0x80
	}
	return token
}

// TagIn returns the tag that a token carries, or 0.
func TagIn(t uuid.UUID) Tag {
	if t.Version() != 8 {
		return 0
	}
	return Tag(binary.BigEndian.Uint32(t[:]))
}

// Held identifies an item and the claim that holds it.
type Held struct {
	Owner uuid.UUID
	ID    int64 // its position in its queue
}

// Retry puts an item back after a failed attempt.
type Retry struct {
	Held
	Delay *time.Duration // nil: the default backoff
	Error string
	Yield bool // the items behind it in its line go on
	// Uncounted means that the attempt does not count.
	Uncounted bool
}

// Failure ends an item for good.
type Failure struct {
	Held
	Error     string
	Expired   bool // before an attempt began
	Cancelled bool
	Hold      bool // the items behind it in its line go on waiting
}

// Release puts an item back without counting an attempt.
type Release struct {
	Held
	Delay time.Duration // 0: at once, in its old place
	// NotStarted means that its handler did not start: a suspect stays one then.
	NotStarted bool
}

// Park parks an item until the pause of its topic ends, without counting an attempt.
type Park struct {
	Held
	Topic string
}

// Result is what the handler of an item returned beside its outcome. It goes with an ack.
type Result struct {
	Held
	Data []byte
}

// Settlement lists the outcomes of claimed items. The order does not matter; an item should
// appear once.
type Settlement struct {
	Acks     []Held
	Retries  []Retry
	Failures []Failure
	Releases []Release
	Parks    []Park
	Results  []Result // of some of Acks
	// Missed is set by Queue.Exchange: those of these items that their owners no longer held, so
	// that nothing was written for them. nil: none.
	Missed map[Held]struct{}
	// Freed means that other items can be claimed at once because of these, or of those that
	// their handlers settled.
	Freed bool
}

// Len returns how many items the settlement covers. Results are of items that are acked.
func (s *Settlement) Len() int {
	return len(s.Acks) + len(s.Retries) + len(s.Failures) + len(s.Releases) + len(s.Parks)
}

// Ended returns the ids of the items that are not handled again.
func (s *Settlement) Ended() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for _, h := range s.Acks {
			if !yield(h.ID) {
				return
			}
		}
		for i := range s.Failures {
			if !yield(s.Failures[i].ID) {
				return
			}
		}
	}
}

// soonest returns the delay after which the first of its items can be claimed again; ok is
// false for none.
func (s *Settlement) soonest() (d time.Duration, ok bool) {
	atMost := func(delay time.Duration) {
		if !ok || delay < d {
			d, ok = delay, true
		}
	}
	if len(s.Parks) > 0 { // at once, if the pause is over
		atMost(0)
	}
	for _, r := range s.Releases {
		atMost(r.Delay)
	}
	for _, r := range s.Retries {
		if r.Delay != nil {
			atMost(*r.Delay)
		}
	}
	return d, ok
}

// Run is consecutive ids: Lo … Lo+N−1.
type Run struct{ Lo, N int64 }

// Runs sorts ids, removes duplicates, and joins consecutive ones into runs (D-23).
func Runs[P ~int64](ids []P) []Run {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	var runs []Run
	var last P
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
