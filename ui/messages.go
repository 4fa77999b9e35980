package ui

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/codec"
	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
)

func messages(v *visit) (*screen, error) {
	opts, err := v.listOptions()
	if err != nil {
		return nil, err
	}
	opts.NoPayload = true
	read := func(v *visit, ctx context.Context, s *store) (pageOf[outbox.Info], error) {
		return v.listMessages(ctx, s, opts)
	}
	return listing(read, func(v *visit, s *store, list []outbox.Info) *table {
		t := v.messageTable(s, list)
		if q := v.query; (opts.Status == outbox.Failed || opts.Status == outbox.Retrying) && q.Get("correlation")+q.Get("older")+q.Get("newer")+q.Get("id") == "" && v.access.Operator {
			t.All, t.AllHref = "All that match: how many, and what to do with them", v.hrefIn(s.key, "failed", "topic", opts.Topic, "queue", opts.Queue, "error", opts.Error, "fingerprint", opts.Fingerprint)
		}
		return t
	},
		input{Name: "status", Label: "State", Options: []string{"ready", "scheduled", "retrying", "running", "done", "failed", "discarded", "expired"}}, input{Name: "topic", Label: "Topic"}, input{Name: "queue", Label: "Queue"}, input{Name: "correlation", Label: "Correlation id"},
		input{Name: "error", Label: "Error contains"}, input{Name: "fingerprint", Label: "Error like"}, input{Name: "older", Label: "Older than"}, input{Name: "newer", Label: "Newer than"},
		input{Name: "id", Label: "Message id or position"})(v)
}

// listMessages reads the page that the address asks for, or a message by its id.
func (v *visit) listMessages(ctx context.Context, s *store, opts outbox.ListOptions) (p pageOf[outbox.Info], err error) {
	if id := v.query.Get("id"); id != "" {
		p, err = sift(nil, only(find(ctx, s, id)), nil, nil)
	} else {
		var next outbox.Position
		if p.rows, next, err = s.Outbox.Operator(access.Key{}).ListSome(ctx, opts, pageRead, pageSize); next != 0 {
			p.next = number64(int64(next))
		}
	}
	return p.each(v.redactMessage), err
}

func (v *visit) listOptions() (outbox.ListOptions, error) {
	q := v.params()
	f := v.failedFilter(q)
	opts := outbox.ListOptions{
		Status: outbox.Status(q.Get("status")), Topic: f.Topic, Queue: f.Queue, Error: f.Error, Fingerprint: f.Fingerprint, CorrelationID: v.searched(q, "correlation"),
		OlderThan: q.duration("older", 0), NewerThan: q.duration("newer", 0),
	}
	if after := q.number("after"); after > 0 {
		opts.After = &outbox.Info{Message: outbox.Message{Position: outbox.Position(after)}}
	}
	return opts, q.err
}

func (v *visit) messageTable(s *store, list []outbox.Info) *table {
	t := tableOf("No messages.", []string{"State", "Message", "Topic", "Queue", "Created", "Due or ended", "Retries", "Last error"}, list, func(m *outbox.Info) []cell {
		when := m.ProcessedAt
		if when.IsZero() {
			when = m.NextAttemptAt
		}
		open := m.Status == outbox.Failed || m.Status == outbox.Ready || m.Status == outbox.Discarded
		return []cell{
			pick(open, state(string(view.MessageStatus(m))), "id", m.ID.String()), v.messageLink(s, m.ID), words(m.Topic), words(m.Queue),
			at(m.CreatedAt), at(when), count(int64(m.RetryCount)), words(firstLine(m.LastError)),
		}
	})
	return t.selectable(s, offer("retry discard cancel reschedule undiscard retopic")...)
}

// messageLink leads to a message, if there is one.
func (v *visit) messageLink(s *store, id outbox.MessageID) cell {
	if id.IsZero() {
		return cell{}
	}
	return cell{Text: id.String(), Href: v.hrefIn(s.key, "messages/"+id.String()), Mono: true}
}

// find returns a message by its id or position.
func find(ctx context.Context, s *store, id string) (*outbox.Info, error) {
	if position, err := strconv.ParseInt(id, 10, 64); err == nil {
		return s.Outbox.GetByPosition(ctx, outbox.Position(position))
	}
	mid, err := parsed(outbox.ParseMessageID, id)
	if err != nil {
		return nil, err
	}
	return s.Outbox.Get(ctx, mid)
}

