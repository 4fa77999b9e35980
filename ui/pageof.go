package ui

import (
	"context"
	"iter"
	"slices"

	"github.com/bravellian/pawl/internal/engine"
)

const (
	// pageSize is how many rows a page of a list has.
	pageSize = 50
	// pageRead bounds how many rows are read for a page, whatever the filter: where few match, a page
	// has fewer rows, or none, and leads on.
	pageRead = 10_000
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
// match is nil where every row does.
func sift[T any](rows iter.Seq2[T, error], match func(*T) bool, cursor func(*T) string) (p pageOf[T], err error) {
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

// listing is a page with a list of which each store has a page.
func listing[T any](v *visit, title string, f *filter, read func(context.Context, *store) (pageOf[T], error), draw func(*store, []T) *table) (*screen, error) {
	return &screen{Title: title, Filter: f, Blocks: v.each(func(ctx context.Context, s *store) ([]block, error) {
		p, err := read(ctx, s)
		if err != nil {
			return nil, err
		}
		return []block{{Table: lead(v, s, draw(s, p.rows), p)}}, nil
	})}, nil
}

// filter is a form of what the address may narrow a page down by.
func (v *visit) filter(fields ...input) *filter {
	for i := range fields {
		f := &fields[i]
		if f.Value = v.query.Get(f.Name); f.Options != nil {
			f.Options = append([]string{""}, f.Options...) // any
		}
	}
	return &filter{fields, []string{"store", v.key}}
}

// onePage is a page of what was asked for by its id, if it was found.
func onePage[T any](one *T, err error) (p pageOf[T], _ error) {
	switch {
	case err == nil:
		p.rows = []T{*one}
	case statusOf(err) != 404:
		return p, err
	}
	return p, nil
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

// oneOf returns an error for a value that is none of those that a filter offers.
func oneOf(name, value string, options []string) error {
	if value != "" && !slices.Contains(options, value) {
		return engine.Invalid(name, "not one of %q", options)
	}
	return nil
}
