package sqlserver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
)

// holders is how many of those who hold transactions open are named.
const holders = 3

// doctorTransactions lists the oldest transactions of other sessions that have touched this
// database.
type doctorTransactions struct {
	engine.Rows[transaction]
	Most int
}

type transaction struct {
	ID                int64 // the session's
	Login, App, State string
	Micros            int64 // since it began
	Wrote             bool
}

func (t *transaction) String() string {
	return fmt.Sprintf("session %d (login %q, application %q, %s) has a transaction open for %s", t.ID, t.Login, t.App, t.State, age(t.Micros))
}

// doctorVersions asks how much of tempdb the row versions of this database take. One row.
type doctorVersions struct{ engine.Rows[versionStore] }

type versionStore struct{ Bytes int64 }

// manyVersions is how many bytes of row versions are worth a warning: the server drops
// them within a minute, unless an old transaction may still read them.
const manyVersions = 1 << 30

// snapshots looks for transactions that keep row versions and locks.
func (x *examiner) snapshots(ctx context.Context) ([]health.Finding, error) {
	open, err := engine.Query(ctx, x, doctorTransactions{Most: holders})
	if err != nil {
		if found := unseen(err, seeServer); found != nil {
			return found, nil
		}
		return nil, err
	}
	found := x.checkTransactions(open)
	store, _, err := engine.Get(ctx, x, doctorVersions{})
	if err == nil && store.Bytes >= manyVersions {
		found = append(found, engine.NewFinding(health.Warning, fmt.Sprintf("row versions of this database take %d MB of tempdb", store.Bytes>>20), "See which transaction keeps them: sys.dm_tran_active_snapshot_database_transactions"))
	}
	if unseen(err, seeServer) != nil {
		err = nil
	}
	seen := "no other transaction is open"
	if len(open) > 0 {
		seen = open[0].String()
	}
	return engine.OrOK(found, seen), err
}

// muchTooOld is how many times the limit is a problem.
const muchTooOld = 12

func (x *examiner) checkTransactions(open []transaction) (found []health.Finding) {
	for i := range open {
		t := &open[i]
		since := time.Duration(t.Micros) * time.Microsecond
		if since < x.limits.Snapshot {
			continue
		}
		level := health.Warning
		if since >= muchTooOld*x.limits.Snapshot {
			level = health.Problem
		}
		next := fmt.Sprintf("Wait for it, or end it: KILL %d", t.ID)
		if strings.EqualFold(t.State, "sleeping") {
			next += ". A program forgot to end its transaction."
		}
		evidence := t.String()
		if t.Wrote {
			evidence += "; what it changed is locked, and the log cannot be cut behind its beginning"
		}
		found = append(found, engine.NewFinding(level, evidence, next))
	}
	return found
}

// doctorPages asks how much room tables take.
type doctorPages struct {
	engine.Rows[room]
	Schema, Prefix string
}

type room struct {
	Name  string
	Rows  int64
	Pages int64 // of 8 KB, indexes included
}

// Rows of these tables are small, and come and go: what they take beyond that is empty.
const (
	rowBytes  = 400 // at most, indexes and half-full pages included
	pageBytes = 8192
	limitUnit = 4096 // a page of engine.ExamineLimits
)

// space looks for tables that keep room which their rows have left. A claim reads through
// it.
func (x *examiner) space(ctx context.Context) ([]health.Finding, error) {
	list, err := engine.Query(ctx, x, doctorPages{Schema: x.opts.Schema, Prefix: x.opts.Prefix})
	if err != nil {
		if found := unseen(err, seeDatabase); found != nil {
			return found, nil
		}
		return nil, err
	}
	return x.checkSpace(list), nil
}

func (x *examiner) checkSpace(list []room) (found []health.Finding) {
	var seen []string
	for _, r := range list {
		name := strings.TrimPrefix(r.Name, x.opts.Prefix)
		if !slices.Contains([]string{"outbox_ready", "outbox_claimed"}, name) {
			continue
		}
		empty := r.Pages*pageBytes - r.Rows*rowBytes
		text := fmt.Sprintf("table %s takes %d MB for %d rows", r.Name, r.Pages*pageBytes>>20, r.Rows)
		seen = append(seen, text)
		if empty >= x.limits.FreePages*limitUnit && empty*2 > r.Pages*pageBytes {
			found = append(found, engine.NewFinding(health.Warning, text, "ALTER INDEX ALL ON "+x.folder.Names.Quote(name)+" REBUILD"))
		}
	}
	return engine.OrOK(found, strings.Join(seen, "; "))
}
