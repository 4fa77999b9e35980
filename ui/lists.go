package ui

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

func inboxStates() []string {
	return []string{string(inbox.Seen), string(inbox.Processing), string(inbox.Done), string(inbox.Dead)}
}

func inboxes(v *visit) (*screen, error) {
	f := v.filter(input{Name: "status", Label: "State", Options: inboxStates()}, input{Name: "source", Label: "Source"}, input{Name: "id", Label: "Message id"})
	return listing(v, "Inbox", f, v.listInbox, inboxTable)
}

// listInbox reads the page that the address asks for, as the visitor may read it.
func (v *visit) listInbox(ctx context.Context, s *store) (pageOf[inbox.Info], error) {
	p, err := v.readInbox(ctx, s)
	return p.each(func(m *inbox.Info) { m.LastError = v.private("", m.LastError) }), err
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
		first, acts := acted(m.Status == inbox.Dead, state(string(m.Status)), action{Do: "revive", Label: "Revive", Fields: []string{"store", s.key, "source", m.Source, "id", m.MessageID}})
		return []cell{first, words(m.Source), mono(m.MessageID), at(m.FirstSeenAt), at(m.LastSeenAt), count(m.Deliveries), count(int64(m.Attempts)), words(firstLine(m.LastError)), acts}
	})
	return t.selectable(s, action{Do: "revive", Label: "Revive"})
}

func revive(ctx context.Context, s *store, form url.Values) (string, error) {
	return became(s.Inbox.Revive(ctx, inbox.Key{Source: form.Get("source"), MessageID: form.Get("id")}))("message", "revived")
}

// timersDrawn is how many timers are read for the next day's histogram.
const timersDrawn = 1000

// timers lists timers, and draws those of the next day.
func timers(v *visit) (*screen, error) {
	f := v.filter(
		input{Name: "status", Label: "State", Options: []string{string(timer.Scheduled), string(timer.Claimed), string(timer.Fired), string(timer.Failed), string(timer.Cancelled)}},
		input{Name: "topic", Label: "Topic"}, input{Name: "key", Label: "Key"}, input{Name: "id", Label: "Timer id"})
	return &screen{Title: "Timers", Filter: f, Blocks: v.each(func(ctx context.Context, s *store) ([]block, error) {
		p, err := v.listTimers(ctx, s)
		if err != nil {
			return nil, err
		}
		day, err := engine.Collect(s.Timers.List(ctx, timer.ListOptions{Status: timer.Scheduled}), timersDrawn)
		return []block{{Chart: nextDay(day, v.now), Table: lead(v, s, v.timerTable(s, p.rows), p)}}, err
	})}, nil
}

// listTimers reads the page that the address asks for, as the visitor may read it.
func (v *visit) listTimers(ctx context.Context, s *store) (pageOf[timer.Info], error) {
	p, err := v.readTimers(ctx, s)
	return p.each(v.redactTimer), err
}

// readTimers reads the page that the address asks for, or the timer of an id or a key.
func (v *visit) readTimers(ctx context.Context, s *store) (p pageOf[timer.Info], err error) {
	q := v.query
	if q.Get("id") != "" {
		id, err := parsed(outbox.ParseMessageID, q.Get("id"))
		if err != nil {
			return p, err
		}
		return onePage(s.Timers.Get(ctx, id))
	}
	if q.Get("key") != "" {
		return onePage(s.Timers.Find(ctx, q.Get("key")))
	}
	var after *timer.Info
	if q.Get("after") != "" {
		id, err := parsed(outbox.ParseMessageID, q.Get("after"))
		if err != nil {
			return p, err
		}
		if after, err = s.Timers.Get(ctx, id); err != nil {
			return p, err
		}
	}
	topic := q.Get("topic")
	match := func(t *timer.Info) bool { return topic == "" || t.Topic == topic }
	return sift(s.Timers.List(ctx, timer.ListOptions{Status: timer.Status(q.Get("status")), After: after}), match, func(t *timer.Info) string { return t.ID.String() })
}

// nextDay counts timers by the hour in which they are due.
func nextDay(list []timer.Info, now time.Time) *chart {
	hours := make([]bar, 24)
	for i := range list {
		if hour := int(max(0, list[i].NextAttemptAt.Sub(now)) / time.Hour); hour < len(hours) {
			hours[hour].N++
		}
	}
	for i := range hours {
		h := &hours[i]
		h.Class, h.Title = "in", plural(h.N, "timer")+" due from "+now.Add(time.Duration(i)*time.Hour).UTC().Format("15:04Z")
		if i%6 == 0 {
			h.Mark = strconv.Itoa(i) + " h"
		}
	}
	label := "All that are due in the next day, by the hour"
	if len(list) == timersDrawn {
		label += ", of the next " + grouped(timersDrawn)
	}
	return bars(label, hours, legend{"in", "timers"})
}

