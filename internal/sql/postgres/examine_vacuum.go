package postgres

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
)

// doctorTables reads the statistics of tables.
type doctorTables struct {
	engine.Rows[table]
	Schema string
	Names  []string
}

type table struct {
	Name       string
	Live, Dead int64  // rows
	Vacuumed   *int64 // how many microseconds ago
	Off        bool   // autovacuum is switched off for it
	Age        int64  // of its oldest transaction id
	Unlogged   bool
}

// tables returns the statistics of pawl's tables.
func (x *examiner) tables(ctx context.Context) ([]table, error) {
	return engine.Query(ctx, x, doctorTables{Schema: x.opts.Schema, Names: x.expectedTables()})
}

// vacuum looks at whether rows that nobody needs are cleaned up.
func (x *examiner) vacuum(ctx context.Context) ([]health.Finding, error) {
	list, err := engine.Query(ctx, x, doctorSettings{Names: []string{"autovacuum", "track_counts"}})
	if err != nil {
		return nil, err
	}
	tables, err := x.tables(ctx)
	if err != nil {
		return nil, err
	}
	found := checkAutovacuum(list)
	var dead int64
	for i := range tables {
		found = append(found, x.checkTable(&tables[i])...)
		dead += tables[i].Dead
	}
	return engine.OrOK(found, fmt.Sprintf("autovacuum is on; %d dead rows in %d tables", dead, len(tables))), nil
}

func checkAutovacuum(list []setting) (found []health.Finding) {
	for _, s := range list {
		if s.Value == "off" {
			found = append(found, engine.NewFinding(health.Problem, fmt.Sprintf("%s = off (from: %s): nothing is cleaned up", s.Name, s.Source), "ALTER SYSTEM SET "+s.Name+" = on; SELECT pg_reload_conf()"))
		}
	}
	return found
}

// Transaction ids are used up at two thousand million; autovacuum begins to freeze a table at
// a tenth of that, so a greater age means that it cannot.
const (
	agedTable   = 600_000_000
	doomedTable = 1_600_000_000
)

func (x *examiner) checkTable(t *table) (found []health.Finding) {
	if t.Off {
		found = append(found, engine.NewFinding(health.Warning, "autovacuum is switched off for table "+t.Name, "ALTER TABLE "+x.quote(t.Name)+" RESET (autovacuum_enabled)"))
	}
	if t.Dead >= x.limits.DeadRows && t.Dead > t.Live {
		last := "never vacuumed"
		if t.Vacuumed != nil {
			last = "last vacuumed " + age(*t.Vacuumed) + " ago"
		}
		found = append(found, engine.NewFinding(health.Warning, fmt.Sprintf("table %s has %d dead rows and %d live ones, %s", t.Name, t.Dead, t.Live, last),
			"See whether an old snapshot holds them (the finding on snapshots), then: VACUUM "+x.quote(t.Name)))
	}
	if t.Age >= agedTable {
		level := health.Warning
		if t.Age >= doomedTable {
			level = health.Problem
		}
		found = append(found, engine.NewFinding(level, fmt.Sprintf("the oldest rows of table %s are %d transactions old; at 2 100 million the server stops", t.Name, t.Age), "VACUUM (FREEZE) "+x.quote(t.Name)))
	}
	return found
}
