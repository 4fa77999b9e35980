package ui

import (
	"cmp"
	"context"
	"net/url"
	"slices"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/outbox"
)

// failed groups failed messages by topic and the fingerprint of their error.
func failed(v *visit) (*screen, error) {
	sc := &screen{Title: "Failed", Still: true, Filter: v.filter(field{Name: "topic", Label: "Topic"}, field{Name: "queue", Label: "Queue"}, field{Name: "error", Label: "Error contains"})}
	sc.Blocks = v.each(func(ctx context.Context, s *store) ([]block, error) {
		f, groups, err := v.failed(ctx, s)
		if err != nil {
			return nil, err
		}
		var found int64
		for i := range groups {
			found += groups[i].Count
		}
		return []block{{Actions: failedActions(s, &f, found), Table: v.failures(s, f.Queue, v.readable(groups))}}, nil
	})
	return sc, nil
}

// failed reads the groups that the address asks for.
func (v *visit) failed(ctx context.Context, s *store) (f outbox.FailedFilter, groups []acts.Failure, err error) {
	if err := v.searchable("error"); err != nil {
		return f, nil, err
	}
	f = outbox.FailedFilter{Topic: v.query.Get("topic"), Queue: v.query.Get("queue"), Error: v.query.Get("error")}
	groups, err = s.Outbox.Operator(access.Key{}).Failures(ctx, f)
	return f, groups, err
}

// readable returns the groups as the visitor may read them: those that look alike are one.
func (v *visit) readable(groups []acts.Failure) (all []acts.Failure) {
	if v.readsAll() {
		return groups
	}
	for _, g := range groups {
		g.Fingerprint, g.Error = "", v.private(g.Topic, g.Fingerprint)
		i := slices.IndexFunc(all, func(o acts.Failure) bool { return o.Topic == g.Topic && o.Error == g.Error })
		if i < 0 {
			all = append(all, g)
			continue
		}
		o := &all[i]
		o.Count += g.Count
		if g.FirstAt.Before(o.FirstAt) {
			o.FirstAt = g.FirstAt
		}
		if g.LastAt.After(o.LastAt) {
			o.LastAt = g.LastAt
		}
	}
	return all
}

// failures is a table of groups.
func (v *visit) failures(s *store, queue string, groups []acts.Failure) *table {
	t := &table{Head: []string{"Topic", "Error", "Messages", "First failed", "Last failed", "Example", ""}, None: "Nothing has failed."}
	for i := range groups {
		g := &groups[i]
		if g.Others {
			t.Rows = append(t.Rows, []cell{words(""), words("of other kinds"), count(g.Count), at(g.FirstAt), at(g.LastAt), {}, {}})
			continue
		}
		f := outbox.FailedFilter{Topic: g.Topic, Queue: queue, Fingerprint: g.Fingerprint}
		shown, example, actions := words(g.Error), cell{}, []action(nil) // a group whose errors are not shown cannot be named by one
		if v.readsAll() {
			shown = link(cmp.Or(g.Fingerprint, "no error"), v.hrefIn(s.key, "messages", "status", "failed", "topic", g.Topic, "queue", queue, "fingerprint", g.Fingerprint))
			example = link(firstLine(g.Error), v.hrefIn(s.key, "messages/"+number64(int64(g.Position))))
		}
		if g.Fingerprint != "" || !v.access.Payloads { // then the group is the topic
			actions = failedActions(s, &f, g.Count)
		}
		t.Rows = append(t.Rows, []cell{words(g.Topic), shown, count(g.Count), at(g.FirstAt), at(g.LastAt), example, {Actions: actions}})
	}
	return t
}

// failedActions redrive and discard what a filter selects. found is how many were found.
func failedActions(s *store, f *outbox.FailedFilter, found int64) []action {
	if found == 0 {
		return nil
	}
	fields := []string{"store", s.key, "topic", f.Topic, "queue", f.Queue, "error", f.Error, "fingerprint", f.Fingerprint}
	most := input{Name: "limit", Label: "At most", Value: number64(found), Hint: "a number, or " + everything}
	what := plural(found, "failed message")
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
	f = outbox.FailedFilter{Topic: form.Get("topic"), Queue: form.Get("queue"), Error: form.Get("error"), Fingerprint: form.Get("fingerprint")}
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
	b, err := s.Outbox.Operator(access.Key{}).Redrive(ctx, f)
	did := began(&b)
	if b.EndedSteps > 0 {
		did += "; " + several(b.EndedSteps, "step", "of joins that have failed and stay failed: retry the joins")
	}
	return did, err
}

// discard gives failed messages up.
func discard(ctx context.Context, s *store, form url.Values) (string, error) {
	f, err := failedFilter(ctx, s, form)
	if err != nil {
		return "", err
	}
	b, err := s.Outbox.Operator(access.Key{}).Discard(ctx, f)
	return began(&b), err
}
