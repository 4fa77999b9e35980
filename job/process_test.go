//go:build unix

package job_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/job"
)

// This test binary is also the processes that race: with a database in its
// environment it schedules jobs there and runs no tests.
const fileVariable, urlVariable, schemaVariable = "PAWL_JOB_FILE", "PAWL_JOB_URL", "PAWL_JOB_SCHEMA"

func TestMain(m *testing.M) {
	var db engine.DB
	var err error
	switch {
	case os.Getenv(fileVariable) != "":
		db, err = sqlite.Open(os.Getenv(fileVariable))
	case os.Getenv(urlVariable) != "":
		db, err = postgres.Open(os.Getenv(urlVariable), postgres.Options{Schema: os.Getenv(schemaVariable)})
	default:
		waitTogether()
		os.Exit(m.Run())
	}
	if err == nil {
		fmt.Println("ready")
		err = parts.NewJobs(db, parts.NewOutbox(db, worker.Options{}), job.Options{}, nil).Run(context.Background())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// waitTogether lets more tests run at once than there are processors: on
// PostgreSQL many wait for its clock.
func waitTogether() {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("8")
	}
}

// startChild starts a process that schedules, and returns once it has begun.
func startChild(t *testing.T, env string) (kill func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), strings.Split(env, "\n")...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Cleanup(kill)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	return kill
}

// D-82: processes that race, and one that is killed, make exactly one run per
// nominal time.
func TestProcessesOnSQLite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	db := dbtest.SQLiteAt(t, path, sqlite.Options{})
	dbtest.Migrate(t, db)
	race(t, db, fileVariable+"="+path)
}

// D-82: the same on PostgreSQL.
func TestProcessesOnPostgres(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenPostgres(t)
	race(t, d.DB, urlVariable+"="+testpg.URL(t)+"\n"+schemaVariable+"="+strings.TrimSuffix(d.Table(""), "."))
}

func race(t *testing.T, db engine.DB, env string) {
	jobs := parts.NewJobs(db, parts.NewOutbox(db, worker.Options{}), job.Options{}, nil)
	names := []string{"a", "b", "c", "d", "e"}
	for _, name := range names {
		// All times are made up for, should the machine be slow: none may be missing.
		jb := job.Job{Name: name, Topic: "make", Schedule: "* * * * * *", Misfire: job.RunAll, MisfireLimit: limits.Misfires}
		if err := jobs.Put(t.Context(), jb); err != nil {
			t.Fatal(err)
		}
	}
	runs := func(name string) []job.Run {
		all, err := engine.Collect(jobs.Runs(t.Context(), name, job.RunsOptions{}), 10_000)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	var kill []func()
	for range 4 {
		kill = append(kill, startChild(t, env))
	}
	dbtest.Until(t, "they have begun", func() bool { return len(runs("a")) >= 2 })
	kill[0]()
	before := len(runs("a"))
	dbtest.Until(t, "the others have gone on", func() bool { return len(runs("a")) >= before+3 })
	for _, k := range kill[1:] {
		k()
	}
	for _, name := range names {
		// The server may yet commit what a killed process had sent.
		dbtest.Until(t, name+" has moved on behind its last run", func() bool {
			all := runs(name)
			info, err := jobs.Get(t.Context(), name)
			return err == nil && len(all) >= 3 && info.NextRunAt.Equal(all[0].ScheduledAt.Add(time.Second)) && info.LastRunID == all[0].ID
		})
		all := runs(name)
		for i, r := range all {
			if r.Status != job.Pending || i > 0 && !all[i-1].ScheduledAt.Equal(r.ScheduledAt.Add(time.Second)) {
				t.Errorf("%s: run %+v", name, r)
			}
		}
	}
	if counts, err := parts.NewOutbox(db, worker.Options{}).Count(t.Context()); err != nil || counts.Ready != total(names, runs) {
		t.Errorf("the outbox has %+v, want %d, %v", counts, total(names, runs), err)
	}
}

// total is how many runs there are, each of which has one message.
func total(names []string, runs func(string) []job.Run) (n int64) {
	for _, name := range names {
		n += int64(len(runs(name)))
	}
	return n
}
