package ui

import (
	"context"
	"net/url"

	"github.com/bravellian/pawl/inbox"
)

func inboxStates() []string {
	return []string{string(inbox.Seen), string(inbox.Processing), string(inbox.Done), string(inbox.Dead)}
}

// inboxes lists messages from outside.
func inboxes(v *visit) (*screen, error) {
	f := v.filter(input{Name: "status", Label: "State", Options: inboxStates()}, input{Name: "source", Label: "Source"}, input{Name: "id", Label: "Message id"})
	return listing(v, "Inbox", f, v.listInbox, inboxTable)
}

// listInbox reads the page that the address asks for, as the visitor may read it.
func (v *visit) listInbox(ctx context.Context, s *store) (pageOf[inbox.Info], error) {
	p, err := v.readInbox(ctx, s)
	for i := range p.rows {
		p.rows[i].LastError = v.private("", p.rows[i].LastError)
	}
	return p, err
}

// readInbox reads the page that the address asks for, or one message if its source and id are known.
func (v *visit) readInbox(ctx context.Context, s *store) (pageOf[inbox.Info], error) {
	q := v.query
	if q.Get("id") != "" && q.Get("source") != "" {
		return onePage(s.Inbox.Get(ctx, q.Get("source"), q.Get("id")))
	}
	if err := oneOf("status", q.Get("status"), inboxStates()); err != nil {
		return pageOf[inbox.Info]{}, err
	}
	var after *inbox.Info
	at, err := fromCursor(q.Get("after"))
	if err != nil {
		return pageOf[inbox.Info]{}, err
	}
	if at != nil {
		after = &inbox.Info{Key: inbox.Key{Source: at[0], MessageID: at[1]}}
	}
	status, id := inbox.Status(q.Get("status")), q.Get("id")
	match := func(m *inbox.Info) bool {
		return (status == "" || m.Status == status) && (id == "" || m.MessageID == id)
	}
	return sift(s.Inbox.List(ctx, inbox.ListOptions{Source: q.Get("source"), After: after}), match, func(m *inbox.Info) string { return cursor(m.Source, m.MessageID) })
}

func inboxTable(s *store, list []inbox.Info) *table {
	t := tableOf("No messages.", []string{"State", "Source", "Message id", "First seen", "Last seen", "Deliveries", "Attempts", "Last error", ""}, list, func(m *inbox.Info) []cell {
		first, actions := state(string(m.Status)), []action(nil)
		if m.Status == inbox.Dead {
			again := action{Do: "revive", Label: "Revive", Fields: []string{"store", s.key, "source", m.Source, "id", m.MessageID}}
			first, actions = pick(first, again.Fields...), []action{again}
		}
		return []cell{
			first, words(m.Source), mono(m.MessageID), at(m.FirstSeenAt), at(m.LastSeenAt), count(m.Deliveries), count(int64(m.Attempts)), words(firstLine(m.LastError)), {Actions: actions},
		}
	})
	return t.selectable(s, action{Do: "revive", Label: "Revive"})
}

func revive(ctx context.Context, s *store, form url.Values) (string, error) {
	return became(s.Inbox.Revive(ctx, inbox.Key{Source: form.Get("source"), MessageID: form.Get("id")}))("message", "revived")
}
