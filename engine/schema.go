package engine

import (
	"fmt"
	"log/slog"
	"sync"
)

// Schema is what a database says of its schema.
type Schema struct {
	Applied []Applied
	Objects []AppliedObject
}

// Plan is what Migrate does to a schema.
type Plan struct {
	Migrations []Migration
	Apply      []Object        // routines and views that are missing or have another text
	Drop       []AppliedObject // those that this build does not have
	// Newer says that the schema is a newer program's, which this one may use and
	// does not change.
	Newer bool
}

// Plan compares a schema with this build's.
func (f *Folder) Plan(have Schema) (p Plan, err error) {
	p.Migrations, p.Newer, err = Pending(f.Migrations, have.Applied)
	if err == nil && !p.Newer {
		p.Apply, p.Drop = PendingObjects(f.Objects, have.Objects)
	}
	return p, err
}

// Check is what CheckSchema answers for a database with this schema. newer is as in
// [Plan].
func (f *Folder) Check(have Schema) (newer bool, err error) {
	plan, err := f.Plan(have)
	const remedy = "run `pawl migrate` or call Migrate"
	switch changed := len(plan.Apply) + len(plan.Drop); {
	case err != nil:
		return false, err
	case len(have.Applied) == 0:
		return false, fmt.Errorf("%w: %s", ErrSchemaMissing, remedy)
	case len(plan.Migrations) > 0:
		return false, fmt.Errorf("%w: the database has version %d, this build needs %d: %s", ErrSchemaOld, len(have.Applied), len(f.Migrations), remedy)
	case len(plan.Apply) > 0:
		return false, fmt.Errorf("%w: %d routines and views are not those of this build, %s among them: %s", ErrSchemaOld, changed, plan.Apply[0].Name, remedy)
	case len(plan.Drop) > 0:
		return false, fmt.Errorf("%w: %d routines and views are none of this build, %s among them: %s", ErrSchemaOld, changed, plan.Drop[0].Name, remedy)
	}
	return plan.Newer, nil
}

// Version is the number of the newest migration that this build has.
func (f *Folder) Version() int { return len(f.Migrations) }

// NewerNote says once that a program works with a newer one's schema.
type NewerNote struct{ once sync.Once }

// Say logs it, the first time.
func (n *NewerNote) Say(log *slog.Logger, database, program int) {
	n.once.Do(func() {
		Logger(log).Warn("the database has the schema of a newer program, which this one may use: update this program before the next migration", "schema", database, "program", program)
	})
}
