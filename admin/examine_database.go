package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// checkConnection asks the database for the time.
func (e *examination) checkConnection(ctx context.Context) ([]health.Finding, error) {
	began := time.Now()
	if _, err := e.databaseTime(ctx); err != nil {
		return nil, err
	}
	return one(health.OK, fmt.Sprintf("%s answers in %v", e.db.Engine(), time.Since(began).Round(10*time.Microsecond)), ""), nil
}

func (e *examination) databaseTime(ctx context.Context) (time.Time, error) {
	clock, _, err := engine.Get(ctx, e.db, op.ClockNow{})
	return clock.Now, err
}

// checkSchema compares the schema's version with the one this build needs.
func (e *examination) checkSchema(ctx context.Context) ([]health.Finding, error) {
	e.schema = e.db.CheckSchema(ctx)
	next := ""
	switch {
	case e.schema == nil:
		return e.schemaVersion(ctx)
	case errors.Is(e.schema, engine.ErrSchemaMissing), errors.Is(e.schema, engine.ErrSchemaOld):
		next = "Run: pawl migrate"
	case errors.Is(e.schema, engine.ErrSchemaNew):
		next = "Update this program: a newer one migrated the database."
	case errors.Is(e.schema, engine.ErrSchemaChanged):
		next = "Use the build that made the schema, or restore table pawl_schema: a migration that was applied has another text here."
	case errors.Is(e.schema, engine.ErrSchemaDistributed):
		next = "Undistribute the tables, or migrate a plain schema on each node: docs/scale.md"
	default:
		err := e.schema
		e.schema = nil
		return nil, err
	}
	return one(health.Problem, oneLine(e.schema), next), nil
}

// schemaVersion returns the version of a schema that this build may use.
func (e *examination) schemaVersion(ctx context.Context) ([]health.Finding, error) {
	m, ok := engine.As[engine.Migrator](e.db)
	if !ok {
		return one(health.OK, "as this build needs it", ""), nil
	}
	status, err := m.SchemaStatus(ctx)
	switch {
	case err != nil:
		return nil, err
	case status.Newer:
		return one(health.Note, fmt.Sprintf("version %d, of a newer program; this one, of version %d, may use it", status.Database, status.Program),
			"Update this program before the next migration."), nil
	}
	return one(health.OK, fmt.Sprintf("version %d, as this build needs it", status.Database), ""), nil
}

const (
	// clockReads is how often the database is asked for the time: the quickest
	// answer is the most exact.
	clockReads = 3
	// clockLimit is the difference of clocks from which on it is worth a warning:
	// due times and deadlines come from programs, leases from the database.
	clockLimit = time.Second
)

// checkClock compares the clocks, as of the middle of the round trip.
func (e *examination) checkClock(ctx context.Context) ([]health.Finding, error) {
	var apart, trip time.Duration
	for i := range clockReads {
		sent, began := e.now(), time.Now()
		at, err := e.databaseTime(ctx)
		if err != nil {
			return nil, err
		}
		if took := time.Since(began); i == 0 || took < trip {
			trip, apart = took, at.Sub(sent.Add(took/2))
		}
	}
	way := "ahead of"
	if apart < 0 {
		way = "behind"
	}
	evidence := fmt.Sprintf("the database's clock is %v %s this program's, give or take %v", apart.Abs().Round(time.Millisecond), way, (trip / 2).Round(time.Microsecond))
	if apart.Abs() > clockLimit+trip/2 {
		return one(health.Warning, evidence, "Synchronize both machines' clocks (NTP): messages and timers come early or late by as much."), nil
	}
	return one(health.OK, evidence, ""), nil
}

// checkWritable updates no row.
func (e *examination) checkWritable(ctx context.Context) ([]health.Finding, error) {
	err := e.db.Do(ctx, engine.Ask(op.DoctorWrite{}))
	switch {
	case err == nil:
		return one(health.OK, "the database takes writes", ""), nil
	case errors.Is(err, engine.ErrReadOnly):
		return one(health.Problem, oneLine(err),
			"Connect to the primary, not to a standby, and check default_transaction_read_only; of a SQLite file, check the rights of file and directory, mode=ro and query_only."), nil
	case errors.Is(err, engine.ErrBusy):
		return one(health.Warning, "no lock to write with within "+engine.Exact(e.opts.Timeout),
			"A transaction is open for long: find the program that holds it. Nothing else is written meanwhile."), nil
	}
	return nil, err
}
