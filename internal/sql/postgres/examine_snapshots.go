package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
)

// holders is how many of the sessions with old snapshots are named.
const holders = 3

// doctorTransactions lists the oldest transactions of other sessions that concern this
// database.
type doctorTransactions struct {
	engine.Rows[transaction]
	Most int
}

type transaction struct {
	PID              int64
	User, App, State string
	Micros           int64 // since it began
	XIDs             int64 // how many transactions ago its snapshot is
}

func (t *transaction) String() string {
	return fmt.Sprintf("process %d (user %q, application %q, %s) has a transaction open for %s", t.PID, t.User, t.App, t.State, age(t.Micros))
}

// doctorPrepared lists the oldest prepared transactions of this database.
type doctorPrepared struct {
	engine.Rows[preparedTransaction]
	Most int
}

type preparedTransaction struct {
	Name, Owner string
	Micros      int64 // since it was prepared
}

// doctorSlots lists inactive replication slots.
type doctorSlots struct {
	engine.Rows[slot]
	Most int
}

type slot struct {
	Name  string
	Bytes int64 // of the log that it keeps
	XIDs  int64 // how many transactions ago the rows are that it keeps
}

// doctorHidden counts the sessions of this database whose state this role cannot see.
type doctorHidden struct{ engine.Number }

// snapshots looks for what keeps row versions that nobody needs from being cleaned
// up, and the log from being recycled.
func (x *examiner) snapshots(ctx context.Context) ([]health.Finding, error) {
	open, err := engine.Query(ctx, x, doctorTransactions{Most: holders})
	if err != nil {
		return nil, err
	}
	found := x.checkTransactions(open)
	prepared, err := engine.Query(ctx, x, doctorPrepared{Most: holders})
	if err != nil {
		return found, err
	}
	for _, p := range prepared {
		if p.Micros >= x.limits.Snapshot.Microseconds() {
			name := strings.ReplaceAll(p.Name, "'", "''")
			found = append(found, engine.NewFinding(x.levelOf(p.Micros), fmt.Sprintf("transaction %q of %q was prepared %s ago and neither committed nor rolled back", p.Name, p.Owner, age(p.Micros)),
				fmt.Sprintf("COMMIT PREPARED '%s' or ROLLBACK PREPARED '%s'", name, name)))
		}
	}
	slots, err := engine.Query(ctx, x, doctorSlots{Most: holders})
	if err != nil {
		return found, err
	}
	for _, s := range slots {
		found = append(found, engine.NewFinding(health.Warning, fmt.Sprintf("nobody reads replication slot %q, which keeps %d MB of the log and rows deleted up to %d transactions ago", s.Name, s.Bytes>>20, s.XIDs),
			fmt.Sprintf("Start what reads it, or: SELECT pg_drop_replication_slot('%s')", s.Name)))
	}
	hidden := engine.Ask(doctorHidden{})
	err = x.Read(ctx, hidden)
	if err == nil && hidden.N > 0 {
		found = append(found, engine.NewFinding(health.Note, fmt.Sprintf("%d sessions of other users do not show themselves to this role", hidden.N), "To see them: GRANT pg_read_all_stats TO this role"))
	}
	seen := "no other transaction is open"
	if len(open) > 0 {
		seen = open[0].String()
	}
	return engine.OrOK(found, seen), err
}

// muchTooOld is the multiple of the limit from which it is a problem.
const muchTooOld = 12

func (x *examiner) levelOf(micros int64) health.Level {
	if time.Duration(micros)*time.Microsecond >= muchTooOld*x.limits.Snapshot {
		return health.Problem
	}
	return health.Warning
}

func (x *examiner) checkTransactions(open []transaction) (found []health.Finding) {
	for i := range open {
		t := &open[i]
		if t.Micros < x.limits.Snapshot.Microseconds() {
			continue
		}
		next := fmt.Sprintf("Wait for it, or end it: SELECT pg_terminate_backend(%d)", t.PID)
		if strings.HasPrefix(t.State, "idle in transaction") {
			next += ". A program forgot to end its transaction; idle_in_transaction_session_timeout ends such ones."
		}
		evidence := t.String()
		if t.XIDs > 0 {
			evidence += fmt.Sprintf("; its snapshot is %d transactions old, and vacuum keeps everything deleted since", t.XIDs)
		}
		found = append(found, engine.NewFinding(x.levelOf(t.Micros), evidence, next))
	}
	return found
}
