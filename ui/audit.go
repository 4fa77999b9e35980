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
		list, err := s.Admin.Audit(ctx, v.auditOptions())
		if err != nil {
			return nil, err
		}
		t := &table{Head: []string{"When", "Who", "What", "To what", "How many", "Why"}, None: "Nobody changed anything."}
		for i := range list {
			e := &list[i]
			t.Rows = append(t.Rows, []cell{at(e.At), words(e.Actor), words(e.Action), words(e.Target), count(e.Count), words(e.Reason)})
		}
		if len(list) == pageSize {
			t.More = v.here("store", s.key, "after", entryCursor(&list[len(list)-1]))
		}
		return []block{{Table: t}}, nil
	})
	return sc, nil
}

// auditOptions are the filters of the address.
func (v *visit) auditOptions() admin.AuditOptions {
	q := v.query
	opts := admin.AuditOptions{Actor: q.Get("actor"), Action: q.Get("action"), Limit: pageSize}
	if after := fromCursor(q.Get("after")); len(after) == 2 {
		before, _ := time.Parse(time.RFC3339Nano, after[0])
		id, _ := uuid.Parse(after[1])
		opts.After = &admin.Entry{ID: id, At: before}
	}
	return opts
}

// entryCursor is where the page behind an entry begins.
func entryCursor(e *admin.Entry) string { return cursor(e.At.Format(time.RFC3339Nano), e.ID.String()) }
