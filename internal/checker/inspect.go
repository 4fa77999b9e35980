package checker

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/inspect"
)

// Inspect checks a database from outside, once: for programs that have no loops of
// their own. One look cannot tell whether work moves on, so the list of workers has to
// say whether anybody is there to claim it.
func Inspect(ctx context.Context, db engine.DB, o health.Options) health.Report {
	defaults(&o)
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	found, usable := database(ctx, db, nil)
	if usable {
		list := workers(ctx, db)
		found = append(found, work(ctx, db, list, &o)...)
		found = append(found, bulk(ctx, db, list, &o)...)
		found = append(found, aside(ctx, db)...)
	}
	return health.NewReport(found)
}

// Work reports, once, whether work is done: what waits that nobody claims, and what goes wrong in
// handling it.
func Work(ctx context.Context, db engine.DB, o health.Options) []health.Finding {
	defaults(&o)
	return work(ctx, db, workers(ctx, db), &o)
}

func work(ctx context.Context, db engine.DB, list listing, o *health.Options) []health.Finding {
	lines, err := inspect.Waiting(ctx, db, o.Queues, o.Waiting)
	found := judged(ctx, lines, err, o, func(l *inspect.Line) health.Finding {
		all, err := list()
		if err != nil {
			return problem("waiting", "the workers could not be looked up: "+cause(ctx, err, 0), "")
		}
		return inspectLine(l, servers(all, l), o)
	})
	return append(found, users(ctx, db, list, o)...)
}

// inspectLine gives the benefit of the doubt, with a warning, wherever somebody shows
// a sign of life: a worker in the list, or who holds messages without being listed, as
// programs that claim through SQL do.
func inspectLine(l *inspect.Line, live inspect.Workers, o *health.Options) health.Finding {
	switch n := len(live); {
	case lately(l, o.Waiting):
		return finding(l, health.OK, fmt.Sprintf("; one was finished %s ago", engine.Span(*l.Done)), "")
	case n > 0:
		return finding(l, health.Warning, fmt.Sprintf("; %s %s alive, such as %s: whether it claims, one check cannot tell", engine.Several(n, "worker"), are(int64(n)), live[0].Name),
			"ask the worker's own /readyz", fact("workers", n))
	case l.Held:
		return finding(l, health.Warning, "; somebody holds other messages of it", "")
	}
	who, next := nobody(l)
	return finding(l, health.Problem, "; "+who, next, fact("workers", 0))
}
