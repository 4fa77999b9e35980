package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
)

// doctorLocks lists the sessions that keep others from writing to one of pawl's tables, those of the
// oldest transactions first.
type doctorLocks struct {
	engine.Rows[tableLock]
	Schema, Prefix string
	Most           int
}

type tableLock struct {
	PID              int64
	User, App, State string
	Micros           *int64 // since its transaction began; nil where this role may not see it
	OfTable          string
}

// longLock is how long a table may be locked: setting a limit and migrating take that long at most.
const longLock = 10 * time.Second

// locks names who has locked a whole table of pawl's.
func (x *examiner) locks(ctx context.Context) ([]health.Finding, error) {
	held, err := engine.Query(ctx, x, doctorLocks{Schema: x.opts.Schema, Prefix: x.opts.Prefix, Most: holders})
	if err != nil {
		return nil, err
	}
	var found []health.Finding
	for _, l := range held {
		level, since := health.Warning, "for a time that this role may not see"
		if l.Micros != nil {
			since = "for " + age(*l.Micros)
			if time.Duration(*l.Micros)*time.Microsecond < longLock {
				level = health.Note
			}
		}
		found = append(found, engine.NewFinding(level, fmt.Sprintf("process %d (user %q, application %q, %s) keeps table %s locked, in a transaction that is open %s", l.PID, l.User, l.App, l.State, l.OfTable, since),
			fmt.Sprintf("Wait for it, or end it: SELECT pg_terminate_backend(%d)", l.PID)))
	}
	return engine.OrOK(found, "nobody has locked a table"), nil
}
