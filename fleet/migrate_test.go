package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/fleetstate"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
)

// migrating opens stores whose migration a test watches and decides on.
type migrating struct {
	before    func(ctx context.Context, url string) error
	now, most atomic.Int64
	mu        sync.Mutex
	order     []string
}

func (m *migrating) options() fleet.Options {
	o := quick()
	o.Engines = map[string]fleet.Opener{"sqlite": func(at engine.OpenOptions) (engine.DB, error) {
		db, err := sqlite.OpenURL(at)
		return &watched{DB: db, m: m, url: at.URL}, err
	}}
	return o
}

type watched struct {
	engine.DB
	m   *migrating
	url string
}

func (w *watched) Migrate(ctx context.Context) error {
	now := w.m.now.Add(1)
	defer w.m.now.Add(-1)
	for most := w.m.most.Load(); now > most && !w.m.most.CompareAndSwap(most, now); most = w.m.most.Load() {
	}
	w.m.mu.Lock()
	w.m.order = append(w.m.order, w.url)
	w.m.mu.Unlock()
	if w.m.before != nil {
		if err := w.m.before(ctx, w.url); err != nil {
			return err
		}
	}
	return w.DB.Migrate(ctx)
}

func blanks(t *testing.T, n int) []fleet.Database {
	dbs := make([]fleet.Database, n)
	for i := range dbs {
		dbs[i] = blank(t, fmt.Sprintf("s%02d", i))
	}
	return dbs
}

// OBX-077: the canary goes first and alone, the others side by side, but not more than so many, and each is reported.
func TestMigrateAll(t *testing.T) {
	t.Parallel()
	dbs := blanks(t, 6)
	m := &migrating{}
	var alone atomic.Bool
	var together sync.WaitGroup
	together.Add(2)
	m.before = func(_ context.Context, url string) error {
		switch url {
		case dbs[3].URL:
			alone.Store(m.now.Load() == 1)
		case dbs[0].URL, dbs[1].URL: // wait for each other
			together.Done()
			together.Wait()
		}
		return nil
	}
	f := open(t, fleet.Static(dbs...), m.options())
	var each []string
	report, err := f.Migrations(t.Context(), fleetstate.Migrate{Parallel: 2, Canary: "s03", Each: func(m fleetstate.Migration) { each = append(each, m.Key) }})
	must(t, err)
	if m.order[0] != dbs[3].URL || !alone.Load() || m.most.Load() != 2 || each[0] != "s03" || len(each) != 6 {
		t.Errorf("order %v, at most %d, each %v", m.order, m.most.Load(), each)
	}
	for i, one := range report {
		if one.Key != dbs[i].Key || one.Err != nil || one.Took <= 0 {
			t.Errorf("report: %+v", one)
		}
	}
	m.before = nil
	err = f.MigrateAll(t.Context(), "") // again
	must(t, err)
	enqueue(t, f, "s05", 1)
}

// OBX-077: a canary that fails leaves the others alone; one that is none is no canary.
func TestCanaryFails(t *testing.T) {
	t.Parallel()
	dbs := blanks(t, 3)
	m := &migrating{before: func(context.Context, string) error { return errSick }}
	f := open(t, fleet.Static(dbs...), m.options())
	report, err := f.Migrations(t.Context(), fleetstate.Migrate{})
	if !errors.Is(err, fleetstate.ErrCanary) || !errors.Is(err, errSick) || len(report) != 1 || report[0].Key != "s00" || !errors.Is(report[0].Err, errSick) || len(m.order) != 1 {
		t.Errorf("report %v, %v, tried %v", report, err, m.order)
	}
	if err := f.MigrateAll(t.Context(), "nobody"); !errors.Is(err, fleet.ErrUnknownStore) || len(m.order) != 1 {
		t.Errorf("unknown canary: %v", err)
	}
	if report, err := open(t, fleet.Static(), m.options()).Migrations(t.Context(), fleetstate.Migrate{}); err == nil {
		t.Errorf("without stores: %v", report)
	}
}

// OBX-077: failures are reported beside what went well, and can be tried again.
func TestSomeMigrationsFail(t *testing.T) {
	t.Parallel()
	dbs := blanks(t, 5)
	m := &migrating{}
	m.before = func(_ context.Context, url string) error {
		if url == dbs[1].URL || url == dbs[4].URL {
			return errSick
		}
		return nil
	}
	f := open(t, fleet.Static(dbs...), m.options())
	report, err := f.Migrations(t.Context(), fleetstate.Migrate{})
	failed := slices.DeleteFunc(slices.Clone(report), func(m fleetstate.Migration) bool { return m.Err == nil })
	if err == nil || len(report) != 5 || len(failed) != 2 || failed[0].Key != "s01" || failed[1].Key != "s04" {
		t.Errorf("report %v, %v", report, err)
	}
	m.before = nil
	err = f.MigrateAll(t.Context(), "")
	must(t, err)
}

// OBX-077: a migration that is called off ends, and says how far it came.
func TestMigrationCalledOff(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	m := &migrating{}
	m.before = func(ctx context.Context, _ string) error {
		if len(m.order) > 1 {
			cancel()
		}
		return ctx.Err()
	}
	f := open(t, fleet.Static(blanks(t, 5)...), m.options())
	report, err := f.Migrations(ctx, fleetstate.Migrate{Parallel: 1})
	if !errors.Is(err, context.Canceled) || len(report) < 2 || len(report) == 5 && report[4].Err == nil {
		t.Errorf("report %v, %v", report, err)
	}
}

// D-91: a store without schema fails, holds up nobody, and works once it is migrated.
func TestMissingSchemaMends(t *testing.T) {
	t.Parallel()
	a, b, r := file(t, "a"), blank(t, "b"), newRecord()
	f := open(t, fleet.Static(a, b), quick())
	f.Handle("t", r.Handle)
	start(t, f)
	enqueue(t, f, "a", 1)
	r.until(t, "a", 1)
	untilState(t, f, fleetstate.Failing, "b")
	err := f.MigrateAll(t.Context(), "")
	must(t, err)
	enqueue(t, f, "b", 1)
	r.until(t, "b", 1)
	dbtest.Until(t, "it is well", func() bool { return f.Operator(access.Key{}).State().Healthy })
}

// OBX-077: with deployment enabled new stores are migrated before their first work.
func TestEnableSchemaDeployment(t *testing.T) {
	t.Parallel()
	l, r := listOf(blank(t, "a")), newRecord()
	o := quick()
	o.Pawl.EnableSchemaDeployment = true
	f := open(t, l, o)
	f.Handle("t", r.Handle)
	start(t, f)
	l.set(append(l.dbs, blank(t, "b"))...)
	must(t, f.Refresh(t.Context()))
	for _, key := range []string{"a", "b"} {
		dbtest.Until(t, key+" is migrated", func() bool { return !state(f, key).LastSuccess.IsZero() })
		enqueue(t, f, key, 1)
		r.until(t, key, 1)
	}
}
