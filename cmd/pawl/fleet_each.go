package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/bravellian/pawl/cmd/pawl/internal/target"
	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
)

// eachStore does something with the database that was named or, one after the
// other, with every store of the fleet; those that fail do not stop the others, and
// are told of in the end. key is "" for a single database.
func (g *options) eachStore(ctx context.Context, a *app, do func(s *store, key string) error) error {
	if !g.wholeFleet() {
		s, err := g.open(ctx, opening{})
		if err != nil {
			return err
		}
		return s.close(do(s, ""))
	}
	f, err := g.openFleet()
	if err != nil {
		return err
	}
	list, err := stores(ctx, f)
	if err != nil {
		return err
	}
	var failed []string
	for _, e := range list {
		if err := g.oneOf(ctx, e, do); err != nil {
			failed = append(failed, fmt.Sprintf("  %s: %s", e.Key, explain(err)))
		}
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
	}
	if len(failed) == 0 {
		return nil
	}
	for _, line := range append([]string{"failed:"}, failed...) {
		fmt.Fprintln(a.stderr, terminal.Clean(line))
	}
	return fmt.Errorf("%d of %s failed", len(failed), several(len(list), "store"))
}

func (g *options) oneOf(ctx context.Context, e entry, do func(s *store, key string) error) error {
	if e.err != nil {
		return e.err
	}
	if !e.at.Exists() {
		return target.ErrNoFile
	}
	s, err := openTarget(ctx, e.at, opening{})
	if err != nil {
		return err
	}
	return s.close(do(s, e.Key))
}

// storeTable is a table with a column for stores, if there are several.
type storeTable struct {
	terminal.Table
	several bool
}

func newStoreTable(g *options, columns ...string) *storeTable {
	t := &storeTable{several: g.wholeFleet()}
	t.row("STORE", columns...)
	return t
}

func (t *storeTable) row(store string, cells ...string) {
	if t.several {
		cells = append([]string{store}, cells...)
	}
	t.Row(cells...)
}
