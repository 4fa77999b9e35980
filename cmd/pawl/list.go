package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
)

// limitFlag bounds a list.
type limitFlag struct {
	Limit int `short:"n" default:"50" placeholder:"N" help:"How many, at most 10000. Default: ${default}."`
}

// pageFlags are those of a list that has pages. The tag set:"cursor=…" names what
// --after takes.
type pageFlags struct {
	limitFlag
	After string `placeholder:"${cursor}" help:"Only what follows this in the list. Each page ends with the --after of the next."`
}

// checkLimit refuses a --limit that no list accepts.
func (f limitFlag) checkLimit() error {
	if f.Limit < 1 || f.Limit > 10_000 {
		return usage("--limit: not within 1 … 10000")
	}
	return nil
}

// oneOf returns which of all states a --status names, upper and lower case alike, or ""
// if it is empty.
func oneOf[S ~string](status string, all ...S) (S, error) {
	if status == "" {
		return "", nil
	}
	var names []string
	for _, s := range all {
		if strings.EqualFold(status, string(s)) {
			return s, nil
		}
		names = append(names, string(s))
	}
	return "", usage("--status: want %s", choice(names))
}

// oneOfNamed is oneOf of states that are numbers.
func oneOfNamed[T any](status string, name func(T) string, all ...T) (*T, error) {
	var names []string
	for _, v := range all {
		names = append(names, name(v))
	}
	found, err := oneOf(status, names...)
	if i := slices.Index(names, found); i >= 0 {
		return &all[i], err
	}
	return nil, err
}

// refs are pointers to items.
func refs[T any](items []T) []*T {
	all := make([]*T, len(items))
	for i := range items {
		all[i] = &items[i]
	}
	return all
}

// choice returns words as "a, b or c".
func choice(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// listing is how a list of T is printed.
type listing[T any] struct {
	none    string // printed if the list is empty
	columns []column[T]
	cursor  func(T) string // what --after takes to go on after an item; nil: no pages
	view    func(T) any    // what is printed of an item as JSON; nil: the item
}

// column is a column of a list's table. One that is optional is left out if it is empty
// in every row.
type column[T any] struct {
	head     string
	cell     func(T) string
	optional bool
}

// page is a part of a list.
type page[T any] struct {
	items []T
	next  string // --after of the next page; "": there is none
}

// page returns the page that items are, of a list that was read with a limit.
func (l *listing[T]) page(items []T, limit int) page[T] {
	p := page[T]{items: items}
	if n := len(items); n > 0 && n == limit && l.cursor != nil {
		p.next = l.cursor(items[n-1])
	}
	return p
}

// list reads a list from the database that was named, and prints it.
func (l *listing[T]) list(ctx context.Context, a *app, g *options, limit int, read func(*store) ([]T, error)) error {
	s, err := g.open(ctx, opening{})
	if err != nil {
		return err
	}
	items, err := read(s)
	if err := s.close(err); err != nil {
		return err
	}
	return l.print(a, g.JSON, l.page(items, limit))
}

// listStores reads a list from the database that was named or from every store of a
// fleet, and prints it as one.
func (l *listing[T]) listStores(ctx context.Context, a *app, g *options, read func(s *store, key string) ([]T, error)) error {
	var all []T
	err := g.eachStore(ctx, a, func(s *store, key string) error {
		items, err := read(s, key)
		all = append(all, items...)
		return err
	})
	if err != nil && len(all) == 0 {
		return err
	}
	return errors.Join(l.print(a, g.JSON, page[T]{items: all}), err)
}

// print prints a page as a table, or as JSON with a line for each item. It reports how
// to go on: of JSON only if the page is not full, which its reader could not know.
func (l *listing[T]) print(a *app, asJSON bool, p page[T]) error {
	var err error
	switch {
	case asJSON:
		err = printAll(a, p.items, l.json)
	case len(p.items) == 0:
		fmt.Fprintln(a.stderr, l.none)
	default:
		err = l.table(a.stdout, p.items)
	}
	switch {
	case err != nil || p.next == "":
	case !asJSON:
		fmt.Fprintf(a.stderr, "there may be more: --after %s\n", terminal.Clean(shellWord(p.next)))
	}
	return err
}

func (l *listing[T]) table(w io.Writer, items []T) error {
	rows := make([][]string, len(items)+1)
	for _, c := range l.columns {
		cells := []string{c.head}
		for _, item := range items {
			cells = append(cells, c.cell(item))
		}
		if c.optional && !slices.ContainsFunc(cells[1:], func(s string) bool { return s != "" }) {
			continue
		}
		for i, cell := range cells {
			rows[i] = append(rows[i], cell)
		}
	}
	var t terminal.Table
	for _, row := range rows {
		t.Row(row...)
	}
	return t.Write(w, terminal.Width(w))
}

// json returns what is printed of an item as JSON.
func (l *listing[T]) json(item T) any {
	if l.view != nil {
		return l.view(item)
	}
	return item
}

// shellWord returns text that a shell takes for one word.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("%+,-./:=@_", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
