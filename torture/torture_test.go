//go:build linux || darwin

package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/torture/internal/load"
	"github.com/bravellian/pawl/torture/internal/nemesis"
	"github.com/bravellian/pawl/torture/internal/server"
	"github.com/bravellian/pawl/torture/internal/smalldisk"
)

// TestMain is also what a process of the load is.
func TestMain(m *testing.M) {
	if os.Getenv(load.Variable) != "" {
		os.Exit(load.Main(context.Background()))
	}
	os.Exit(m.Run())
}

// seedVariable is the environment variable with another seed than the usual one.
const seedVariable = "PAWL_TORTURE_SEED"

// options are those of a short run, whose folder stays if something is found.
func options(t *testing.T) Options {
	t.Helper()
	seed := uint64(1)
	if text := os.Getenv(seedVariable); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := os.MkdirTemp("", "pawl-torture-") //nolint:usetesting // it is to stay
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !t.Failed() {
			_ = os.RemoveAll(dir)
		}
	})
	return Options{
		Dir: dir, Seed: seed, Rounds: 2, Round: 8 * time.Second, Rewinds: true, Command: []string{os.Args[0]}, Log: t.Logf,
	}
}

func run(t *testing.T, o Options) *Report {
	t.Helper()
	report, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Rounds {
		if r.Messages == 0 || r.Faults == 0 {
			t.Errorf("round %d: %d messages, %d faults", r.Number, r.Messages, r.Faults)
		}
		for _, v := range r.Violations {
			t.Errorf("seed %d, %s: %s", r.Seed, r.Dir, v)
		}
	}
	return report
}

// D-835: a run that is asked for flows has rounds until there were as many, however long that takes.
func TestRoundsUntilThereAreFlows(t *testing.T) {
	report := &Report{Rounds: []RoundReport{{Flows: 40}, {Flows: 59}}}
	o := Options{Flows: 100, Duration: time.Minute}
	if !o.another(3, time.Hour, report.Flows()) {
		t.Error("it ends before there are as many")
	}
	report.Rounds = append(report.Rounds, RoundReport{Flows: 1})
	if o.another(4, 0, report.Flows()) {
		t.Error("it goes on when there are as many")
	}
}

// D-290: on SQLite nothing is lost, made up or done out of order under faults, and D-291. D-297, D-444, D-445:
// faults that are planted into pawl are found.
// D-791: so are those that are planted into flows.
func TestSQLite(t *testing.T) {
	t.Parallel()
	run(t, options(t))
}

