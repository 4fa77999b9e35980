package engine

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
)

// Schema is the state of a database's schema.
type Schema struct {
	Applied []Applied
	Objects []AppliedObject
}

// Plan is what Migrate does to a schema.
type Plan struct {
	Migrations []Migration
	Apply      []Object        // routines and views that are missing or have another text
	Drop       []AppliedObject // those that this build does not have
	// Newer means that the schema is of a newer program, and that this one may use it but
	// does not change it.
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

// Migrator is a DB that supports running migrations by other means than Migrate. Find it
// with [As].
type Migrator interface {
	// SchemaStatus compares the schema with what this program needs. It changes nothing.
	SchemaStatus(ctx context.Context) (SchemaStatus, error)
	// Script returns the SQL that takes a schema from one version to another, for other tools
	// to run in one transaction: tables, routines and views, and the records of them that
	// Migrate and CheckSchema read. from 0 creates a schema; to 0 is the newest version. The
	// script of an older version has no routines and views: those of this program may need
	// what that version does not have.
	Script(from, to int) (string, error)
	// Baseline records a schema that was created by hand, or that has no records, as
	// applied. It compares everything with what Migrate would have created, and fails with
	// [ErrSchemaChanged] if something is missing or different. A new generation begins, as
	// after a restore.
	Baseline(ctx context.Context) error
}

// SchemaStatus compares a database's schema with what a program needs.
type SchemaStatus struct {
	Database int // its version; 0: there is none
	Program  int // the version this program was made for
	Lowest   int // the oldest version whose programs may use the database
	// Migrations are all that the database has or this program knows, in order. Those
	// that are to be applied have no time.
	Migrations []Applied
	// Objects are the routines and views that Migrate would create, replace or drop.
	Objects []string
	// Newer means that the schema is of a newer program, and that this one may use it.
	Newer bool
	// Err is the result of CheckSchema.
	Err error
}

// Status compares a schema with this build's.
func (f *Folder) Status(have Schema) SchemaStatus {
	s := SchemaStatus{Database: len(have.Applied), Program: len(f.Migrations), Migrations: slices.Clone(have.Applied)}
	for _, a := range have.Applied {
		s.Lowest = max(s.Lowest, a.Lowest)
	}
	plan, err := f.Plan(have)
	for _, m := range plan.Migrations {
		s.Migrations = append(s.Migrations, Applied{Version: m.Version, Name: m.Name, Checksum: m.Checksum, Lowest: m.Lowest})
	}
	for _, o := range plan.Apply {
		s.Objects = append(s.Objects, o.Kind+"/"+o.Name)
	}
	for _, o := range plan.Drop {
		s.Objects = append(s.Objects, o.Kind+"/"+o.Name)
	}
	s.Newer, s.Err = plan.Newer, s.check(plan, err)
	return s
}

func (s *SchemaStatus) check(plan Plan, err error) error {
	switch {
	case err != nil:
		return err
	case s.Database == 0:
		return fmt.Errorf("%w: %s", ErrSchemaMissing, remedy)
	case len(plan.Migrations) > 0:
		return fmt.Errorf("%w: the database has version %d, this build needs %d: %s", ErrSchemaOld, s.Database, s.Program, remedy)
	case len(plan.Apply) > 0:
		return fmt.Errorf("%w: %d routines and views are not those of this build, %s among them: %s", ErrSchemaOld, len(s.Objects), plan.Apply[0].Name, remedy)
	case len(plan.Drop) > 0:
		return fmt.Errorf("%w: %d routines and views are none of this build, %s among them: %s", ErrSchemaOld, len(s.Objects), plan.Drop[0].Name, remedy)
	}
	return nil
}

// NewerWarning logs once that a program works with a newer one's schema.
type NewerWarning struct{ once sync.Once }

// Check returns the error of a schema and logs the warning the first time.
func (n *NewerWarning) Check(log *slog.Logger, s SchemaStatus, err error) error {
	if err != nil {
		return err
	}
	if s.Newer {
		n.once.Do(func() {
			Logger(log).Warn("the database has the schema of a newer program, which this one may use: update this program before the next migration", "schema", s.Database, "program", s.Program)
		})
	}
	return s.Err
}
