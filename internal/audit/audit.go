// Package audit writes and reads the audit trail: what operators did to a database, who, to what, and how
// many messages it changed. Components record an action in the transaction that performs it.
package audit

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/worker"
)

// Actions that pawl records. A program may record more; see Note.Call.
const (
	Redrive    = "redrive"
	Discard    = "discard"
	Undiscard  = "undiscard" // messages that were discarded once they had failed
	Cancel     = "cancel"
	Erase      = "erase" // what messages say
	Reschedule = "reschedule"
	Retopic    = "retopic" // messages get another topic or queue
	Pause      = "pause"
	Resume     = "resume"
	Limit      = "limit" // a topic or queue
	Unlimit    = "unlimit"
	Put        = "put"     // a job, new or changed
	Trigger    = "trigger" // a job
	Enable     = "enable"
	Disable    = "disable"
	Remove     = "remove"
	Release    = "release" // a lease
	Revive     = "revive"  // a dead message of the inbox
	Fix        = "fix"     // what the doctor found
	Restore    = "restore" // the database counts as restored
	Move       = "move"    // a store, to another database
	Signal     = "signal"  // to a flow
	Start      = "start"   // a bulk act, which is stored
	Stop       = "stop"    // one, before its end
	End        = "end"     // one, because all is done
)

// Limits of what is stored, in characters; longer texts are cut.
const (
	maxActor  = 255
	maxTarget = 1000
)

type (
	actorKey  struct{}
	reasonKey struct{}
	ownKey    struct{}
)

// WithActor returns a context whose changes are recorded as made by actor: a person, a program.
// Without it they are recorded as made by this process, host:pid.
func WithActor(ctx context.Context, actor string) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

// WithReason returns a context whose changes are recorded with a reason, such as a ticket. An
// empty one keeps the reason that ctx has.
func WithReason(ctx context.Context, reason string) context.Context {
	if reason == "" {
		return ctx
	}
	return context.WithValue(ctx, reasonKey{}, reason)
}

// Own returns a context whose changes are pawl's own housekeeping, which is nobody's act: they are
// not recorded, except by the routines that only operators need.
func Own(ctx context.Context) context.Context { return context.WithValue(ctx, ownKey{}, true) }

// actor returns the actor of a context.
func actor(ctx context.Context) string {
	if name, _ := ctx.Value(actorKey{}).(string); strings.TrimSpace(name) != "" {
		return cut(name, maxActor)
	}
	return engine.ProcessName()
}

// reason returns the reason of a context; nil if there is none.
func reason(ctx context.Context) *string {
	text, _ := ctx.Value(reasonKey{}).(string)
	if strings.TrimSpace(text) == "" {
		return nil
	}
	text = cut(text, limits.Reason)
	return &text
}

func cut(s string, limit int) string {
	s = worker.ErrorText(s) // which every engine can store
	if runes := []rune(s); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return s
}

// Note is an action to be recorded. It may take several transactions: each adds to one entry.
// The zero value records nothing.
type Note struct {
	id     [16]byte
	actor  string
	target string
	reason *string
}

// New returns a note of an action on target, by the actor of a context.
func New(ctx context.Context, target string) Note {
	if ctx.Value(ownKey{}) != nil {
		return Note{}
	}
	return Note{id: uuid.Must(uuid.NewV7()), actor: actor(ctx), target: cut(target, maxTarget), reason: reason(ctx)}
}

// Op converts the note for operations.
func (n Note) Op() op.Note {
	if n == (Note{}) {
		return op.Note{}
	}
	return op.Note{ID: &n.id, Actor: n.actor, Target: n.target, Reason: n.reason}
}

// Call returns a call that records an action for which there is no operation.
func (n Note) Call(action string, count int64) *engine.Call {
	return engine.Ask(op.AuditNote{Note: n.Op(), Action: action, N: count})
}

const (
	// retention is how long entries are kept.
	retention = 365 * 24 * time.Hour
	// cleanEntries bounds one transaction of the clean-up.
	cleanEntries = 1000
)

// CleanUp deletes a database's entries that are older than a year and returns how many.
// pawl.Pawl does this by itself.
func CleanUp(ctx context.Context, db engine.DB) (int64, error) {
	return worker.Purge(ctx, db, op.AuditPurge{Age: retention, Most: cleanEntries})
}