// D-290, D-291, D-297, as on SQLite.
func TestPostgres(t *testing.T) {
	t.Parallel()
	o := options(t)
	s, err := server.Start(t.Context(), o.Dir, map[string]string{"fsync": "off", "full_page_writes": "off", "max_connections": "120"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	o.URL, o.Server = s.URL(), s
	run(t, o)
}

// D-320, D-447: a server whose disk is full refuses statements for a while, one whose disk for the write-ahead
// log is full ends, before and after a standby takes its place, and nothing is found.
func TestPostgresDiskFull(t *testing.T) {
	t.Parallel()
	mount := func() string {
		const size = 256 << 20
		disk, err := smalldisk.Mount(size)
		if err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { _ = disk.Unmount() })
		return disk.Dir()
	}
	disk, walDisk := mount(), mount()
	o := options(t)
	s, err := server.Start(t.Context(), o.Dir, map[string]string{"fsync": "off", "full_page_writes": "off", "max_connections": "120"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	if err := errors.Join(s.OnDisk(t.Context(), disk), s.WALOnDisk(t.Context(), walDisk)); err != nil {
		t.Fatal(err)
	}
	o.URL, o.Server, o.Disk = s.URL(), s, disk
	for i, name := range []string{nemesis.DiskFull, nemesis.WALDiskFull, "failover-synchronous", nemesis.DiskFull, nemesis.WALDiskFull} {
		o.Plan = append(o.Plan, nemesis.Step{Fault: name, At: time.Duration(1+3*i) * time.Second, Hold: time.Second})
	}
	o.Round = 15 * time.Second
	report := run(t, o)
	if made := report.Rounds[0].Made; made[nemesis.DiskFull] != 2 || made[nemesis.WALDiskFull] != 2 || made["failover-synchronous"] != 1 {
		t.Errorf("made are %v", made)
	}
}

// D-322: a run makes the restores that it is told to, one a round, and counts for each what it
// took away and that the rest is there once.
func TestSequence(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Round, o.Faults, o.Sequence = 6*time.Second, []string{"kill", "stop"}, []string{"copy-back", "remove-wal", "copy-back"}
	report := run(t, o)
	kinds := report.Kinds()
	if len(report.Rounds) != 3 || len(kinds) != 2 {
		t.Fatalf("%d rounds about %v", len(report.Rounds), kinds)
	}
	for i, name := range []string{"copy-back", "remove-wal"} {
		k := kinds[i]
		if k.Fault != name || k.Made != 2-i || k.Messages == 0 || k.Kept == 0 || k.Tokens == 0 || k.Lost+k.Twice+k.TokensAgain+k.Violations != 0 {
			t.Errorf("%s is counted as %+v", name, k)
		}
	}
	if kinds[0].Rewound == 0 {
		t.Error("a copy from before took nothing away")
	}
	if !strings.Contains(report.Summary(), "copy-back: made 2 times") {
		t.Errorf("the summary is\n%s", report.Summary())
	}
}

// D-322: what is asked for and cannot be made is no success.
func TestSequenceThatCannotBeMade(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Sequence = []string{"copy-back", "failover-synchronous"}
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "failover-synchronous") {
		t.Errorf("a failover of SQLite: %v", err)
	}
}

// D-292: the same seed makes the same plan, another one another, and a fault is only made
// where it is possible and allowed.
func TestPlansFollowFromSeeds(t *testing.T) {
	t.Parallel()
	faults, err := nemesis.Choose(nemesis.Where{Engine: nemesis.Postgres, Harm: true, Owned: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan := nemesis.NewPlan(7, time.Minute, faults)
	if again := nemesis.NewPlan(7, time.Minute, faults); !slices.Equal(plan, again) {
		t.Errorf("the same seed made\n%v\nand\n%v", plan, again)
	}
	if other := nemesis.NewPlan(8, time.Minute, faults); slices.Equal(plan, other) {
		t.Error("another seed made the same plan")
	}
	if len(plan) < 10 {
		t.Errorf("%d faults in a minute", len(plan))
	}
	for _, s := range plan {
		if s.At+s.Hold > time.Minute {
			t.Errorf("%s at %v, for %v: not over at the end", s.Fault, s.At, s.Hold)
		}
	}
}

// D-293: on a server of others, nothing is done that they notice.
func TestFaultsThatHarmOthersAreAsked(t *testing.T) {
	t.Parallel()
	harmless, err := nemesis.Choose(nemesis.Where{Engine: nemesis.Postgres}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range harmless {
		if f.Harms || f.Owned || strings.HasPrefix(f.Name, "server-") || f.Engines == nemesis.SQLite {
			t.Errorf("%s is made on a server of others", f.Name)
		}
	}
	if len(harmless) < 10 {
		t.Errorf("only %d faults", len(harmless))
	}
	if _, err := nemesis.Choose(nemesis.Where{Engine: nemesis.Postgres}, []string{"kill", "no-such-fault"}); err == nil || !strings.Contains(err.Error(), "no-such-fault") {
		t.Errorf("an unknown fault: %v", err)
	}
}

// D-294: what breaks a promise is found: here the nemesis itself breaks them.
func TestWhatIsBrokenIsFound(t *testing.T) {
	t.Parallel()
	broken := func(statements ...string) nemesis.Fault {
		return nemesis.Fault{Name: "broken", Track: nemesis.Database, Do: func(ctx context.Context, w *nemesis.World, _ nemesis.Step) error {
			const twice = `SELECT count(*) FROM (SELECT name FROM torture_guard GROUP BY name HAVING count(DISTINCT token) > 1) AS t`
			for n := 0; n == 0; time.Sleep(100 * time.Millisecond) { // a stale token needs a newer one
				if err := w.Store.SQL.QueryRowContext(ctx, twice).Scan(&n); err != nil {
					return err
				}
			}
			tx, err := w.Store.Begin(ctx)
			for err != nil && ctx.Err() == nil { // the file's writers queue for longer than one wait on a busy machine
				tx, err = w.Store.Begin(ctx)
			}
			if err != nil {
				return err
			}
			defer tx.Rollback()
			for _, s := range statements {
				if err := w.Store.Exec(ctx, tx, s); err != nil {
					return err
				}
			}
			return tx.Commit()
		}}
	}
	o := options(t)
	o.Round, o.Claimers, o.Keep = 4*time.Second, 1, true
	o.defaults()
	fault := broken(
		`DELETE FROM torture_ledger WHERE id IN (SELECT id FROM torture_ledger LIMIT 1)`,
		`INSERT INTO torture_ledger (id, process) VALUES ('no message', 'nobody')`,
		`INSERT INTO torture_effect SELECT * FROM torture_effect LIMIT 1`,
		`INSERT INTO torture_flow SELECT * FROM torture_flow WHERE what = 'book' LIMIT 1`,
		`INSERT INTO torture_guard (name, token) SELECT name, min(token) FROM torture_guard GROUP BY name`,
	)
	r := &round{Options: &o, number: 1, seed: 1, faults: []nemesis.Fault{fault}, plan: nemesis.Plan{{At: 3 * time.Second, Fault: fault.Name}}}
	found, err := r.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"its row is not in the ledger", "message no message: its row is in the ledger", "is in the database (done) without its row", "its effect is there 2 times", `rows of "book"`, "wrote after token",
	} {
		if !slices.ContainsFunc(found.Violations, func(v string) bool { return strings.Contains(v, text) }) {
			t.Errorf("nothing is found like %q in %q", text, found.Violations)
		}
	}
	if c := found.Counts; c.Lost < 3 || c.Twice == 0 || c.TokensAgain == 0 { // D-322
		t.Errorf("counted are %+v", c)
	}
	if report := (&Report{Rounds: []RoundReport{*found}}); report.Err() == nil {
		t.Error("a report with violations is no error")
	}
}

// D-295: a process that crashes by itself is found, and one that is killed is started again.
func TestCrashesAreFound(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Command = []string{"/bin/sh", "-c", "echo panic: for a test >&2; exit 2"}
	o.Round, o.Faults = time.Second, []string{"kill"}
	o.Rounds = 1
	report, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Err(); err == nil || !slices.ContainsFunc(report.Rounds[0].Violations, func(v string) bool {
		return strings.Contains(v, "worker-1.2 crashed") && strings.Contains(v, "panic: for a test")
	}) {
		t.Errorf("%v: %q", err, report.Rounds[0].Violations)
	}
}
