package admin

import (
	"context"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// checkQueues finds messages of queues that the database does not know, because it lost
// them: no worker claims them. With Fix it adds those again that a worker serves.
func (e *examination) checkQueues(ctx context.Context) ([]health.Finding, error) {
	if e.opts.Fix {
		if err := e.db.Do(ctx, engine.Ask(op.DoctorAdopt{Note: audit.New(ctx, "queues that were lost").Op()})); err != nil {
			return nil, err
		}
	}
	lanes, err := engine.Query(ctx, e.db, op.DoctorQueues{Look: maxRows})
	switch {
	case err != nil:
		return nil, err
	case len(lanes) == 0:
		return one(health.OK, "every message is of a queue that is known", ""), nil
	}
	var messages int64
	topics := map[string]bool{}
	var some []string
	for _, l := range lanes {
		messages += l.N
		if !topics[l.Topic] && len(some) < mentioned {
			topics[l.Topic], some = true, append(some, fmt.Sprintf("%q", l.Topic))
		}
	}
	found := one(health.Problem, fmt.Sprintf("%s messages wait in %d queues that the database does not know, so that no worker claims them: of topics %s", engine.AtLeast(messages, messages >= maxRows), len(lanes), strings.Join(some, ", ")),
		"The database lost these queues, by a restore or a failover. Start a worker of each, which finds them again, or enqueue a message into each with the priority that they had.")
	found[0].Fixable = true
	return found, nil
}
