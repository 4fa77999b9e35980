package ui

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/outbox"
)

// oneTopic is about a topic in all queues.
func oneTopic(v *visit) (*screen, error) { return v.subjectPage(admin.Topic) }

// oneQueue is about a queue with all its topics.
func oneQueue(v *visit) (*screen, error) { return v.subjectPage(admin.Queue) }

func (v *visit) subjectPage(kind admin.Kind) (*screen, error) {
	w, err := v.window()
	if err != nil {
		return nil, err
	}
	title := map[admin.Kind]string{admin.Topic: "Topic", admin.Queue: "Queue"}[kind]
	sc := &screen{Title: title}
	sc.Blocks = v.each(func(ctx context.Context, s *store) ([]block, error) {
		p, err := v.picture(ctx, s, &w)
		if err != nil {
			return nil, err
		}
		for _, one := range p.subjects(kind, "") {
			if one.name == v.query.Get("name") { // what somebody wrote into a link is not shown
				if v.key == s.key {
					sc.Title = title + " " + one.name
				}
				return v.subject(ctx, s, p, &w, one)
			}
		}
		return []block{{Note: "Nothing is known of it."}}, nil
	})
	return sc, nil
}

// subject shows a topic or queue.
func (v *visit) subject(ctx context.Context, s *store, p *picture, w *window, one *subject) ([]block, error) {
	filter := outbox.FailedFilter{Topic: one.name}
	if one.kind == admin.Queue {
		filter = outbox.FailedFilter{Queue: one.name}
	}
	groups, _, err := v.failures(ctx, s, &filter, one.states["retrying"] > 0)
	if err != nil {
		return nil, err
	}
	failed, retrying := sum(groups)
	limit := cmp.Or(one.limit, &admin.Limit{Kind: one.kind, Name: one.name})
	actions := append([]action{pauseActions(s, one), setLimit(s, limit)}, failedActions(s, &filter, failed, retrying)...)
	if one.kind == admin.Topic {
		actions = append(actions, movesTo("store", s.key, "from", one.name))
	}
	all := []block{
		{Findings: v.remedied(s, p, one.findings), Facts: v.standing(s, p, one), Actions: actions},
		{Heading: "Messages a minute", Timeline: v.timeline(w, &p.activity, &one.done, p.marks(one))},
	}
	if len(groups) > 0 {
		all = append(all, block{Heading: "What fails", Table: v.paged(s, v.failureTable(s, filter.Queue, groups), "groups")})
	}
	if one.kind == admin.Queue {
		all = append(all, block{Heading: "Its topics", Table: v.paged(s, v.topicTable(s, &p.activity, p.subjects(admin.Topic, one.name)), "topics")})
	}
	return append(all, block{Heading: "Who works on it", Table: v.paged(s, workerTable(one.by), "workers")}), nil
}

// standing are the figures of a topic or queue.
func (v *visit) standing(s *store, p *picture, one *subject) []fact {
	list := func(state, status string) cell {
		return link(grouped(one.states[state]), v.hrefIn(s.key, "messages", "status", status, string(one.kind), one.name))
	}
	minutes := known(&p.activity)
	paused, limited := cell{}, ""
	if one.pause != nil {
		paused = cell{State: "paused", Text: "by " + one.pause.Actor + " " + one.pause.Reason, Time: one.pause.Since}
	}
	if one.limit != nil {
		limited = limitWords(one.limit)
	}
	return facts(
		"State", one.state, "Paused", paused, "Limit", limited,
		"Waiting", counted(one.waiting(), one.more), "Oldest", one.oldest, "Running", list("in_flight", "running"), "Scheduled", list("scheduled", "scheduled"), "Retrying", list("retrying", "retrying"), "Failed", list("failed", "failed"),
		"In /min", aMinute(one.done.enqueued, minutes), "Done /min", aMinute(one.done.Done, minutes), "Failed attempts /min", aMinute(one.done.Retried+one.done.Failed, minutes),
		"Wait p50", within(&one.done.Waits, 0.5), "Wait p95", within(&one.done.Waits, 0.95), "Took p50", within(&one.done.Takes, 0.5), "Took p95", within(&one.done.Takes, 0.95),
	)
}

// marks are what was changed that may explain a course: processes that began, pauses, limits.
func (p *picture) marks(one *subject) (all []mark) {
	versions := map[string]time.Time{}
	for i := range p.workers {
		w := &p.workers[i]
		if first, known := versions[w.Version]; !known || w.Started.Before(first) {
			versions[w.Version] = w.Started
		}
	}
	for version, at := range versions {
		all = append(all, mark{At: at, Text: "workers of version " + version + " started"})
	}
	about := func(kind admin.Kind, name string) bool { return one == nil || one.kind == kind && one.name == name }
	for i := range p.pauses {
		if h := &p.pauses[i]; about(h.Kind, h.Name) {
			all = append(all, mark{At: h.Since, Text: string(h.Kind) + " " + h.Name + " paused by " + h.Actor})
		}
	}
	for i := range p.limits {
		if l := &p.limits[i]; about(l.Kind, l.Name) {
			all = append(all, mark{At: l.Since, Text: string(l.Kind) + " " + l.Name + " limited by " + l.Actor})
		}
	}
	return all
}

// remedied are findings with the actions that help.
func (v *visit) remedied(s *store, p *picture, found []health.Finding) []finding {
	all := worst(health.Report{Findings: found}, s.key)
	for i := range all {
		f := &all[i]
		topic, _ := f.Facts.Get("topic").(string)
		switch {
		case f.Code == "paused" && len(p.pauses) > 0:
			for j := range p.pauses[:min(len(p.pauses), fewActions)] {
				h := &p.pauses[j]
				f.Actions = append(f.Actions, action{Do: "resume", Label: "Resume " + h.Name, Fields: []string{"store", s.key, "kind", string(h.Kind), "name", h.Name}})
			}
		case f.Code == "failed":
			n, _ := f.Facts.Get("count").(int64)
			f.Href, f.Actions = v.hrefIn(s.key, "failed"), failedActions(s, &outbox.FailedFilter{}, n, 0)[:min(1, n)]
		case topic != "":
			f.Href = v.hrefIn(s.key, "topic", "name", topic)
		}
		for j := range p.limits {
			if l := &p.limits[j]; f.Code == "limited/"+l.Name {
				f.Href, f.Actions = v.limited(s, l), append(f.Actions, setLimit(s, l))
			}
		}
		f.Facts = nil // the page of problems has them: here they are between somebody and the button
	}
	return all
}

// limited is the page about what a limit holds for: of a pattern the list of what it may match.
func (v *visit) limited(s *store, l *admin.Limit) string {
	path := map[admin.Kind]string{admin.Topic: "topic", admin.Queue: "queue"}[l.Kind]
	if path == "" {
		return v.hrefIn(s.key, "topics", "name", strings.TrimRight(l.Name, "*"))
	}
	return v.hrefIn(s.key, path, "name", l.Name)
}

// fewActions is how many pauses a finding offers to end.
const fewActions = 3
