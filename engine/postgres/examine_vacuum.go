package postgres

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/engine"
)

type table struct {
	name          string
	live, dead    int64
	vacuumed      *int64 // how long ago
	off, unlogged bool
	age           int64
}

// tables is what the statistics say of pawl's tables.
func (x *examiner) tables(ctx context.Context) ([]table, error) {
	return ask(ctx, x, "tables", func(r engine.Row, t *table) error {
		return r.Scan(&t.name, &t.live, &t.dead, &t.vacuumed, &t.off, &t.age, &t.unlogged)
	}, x.opts.Schema, x.expectedTables())
}

// vacuum looks at whether rows that nobody needs are cleaned up.
func (x *examiner) vacuum(ctx context.Context) ([]engine.Finding, error) {
	list, err := ask(ctx, x, "settings", scanSetting, []string{"autovacuum", "track_counts"})
	if err != nil {
		return nil, err
	}
	tables, err := x.tables(ctx)
	if err != nil {
		return nil, err
	}
	found := judgeAutovacuum(list)
	var dead int64
	for i := range tables {
		found = append(found, x.judgeTable(&tables[i])...)
		dead += tables[i].dead
	}
	return engine.OrOK(found, fmt.Sprintf("autovacuum is on; %d dead rows in %d tables", dead, len(tables))), nil
}

func judgeAutovacuum(list []setting) (found []engine.Finding) {
	for _, s := range list {
		if s.value == "off" {
			found = append(found, engine.Found(engine.Problem, fmt.Sprintf("%s = off (from: %s): nothing is cleaned up", s.name, s.source), "ALTER SYSTEM SET "+s.name+" = on; SELECT pg_reload_conf()"))
		}
	}
	return found
}

// Transaction ids are used up at two thousand million; autovacuum begins to freeze
// a table by itself at a tenth of that, so an age beyond says that it cannot.
const (
	agedTable   = 600_000_000
	doomedTable = 1_600_000_000
)

func (x *examiner) judgeTable(t *table) (found []engine.Finding) {
	if t.off {
		found = append(found, engine.Found(engine.Warning, "autovacuum is switched off for table "+t.name, "ALTER TABLE "+x.quote(t.name)+" RESET (autovacuum_enabled)"))
	}
	if t.dead >= x.limits.DeadRows && t.dead > t.live {
		last := "never vacuumed"
		if t.vacuumed != nil {
			last = "last vacuumed " + age(*t.vacuumed) + " ago"
		}
		found = append(found, engine.Found(engine.Warning, fmt.Sprintf("table %s has %d dead rows and %d live ones, %s", t.name, t.dead, t.live, last),
			"See whether an old snapshot holds them (the finding on snapshots), then: VACUUM "+x.quote(t.name)))
	}
	if t.age >= agedTable {
		level := engine.Warning
		if t.age >= doomedTable {
			level = engine.Problem
		}
		found = append(found, engine.Found(level, fmt.Sprintf("the oldest rows of table %s are %d transactions old; at 2 100 million the server stops", t.name, t.age), "VACUUM (FREEZE) "+x.quote(t.name)))
	}
	return found
}
