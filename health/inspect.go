package health

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/registry"
)

// Inspect checks a database from outside, once: for programs that have no loops of
// their own. One look cannot tell whether work moves on, so the list of workers has to
// say whether anybody is there to claim it.
func Inspect(ctx context.Context, db engine.DB, o Options) Report {
	o.defaults()
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	checks, usable := database(ctx, db, nil)
	if usable {
		checks = append(checks, inspectWork(ctx, db, &o)...)
		checks = append(checks, aside(ctx, db)...)
	}
	return NewReport(checks)
}

func inspectWork(ctx context.Context, db engine.DB, o *Options) []Check {
	by, err := lineup(ctx, db, o)
	if err != nil {
		return []Check{fail("waiting", "what waits could not be looked up: "+cause(ctx, err, 0))}
	}
	late, known, failure := overdueSigns(ctx, db, by, o)
	switch {
	case failure != nil:
		return []Check{*failure}
	case len(late) == 0:
		return []Check{nothingWaits(by)}
	}
	all, err := registry.New(db, nil).List(ctx)
	if err != nil {
		return []Check{fail("waiting", "the workers could not be looked up: "+cause(ctx, err, 0))}
	}
	var checks []Check
	for i := range late {
		checks = append(checks, inspectLine(&late[i], known[late[i].name], servers(all, &late[i]), o))
	}
	return bounded(checks)
}

// inspectLine gives the benefit of the doubt, with a warning, wherever somebody shows
// a sign of life: a worker in the list, or who holds messages without being listed, as
// programs that claim through SQL do.
func inspectLine(l *line, s sign, live []registry.Info, o *Options) Check {
	switch {
	case s.done != nil && *s.done < o.Waiting:
		return l.check(OK, fmt.Sprintf("; one was finished %s ago", span(*s.done)))
	case len(live) > 0:
		n := int64(len(live))
		return l.check(Warn, fmt.Sprintf("; %s %s alive, such as %s: whether it claims, one look cannot tell", several(n, false, "worker"), are(n), live[0].Name)).
			with("workers", n)
	case s.held:
		return l.check(Warn, "; somebody holds other messages of it")
	}
	return l.check(Fail, "; "+help(l)).with("workers", 0)
}
