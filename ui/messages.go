package ui

import (
	"context"
	"strconv"
	"time"

	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/outbox"
)

// pageSize is how many rows a page of a list has at most.
const pageSize = 50

// pageRead is how many messages are read for a page of those that match: it is short when few do,
// and leads on.
const pageRead = 10_000

// statuses are the states by which messages are listed.
func statuses() []string {
	return []string{"ready", "scheduled", "running", "done", "failed", "discarded", "expired"}
}

// messages lists messages, newest first.
func messages(v *visit) (*screen, error) {
	sc := &screen{Title: "Messages", Filter: &filter{Fields: []field{
		{Name: "status", Label: "State", Value: v.query.Get("status"), Options: statuses()},
		{Name: "topic", Label: "Topic", Value: v.query.Get("topic")},
		{Name: "queue", Label: "Queue", Value: v.query.Get("queue")},
		{Name: "correlation", Label: "Correlation id", Value: v.query.Get("correlation")},
		{Name: "error", Label: "Error contains", Value: v.query.Get("error")},
		{Name: "older", Label: "Older than", Value: v.query.Get("older")},
		{Name: "newer", Label: "Newer than", Value: v.query.Get("newer")},
		{Name: "id", Label: "Message id or position", Value: v.query.Get("id")},
	}, Keep: []string{"store", v.key}}}
	opts, err := v.listOptions()
	if err != nil {
		return nil, err
	}
	sc.Blocks = v.each(func(ctx context.Context, s *store) ([]block, error) {
		list, next, err := v.listed(ctx, s, opts)
		if err != nil {
			return nil, err
		}
		return []block{{Table: v.messagePage(s, list, next)}}, nil
	})
	return sc, nil
}

// listed reads a page of the messages that the address asks for, and where the next one begins, 0
// if this is the last.
func (v *visit) listed(ctx context.Context, s *store, opts outbox.ListOptions) (page []outbox.Info, next outbox.Position, err error) {
	if id := v.query.Get("id"); id != "" {
		one, err := find(ctx, s, id)
		if statusOf(err) == 404 {
			return nil, 0, nil
		}
		if err != nil {
			return nil, 0, err
		}
		return []outbox.Info{*one}, 0, nil
	}
	return s.Outbox.ListSome(ctx, opts, pageRead)
}

// listOptions are the filters of the address.
func (v *visit) listOptions() (opts outbox.ListOptions, err error) {
	q := v.query
	opts = outbox.ListOptions{
		Status: outbox.Status(q.Get("status")), Topic: q.Get("topic"), Queue: q.Get("queue"), CorrelationID: q.Get("correlation"), Error: q.Get("error"), Limit: pageSize,
	}
	for name, age := range map[string]*time.Duration{"older": &opts.OlderThan, "newer": &opts.NewerThan} {
		if text := q.Get(name); text != "" {
			if *age, err = duration(name, text); err != nil {
				return opts, err
			}
		}
	}
	if after := v.number("after", 0); after > 0 {
		opts.After = &outbox.Info{Message: outbox.Message{Position: outbox.Position(after)}}
	}
	return opts, nil
}

// messagePage is a table of messages that leads to the next page. One that is short because the
// bound was reached says so.
func (v *visit) messagePage(s *store, list []outbox.Info, next outbox.Position) *table {
	t := v.messageTable(s, list)
	if next == 0 {
		return t
	}
	t.More = v.here("store", s.key, "after", number64(int64(next)))
	if len(list) < pageSize {
		which := "newest"
		if v.query.Get("after") != "" {
			which = "next"
		}
		t.Short = "Of the " + which + " " + grouped(pageRead) + " messages."
		t.None = "None of the messages that were read is meant."
	}
	return t
}

func (v *visit) messageTable(s *store, list []outbox.Info) *table {
	t := &table{Head: []string{"State", "Message", "Topic", "Queue", "Created", "Due or ended", "Attempts", "Last error"}, None: "No messages."}
	for i := range list {
		m := &list[i]
		when := m.ProcessedAt
		if when.IsZero() {
			when = m.NextAttemptAt
		}
		t.Rows = append(t.Rows, []cell{
			state(string(view.MessageStatus(m))), {Text: m.ID.String(), Href: v.hrefIn(s.key, "messages/"+m.ID.String()), Mono: true}, words(m.Topic), words(m.Queue),
			at(m.CreatedAt), at(when), count(int64(m.RetryCount)), words(firstLine(m.LastError)),
		})
	}
	return t
}

// find returns a message by its id or position.
func find(ctx context.Context, s *store, id string) (*outbox.Info, error) {
	if position, err := strconv.ParseInt(id, 10, 64); err == nil {
		return s.Outbox.Get(ctx, outbox.Position(position))
	}
	mid, err := parsed(outbox.ParseMessageID)(id)
	if err != nil {
		return nil, err
	}
	return s.Outbox.Find(ctx, mid)
}
