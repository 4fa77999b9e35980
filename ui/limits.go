package ui

import (
	"context"
	"net/url"
	"strings"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/outbox"
)

// setLimit limits a topic or queue, or changes its limit. What l does not name are inputs.
func setLimit(s *store, l *admin.Limit, subject ...input) action {
	a := action{Do: "limit", Label: "Set a limit", Fields: []string{"store", s.key, "kind", string(l.Kind), "name", l.Name}, Confirm: "It holds for all processes, from the next claim on."}
	values := [3]string{"", "", "1s"}
	if l.Concurrency > 0 {
		a.Label, values[0] = "Change the limit", number64(int64(l.Concurrency))
	}
	if l.Rate > 0 {
		a.Label, values[1], values[2] = "Change the limit", number64(int64(l.Rate)), l.Period.String()
	}
	if len(subject) > 0 {
		a.Fields = a.Fields[:2]
	}
	a.Inputs = append(subject, input{Name: "concurrency", Label: "At once", Type: "number", Value: values[0]}, input{Name: "rate", Label: "Begin", Type: "number", Value: values[1]}, input{Name: "period", Label: "In", Value: values[2]}, why())
	return a
}

func limitTable(s *store, limits []admin.Limit) *table {
	return tableOf("Nothing is limited.", []string{"Of", "Name", "Limit", "Claimed", "Waiting", "Oldest", "Since", "By", ""}, limits, func(l *admin.Limit) []cell {
		return []cell{
			words(string(l.Kind)), words(l.Name), words(limitWords(l)), count(l.Claimed), count(l.Waiting), age(l.Oldest), at(l.Since), words(strings.TrimSpace(l.Actor + " " + l.Reason)),
			{Actions: []action{setLimit(s, l), {Do: "unlimit", Label: "Remove", Fields: []string{"store", s.key, "kind", string(l.Kind), "name", l.Name}, Inputs: []input{why()}, Confirm: "What waits for it is claimed as anything else."}}},
		}
	})
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

// limitWords is a limit in words.
func limitWords(l *admin.Limit) string {
	var parts []string
	if l.Concurrency > 0 {
		parts = append(parts, grouped(int64(l.Concurrency))+" at once")
	}
	if l.Rate > 0 {
		parts = append(parts, grouped(int64(l.Rate))+" in "+short(l.Period))
	}
	return strings.Join(parts, ", ")
}
