package ui

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/internal/registry"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

type pageOf[T any] struct {
	rows []T
	next string // the parameter after of the next page; "" if this is the last
}

// each changes all rows of a page.
func (p pageOf[T]) each(change func(*T)) pageOf[T] {
	for i := range p.rows {
		change(&p.rows[i])
	}
	return p
}

// sift reads a list and keeps what matches until a page is full or pageRead rows were read. It is for
// filters that no index serves: a statement with such a filter would read all rows where few match.
// match is nil where every row does. With an error of the request nothing is read.
func sift[T any](err error, rows iter.Seq2[T, error], match func(*T) bool, cursor func(*T) string) (p pageOf[T], _ error) {
	if err != nil {
		return p, err
	}
	looked := 0
	for row, err := range rows {
		if err != nil {
			return p, err
		}
		if match == nil || match(&row) {
			p.rows = append(p.rows, row)
		}
		if looked++; len(p.rows) == pageSize || looked == pageRead {
			p.next = cursor(&row)
			break
		}
	}
	return p, nil
}

// listing shows a list of which each store has a page.
func listing[T any](read func(*visit, context.Context, *store) (pageOf[T], error), draw func(*visit, *store, []T) *table, filter ...input) func(*visit) (*screen, error) {
	return ofStores(func(v *visit, ctx context.Context, s *store) ([]block, error) {
		p, err := read(v, ctx, s)
		return []block{{Table: lead(v, s, draw(v, s, p.rows), p)}}, err
	}, filter...)
}

// filter is a form of what the address may narrow a page down by; nil if that is nothing.
func (v *visit) filter(fields ...input) *filter {
	if len(fields) == 0 {
		return nil
	}
	fields = slices.Clone(fields)
	for i := range fields {
		f := &fields[i]
		if f.Value = v.query.Get(f.Name); f.Options != nil {
			f.Options = append([]string{""}, f.Options...) // any
		}
	}
	return &filter{fields, []string{"store", v.key}}
}

// only is a list of what was asked for by its id, if it was found.
func only[T any](one *T, err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if err == nil {
			yield(*one, nil)
		} else if missing(err) == nil {
			yield(*new(T), err)
		}
	}
}

// lead makes a table lead to the next page. One that is short because so much was read says so.
func lead[T any](v *visit, s *store, t *table, p pageOf[T]) *table {
	switch {
	case p.next == "" && v.query.Get("after") == "":
		return v.sorted(t)
	case p.next == "":
		return t
	}
	t.More = v.here("store", s.key, "after", p.next)
	if len(p.rows) < pageSize {
		t.Short = "Of the " + grouped(pageRead) + " that were read."
		t.None = "None of those that were read is meant."
	}
	return t
}

// sent is a page as the API sends it.
func sent[T, V any](p pageOf[T], of func(*T) V) list {
	views := make([]V, len(p.rows))
	for i := range p.rows {
		views[i] = of(&p.rows[i])
	}
	return list{Items: views, Next: p.next}
}

// same sends a row as it is.
func same[T any](row *T) T { return *row }

func inboxStates() []string { return names(inbox.Seen, inbox.Processing, inbox.Done, inbox.Dead) }

// listInbox reads the page that the address asks for, or one message if its source and id are known.
func (v *visit) listInbox(ctx context.Context, s *store) (pageOf[inbox.Info], error) {
	q := v.params()
	status, id, opts := oneOf[inbox.Status](q, "status", inboxStates()), q.Get("id"), inbox.ListOptions{Source: q.Get("source")}
	if at := q.place(); at != nil {
		opts.After = &inbox.Info{Key: inbox.Key{Source: at[0], MessageID: at[1]}}
	}
	rows := s.Inbox.List(ctx, opts)
	if id != "" && opts.Source != "" {
		rows = only(s.Inbox.Get(ctx, inbox.Key{Source: opts.Source, MessageID: id}))
	}
	match := func(m *inbox.Info) bool { return alike(status, m.Status) && alike(id, m.MessageID) }
	p, err := sift(q.err, rows, match, func(m *inbox.Info) string { return cursor(m.Source, m.MessageID) })
	return p.each(func(m *inbox.Info) { m.LastError = v.private("", m.LastError) }), err
}

func (v *visit) inboxTable(s *store, list []inbox.Info) *table {
	t := tableOf("No messages.", []string{"State", "Source", "Message id", "First seen", "Last seen", "Deliveries", "Attempts", "Last error", ""}, list, func(m *inbox.Info) []cell {
		first, acts := acted(m.Status == inbox.Dead, state(string(m.Status)), offer("revive", "store", s.key, "source", m.Source, "id", m.MessageID)...)
		return []cell{first, words(m.Source), mono(m.MessageID), at(m.FirstSeenAt), at(m.LastSeenAt), count(m.Deliveries), count(int64(m.Attempts)), words(firstLine(m.LastError)), acts}
	})
	return t.selectable(s, offer("revive")...)
}

// timers lists timers, and draws those of the next day.
func (v *visit) timers(ctx context.Context, s *store) ([]block, error) {
	p, err := v.listTimers(ctx, s)
	day, unread := engine.Collect(s.Timers.List(ctx, timer.ListOptions{Status: timer.Scheduled}), timersDrawn)
	return []block{{Chart: nextDay(day, v.now), Table: lead(v, s, v.timerTable(s, p.rows), p)}}, cmp.Or(err, unread)
}

