package ui

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/bravellian/pawl/internal/engine"
)

// selection is what is done to the rows of a table that somebody selects.
type selection struct {
	Store  string
	Inputs []input // of all acts, each once
	Acts   []action
}

// pick lets a cell's row be selected, by what the fields of its own forms would be.
func pick(c cell, fields ...string) cell {
	c.Pick = strings.TrimPrefix(queryOf(url.Values{}, fields...), "?")
	return c
}

// selectable offers acts for those rows of a table that can be selected, if there are any: check boxes and
// one form, which need no script.
func (t *table) selectable(s *store, acts ...action) *table {
	if !slices.ContainsFunc(t.Rows, func(row []cell) bool { return row[0].Pick != "" }) {
		return t
	}
	t.Select = &selection{Store: s.key, Acts: acts}
	for i := range acts {
		for _, in := range acts[i].Inputs {
			if !slices.ContainsFunc(t.Select.Inputs, func(known input) bool { return known.Name == in.Name }) {
				t.Select.Inputs = append(t.Select.Inputs, in)
			}
		}
	}
	return t
}

// toSelected makes a change to each row that was selected, and says what became of how many; of a form
// without rows it makes it to what the form names.
func toSelected(ctx context.Context, s *store, form url.Values, do change) (string, error) {
	rows := form["row"]
	if len(rows) == 0 {
		if form.Has("selected") {
			return "", engine.Invalid("row", "none is selected")
		}
		return do(ctx, s, form)
	}
	var results []string
	var last error
	count, failed := map[string]int64{}, 0
	for _, row := range rows {
		fields, err := url.ParseQuery(row)
		if err != nil {
			return "", engine.Invalid("row", "none of a table's")
		}
		one := maps.Clone(form)
		maps.Copy(one, fields)
		did, err := do(ctx, s, one)
		if err != nil {
			did, last, failed = said(err), err, failed+1
		}
		if count[did]++; count[did] == 1 {
			results = append(results, did)
		}
	}
	if failed == len(rows) {
		return "", last
	}
	for i, did := range results {
		results[i] = plural(count[did], "row") + ": " + did
	}
	return strings.Join(results, "; "), nil
}
