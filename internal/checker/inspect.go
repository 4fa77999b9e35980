package checker

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/registry"
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
		found = append(found, inspectWork(ctx, db, &o)...)
		found = append(found, bulk(ctx, db, &o)...)
		found = append(found, aside(ctx, db)...)
	}
	return health.NewReport(found)
}

func inspectWork(ctx context.Context, db engine.DB, o *health.Options) []health.Finding {
	by, err := lineup(ctx, db, o)
	if err != nil {
		return []health.Finding{problem("waiting", "what waits could not be looked up: "+cause(ctx, err, 0), "")}
	}
	late, known, failure := overdueSigns(ctx, db, by, o)
	switch {
	case failure != nil:
		return []health.Finding{*failure}
	case len(late) == 0:
		return []health.Finding{nothingWaits(by)}
	}
	all, err := registry.New(db, nil).List(ctx)
	if err != nil {
		return []health.Finding{problem("waiting", "the workers could not be looked up: "+cause(ctx, err, 0), "")}
	}
	var found []health.Finding
	for i := range late {
		found = append(found, inspectLine(&late[i], known[late[i].name], servers(all, &late[i]), o))
	}
	return bounded(found)
}

// inspectLine gives the benefit of the doubt, with a warning, wherever somebody shows
// a sign of life: a worker in the list, or who holds messages without being listed, as
// programs that claim through SQL do.
func inspectLine(l *line, s sign, live []registry.Info, o *health.Options) health.Finding {
	switch {
	case s.done != nil && *s.done < o.Waiting:
		return l.finding(health.OK, fmt.Sprintf("; one was finished %s ago", span(*s.done)), "")
	case len(live) > 0:
		n := int64(len(live))
		return l.finding(health.Warning, fmt.Sprintf("; %s %s alive, such as %s: whether it claims, one check cannot tell", several(n, false, "worker"), are(n), live[0].Name),
			"ask the worker's own /readyz", fact("workers", n))
	case s.held:
		return l.finding(health.Warning, "; somebody holds other messages of it", "")
	}
	return l.finding(health.Problem, "; "+unserved(l), startOne(l), fact("workers", 0))
}
