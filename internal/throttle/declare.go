package throttle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bravellian/pawl/internal/declare"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/topics"
	"github.com/bravellian/pawl/internal/worker"
)

// Declared is a limit that a handler of a topic, or of a pattern, needs.
type Declared struct {
	Topic string
	Bounds
}

// Validate returns what is wrong with the bounds.
func (b *Bounds) Validate() error { return b.validate() }

// declaredBy begins the actor of limits that a program declares; its owner follows.
const declaredBy = "declared by "

// Declare sets the limits that the handlers of a program need, and ends those that it declared before
// under this owner and no longer does. What an operator set stays until it is removed. An older version of
// the program than the one that declared last changes nothing.
func (l *Limits) Declare(ctx context.Context, owner, version string, want []Declared) error {
	if err := cmp.Or(engine.CheckText("Program", owner, limits.JobOwner, true), engine.CheckText("Version", version, limits.JobOwner, false)); err != nil {
		return err
	}
	rows, err := engine.Query(ctx, l.db, op.LimitList{})
	if err != nil {
		return err
	}
	rows = slices.DeleteFunc(rows, func(r op.Limit) bool { return r.Actor != declaredBy+owner })
	if len(want)+len(rows) == 0 {
		return nil // as in most programs
	}
	slices.SortFunc(want, func(a, b Declared) int { return cmp.Compare(a.Topic, b.Topic) })
	newer, err := l.record(ctx, "limits/"+owner, fmt.Sprintf("%+v", want), version)
	if err != nil {
		return err
	}
	if newer != "" {
		l.log.WarnContext(ctx, "limits not declared: a newer version of the program declared others", "owner", owner, "newer", newer)
		return nil
	}
	for _, d := range want {
		d.defaults()
		c := op.LimitDeclare{
			Kind: string(kindOf(d.Topic)), Name: d.Topic, Concurrency: worker.Optional(d.Concurrency), Rate: worker.Optional(d.Rate), Period: d.Period, Burst: d.Burst, Owner: owner, Reason: "of the handler", Declared: worker.Optional(d.Words() + " by " + owner),
		}
		rows = slices.DeleteFunc(rows, func(r op.Limit) bool { return r.Kind == c.Kind && r.Name == c.Name })
		switch n, err := engine.Exec(ctx, l.db, nil, c); {
		case err != nil:
			return err
		case n < 0:
			l.log.InfoContext(ctx, "an operator's limit holds in place of the declared one", "topic", d.Topic)
		}
	}
	for _, r := range rows {
		if _, err := engine.Exec(ctx, l.db, nil, op.LimitDeclare{Kind: r.Kind, Name: r.Name, Owner: owner}); err != nil {
			return err
		}
	}
	return l.Refresh(ctx)
}

// record records the version of the program, and returns the newer one that supersedes it, "" for none.
// Processes of one version that start at once may collide: the next attempt finds what the other wrote.
func (l *Limits) record(ctx context.Context, owner, content, version string) (newer string, err error) {
	for range 5 {
		var calls []*engine.Call
		if newer, calls, err = declare.Check(ctx, l.db, owner, content, declare.Options{Version: version}); err != nil || len(calls) == 0 {
			return newer, err
		}
		if err = l.db.Do(ctx, calls...); err == nil || ctx.Err() != nil {
			return "", errors.Join(err, ctx.Err())
		}
	}
	return "", err
}

// Words returns the bounds in words.
func (b *Bounds) Words() string {
	var parts []string
	if b.Concurrency > 0 {
		parts = append(parts, fmt.Sprintf("%d at once", b.Concurrency))
	}
	if b.Rate > 0 {
		parts = append(parts, fmt.Sprintf("%d in %s", b.Rate, engine.Exact(b.Period)))
	}
	return strings.Join(parts, ", ")
}

// kindOf is the kind of a handler's topic: a pattern's limit holds for each of its topics.
func kindOf(topic string) Kind {
	if _, pattern := topics.Pattern(topic); pattern {
		return Each
	}
	return Topic
}
