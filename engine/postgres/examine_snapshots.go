package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bravellian/pawl/engine"
)

// holders is how many of those who hold old snapshots are named.
const holders = 3

type transaction struct {
	pid              int64
	user, app, state string
	age, xids        int64
}

func (t *transaction) String() string {
	return fmt.Sprintf("process %d (user %q, application %q, %s) has a transaction open for %s", t.pid, t.user, t.app, t.state, age(t.age))
}

type preparedTransaction struct {
	name, owner string
	age         int64
}

type slot struct {
	name        string
	active      bool
	bytes, xids int64
}

// snapshots looks for what keeps row versions that nobody needs from being cleaned
// up, and the log from being recycled.
func (x *examiner) snapshots(ctx context.Context) ([]engine.Finding, error) {
	open, err := ask(ctx, x, "transactions", func(r engine.Row, t *transaction) error {
		return r.Scan(&t.pid, &t.user, &t.app, &t.state, &t.age, &t.xids)
	}, holders)
	if err != nil {
		return nil, err
	}
	found := x.judgeTransactions(open)
	prepared, err := ask(ctx, x, "prepared", func(r engine.Row, p *preparedTransaction) error { return r.Scan(&p.name, &p.owner, &p.age) }, holders)
	if err != nil {
		return found, err
	}
	for _, p := range prepared {
		if p.age >= x.limits.Snapshot.Microseconds() {
			name := strings.ReplaceAll(p.name, "'", "''")
			found = append(found, engine.Found(x.levelOf(p.age), fmt.Sprintf("transaction %q of %q was prepared %s ago and neither committed nor rolled back", p.name, p.owner, age(p.age)),
				fmt.Sprintf("COMMIT PREPARED '%s' or ROLLBACK PREPARED '%s'", name, name)))
		}
	}
	slots, err := ask(ctx, x, "slots", func(r engine.Row, s *slot) error { return r.Scan(&s.name, &s.active, &s.bytes, &s.xids) }, holders)
	if err != nil {
		return found, err
	}
	for _, s := range slots {
		found = append(found, engine.Found(engine.Warning, fmt.Sprintf("nobody reads replication slot %q, which keeps %d MB of the log and rows deleted up to %d transactions ago", s.name, s.bytes>>20, s.xids),
			fmt.Sprintf("Start what reads it, or: SELECT pg_drop_replication_slot('%s')", s.name)))
	}
	hidden, err := ask(ctx, x, "hidden", func(r engine.Row, n *int64) error { return r.Scan(n) })
	if err == nil && hidden[0] > 0 {
		found = append(found, engine.Found(engine.Note, fmt.Sprintf("%d sessions of other users do not show themselves to this role", hidden[0]), "To see them: GRANT pg_read_all_stats TO this role"))
	}
	seen := "no other transaction is open"
	if len(open) > 0 {
		seen = open[0].String()
	}
	return engine.OrOK(found, seen), err
}

// muchTooOld is how many times the limit is a problem.
const muchTooOld = 12

func (x *examiner) levelOf(micros int64) engine.Level {
	if time.Duration(micros)*time.Microsecond >= muchTooOld*x.limits.Snapshot {
		return engine.Problem
	}
	return engine.Warning
}

func (x *examiner) judgeTransactions(open []transaction) (found []engine.Finding) {
	for i := range open {
		t := &open[i]
		if t.age < x.limits.Snapshot.Microseconds() {
			continue
		}
		next := fmt.Sprintf("Wait for it, or end it: SELECT pg_terminate_backend(%d)", t.pid)
		if strings.HasPrefix(t.state, "idle in transaction") {
			next += ". A program forgot to end its transaction; idle_in_transaction_session_timeout ends such ones."
		}
		evidence := t.String()
		if t.xids > 0 {
			evidence += fmt.Sprintf("; its snapshot is %d transactions old, and vacuum keeps everything deleted since", t.xids)
		}
		found = append(found, engine.Found(x.levelOf(t.age), evidence, next))
	}
	return found
}
