package ui

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/outbox"
)

// failedRead is how many failed messages are grouped, of the pageRead that are read.
const failedRead = 1000

// failure is what groups failed messages: their topic, and how their error begins.
type failure struct{ topic, text string }

// failed groups failed messages by topic and error.
func failed(v *visit) (*screen, error) {
	sc := &screen{Title: "Failed", Filter: &filter{Fields: []field{
		{Name: "topic", Label: "Topic", Value: v.query.Get("topic")},
		{Name: "queue", Label: "Queue", Value: v.query.Get("queue")},
		{Name: "error", Label: "Error contains", Value: v.query.Get("error")},
	}, Keep: []string{"store", v.key}}}
	sc.Blocks = v.each(func(ctx context.Context, s *store) ([]block, error) {
		if err := v.searchable("error"); err != nil {
			return nil, err
		}
		f := outbox.FailedFilter{Topic: v.query.Get("topic"), Queue: v.query.Get("queue"), Error: v.query.Get("error")}
		list, next, err := s.Outbox.ListSome(ctx, access.Key{}, outbox.ListOptions{Status: outbox.Failed, Topic: f.Topic, Queue: f.Queue, Error: f.Error, NoPayload: true}, pageRead, failedRead)
		if err != nil {
			return nil, err
		}
		return []block{{Note: failedNote(len(list), next != 0), Actions: failedActions(s, &f, len(list), next != 0), Table: v.failures(s, list, next != 0)}}, nil
	})
	return sc, nil
}

// failedNote says of what the groups are if there may be more than were read.
func failedNote(found int, more bool) string {
	switch {
	case !more:
		return ""
	case found == failedRead:
		return "Of the newest " + grouped(failedRead) + "; there may be more."
	}
	return "Of the newest " + grouped(pageRead) + " failed messages, whatever they are; there may be more."
}

// failures is a table of groups, the largest first.
func (v *visit) failures(s *store, list []outbox.Info, more bool) *table {
	groups := map[failure][]*outbox.Info{}
	for i := range list {
		k := failure{list[i].Topic, firstLine(v.private(list[i].Topic, list[i].LastError))}
		groups[k] = append(groups[k], &list[i])
	}
	keys := make([]failure, 0, len(groups))
	for k := range groups {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b failure) int {
		return cmp.Or(cmp.Compare(len(groups[b]), len(groups[a])), cmp.Compare(a.topic, b.topic), cmp.Compare(a.text, b.text))
	})
	t := &table{Head: []string{"Topic", "Error", "Messages", "Newest from", ""}, None: "Nothing has failed."}
	if more {
		t.None = "None of those that were read is meant."
	}
	for _, k := range keys {
		newest := groups[k][0]
		f := outbox.FailedFilter{Topic: k.topic}
		shown, actions := words(k.text), []action(nil) // a group whose errors are not shown cannot be named by one
		if v.readsAll() {
			f.Error = cut(newest.LastError)
			shown = link(cmp.Or(k.text, "no error"), v.hrefIn(s.key, "messages", "status", "failed", "topic", k.topic, "error", f.Error))
		}
		if v.readsAll() || !v.access.Payloads { // then the group is the topic
			actions = failedActions(s, &f, len(groups[k]), more)
		}
		t.Rows = append(t.Rows, []cell{words(k.topic), shown, count(int64(len(groups[k]))), at(newest.CreatedAt), {Actions: actions}})
	}
	return t
}

// cut is the part of an error that finds others like it.
func cut(s string) string {
	line := firstLine(s)
	if len(line) < len(s) {
		line = line[:max(0, len(line)-len(" …"))]
	}
	return line
}

// failedActions redrive and discard what a filter selects. found is how many were found; there may
// be more.
func failedActions(s *store, f *outbox.FailedFilter, found int, more bool) []action {
	if found == 0 {
		return nil
	}
	fields := []string{"store", s.key, "topic", f.Topic, "queue", f.Queue, "error", f.Error}
	most := input{Name: "limit", Label: "At most", Value: strconv.Itoa(found), Hint: "a number, or " + everything}
	what := plural(int64(found), "failed message")
	if more {
		what = what + " or more"
	}
	return []action{
		{Do: "retry", Label: "Redrive", Fields: fields, Inputs: []input{most, {Name: "rate", Label: "A second", Type: "number", Hint: "no limit"}}, Confirm: what + " become ready again, with all attempts; those that are retrying run now, unless there is a rate."},
		{Do: "discard", Label: "Discard", Fields: fields, Inputs: []input{most, why()}, Confirm: what + " are given up, and cannot be redriven.", Danger: true},
	}
}

// failedFilter is what a form selects: one message, or what has failed in a way.
func failedFilter(ctx context.Context, s *store, form url.Values) (f outbox.FailedFilter, err error) {
	if id := form.Get("id"); id != "" {
		m, err := find(ctx, s, id)
		if err != nil {
			return f, err
		}
		return outbox.FailedFilter{IDs: []outbox.Position{m.Position}}, nil
	}
	f = outbox.FailedFilter{Topic: form.Get("topic"), Queue: form.Get("queue"), Error: form.Get("error")}
	if f.Limit, err = limit(form); err == nil {
		f.Rate, err = number[int](form, "rate")
	}
	return f, err
}

// retry makes failed messages ready again.
func retry(ctx context.Context, s *store, form url.Values) (string, error) {
	f, err := failedFilter(ctx, s, form)
	if err != nil {
		return "", err
	}
	var ended int64
	f.EndedSteps = &ended
	b, err := s.Outbox.Redrive(ctx, f)
	did := began(&b)
	if ended > 0 {
		did += "; " + several(ended, "step", "of joins that have failed and stay failed: retry the joins")
	}
	return did, err
}

// discard gives failed messages up.
func discard(ctx context.Context, s *store, form url.Values) (string, error) {
	f, err := failedFilter(ctx, s, form)
	if err != nil {
		return "", err
	}
	b, err := s.Outbox.Discard(ctx, f)
	return began(&b), err
}