// message shows one message: where it is and why, what happened to it, and what it says.
func message(v *visit, s *store) (*screen, error) {
	m, err := find(v.Context(), s, v.PathValue("id"))
	if err != nil {
		return nil, err
	}
	_, noTimer := s.Timers.Get(v.Context(), m.ID)
	found, unknown := v.explain(s, m.ID.String(), "message")
	froms, unread := s.Joins.From(v.Context(), &m.Message)
	flow, unshown := v.flow(s, m) // before its headers are redacted
	story, unlisted := v.story(v.Context(), s, m)
	acts, err := messageActions(v, s, m)
	if err = cmp.Or(unknown, unread, unlisted, unshown, err); err != nil {
		return nil, err
	}
	all := slices.Concat([]block{{Findings: explained(found), Actions: acts}}, flow, []block{{Heading: "What it is", Facts: v.messageFacts(s, m, noTimer == nil)}}, story)
	if len(froms) > 0 {
		all = append(all, block{Heading: "Joins", Table: v.joinTable(s, froms)})
	}
	if len(m.Headers) > 0 {
		all = append(all, block{Heading: "Headers", Table: tableOf("", []string{"Name", "Value"}, slices.Sorted(maps.Keys(m.Headers)), func(name *string) []cell { return []cell{mono(*name), words(m.Headers[*name])} })})
	}
	all = append(all, block{Heading: "On the command line", Text: &text{Body: commands(m.ID.String(), acts) + map[bool]string{true: "\npawl flows show " + m.ID.String()}[len(flow) > 0]}})
	return &screen{Title: "Message " + m.ID.String(), Blocks: all}, nil
}

// story is what happened to a message and what it says, which is redacted.
func (v *visit) story(ctx context.Context, s *store, m *outbox.Info) ([]block, error) {
	attempts, err := s.Outbox.Operator(access.Key{}).Attempts(ctx, m.Position)
	v.redactMessage(m)
	v.redactAttempts(m.Topic, attempts)
	return append(errorText("Last error", m.LastError), block{Heading: "Time line", Table: timeLine(m, attempts)}, v.payload(m.Topic, m.Payload)), err
}

// explain says why something is where it is, as the visitor may read it.
func (v *visit) explain(s *store, id string, kinds ...admin.Kind) (*admin.Explanation, error) {
	found, err := s.Admin.Explain(v.Context(), id, kinds...)
	if err == nil {
		v.redactExplanation(found)
	}
	return found, err
}

// explained are an explanation's findings, the reason first.
func explained(x *admin.Explanation) (all []finding) {
	for _, f := range append([]health.Finding{x.Finding}, x.Also...) {
		all = append(all, finding{Finding: f})
	}
	for i := range x.Causes {
		all = append(all, explained(&x.Causes[i])...)
	}
	return all
}

func (v *visit) messageFacts(s *store, m *outbox.Info, wasTimer bool) []fact {
	retries := ""
	if m.RetryCount > 0 || m.Redrives > 0 {
		retries = fmt.Sprintf("%s, redriven %s", plural(int64(m.RetryCount), "failed attempt"), plural(int64(m.Redrives), "time"))
	}
	run, tm := m.Headers[job.HeaderJob], map[bool]string{true: "it was one"}[wasTimer]
	correlation := words(m.CorrelationID)
	if v.readsAll() {
		correlation = link(m.CorrelationID, v.hrefIn(s.key, "messages", "correlation", m.CorrelationID))
	}
	return facts(
		"State", state(string(view.MessageStatus(m))), "Position", mono(strconv.FormatInt(int64(m.Position), 10)),
		"Topic", link(m.Topic, v.hrefIn(s.key, "messages", "topic", m.Topic)), "Queue", link(m.Queue, v.hrefIn(s.key, "messages", "queue", m.Queue)), "Priority", strconv.Itoa(m.Priority),
		"Correlation id", correlation, "Ordering key", m.OrderingKey, "Unique key", m.UniqueKey, "Unique until", m.UniqueUntil,
		"Due", m.Due, "Expires", m.Expires, "Attempts", retries, "Timer", link(tm, v.hrefIn(s.key, "timers", "id", m.ID.String())), "Job", link(run, v.hrefIn(s.key, "job", "name", run)), "Trace", v.trace(m.Headers["traceparent"]), "Cannot be read", m.Unreadable,
	)
}

// trace leads to the trace of a message, if the program says where traces are.
func (v *visit) trace(traceparent string) cell {
	parts := strings.Split(traceparent, "-")
	if len(parts) != 4 || v.s.opts.TraceURL == nil {
		return mono(traceparent)
	}
	return cell{Text: parts[1], Href: v.s.opts.TraceURL(parts[1]), Mono: true}
}

