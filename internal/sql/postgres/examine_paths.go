package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
)

// doctorPaths reads the routines in a schema under a prefix through which another user's
// functions could be called.
type doctorPaths struct {
	engine.Rows[looseRoutine]
	Schema, Prefix string
}

type looseRoutine struct {
	Signature  string
	Loose      bool // it has no search_path, as pawl's have
	Everybodys bool // it runs with its owner's rights and PUBLIC may execute it
	Owner      string
}

// doctorPath lists the schemas that this session searches before pg_catalog, except its own
// temporary one.
type doctorPath struct{ engine.Rows[schemaName] }

type schemaName struct{ Name string }

// paths checks how names are resolved (D-114): a routine without a search_path of its
// own, or a session that looks elsewhere first, calls what somebody else defined.
func (x *examiner) paths(ctx context.Context) ([]health.Finding, error) {
	if !x.current(ctx) {
		return nil, nil
	}
	list, err := engine.Query(ctx, x, doctorPaths{Schema: x.opts.Schema, Prefix: x.opts.Prefix})
	if err != nil {
		return nil, err
	}
	path, err := engine.Query(ctx, x, doctorPath{})
	if err != nil {
		return nil, err
	}
	return checkPaths(list, engine.Mapped(path, func(s *schemaName) string { return s.Name })), nil
}

func checkPaths(list []looseRoutine, before []string) (found []health.Finding) {
	for _, l := range list {
		if l.Loose {
			found = append(found, engine.NewFinding(health.Problem, "routine "+l.Signature+" does not set its search_path: it calls whatever the caller's path holds",
				"ALTER ROUTINE "+l.Signature+" SET search_path = pg_catalog, pg_temp"))
		}
		if l.Everybodys {
			found = append(found, engine.NewFinding(health.Problem, fmt.Sprintf("routine %s runs with the rights of %s for everybody", l.Signature, l.Owner),
				"REVOKE EXECUTE ON ROUTINE "+l.Signature+" FROM PUBLIC"))
		}
	}
	if len(before) > 0 {
		found = append(found, engine.NewFinding(health.Warning, "search_path puts "+strings.Join(before, ", ")+" before pg_catalog: functions there stand in for PostgreSQL's own",
			"Take pg_catalog out of search_path, which puts it first: ALTER ROLE … RESET search_path, or change the connection string."))
	}
	return engine.OrOK(found, "every routine sets its search_path")
}
