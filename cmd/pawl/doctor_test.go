//go:build unix

package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// diagnose runs "pawl doctor --json" and returns what was found of a check.
func (d *database) diagnose(code int, check string, args ...string) (reports []report, text string) {
	d.t.Helper()
	r := d.run("", append([]string{"doctor", "--json"}, args...)...)
	if r.code != code || r.stderr != "" {
		d.t.Errorf("doctor %v: %+v", args, r)
	}
	for _, line := range lines(r.stdout) {
		var one report
		decode(d.t, line, &one)
		reports = append(reports, one)
		for _, f := range one.Findings {
			if f.Code == check {
				text += fmt.Sprintf("%s%s: %s -> %s (%v)\n", one.Store, f.Level, f.Summary, f.NextStep, f.Fixable)
			}
		}
	}
	return reports, text
}

// spoil has the joins count a failure that there was not.
func (d *database) spoil() {
	d.t.Helper()
	d.opened(func(s *store) {
		err := s.InTx(d.t.Context(), func(_ context.Context, tx outbox.Tx) error {
			table := "outbox_join"
			if s.Engine() != "sqlite" {
				schema, _ := strings.CutPrefix(d.flags[1], "--schema=")
				table = schema + ".outbox_join"
			}
			_, err := tx.ExecContext(d.t.Context(), "UPDATE "+table+" SET failed_steps = 1")
			return err
		})
		if err != nil {
			d.t.Fatal(err)
		}
	})
}

// A look changes nothing about a file, so that the doctor sees what there was, and
// nothing about one that is not pawl's.
func TestLooksLeaveTheJournalAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "other.db")
	journal := func() (mode string) {
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.QueryRowContext(t.Context(), "PRAGMA journal_mode").Scan(&mode); err != nil {
			t.Fatal(err)
		}
		return mode
	}
	spoil(t, file, "CREATE TABLE theirs (a)")
	d := &database{t, []string{"--db=sqlite:" + file}}
	for _, look := range [][]string{{"ls"}, {"doctor"}, {"health", "--exit-code"}, {"retry", "--all"}} {
		if r := d.run("", look...); r.code != exitFailure || journal() != "delete" {
			t.Errorf("%v: %+v; journal_mode = %s", look, r, journal())
		}
	}
	d.must("", "migrate")
	if mode := journal(); mode != "wal" {
		t.Errorf("migrated, and journal_mode = %s", mode)
	}
	spoil(t, file, "PRAGMA journal_mode = delete")
	if _, text := d.diagnose(exitOK, "durability"); !strings.HasPrefix(text, "warning: journal_mode = delete") {
		t.Errorf("durability: %s", text)
	}
	d.must("hello\n", "enqueue", "--topic", "t")
	if mode := journal(); mode != "wal" {
		t.Errorf("enqueued, and journal_mode = %s", mode)
	}
}

func TestDoctor(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		id := d.fanOut(join.Spec{}, "a", "b")
		if _, text := d.diagnose(d.well(), "joins"); text != "ok: 1 joins agree with their members ->  (false)\n" {
			t.Errorf("before: %s", text)
		}
		d.spoil()
		reports, text := d.diagnose(exitFailure, "joins")
		if len(reports) != 1 || reports[0].Level != health.Problem || !strings.Contains(text, "problem: 1 of 1 joins disagree with their members: "+id.String()) || !strings.Contains(text, "-> Run: pawl doctor --fix (true)") {
			t.Errorf("spoilt: %+v", reports)
		}
		r := d.run("", "doctor")
		if r.code != exitFailure || !strings.Contains(r.stdout, "problem  joins        1 of 1 joins disagree") || !strings.Contains(r.stdout, "                      -> Run: pawl doctor --fix\n") {
			t.Errorf("for people: %+v", r)
		}
		if _, text := d.diagnose(d.well(), "joins", "--fix"); !strings.HasPrefix(text, "note: repaired 1 joins: "+id.String()) {
			t.Errorf("repaired: %s", text)
		}
		if _, text := d.diagnose(d.well(), "joins"); !strings.HasPrefix(text, "ok: ") {
			t.Errorf("after: %s", text)
		}
	})
}

// well is the exit code without a problem, which the tests' server is: it runs
// without fsync.
func (d *database) well() int {
	if strings.HasPrefix(d.flags[0], "--db=sqlite:") {
		return exitOK
	}
	_, text := d.diagnose(d.run("", "doctor").code, "durability")
	if strings.Contains(text, "problem: ") {
		return exitFailure
	}
	return exitOK
}

func TestDoctorOfWhatIsNotThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.db")
	for _, c := range []struct{ db, want string }{
		{"sqlite:" + path, "no such file"},
		{"postgres://u:hunter2@127.0.0.1:1/db", "connection refused"},
	} {
		d := &database{t, []string{"--db=" + c.db}}
		reports, text := d.diagnose(exitFailure, "connection")
		if len(reports) != 1 || len(reports[0].Findings) != 1 || !strings.Contains(text, c.want) || strings.Contains(fmt.Sprint(reports), "hunter2") {
			t.Errorf("%+v", reports)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("looking made the file")
	}
	d := onPostgres(t)
	if _, text := d.diagnose(exitFailure, "schema"); !strings.Contains(text, "schema missing") || !strings.Contains(text, "pawl migrate") {
		t.Errorf("not migrated: %s", text)
	}
}

func TestDoctorOfAFleet(t *testing.T) {
	_, d := tenants(t)
	reports, text := d.diagnose(exitFailure, "connection")
	if len(reports) != 3 || reports[0].Store != "a" || reports[0].Level != health.OK || reports[2].Level != health.Problem || !strings.Contains(text, "brokenproblem: ") {
		t.Errorf("%+v", reports)
	}
	r := d.run("", "doctor")
	if r.code != exitFailure || !strings.Contains(r.stdout, "a: sqlite:") || !strings.Contains(r.stdout, "\nbroken: sqlite:") || strings.Count(r.stdout, "0 problems, 0 warnings, 0 notes") != 2 {
		t.Errorf("for people: %+v", r)
	}
	if r := d.run("", "doctor", "--db", "sqlite:x.db"); r.code != exitUsage {
		t.Errorf("both: %+v", r)
	}
	if r := d.run("", "doctor", "--timeout", "0s"); r.code != exitUsage {
		t.Errorf("no time: %+v", r)
	}
}
