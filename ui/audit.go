package ui

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
)

// auditTrail lists what operators did, newest first.
func auditTrail(v *visit) (*screen, error) {
	return listing(v, "Audit", v.filter(input{Name: "actor", Label: "Who"}, input{Name: "action", Label: "What"}), v.listAudit, func(s *store, list []audit.Entry) *table {
		return tableOf("Nobody changed anything.", []string{"When", "Who", "What", "To what", "How many", "Why", ""}, list, func(e *audit.Entry) []cell {
			return []cell{at(e.At), words(who(e)), words(e.Action), words(e.Target), count(e.Count), words(e.Reason), {Actions: undiscardsAct(s, e.Action, e.ID, e.At)}}
		})
	})
}

// who is who was named and, where it is another, who the database knows.
func who(e *audit.Entry) string {
	if e.Login == "" || e.Login == e.Actor {
		return e.Actor
	}
	return e.Actor + " (" + e.Login + ")"
}

// listAudit reads the page that the address asks for.
func (v *visit) listAudit(ctx context.Context, s *store) (pageOf[audit.Entry], error) {
	q := v.query
	after, err := entryAt(q.Get("after"))
	if err != nil {
		return pageOf[audit.Entry]{}, err
	}
	actor, action := q.Get("actor"), q.Get("action")
	match := func(e *audit.Entry) bool {
		return (actor == "" || e.Actor == actor) && (action == "" || e.Action == action)
	}
	return sift(audit.List(ctx, s.db(), audit.Options{After: after}), match, func(e *audit.Entry) string { return cursor(e.At.Format(time.RFC3339Nano), e.ID.String()) })
}

// entryAt is the entry that the parameter after names; nil if it is not given.
func entryAt(after string) (*audit.Entry, error) {
	parts, err := fromCursor(after)
	if parts == nil {
		return nil, err
	}
	at, badTime := time.Parse(time.RFC3339Nano, parts[0])
	id, badID := uuid.Parse(parts[1])
	if badTime != nil || badID != nil {
		return nil, engine.Invalid("after", "none of a list's")
	}
	return &audit.Entry{ID: id, At: at}, nil
}
