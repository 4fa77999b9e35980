package ui

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/outbox"
)

// topicsAndQueues shows what is paused and limited, and which topics have handlers.
func topicsAndQueues(v *visit) (*screen, error) {
	sc := &screen{Title: "Topics and queues"}
	sc.Blocks = v.each(func(ctx context.Context, s *store) ([]block, error) {
		o, err := readSubjects(ctx, s)
		if err != nil {
			return nil, err
		}
		return []block{
			{Heading: "Topics", Table: o.table(v, admin.Topic)},
			{Heading: "Queues", Table: o.table(v, admin.Queue)},
			{Heading: "Limits", Table: o.limitTable(), Actions: []action{{
				Do: "limit", Label: "Set a limit", Fields: []string{"store", s.key}, Confirm: "It holds for all processes, from the next claim on.",
				Inputs: []input{{Name: "kind", Label: "Of", Value: "topic", Hint: "topic, queue or each"}, {Name: "name", Label: "Name"}, {Name: "concurrency", Label: "At once", Type: "number"},
					{Name: "rate", Label: "Begin", Type: "number"}, {Name: "period", Label: "In", Value: "1s"}, why()},
			}}},
		}, nil
	})
	return sc, nil
}

// subjects are the topics and queues of a database.
type subjects struct {
	s       *store
	backlog inspect.Backlog
	pauses  map[string]*admin.Pause // by kind and name
	limits  []admin.Limit
	workers inspect.Workers // that are alive
	lately  inspect.Activity
	known   time.Duration // of its time
}

// rateSince is of which time rates are the mean.
const rateSince = 10 * time.Minute

func subjectKey(kind admin.Kind, name string) string { return string(kind) + " " + name }

func readSubjects(ctx context.Context, s *store) (*subjects, error) {
	o := &subjects{s: s, pauses: map[string]*admin.Pause{}}
	var err error
	if o.backlog, err = inspect.ReadBacklog(ctx, s.db()); err != nil {
		return nil, err
	}
	if o.lately, err = inspect.ReadActivity(ctx, s.db(), inspect.ActivityQuery{Since: rateSince}); err != nil {
		return nil, err
	}
	steps, unknown := o.lately.Sum()
	o.known = time.Duration(len(steps)-unknown) * o.lately.Step
	pauses, err := s.Admin.Pauses(ctx)
	if err != nil {
		return nil, err
	}
	for i := range pauses {
		o.pauses[subjectKey(pauses[i].Kind, pauses[i].Name)] = &pauses[i]
	}
	if o.limits, err = s.Admin.Limits(ctx); err != nil {
		return nil, err
	}
	all, err := inspect.ListWorkers(ctx, s.db())
	o.workers = all.Alive()
	return o, err
}