// timeLine is what happened to a message, in order.
func timeLine(m *outbox.Info, attempts []acts.Attempt) *table {
	var rows [][]cell
	row := func(when time.Time, what, by, failure string) {
		if !when.IsZero() {
			rows = append(rows, []cell{at(when), words(what), words(by), words(failure)})
		}
	}
	row(m.CreatedAt, "created", "", "")
	for _, a := range attempts {
		row(a.EndedAt, fmt.Sprintf("attempt %d failed", a.Number), a.Worker, a.Error)
	}
	switch m.Status {
	case outbox.Ready:
		row(m.NextAttemptAt, "may be claimed", "", "")
	case outbox.InProgress:
		row(m.LockedUntil, "its lease ends, unless it is extended", m.Owner.String(), "")
	default:
		row(m.ProcessedAt, string(m.Status), m.ProcessedBy, "")
	}
	return tableOf("", []string{"When", "What", "By", "Error"}, rows, func(row *[]cell) []cell { return *row })
}

// payload is a payload, closed until somebody who may opens it. Of one that is sealed or offloaded only that is shown.
func (v *visit) payload(topic string, payload []byte) block {
	if what, ok := codec.Describe(payload); ok {
		return block{Heading: "Payload", Note: strings.ToUpper(what[:1]) + what[1:] + "."}
	}
	if !v.access.Payloads {
		return block{Heading: "Payload", Note: plural(int64(len(payload)), "byte") + "; you may not read it."}
	}
	if redact := v.s.opts.Redact; redact != nil {
		payload = redact(topic, payload)
	}
	return block{Heading: "Payload", Text: document(payload)}
}

// commands are what does the same on the command line.
func commands(id string, acts []action) string {
	list := "pawl show " + id + "\npawl explain " + id
	for i := range acts {
		do, options := acts[i].Do, map[string]string{"reschedule": " --due 10m", "stop": " --running"}[acts[i].Do]
		switch do {
		case "stop":
			do = "cancel"
			fallthrough
		case "retry", "discard", "undiscard", "cancel", "reschedule":
			list += "\npawl " + do + " " + id + options
		}
	}
	return list
}

func messageActions(v *visit, s *store, m *outbox.Info) ([]action, error) {
	fields := []string{"store", v.key, "id", m.ID.String()}
	switch {
	case m.Status == outbox.Failed:
		return offer("retry discard retopic", fields...), nil
	case view.MessageStatus(m) == outbox.Retrying:
		all := offer("retry cancel reschedule retopic", fields...)
		all[0].Label = "Run now"
		return all, nil
	case m.Status == outbox.Ready:
		return offer("cancel reschedule retopic", fields...), nil
	case m.Status == outbox.InProgress && !strings.HasPrefix(m.Topic, flow.TopicPrefix): // a flow is cancelled
		return offer("stop", fields...), nil
	case m.Status == outbox.Discarded:
		b, err := s.Outbox.Operator(access.Key{}).CountUndiscard(v.Context(), outbox.FailedFilter{IDs: []outbox.Position{m.Position}}, uuid.Nil)
		return offer("undiscard", fields...)[:b.Changed], err
	}
	return nil, nil
}

// retopic moves a message, or all of a topic, to another topic.
func retopic(a *act) (string, error) {
	r := acts.Retopic{From: a.Get("from"), Topic: a.Get("topic")}
	if id := a.Get("id"); id != "" {
		m, err := find(a, a.store, id)
		if err != nil {
			return "", err
		}
		r.From, r.ID = m.Topic, int64(m.Position)
	}
	done, err := a.Outbox.Operator(access.Key{}).Retopic(a, r)
	did := plural(done.Moved, "message") + " moved"
	if done.Running > 0 {
		did += "; " + plural(done.Running, "message") + " held by workers: try again"
	}
	return did, err
}

func why() input {
	return input{Name: "reason", Label: "Reason", Hint: "for those who read the audit trail"}
}

// cancelMessage cancels a message by one of the outbox's ways.
func cancelMessage(cancel func(o *outbox.Outbox, ctx context.Context, reason string, ids ...outbox.Position) (int64, error)) func(a *act) (string, error) {
	return func(a *act) (string, error) {
		m, err := find(a, a.store, a.Get("id"))
		if err != nil {
			return "", err
		}
		n, err := cancel(a.Outbox, a, a.Get("reason"), m.Position)
		return plural(n, "message") + " cancelled", err
	}
}

func rescheduleMessage(a *act) (string, error) {
	due := a.due()
	m, err := find(a, a.store, a.Get("id"))
	if err = cmp.Or(a.err, err); err != nil {
		return "", err
	}
	n, err := a.Outbox.Reschedule(a, due, m.Position)
	return plural(n, "message") + " rescheduled", err
}