func (v *visit) timerTable(s *store, list []timer.Info) *table {
	t := tableOf("No timers.", []string{"State", "Timer", "Key", "Topic", "Due", "Ended", "Last error", ""}, list, func(one *timer.Info) []cell {
		id := one.ID.String()
		name := mono(id)
		if one.Status == timer.Fired {
			name = cell{Text: id, Href: v.hrefIn(s.key, "messages/"+id), Mono: true}
		}
		first, acts := acted(one.Status == timer.Scheduled, state(string(one.Status)), timerActions("store", s.key, "id", id)...)
		return []cell{first, name, words(one.Key), words(one.Topic), at(one.NextAttemptAt), at(one.EndedAt), words(firstLine(one.LastError)), acts}
	})
	return t.selectable(s, timerActions()...)
}

// timerActions are what can be done to a timer that is scheduled.
func timerActions(fields ...string) []action {
	return []action{
		{Do: "reschedule-timer", Label: "Change due time", Fields: fields, Inputs: []input{dueField()}, Confirm: "It fires then."},
		{Do: "cancel-timer", Label: "Cancel", Fields: fields, Inputs: []input{why()}, Confirm: "It does not fire.", Danger: true},
	}
}

func cancelTimer(ctx context.Context, s *store, id outbox.MessageID, _ url.Values) (string, error) {
	return became(s.Timers.Cancel(ctx, id))("timer", "cancelled")
}

func rescheduleTimer(ctx context.Context, s *store, id outbox.MessageID, form url.Values) (string, error) {
	due, err := dueIn(form.Get("in"))
	if err != nil {
		return "", err
	}
	return became(s.Timers.Reschedule(ctx, id, due))("timer", "rescheduled")
}

func leaseStates() []string {
	return []string{string(lease.Held), string(lease.Expired), string(lease.Free)}
}

func leases(v *visit) (*screen, error) {
	return listing(v, "Leases", v.filter(input{Name: "status", Label: "State", Options: leaseStates()}), v.listLeases, func(s *store, list []lease.Info) *table {
		release := action{
			Do: "release-lease", Label: "Release by force", Danger: true, Inputs: []input{why()},
			Confirm: "Somebody else may have it at once. What its holder guards cannot be committed any more; anything else that it does goes on until it notices.",
		}
		t := tableOf("No leases.", []string{"State", "Lease", "Holder", "Until", "Token", "Waiting", "Last granted", ""}, list, func(l *lease.Info) []cell {
			release.Fields = []string{"store", s.key, "name", l.Name}
			first, acts := acted(l.Status == lease.Held, state(string(l.Status)), release)
			return []cell{first, words(l.Name), words(l.Owner), at(l.Until), count(l.Token), count(int64(l.Waiting)), at(l.LastGranted), acts}
		})
		return t.selectable(s, release)
	})
}

func (v *visit) listLeases(ctx context.Context, s *store) (pageOf[lease.Info], error) {
	if err := oneOf("status", v.query.Get("status"), leaseStates()); err != nil {
		return pageOf[lease.Info]{}, err
	}
	status := lease.Status(v.query.Get("status"))
	match := func(l *lease.Info) bool { return status == "" || l.Status == status }
	return sift(s.Leases.List(ctx, lease.ListOptions{After: &lease.Info{Name: v.query.Get("after")}}), match, func(l *lease.Info) string { return l.Name })
}

func releaseLease(ctx context.Context, s *store, form url.Values) (string, error) {
	return became(s.Leases.ForceRelease(ctx, form.Get("name")))("lease", "released")
}

func workers(v *visit) (*screen, error) {
	return &screen{Title: "Workers", Blocks: v.each(func(ctx context.Context, s *store) ([]block, error) {
		list, err := inspect.ListWorkers(ctx, s.db())
		return []block{{Table: v.paged(s, workerTable(list), "workers")}}, err
	})}, nil
}

func workerTable(list inspect.Workers) *table {
	t := &table{Head: []string{"State", "Worker", "Host", "Process", "Busy", "Queues", "Topics", "Heartbeat", "Since", "Version"}, None: "No worker runs: nothing is handled."}
	for i := range list {
		w := &list[i]
		t.Rows = append(t.Rows, []cell{
			state(map[bool]string{true: "alive", false: "gone"}[w.Alive]), words(w.Name), words(w.Host), {Text: fmt.Sprint(w.PID), Number: true}, {Meter: &meter{min(w.InFlight, w.Concurrency), w.Concurrency}, Text: fmt.Sprintf("%d of %d", w.InFlight, w.Concurrency), Number: true},
			words(strings.Join(w.Queues, ", ")), words(strings.Join(w.Topics, ", ")), at(w.Heartbeat), at(w.Started), words(w.Version),
		})
	}
	return t
}

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
