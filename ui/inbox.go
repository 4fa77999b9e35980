package ui

import (
	"context"
	"net/url"

	"github.com/bravellian/pawl/inbox"
)

// inboxes lists messages from outside.
func inboxes(v *visit) (*screen, error) {
	q := v.query
	sc := &screen{Title: "Inbox", Filter: &filter{Fields: []field{
		{Name: "status", Label: "State", Value: q.Get("status"), Options: []string{string(inbox.Seen), string(inbox.Processing), string(inbox.Done), string(inbox.Dead)}},
		{Name: "source", Label: "Source", Value: q.Get("source")},
		{Name: "id", Label: "Message id", Value: q.Get("id")},
	}, Keep: []string{"store", v.key}}}
	sc.Blocks = v.each(func(ctx context.Context, s *store) ([]block, error) {
		list, err := v.listInbox(ctx, s)
		if err != nil {
			return nil, err
		}
		return []block{{Table: v.inboxTable(s, list)}}, nil
	})
	return sc, nil
}

// listInbox reads the page that the address asks for, or one message if its source and id are known.
func (v *visit) listInbox(ctx context.Context, s *store) ([]inbox.Info, error) {
	q := v.query
	id := q.Get("id")
	opts := inbox.ListOptions{Status: inbox.Status(q.Get("status")), Source: q.Get("source"), Limit: pageSize}
	if after := fromCursor(q.Get("after")); len(after) == 2 {
		opts.After = &inbox.Info{Key: inbox.Key{Source: after[0], MessageID: after[1]}}
	}
	if id == "" || opts.Source == "" {
		return s.Inbox.List(ctx, opts)
	}
	one, err := s.Inbox.Get(ctx, opts.Source, id)
	if statusOf(err) == 404 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []inbox.Info{*one}, nil
}

func (v *visit) inboxTable(s *store, list []inbox.Info) *table {
	t := &table{Head: []string{"State", "Source", "Message id", "First seen", "Last seen", "Deliveries", "Attempts", "Last error", ""}, None: "No messages."}
	for i := range list {
		m := &list[i]
		var actions []action
		if m.Status == inbox.Dead {
			actions = []action{{Do: "revive", Label: "Revive", Fields: []string{"store", s.key, "source", m.Source, "id", m.MessageID}}}
		}
		t.Rows = append(t.Rows, []cell{
			state(string(m.Status)), words(m.Source), mono(m.MessageID), at(m.FirstSeenAt), at(m.LastSeenAt), count(m.Deliveries), count(int64(m.Attempts)), words(firstLine(m.LastError)), {Actions: actions},
		})
	}
	if len(list) == pageSize {
		last := &list[len(list)-1]
		t.More = v.here("store", s.key, "after", cursor(last.Source, last.MessageID))
	}
	return t
}

func revive(ctx context.Context, s *store, form url.Values) (string, error) {
	return became(s.Inbox.Revive(ctx, inbox.Key{Source: form.Get("source"), MessageID: form.Get("id")}))("message", "revived")
}
