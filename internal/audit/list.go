package audit

import (
	"context"
	"iter"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
)

// Entry is a change that somebody made by hand, noted in the transaction that made it.
type Entry struct {
	ID    uuid.UUID `json:"id"`
	At    time.Time `json:"at,omitzero"` // when it began, by the database's clock
	Actor string    `json:"actor"`       // who was named; without a name, the process
	// Login is the user that the session logged in to the database by: nobody can give another.
	// Empty on SQLite.
	Login string `json:"login,omitempty"`
	// Action is redrive, discard, undiscard, cancel, erase, reschedule, pause, resume, put, trigger,
	// enable, disable, remove, release, revive, fix or restore; start, stop or end of a bulk act.
	Action string `json:"action"`
	Target string `json:"target"` // what was changed
	Reason string `json:"reason,omitempty"`
	// Count is how many messages, or parts of the target, were changed.
	Count int64 `json:"count"`
}

// Options select entries. The zero value lists all.
type Options struct {
	Actor  string // "": any
	Action string // "": any

	After *Entry // only entries that follow this one: its At and ID count; nil: from the beginning
}

// farFuture is a year later than any entry.
const farFuture = 9999

// List returns what operators changed, newest first, which it reads while it is iterated over.
// Entries are kept for a year. An error is the last item.
func List(ctx context.Context, db engine.DB, opts Options) iter.Seq2[Entry, error] {
	return engine.Pages(opts.After, func(after *Entry, most int) (all []Entry, err error) {
		list := op.AuditList{
			Before: time.Date(farFuture, 1, 1, 0, 0, 0, 0, time.UTC), Actor: worker.Optional(opts.Actor), Action: worker.Optional(opts.Action), Most: most,
		}
		if after != nil {
			list.Before, list.BeforeID = after.At, after.ID
		}
		return engine.QueryAs(ctx, db, list, func(e *op.AuditEntry, unread error) (Entry, error) {
			return Entry{ID: e.ID, At: e.At.UTC(), Actor: e.Actor, Login: e.DBUser, Action: e.Action, Target: e.Target, Reason: worker.Value(e.Reason), Count: e.N}, unread
		})
	})
}
