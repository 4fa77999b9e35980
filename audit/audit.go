// Package audit keeps what operators did to a database: who, what, to what, and how
// many messages it was. Components note it in the transaction that does it.
//
//	ctx = audit.As(ctx, "alice@ops")
//	n, err := p.Outbox.Redrive(ctx, outbox.FailedFilter{Topic: "mail"})
//	entries, err := p.Audit.List(ctx, audit.Filter{})
package audit

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/work"
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
	Trigger    = "trigger" // a job
	Enable     = "enable"
	Disable    = "disable"
	Remove     = "remove"
	Release    = "release" // a lease
	Revive     = "revive"  // a dead message of the inbox
	Fix        = "fix"     // what the doctor found
)

// limits of what is kept, in characters; longer texts are cut.
const (
	maxActor  = 255
	maxTarget = 1000
)

type actorKey struct{}

// As returns a context in which actor does what is done: a person, a ticket, a
// program. Otherwise it is this process, host:pid.
func As(ctx context.Context, actor string) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

// actor returns who acts in a context.
func actor(ctx context.Context) string {
	if name, _ := ctx.Value(actorKey{}).(string); strings.TrimSpace(name) != "" {
		return cut(name, maxActor)
	}
	return engine.ProcessName()
}

func cut(s string, limit int) string {
	s = work.ErrorText(s) // what every engine can keep
	if runes := []rune(s); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return s
}

// Note is an operation that is to be noted. It may take several transactions: each
// adds to one entry.
type Note struct {
	id     [16]byte
	actor  string
	target string
}

// New returns a note of what is done to target in a context.
func New(ctx context.Context, target string) Note {
	return Note{id: uuid.Must(uuid.NewV7()), actor: actor(ctx), target: cut(target, maxTarget)}
}

// Args are the last parameters of operations that leave a note: id, actor, target.
func (n Note) Args() []any { return []any{n.id, n.actor, n.target} }

// Call notes an action by itself, for what has no operation that does.
func (n Note) Call(action string, count int64) *engine.Call {
	return engine.Count("audit/note", n.id, n.actor, action, n.target, count)
}

// Entry is something that was done.
type Entry struct {
	ID     uuid.UUID
	At     time.Time // when it began, by the database's clock
	Actor  string
	Action string
	Target string // what it was done to
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
	at, id := time.Date(farFuture, 1, 1, 0, 0, 0, 0, time.UTC), [16]byte{}
	if f.Before != nil {
		at, id = f.Before.At, f.Before.ID
	}
	var all []Entry
	err := t.db.Read(ctx, &engine.Call{
		Op: "audit/list", Args: []any{at, id, work.Optional(f.Actor), work.Optional(f.Action), min(f.Limit, maxList)}, Reset: func() { all = nil },
		Each: func(r engine.Row) error {
			var e Entry
			err := r.Scan((*[16]byte)(&e.ID), &e.At, &e.Actor, &e.Action, &e.Target, &e.Count)
			e.At = e.At.UTC()
			all = append(all, e)
			return err
		},
	})
	return all, err
}

const (
	// retention is how long entries are kept.
	retention = 365 * 24 * time.Hour
	// cleanEntries bounds one transaction of the clean-up.
	cleanEntries = 1000
)

// CleanUp forgets entries older than a year and returns how many. pawl.Pawl does
// this by itself.
func (t *Trail) CleanUp(ctx context.Context) (int64, error) {
	return work.Purge(ctx, t.db, "audit/purge", retention, cleanEntries)
}
