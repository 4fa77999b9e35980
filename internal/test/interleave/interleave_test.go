package interleave_test

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/dbtest"
	. "github.com/bravellian/pawl/internal/test/interleave"
	"github.com/bravellian/pawl/internal/test/testpg"
)

// replay names the variable with a schedule to run alone, as failures print it:
// "attach and ack:ABBA".
const replay = "PAWL_INTERLEAVE"

// enough is how many schedules have to be explored on PostgreSQL in the long run.
const enough = 10_000

func long() bool { return os.Getenv("PAWL_LONG") != "" }

// effort returns how much of each scenario is explored.
func effort() Options {
	if long() {
		return Options{Most: 400, Systematic: 250, Preemptions: 2, Seed: 1}
	}
	return Options{Most: 16, Systematic: 12, Preemptions: 1, Seed: 1}
}

// onPostgres returns a machine on a schema of its own.
func onPostgres(t testing.TB, faults ...Fault) *Postgres {
	t.Helper()
	d := dbtest.OpenPostgres(t)
	m, err := NewPostgres(t.Context(), testpg.URL(t), strings.TrimSuffix(d.Table(""), "."), d.DB.(*postgres.DB), faults...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// explore runs schedules of a scenario, or the one that the environment names, and returns how
// many.
func explore(t *testing.T, m Machine, s *Scenario, o Options) int {
	t.Helper()
	r, err := Result{}, error(nil)
	if only := os.Getenv(replay); only == "" {
		r, err = Explore(m, o)
	} else if name, schedule, _ := strings.Cut(only, ":"); name == s.Name {
		err = Replay(m, schedule)
	}
	if f := (*Failure)(nil); errors.As(err, &f) {
		t.Errorf("%s='%s:%s'\n%v", replay, s.Name, f.Schedule, f.Err)
	} else if err != nil {
		t.Fatal(err)
	}
	return r.Schedules
}

// serialOutcomes are those of all orders of whole transactions.
func serialOutcomes(t *testing.T, m *Postgres) map[string]bool {
	t.Helper()
	m.Whole, m.Allowed = true, nil
	defer func() { m.Whole = false }()
	outcomes := map[string]bool{}
	noting := notingMachine{m, func() { outcomes[m.Outcome()] = true }}
	if r, err := Explore(noting, Options{Most: 1000, Systematic: 1000, Preemptions: 100}); err != nil || !r.Complete {
		t.Fatalf("serial orders: %+v, %v", r, err)
	}
	return outcomes
}

type notingMachine struct {
	Machine
	finished func()
}

func (m notingMachine) Finish() error {
	err := m.Machine.Finish()
	m.finished()
	return err
}

// D-276, D-277, D-278, D-279, D-280, D-281: whatever the order of the steps of sessions, nothing
// is lost or done twice, foreign and old tokens change nothing, what has ended stays so, joins
// count exactly, keys are in order, leases have one holder, and a timer fires or is cancelled.
func TestPostgres(t *testing.T) {
	var total, repeated atomic.Int64
	t.Run("part", func(t *testing.T) {
		for part := range parts {
			t.Run(strconv.Itoa(part), func(t *testing.T) {
				t.Parallel()
				m := onPostgres(t)
				for i, s := range scenarios() {
					if i%parts == part {
						t.Run(s.Name, func(t *testing.T) { total.Add(int64(exploreOn(t, m, &s))) })
					}
				}
				repeated.Add(int64(m.Retries))
			})
		}
	})
	t.Logf("%d schedules on PostgreSQL, %d transactions repeated", total.Load(), repeated.Load())
	if long() && os.Getenv(replay) == "" && total.Load() < enough {
		t.Errorf("explored %d schedules, want at least %d", total.Load(), enough)
	}
}

// parts are explored beside each other.
const parts = 3

func exploreOn(t *testing.T, m *Postgres, s *Scenario) int {
	m.Set(s)
	if m.Allowed = nil; s.Serial {
		m.Allowed = serialOutcomes(t, m)
	}
	for _, schedule := range s.Kept {
		if err := Replay(m, schedule); err != nil {
			t.Errorf("%s='%s:%s'\n%v", replay, s.Name, schedule, err)
		}
	}
	n := explore(t, m, s, effort()) + len(s.Kept)
	t.Logf("%d schedules", n)
	return n
}

// D-282: the same on SQLite, where transactions of two databases on one file take turns. The
// long run has all orders.
func TestSQLite(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenSQLite(t)
	m, err := NewSQLite(t.Context(), d.SQL, d.DB, d.Another(t))
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, s := range scenarios() {
		m.Set(&s)
		o := Options{Most: 1000, Systematic: 1000, Preemptions: 100}
		if !long() {
			o = Options{Most: 6, Systematic: 3, Preemptions: 1, Seed: 1}
		}
		total += explore(t, m, &s, o)
	}
	t.Logf("%d schedules on SQLite", total)
}
