// Package acts is what the command line and the dashboard read and do of many messages at once: kinds of
// failures, acts on failed messages, messages that get another topic. Package outbox does it.
package acts

import (
	"time"

	"github.com/google/uuid"
)

// Filter is what a bulk act selects: see outbox.FailedFilter.
type Filter struct {
	Topic       string    `json:"topic,omitempty"`
	Queue       string    `json:"queue,omitempty"`
	Error       string    `json:"error,omitempty"`
	Fingerprint string    `json:"fingerprint,omitempty"`
	Since       time.Time `json:"since,omitzero"`
	Before      time.Time `json:"before,omitzero"`
	Limit       int       `json:"limit,omitempty"`
	Rate        int       `json:"rate,omitempty"`
}

// Bulk is a bulk act on failed messages, of Redrive or Discard. One that is stored is worked off in
// steps by every process that runs the outbox, one of them at a time, in the order of positions.
// What a step changed and how far the act is are one transaction: a process that dies repeats and
// skips nothing.
type Bulk struct {
	ID     uuid.UUID `json:"id"`     // also of its entry in the audit trail
	Action string    `json:"action"` // redrive or discard
	// Filter is what it selects. Filter.Before is not later than StartedAt: what fails afterwards
	// is left alone. Ids are left out; see Target.
	Filter Filter `json:"filter"`
	Target string `json:"target"` // what it selects, in words
	Status Status `json:"status"`
	// Total is how many messages it selected when it started, and Changed how many it has changed.
	Total   int64  `json:"total"`
	Changed int64  `json:"changed"`
	Actor   string `json:"actor"` // who started it
	Reason  string `json:"reason,omitempty"`
	// StartedAt is when it was stored; zero if it never was. Times are the database's.
	StartedAt time.Time `json:"started_at,omitzero"`
	SteppedAt time.Time `json:"stepped_at,omitzero"` // when the last step ended
	NextAt    time.Time `json:"next_at,omitzero"`    // when the next step may begin
	EndedAt   time.Time `json:"ended_at,omitzero"`
	StoppedBy string    `json:"stopped_by,omitempty"`
	// EndedSteps is how many of the messages are failed steps of joins that have failed. Redriven by
	// themselves they run again, and their joins stay failed: see join.Joins.Redrive.
	EndedSteps int64 `json:"-"`
}

// Undiscardable is for how long a discard can be taken back.
const Undiscardable = time.Hour

// Status is where a bulk act is in its life.
type Status string

// The states of a bulk act.
const (
	Stored  Status = "stored"  // no process has worked on it yet
	Running Status = "running" // some of it is done
	Done    Status = "done"
	Stopped Status = "stopped" // by StopBulk
)

// Over reports whether the act has ended.
func (b *Bulk) Over() bool { return b.Status == Done || b.Status == Stopped }

// Failure is failed messages of a topic whose last errors are of one kind.
type Failure struct {
	Topic string `json:"topic,omitempty"`
	// Fingerprint is what their errors have in common: the text with # for numbers, times, ids, addresses and
	// paths and … for what stands in quotes or brackets, of 200 characters at most; "": they failed without a
	// text. Of what
	// programs in other languages recorded, numbers alone are left out, and on PostgreSQL alone.
	Fingerprint string    `json:"fingerprint"`
	Count       int64     `json:"count"`
	FirstAt     time.Time `json:"first_at"` // when the first of them failed for good
	LastAt      time.Time `json:"last_at"`
	Position    int64     `json:"position"` // of the newest of them
	Error       string    `json:"error"`    // of that one
	// Others means that these are all that found no place among the 1000 kinds that are told apart.
	Others bool `json:"others,omitempty"`
}

// Retopic says which messages get another topic or queue.
type Retopic struct {
	From string // a topic, or a pattern such as "old.*"
	ID   int64  // the position of the only message of it that is meant; 0: all
	// Topic is the new topic, "": as it was. Where From is a pattern, one that ends in * keeps what the
	// * of From stands for.
	Topic  string
	Queue  string // the new queue, "": as it was
	DryRun bool   // change nothing: the result is what would have been done
}

// Retopiced is what Retopic did.
type Retopiced struct {
	Moved int64 `json:"moved"`
	// Kept is how many would get another queue and have ordering keys: they stay as they were, because
	// the order of a key holds within a queue.
	Kept int64 `json:"kept"`
	// Running is how many a worker holds: they stay as they were. Those that it puts back wait under
	// the old topic.
	Running int64 `json:"running"`
}

// Attempt is an attempt to handle a message that failed.
type Attempt struct {
	Number  int       `json:"attempt"` // 1 is the first, also after a redrive
	EndedAt time.Time `json:"ended_at"`
	Worker  string    `json:"worker,omitempty"` // "" for an expired lease, and for programs that name none
	Error   string    `json:"error,omitempty"`
}
