package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/cmd/pawl/internal/job"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/testpg"
)

// asCommand makes the test binary behave as pawl itself, for tests that need
// processes to kill. The demo hands it on to its workers.
const asCommand = "PAWL_TEST_AS_COMMAND"

// lateSignal makes a process of asCommand send itself a signal before it exits.
const lateSignal = "PAWL_TEST_LATE_SIGNAL"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		code := start(os.Args[1:])
		if os.Getenv(lateSignal) != "" {
			if p, err := os.FindProcess(os.Getpid()); err == nil {
				_ = p.Signal(syscall.SIGTERM)
			}
		}
		os.Exit(code)
	}
	if code, ours := job.Process(os.Args[1:]); ours { // of a command line that ran within the test's process
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// result is what a command line did.
type result struct {
	stdout, stderr string
	code           int
}

// database is where a test's command lines work.
type database struct {
	t     *testing.T
	flags []string
}

// run runs a command line within this process.
func (d *database) run(stdin string, args ...string) result {
	d.t.Helper()
	return command(d.t.Context(), stdin, d.line(args)...)
}

// line is a command line with the database's flags, which come before a "--".
func (d *database) line(args []string) []string {
	at := slices.Index(args, "--")
	if at < 0 {
		at = len(args)
	}
	return slices.Concat(args[:at], d.flags, args[at:])
}

func command(ctx context.Context, stdin string, args ...string) result {
	var stdout, stderr bytes.Buffer
	a := &app{stdin: strings.NewReader(stdin), stdout: &stdout, stderr: &stderr}
	code := a.run(ctx, args)
	return result{stdout.String(), stderr.String(), code}
}

// must is run for what has to work.
func (d *database) must(stdin string, args ...string) string {
	d.t.Helper()
	r := d.run(stdin, args...)
	if r.code != exitOK {
		d.t.Fatalf("pawl %s: exit code %d\n%s", strings.Join(args, " "), r.code, r.stderr)
	}
	return r.stdout
}

// leaves is must for a drain that leaves work behind.
func (d *database) leaves(args ...string) {
	d.t.Helper()
	if r := d.run("", args...); r.code != exitLeft {
		d.t.Fatalf("pawl %s: exit code %d\n%s", strings.Join(args, " "), r.code, r.stderr)
	}
}

// process starts a command line in a process of its own, which the test ends
// at the latest.
func (d *database) process(args ...string) *process {
	d.t.Helper()
	return startProcess(d.t, nil, d.line(args)...)
}

// process is pawl, running.
type process struct {
	*exec.Cmd
	t              *testing.T
	stdout, stderr bytes.Buffer // valid once wait returned
	ended          chan struct{}
}

func startProcess(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	return startProgram(t, env, os.Args[0], args...)
}

// startProgram starts a program that is pawl, or starts it.
func startProgram(t *testing.T, env []string, program string, args ...string) *process {
	t.Helper()
	p := newProcess(t, program, args...)
	p.Env = append(p.Env, env...)
	p.Stdout, p.Stderr = &p.stdout, &p.stderr
	p.begin()
	return p
}

func newProcess(t *testing.T, program string, args ...string) *process {
	p := &process{Cmd: exec.Command(program, args...), t: t, ended: make(chan struct{})}
	p.Env = append(os.Environ(), asCommand+"=1")
	return p
}

// begin starts the process, which the test ends at the latest.
func (p *process) begin() {
	t := p.t
	t.Helper()
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.Wait() // the exit code is asked for
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.ended
	})
}

// wait waits for the end and returns the exit code.
func (p *process) wait() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-p.t.Context().Done():
		p.t.Fatal("the process did not end")
	}
	return p.ProcessState.ExitCode()
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// onEngines runs a test on every engine, with a migrated database each. With -short, which make test
// passes, it is onOne: what it costs a server is the sessions of its commands, a tenth of all its time.
func onEngines(t *testing.T, test func(*testing.T, *database)) {
	t.Run("sqlite", func(t *testing.T) {
		test(t, onSQLite(t))
	})
	if testing.Short() {
		return
	}
	t.Run("postgres", func(t *testing.T) {
		d := onPostgres(t)
		d.must("", "migrate")
		test(t, d)
	})
}

// onOne is onEngines for what the command line has to say: that the engines do the same
// is the suites' to see.
func onOne(t *testing.T, test func(*testing.T, *database)) { test(t, onSQLite(t)) }

func onSQLite(t *testing.T) *database {
	return &database{t, []string{"--db=sqlite:" + filepath.Join(t.TempDir(), "pawl.db")}}
}

// onPostgres has a schema of its own, not migrated yet.
func onPostgres(t *testing.T) *database {
	url := testpg.URL(t)
	schema := "cli_" + strings.ToLower(rand.Text())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close(ctx) }()
		if _, err := conn.Exec(ctx, `DROP SCHEMA IF EXISTS "`+schema+`" CASCADE`); err != nil {
			t.Error(err)
		}
	})
	return &database{t, []string{"--db=" + url, "--schema=" + schema}}
}

// eventually waits for something that other processes do.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for !ok() {
		if engine.Sleep(ctx, 5*time.Millisecond) != nil {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

func lines(s string) []string { return strings.Split(strings.TrimSuffix(s, "\n"), "\n") }

func spoil(t *testing.T, file, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