// listTimers reads the page that the address asks for, or the timer of an id or a key.
func (v *visit) listTimers(ctx context.Context, s *store) (p pageOf[timer.Info], err error) {
	q := v.params()
	topic, opts := q.Get("topic"), timer.ListOptions{Status: timer.Status(q.Get("status"))}
	id, after := idOf(q, "id", outbox.ParseMessageID), idOf(q, "after", outbox.ParseMessageID)
	rows := s.Timers.List(ctx, opts)
	switch {
	case !id.IsZero():
		rows = only(s.Timers.Get(ctx, id))
	case q.Get("key") != "":
		rows = only(s.Timers.GetKey(ctx, q.Get("key")))
	case !after.IsZero():
		opts.After, err = s.Timers.Get(ctx, after)
		rows = s.Timers.List(ctx, opts)
	}
	p, err = sift(cmp.Or(q.err, err), rows, func(t *timer.Info) bool { return alike(topic, t.Topic) }, func(t *timer.Info) string { return t.ID.String() })
	return p.each(v.redactTimer), err
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
		h.Class, h.Title = "in", plural(int64(h.N), "timer")+" due from "+now.Add(time.Duration(i)*time.Hour).UTC().Format("15:04Z")
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
			name = v.messageLink(s, one.ID)
		}
		first, acts := acted(one.Status == timer.Scheduled, state(string(one.Status)), offer("reschedule-timer cancel-timer", "store", s.key, "id", id)...)
		return []cell{first, name, words(one.Key), words(one.Topic), at(one.NextAttemptAt), at(one.EndedAt), words(firstLine(one.LastError)), acts}
	})
	return t.selectable(s, offer("reschedule-timer cancel-timer")...)
}

func rescheduleTimer(a *act, id outbox.MessageID) (string, error) {
	due := a.due()
	if a.err != nil {
		return "", a.err
	}
	return became(a.Timers.Reschedule(a, id, due))("timer", "rescheduled")
}

func leaseStates() []string { return names(lease.Held, lease.Expired, lease.Free) }

func (v *visit) listLeases(ctx context.Context, s *store) (pageOf[lease.Info], error) {
	q := v.params()
	status := oneOf[lease.Status](q, "status", leaseStates())
	match := func(l *lease.Info) bool { return alike(status, l.Status) }
	return sift(q.err, s.Leases.List(ctx, lease.ListOptions{After: &lease.Info{Name: q.Get("after")}}), match, func(l *lease.Info) string { return l.Name })
}

func (v *visit) leaseTable(s *store, list []lease.Info) *table {
	t := tableOf("No leases.", []string{"State", "Lease", "Holder", "Until", "Token", "Waiting", "Last granted", ""}, list, func(l *lease.Info) []cell {
		first, acts := acted(l.Status == lease.Held, state(string(l.Status)), offer("release-lease", "store", s.key, "name", l.Name)...)
		return []cell{first, words(l.Name), words(l.Owner), at(l.Until), count(l.Token), count(int64(l.Waiting)), at(l.LastGranted), acts}
	})
	return t.selectable(s, offer("release-lease")...)
}

func (v *visit) workers(ctx context.Context, s *store) ([]block, error) {
	list, err := inspect.ListWorkers(ctx, s.db())
	return []block{{Table: v.paged(s, workerTable(list), "workers")}}, err
}

func workerTable(list inspect.Workers) *table {
	return tableOf("No worker runs: nothing is handled.", []string{"State", "Worker", "Host", "Process", "Busy", "Queues", "Topics", "Heartbeat", "Since", "Version"}, list, func(w *registry.Info) []cell {
		return []cell{
			state(map[bool]string{true: "alive", false: "gone"}[w.Alive]), words(w.Name), words(w.Host), {Text: fmt.Sprint(w.PID), Number: true}, {Meter: &meter{min(w.InFlight, w.Concurrency), w.Concurrency}, Text: fmt.Sprintf("%d of %d", w.InFlight, w.Concurrency), Number: true},
			words(strings.Join(w.Queues, ", ")), words(strings.Join(w.Topics, ", ")), at(w.Heartbeat), at(w.Started), words(w.Version),
		}
	})
}

func (v *visit) listAudit(ctx context.Context, s *store) (pageOf[audit.Entry], error) {
	q := v.params()
	actor, action, opts := q.Get("actor"), q.Get("action"), audit.Options{}
	if place := q.place(); place != nil {
		at, badTime := time.Parse(time.RFC3339Nano, place[0])
		id, badID := uuid.Parse(place[1])
		if badTime != nil || badID != nil {
			q.wrong("after", "none of a list's")
		}
		opts.After = &audit.Entry{ID: id, At: at}
	}
	match := func(e *audit.Entry) bool { return alike(actor, e.Actor) && alike(action, e.Action) }
	return sift(q.err, audit.List(ctx, s.db(), opts), match, func(e *audit.Entry) string { return cursor(e.At.Format(time.RFC3339Nano), e.ID.String()) })
}

func (v *visit) auditTable(s *store, list []audit.Entry) *table {
	return tableOf("Nobody changed anything.", []string{"When", "Who", "What", "To what", "How many", "Why", ""}, list, func(e *audit.Entry) []cell {
		return []cell{at(e.At), words(who(e)), words(e.Action), words(e.Target), count(e.Count), words(e.Reason), {Actions: undiscardsAct(s, e.Action, e.ID, e.At)}}
	})
}

// who is who was named and, where it is another, who the database knows.
func who(e *audit.Entry) string {
	if e.Login == "" || e.Login == e.Actor {
		return e.Actor
	}
	return e.Actor + " (" + e.Login + ")"
}
