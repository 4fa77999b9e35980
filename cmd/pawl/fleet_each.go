package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/bravellian/pawl/cmd/pawl/internal/target"
	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/internal/engine"
)

// askAtOnce is how many stores are asked at once.
const askAtOnce = 8

// askStores asks all stores of the fleet, several at once, and returns their answers
// by key. ask says itself what is wrong with a store.
func askStores[T any](ctx context.Context, g *options, ask func(e *entry) T) ([]T, error) {
	f, err := g.openFleet()
	if err != nil {
		return nil, err
	}
	list, err := stores(ctx, f)
	if err != nil {
		return nil, err
	}
	answers := make([]T, len(list))
	err = inParallel(ctx, len(list), askAtOnce, func(i int) { answers[i] = ask(&list[i]) })
	if err = errors.Join(err, ctx.Err()); err != nil {
		return nil, &databaseError{f.String(), err}
	}
	return answers, nil
}

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
	return fmt.Errorf("%d of %s failed", len(failed), engine.Several(len(list), "store"))
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
