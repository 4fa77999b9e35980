package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/engine"
)

type looseRoutine struct {
	signature         string
	loose, everybodys bool
	owner             string
}

// paths checks how names are resolved (D-114): a routine without a search_path of its
// own, or a session that looks elsewhere first, calls what somebody else defined.
func (x *examiner) paths(ctx context.Context) ([]engine.Finding, error) {
	if !x.current(ctx) {
		return nil, nil
	}
	list, err := ask(ctx, x, "paths", func(r engine.Row, l *looseRoutine) error {
		return r.Scan(&l.signature, &l.loose, &l.everybodys, &l.owner)
	}, x.opts.Schema, x.opts.Prefix)
	if err != nil {
		return nil, err
	}
	before, err := ask(ctx, x, "path", func(r engine.Row, s *string) error { return r.Scan(s) })
	if err != nil {
		return nil, err
	}
	return judgePaths(list, before), nil
}

func judgePaths(list []looseRoutine, before []string) (found []engine.Finding) {
	for _, l := range list {
		if l.loose {
			found = append(found, engine.Found(engine.Problem, "routine "+l.signature+" does not set its search_path: it calls whatever the caller's path holds",
				"ALTER ROUTINE "+l.signature+" SET search_path = pg_catalog, pg_temp"))
		}
		if l.everybodys {
			found = append(found, engine.Found(engine.Problem, fmt.Sprintf("routine %s runs with the rights of %s for everybody", l.signature, l.owner),
				"REVOKE EXECUTE ON ROUTINE "+l.signature+" FROM PUBLIC"))
		}
	}
	if len(before) > 0 {
		found = append(found, engine.Found(engine.Warning, "search_path puts "+strings.Join(before, ", ")+" before pg_catalog: functions there stand in for PostgreSQL's own",
			"Take pg_catalog out of search_path, which puts it first: ALTER ROLE … RESET search_path, or change the connection string."))
	}
	return engine.OrOK(found, "every routine sets its search_path")
}
