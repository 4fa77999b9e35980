package ui

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/admin"
)

// auditTrail lists what operators did, newest first.
func auditTrail(v *visit) (*screen, error) {
	q := v.query
	sc := &screen{Title: "Audit", Filter: &filter{Fields: []field{
		{Name: "actor", Label: "Who", Value: q.Get("actor")}, {Name: "action", Label: "What", Value: q.Get("action")},
	}, Keep: []string{"store", v.key}}}
	sc.Blocks = v.each(func(ctx context.Context, s *store) ([]block, error) {
		p, err := v.listAudit(ctx, s)
		if err != nil {
			return nil, err
		}
		t := &table{Head: []string{"When", "Who", "What", "To what", "How many", "Why"}, None: "Nobody changed anything."}
		for i := range p.rows {
			e := &p.rows[i]
			t.Rows = append(t.Rows, []cell{at(e.At), words(who(e)), words(e.Action), words(e.Target), count(e.Count), words(e.Reason)})
		}
		return []block{{Table: lead(v, s, t, p)}}, nil
	})
	return sc, nil
}

// who is who was named and, where it is another, who the database knows.
func who(e *admin.Entry) string {
	if e.Login == "" || e.Login == e.Actor {
		return e.Actor
	}
	return e.Actor + " (" + e.Login + ")"
}

// listAudit reads the page that the address asks for.
func (v *visit) listAudit(ctx context.Context, s *store) (pageOf[admin.Entry], error) {
	q := v.query
	var after *admin.Entry
	if at := fromCursor(q.Get("after")); len(at) == 2 {
		before, _ := time.Parse(time.RFC3339Nano, at[0])
		id, _ := uuid.Parse(at[1])
		after = &admin.Entry{ID: id, At: before}
	}
	var match func(*admin.Entry) bool
	if actor, action := q.Get("actor"), q.Get("action"); actor != "" || action != "" {
		match = func(e *admin.Entry) bool {
			return (actor == "" || e.Actor == actor) && (action == "" || e.Action == action)
		}
	}
	return sift(after, func(after *admin.Entry, limit int) ([]admin.Entry, error) {
		return s.Admin.Audit(ctx, admin.AuditOptions{After: after, Limit: limit})
	}, match, func(e *admin.Entry) string { return cursor(e.At.Format(time.RFC3339Nano), e.ID.String()) })
}
