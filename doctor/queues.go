package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/audit"
	"github.com/bravellian/pawl/engine"
)

// queues looks for messages of queues that the database does not know, as it lost
// them: no worker claims them. Those that somebody works on are found again.
func (e *examination) queues(ctx context.Context) ([]Finding, error) {
	if e.opts.Fix {
		if err := e.db.Do(ctx, engine.Count("doctor/adopt", audit.New(ctx, "queues that were lost").Args()...)); err != nil {
			return nil, err
		}
	}
	var lanes, messages int64
	topics := map[string]bool{}
	var some []string
	err := e.db.Read(ctx, &engine.Call{Op: "doctor/queues", Args: []any{look}, Reset: func() { lanes, messages, some = 0, 0, nil; clear(topics) }, Each: func(r engine.Row) error {
		var lane, n int64
		var topic string
		if err := r.Scan(&lane, &n, &topic); err != nil {
			return err
		}
		lanes, messages = lanes+1, messages+n
		if !topics[topic] && len(some) < mentioned {
			topics[topic], some = true, append(some, fmt.Sprintf("%q", topic))
		}
		return nil
	}})
	switch {
	case err != nil:
		return nil, err
	case lanes == 0:
		return one("queues", engine.OK, "every message is of a queue that is known", ""), nil
	}
	found := one("queues", engine.Problem, fmt.Sprintf("%s messages wait in %d queues that the database does not know, so that no worker claims them: of topics %s", atLeast(messages), lanes, strings.Join(some, ", ")),
		"The database lost these queues, by a restore or a failover. Start a worker of each, which finds them again, or enqueue a message into each with the priority that they had.")
	found[0].Fixable = true
	return found, nil
}
