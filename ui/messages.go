package ui

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/outbox"
)

// statuses are the states by which messages are listed.
func statuses() []string {
	return []string{"ready", "scheduled", "retrying", "running", "done", "failed", "discarded", "expired"}
}

// messages lists messages, newest first.
func messages(v *visit) (*screen, error) {
	f := v.filter(
		input{Name: "status", Label: "State", Options: statuses()}, input{Name: "topic", Label: "Topic"}, input{Name: "queue", Label: "Queue"}, input{Name: "correlation", Label: "Correlation id"},
		input{Name: "error", Label: "Error contains"}, input{Name: "fingerprint", Label: "Error like"}, input{Name: "older", Label: "Older than"}, input{Name: "newer", Label: "Newer than"},
		input{Name: "id", Label: "Message id or position"})
	opts, err := v.listOptions()
	if err != nil {
		return nil, err
	}
	opts.NoPayload = true
	read := func(ctx context.Context, s *store) (pageOf[outbox.Info], error) { return v.listMessages(ctx, s, opts) }
	return listing(v, "Messages", f, read, func(s *store, list []outbox.Info) *table {
		t := v.messageTable(s, list)
		if q := v.query; (opts.Status == outbox.Failed || opts.Status == outbox.Retrying) && q.Get("correlation")+q.Get("older")+q.Get("newer")+q.Get("id") == "" && v.access.Operator {
			t.All, t.AllHref = "All that match: how many, and what to do with them", v.hrefIn(s.key, "failed", "topic", opts.Topic, "queue", opts.Queue, "error", opts.Error, "fingerprint", opts.Fingerprint)
		}
		return t
	})
}

// listMessages reads the page that the address asks for, or a message by its id.
func (v *visit) listMessages(ctx context.Context, s *store, opts outbox.ListOptions) (p pageOf[outbox.Info], err error) {
	if id := v.query.Get("id"); id != "" {
		p, err = onePage(find(ctx, s, id))
	} else {
		var next outbox.Position
		if p.rows, next, err = s.Outbox.Operator(access.Key{}).ListSome(ctx, opts, pageRead, pageSize); next != 0 {
			p.next = number64(int64(next))
		}
	}
	for i := range p.rows {
		v.redactMessage(&p.rows[i])
	}
	return p, err
}

// listOptions are the filters of the address.
func (v *visit) listOptions() (opts outbox.ListOptions, err error) {
	q := v.query
	opts = outbox.ListOptions{
		Status: outbox.Status(q.Get("status")), Topic: q.Get("topic"), Queue: q.Get("queue"), CorrelationID: q.Get("correlation"), Error: q.Get("error"), Fingerprint: q.Get("fingerprint"),
	}
	for name, age := range map[string]*time.Duration{"older": &opts.OlderThan, "newer": &opts.NewerThan} {
		if *age, err = v.duration(name, 0); err != nil {
			return opts, err
		}
	}
	if err = cmp.Or(v.searchable("correlation"), v.searchable("error"), v.searchable("fingerprint")); err != nil {
		return opts, err
	}
	after, err := number[int64](q, "after")
	if after > 0 {
		opts.After = &outbox.Info{Message: outbox.Message{Position: outbox.Position(after)}}
	}
	return opts, err
}

func (v *visit) messageTable(s *store, list []outbox.Info) *table {
	t := tableOf("No messages.", []string{"State", "Message", "Topic", "Queue", "Created", "Due or ended", "Retries", "Last error"}, list, func(m *outbox.Info) []cell {
		when := m.ProcessedAt
		if when.IsZero() {
			when = m.NextAttemptAt
		}
		first := state(string(view.MessageStatus(m)))
		if m.Status == outbox.Failed || m.Status == outbox.Ready || m.Status == outbox.Discarded {
			first = pick(first, "id", m.ID.String())
		}
		return []cell{
			first, {Text: m.ID.String(), Href: v.hrefIn(s.key, "messages/"+m.ID.String()), Mono: true}, words(m.Topic), words(m.Queue),
			at(m.CreatedAt), at(when), count(int64(m.RetryCount)), words(firstLine(m.LastError)),
		}
	})
	return t.selectable(s, actsOnMessages()...)
}

// find returns a message by its id or position.
func find(ctx context.Context, s *store, id string) (*outbox.Info, error) {
	if position, err := strconv.ParseInt(id, 10, 64); err == nil {
		return s.Outbox.Get(ctx, outbox.Position(position))
	}
	mid, err := parsed(outbox.ParseMessageID, id)
	if err != nil {
		return nil, err
	}
	return s.Outbox.Find(ctx, mid)
}