// names are the topics or queues that anything is known of.
func (o *subjects) names(kind admin.Kind) []string {
	var names []string
	for i := range o.backlog.Messages {
		if name := nameOf(&o.backlog.Messages[i], kind); name != "" {
			names = append(names, name)
		}
	}
	for i := range o.lately.Topics {
		names = append(names, activityName(&o.lately.Topics[i], kind))
	}
	for key := range o.pauses {
		if name, ok := strings.CutPrefix(key, string(kind)+" "); ok {
			names = append(names, name)
		}
	}
	for i := range o.workers {
		names = append(names, map[admin.Kind][]string{admin.Topic: o.workers[i].Topics, admin.Queue: o.workers[i].Queues}[kind]...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > 0 && names[0] == "" { // of lanes that are not registered
		names = names[1:]
	}
	return names
}

func activityName(t *inspect.TopicActivity, kind admin.Kind) string {
	if kind == admin.Queue {
		return t.Queue
	}
	return t.Topic
}

// rates are how many messages of a topic or queue come and are done in a second, as far as it is known.
func (o *subjects) rates(kind admin.Kind, name string) (in, done cell) {
	if o.known == 0 {
		return words("unknown"), words("unknown")
	}
	var enqueued, ended int64
	for i := range o.lately.Topics {
		if t := &o.lately.Topics[i]; activityName(t, kind) == name {
			enqueued, ended = enqueued+t.Enqueued, ended+t.Done
		}
	}
	seconds := o.known.Seconds()
	return aSecond(float64(enqueued) / seconds), aSecond(float64(ended) / seconds)
}

func nameOf(a *inspect.Amount, kind admin.Kind) string {
	if kind == admin.Queue {
		return a.Queue
	}
	return a.Topic
}

func (o *subjects) table(v *visit, kind admin.Kind) *table {
	t := &table{Head: []string{"Name", "State", "Waiting", "Oldest", "Scheduled", "Retrying", "In flight", "Failed", "In /s", "Done /s", "Handled by", ""}, None: "None is known."}
	for _, name := range o.names(kind) {
		sums, oldest := o.sums(kind, name)
		in, done := o.rates(kind, name)
		is := cell{}
		act := action{Do: "pause", Label: "Pause", Fields: []string{"store", o.s.key, "kind", string(kind), "name", name}, Inputs: []input{why()}, Confirm: "No more of its messages begin, in all processes, until it is resumed."}
		if p := o.pauses[subjectKey(kind, name)]; p != nil {
			is = state("paused")
			is.Text = strings.TrimSpace("by " + p.Actor + " " + p.Reason)
			act.Do, act.Label, act.Inputs, act.Confirm = "resume", "Resume", nil, ""
		}
		t.Rows = append(t.Rows, []cell{
			link(name, v.hrefIn(o.s.key, "messages", string(kind), name)), is, count(sums["ready"] + sums["paused"] + sums["unhandled"]), oldest, count(sums["scheduled"]), count(sums["retrying"]), count(sums["in_flight"]), count(sums["failed"]), in, done,
			words(o.handledBy(kind, name)), {Actions: []action{act}},
		})
	}
	return t
}

// handledBy names the workers that serve a queue or have a handler for a topic, also by a pattern.
func (o *subjects) handledBy(kind admin.Kind, name string) string {
	if kind == admin.Queue {
		return o.workers.Serving(name).Names()
	}
	return o.workers.Handling(name).Names()
}

// sums are the messages of a topic or queue by state, and for how long the oldest has waited.
func (o *subjects) sums(kind admin.Kind, name string) (map[string]int64, cell) {
	sums, oldest := map[string]int64{}, time.Duration(0)
	for i := range o.backlog.Messages {
		a := &o.backlog.Messages[i]
		if nameOf(a, kind) != name {
			continue
		}
		sums[a.State] += a.Count
		oldest = max(oldest, a.Oldest)
	}
	return sums, age(oldest)
}

func (o *subjects) limitTable() *table {
	t := &table{Head: []string{"Of", "Name", "At once", "Rate", "Claimed", "Waiting", "Since", "By", ""}, None: "Nothing is limited."}
	for i := range o.limits {
		l := &o.limits[i]
		rate := ""
		if l.Rate > 0 {
			rate = grouped(int64(l.Rate)) + " in " + l.Period.String()
		}
		t.Rows = append(t.Rows, []cell{
			words(string(l.Kind)), words(l.Name), count(int64(l.Concurrency)), words(rate), count(l.Claimed), count(l.Waiting), at(l.Since), words(strings.TrimSpace(l.Actor + " " + l.Reason)),
			{Actions: []action{{Do: "unlimit", Label: "Remove", Fields: []string{"store", o.s.key, "kind", string(l.Kind), "name", l.Name}, Inputs: []input{why()}, Confirm: "What waits for it is claimed as anything else."}}},
		})
	}
	return t
}

func pauseSubject(ctx context.Context, s *store, form url.Values) (string, error) {
	return became(s.Admin.Pause(ctx, admin.Kind(form.Get("kind")), form.Get("name"), form.Get("reason")))(form.Get("kind")+" "+form.Get("name"), "paused")
}

func resumeSubject(ctx context.Context, s *store, form url.Values) (string, error) {
	return became(s.Admin.Resume(ctx, admin.Kind(form.Get("kind")), form.Get("name")))(form.Get("kind")+" "+form.Get("name"), "resumed")
}

func limitSubject(ctx context.Context, s *store, form url.Values) (string, error) {
	l, err := limitsOf(form)
	if err != nil {
		return "", err
	}
	return became(s.Admin.SetLimit(ctx, admin.Kind(form.Get("kind")), form.Get("name"), l, form.Get("reason")))(form.Get("kind")+" "+form.Get("name"), "limited")
}

// limitsOf reads the limits of a form.
func limitsOf(form url.Values) (l outbox.Limit, err error) {
	if l.Concurrency, err = number[int](form, "concurrency"); err != nil {
		return l, err
	}
	if l.Rate, err = number[int](form, "rate"); err != nil || l.Rate == 0 {
		return l, err
	}
	l.Period, err = duration("period", form.Get("period"))
	return l, err
}

func unlimitSubject(ctx context.Context, s *store, form url.Values) (string, error) {
	return became(s.Admin.RemoveLimit(ctx, admin.Kind(form.Get("kind")), form.Get("name")))(form.Get("kind")+" "+form.Get("name"), "has no limit any more")
}
