package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/internal/engine"
)

// outputFlag is how a list is printed.
type outputFlag struct {
	Output string `short:"o" default:"table" placeholder:"FORMAT" values:"table,json,csv,id" help:"As a table, json, csv, or id: the ids alone, one a line. Default: ${default}."`
}

// limitFlag bounds a list.
type limitFlag struct {
	Limit int `short:"n" default:"50" placeholder:"N" help:"How many, at most 10000. Default: ${default}."`
}

// listFlags are those of a list that has a bound.
type listFlags struct {
	limitFlag
	outputFlag
}

// pageFlags are those of a list that has pages. The tag set:"cursor=…" names what
// --after takes.
type pageFlags struct {
	listFlags
	After string `placeholder:"${cursor}" help:"Only what follows this in the list. Each page ends with the --after of the next."`
}

// checkLimit refuses a --limit that no list accepts.
func (f limitFlag) checkLimit() error {
	if f.Limit < 1 || f.Limit > 10_000 {
		return usage("--limit: not within 1 … 10000")
	}
	return nil
}

// format returns how to print: --json is short for --output=json.
func (f outputFlag) format(g *options) (string, error) {
	output := cmp.Or(f.Output, formatTable)
	switch {
	case !slices.Contains(formats(), output):
		return "", usage("--output: want %s", choice(formats()))
	case g.JSON && output != formatTable && output != formatJSON:
		return "", usage("--json and --output=%s can't be used together", output)
	case g.JSON:
		return formatJSON, nil
	}
	return output, nil
}

const (
	formatTable = "table"
	formatJSON  = "json"
	formatCSV   = "csv"
	formatID    = "id"
)

func formats() []string { return []string{formatTable, formatJSON, formatCSV, formatID} }

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

// choice returns words as "a, b or c".
func choice(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// listing is how a list of T is printed. All commands that list use one.
type listing[T any] struct {
	none    string // printed if the list is empty
	columns []column[T]
	id      func(*T) string // what other commands, and --after, take for an item
	pages   bool            // --after takes ids
	view    func(*T) any    // what is printed of an item as JSON; nil: the item
}

// column is a column of a list's table. One that is optional is left out if it is empty
// in every row.
type column[T any] struct {
	head     string
	cell     func(*T) string
	optional bool
}

// list reads a list from the database that was named, and prints it.
func (l *listing[T]) list(ctx context.Context, a *app, g *options, f listFlags, read func(*store) iter.Seq2[T, error]) error {
	if _, err := f.format(g); err != nil {
		return err
	}
	s, err := g.open(ctx, opening{})
	if err != nil {
		return err
	}
	items, err := engine.Collect(read(s), f.Limit)
	if err := s.close(err); err != nil {
		return err
	}
	return l.print(a, g, f, items)
}

// refused is a list that cannot be read.
func refused[T any](err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		yield(none, err)
	}
}

// listStores reads a list from the database that was named or from every store of a
// fleet, and prints it as one.
func (l *listing[T]) listStores(ctx context.Context, a *app, g *options, f outputFlag, read func(s *store, key string) ([]T, error)) error {
	if _, err := f.format(g); err != nil {
		return err
	}
	var all []T
	err := g.eachStore(ctx, a, func(s *store, key string) error {
		items, err := read(s, key)
		all = append(all, items...)
		return err
	})
	if err != nil && len(all) == 0 {
		return err
	}
	return errors.Join(l.printAll(a, g, f, all), err)
}

// print prints a page of a list, and how to go on if it is full: not as JSON, whose
// reader can see that.
func (l *listing[T]) print(a *app, g *options, f listFlags, items []T) error {
	err := l.printAll(a, g, f.outputFlag, items)
	if n := len(items); err == nil && l.pages && n > 0 && n == f.Limit && !g.JSON && cmp.Or(f.Output, formatTable) == formatTable {
		fmt.Fprintf(a.stderr, "there may be more: --after %s\n", terminal.Clean(shellWord(l.id(&items[n-1]))))
	}
	return err
}

// printAll prints a list in the format that was asked for.
func (l *listing[T]) printAll(a *app, g *options, f outputFlag, items []T) error {
	format, err := f.format(g)
	if err != nil {
		return err
	}
	switch format {
	case formatJSON:
		return printAll(a, items, l.json)
	case formatCSV:
		w := csv.NewWriter(a.stdout)
		return errors.Join(w.WriteAll(l.rows(items)), w.Error())
	case formatID:
		return l.ids(a.stdout, items)
	}
	if len(items) == 0 {
		fmt.Fprintln(a.stderr, l.none)
		return nil
	}
	var t terminal.Table
	for _, row := range l.rows(items) {
		t.Row(row...)
	}
	return t.Write(a.stdout, terminal.Width(a.stdout))
}

// rows are a list's cells, the heads first.
func (l *listing[T]) rows(items []T) [][]string {
	rows := make([][]string, len(items)+1)
	for _, c := range l.columns {
		cells := []string{c.head}
		for i := range items {
			cells = append(cells, terminal.Clean(c.cell(&items[i])))
		}
		if c.optional && !slices.ContainsFunc(cells[1:], func(s string) bool { return s != "" }) {
			continue
		}
		for i, cell := range cells {
			rows[i] = append(rows[i], cell)
		}
	}
	return rows
}

// ids prints what other commands take for the items.
func (l *listing[T]) ids(w io.Writer, items []T) error {
	for i := range items {
		if _, err := fmt.Fprintln(w, terminal.Clean(l.id(&items[i]))); err != nil {
			return err
		}
	}
	return nil
}

// json returns what is printed of an item as JSON.
func (l *listing[T]) json(item T) any {
	if l.view != nil {
		return l.view(&item)
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
