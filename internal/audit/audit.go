// Package audit keeps what operators did to a database: who, what, to what, and how
// many messages it was. Components note it in the transaction that does it.
//
//	ctx = audit.WithReason(audit.WithActor(ctx, "alice@ops"), "INC-42")
//	n, err := p.Outbox.Redrive(ctx, outbox.FailedFilter{Topic: "mail"})
//	entries, err := p.Audit.List(ctx, audit.Filter{})
package audit

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
)

// What pawl notes as done, as Entry.Action says it. A program may note more; see
// Note.Call.
const (
	Redrive    = "redrive"
	Discard    = "discard"
	Cancel     = "cancel"
	Reschedule = "reschedule"
	Pause      = "pause"
	Resume     = "resume"
	Put        = "put"     // a job, new or changed
	Trigger    = "trigger" // a job
	Enable     = "enable"
	Disable    = "disable"
	Remove     = "remove"
	Release    = "release" // a lease
	Revive     = "revive"  // a dead message of the inbox
	Fix        = "fix"     // what the doctor found
	Restore    = "restore" // the database counts as restored
)

// limits of what is kept, in characters; longer texts are cut.
const (
	maxActor  = 255
	maxTarget = 1000
)

// MaxReason is how much of a reason is kept, in characters.
const MaxReason = 1000

type (
	actorKey  struct{}
	reasonKey struct{}
)

// WithActor returns a context in which actor does what is done: a person, a
// program. Otherwise it is this process, host:pid.
func WithActor(ctx context.Context, actor string) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

// WithReason returns a context in which what is done is done for a reason, such as
// a ticket. An empty one leaves the reason that ctx has.
func WithReason(ctx context.Context, reason string) context.Context {
	if reason == "" {
		return ctx
	}
	return context.WithValue(ctx, reasonKey{}, reason)
}

// actor returns who acts in a context.
func actor(ctx context.Context) string {
	if name, _ := ctx.Value(actorKey{}).(string); strings.TrimSpace(name) != "" {
		return cut(name, maxActor)
	}
	return engine.ProcessName()
}

// reason returns why something is done in a context; nil: nobody said.
func reason(ctx context.Context) *string {
	text, _ := ctx.Value(reasonKey{}).(string)
	if strings.TrimSpace(text) == "" {
		return nil
	}
	text = cut(text, MaxReason)
	return &text
}

func cut(s string, limit int) string {
	s = worker.ErrorText(s) // what every engine can keep
	if runes := []rune(s); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return s
}

// Note is an operation that is to be noted. It may take several transactions: each
// adds to one entry. The zero value notes nothing.
type Note struct {
	id     [16]byte
	actor  string
	target string
	reason *string
}

// New returns a note of what is done to target in a context.
func New(ctx context.Context, target string) Note {
	return Note{id: uuid.Must(uuid.NewV7()), actor: actor(ctx), target: cut(target, maxTarget), reason: reason(ctx)}
}

// Op is the note as operations take it.
func (n Note) Op() op.Note {
	if n == (Note{}) {
		return op.Note{}
	}
	return op.Note{ID: &n.id, Actor: n.actor, Target: n.target, Reason: n.reason}
}

// Call notes an action by itself, for what has no operation that does.
func (n Note) Call(action string, count int64) *engine.Call {
	return engine.Ask(op.AuditNote{Note: n.Op(), Action: action, N: count})
}

// Entry is something that was done.
type Entry struct {
	ID     uuid.UUID
	At     time.Time // when it began, by the database's clock
	Actor  string
	Action string
	Target string // what it was done to
	Reason string // "": none was given
	Count  int64  // how many messages, or whatever the target is made of
}

// Filter selects entries. The zero value lists the newest 100.
type Filter struct {
	Actor  string // "": any
	Action string // "": any
	Before *Entry // only older entries than this, to page on; nil: all
	Limit  int    // default 100, at most 10 000
}

const (
	defaultList = 100
	maxList     = 10_000
)

// Trail is the audit trail of a database. It is safe for concurrent use.
type Trail struct{ db engine.DB }

// Open returns the trail of a database.
func Open(db engine.DB) *Trail { return &Trail{db} }

// farFuture is later than any entry.
const farFuture = 9999

// List returns what was done, newest first.
func (t *Trail) List(ctx context.Context, f Filter) ([]Entry, error) {
	if f.Limit <= 0 {
		f.Limit = defaultList
	}
	list := op.AuditList{
		Before: time.Date(farFuture, 1, 1, 0, 0, 0, 0, time.UTC), Actor: worker.Optional(f.Actor), Action: worker.Optional(f.Action), Most: min(f.Limit, maxList),
	}
	if f.Before != nil {
		list.Before, list.BeforeID = f.Before.At, f.Before.ID
	}
	found, err := engine.Query(ctx, t.db, list)
	var all []Entry
	for i := range found {
		all = append(all, entry(&found[i]))
	}
	return all, err
}

// entry is one as it is stored.
func entry(e *op.AuditEntry) Entry {
	return Entry{ID: e.ID, At: e.At.UTC(), Actor: e.Actor, Action: e.Action, Target: e.Target, Reason: worker.Value(e.Reason), Count: e.N}
}

const (
	// retention is how long entries are kept.
	retention = 365 * 24 * time.Hour
	// cleanEntries bounds one transaction of the clean-up.
	cleanEntries = 1000
)

// CleanUp deletes entries older than a year and returns how many. pawl.Pawl does
// this by itself.
func (t *Trail) CleanUp(ctx context.Context) (int64, error) {
	return worker.Purge(ctx, t.db, op.AuditPurge{Age: retention, Most: cleanEntries})
}
