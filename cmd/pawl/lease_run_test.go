//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/bravellian/pawl/lease"
)

// sh is the command line that runs a script under a lease.
func sh(name, script string, more ...string) []string {
	return append(append([]string{"lease", "run", name}, more...), "--", "sh", "-c", script)
}

// spots are files by which commands and tests tell each other how far they are.
type spots struct {
	t              *testing.T
	began, goOn    string
	beganS, untilS string // shell: say that it began; wait for goOn
}

func newSpots(t *testing.T) *spots {
	dir := t.TempDir()
	s := &spots{t: t, began: filepath.Join(dir, "began"), goOn: filepath.Join(dir, "go-on")}
	s.beganS = `echo $$ > "` + s.began + `"; `
	s.untilS = `while [ ! -e "` + s.goOn + `" ]; do sleep 0.01; done; `
	return s
}

// started waits for the command and returns its process id.
func (s *spots) started() string {
	s.t.Helper()
	eventually(s.t, "the command begins", func() bool { return strings.HasSuffix(read(s.t, s.began), "\n") })
	return strings.TrimSpace(read(s.t, s.began))
}

func (s *spots) release() {
	s.t.Helper()
	if err := os.WriteFile(s.goOn, nil, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func TestLeaseRunIsTheCommand(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		last := int64(0)
		for range 3 {
			r := d.run("from stdin", sh("nightly", `cat; echo " $PAWL_LEASE_NAME $PAWL_LEASE_TOKEN"; echo oops >&2; exit 7`)...)
			text, found := strings.CutPrefix(r.stdout, "from stdin nightly ")
			token, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			if r.code != 7 || r.stderr != "oops\n" || !found || err != nil || token <= last {
				t.Fatalf("after token %d: %+v, %v", last, r, err)
			}
			last = token
		}
		if r := d.run("", sh("nightly", `kill -9 $$`)...); r.code != 128+9 || r.stderr != "" {
			t.Errorf("killed: %+v", r)
		}
		// Without a -- the command's options are its own as well.
		if r := command(t.Context(), "", slices.Concat([]string{"lease", "run"}, d.flags, []string{"n", "sh", "-c", `echo "$@"`, "sh", "--wait"})...); r.stdout != "--wait\n" {
			t.Errorf("without --: %+v", r)
		}
	})
}

// D-5: a command gets no name of pawl's database, which may hold a password, unless it
// is to get it: the same for "lease run" and "work".
func TestCommandsAreNotGivenTheDatabase(t *testing.T) {
	d := onSQLite(t)
	t.Setenv("PAWL_DB", strings.TrimPrefix(d.flags[0], "--db="))
	show := `printf '<%s>' "$PAWL_DB"`
	for _, c := range []struct {
		more  []string
		given bool
	}{{nil, false}, {[]string{"--pass-db"}, true}} {
		d.run("x\n", "enqueue", "--topic", "t")
		for _, r := range []result{
			command(t.Context(), "", slices.Concat([]string{"lease", "run", "n"}, c.more, []string{"--", "sh", "-c", show})...),
			command(t.Context(), "", slices.Concat([]string{"work", "--topic", "t", "--drain", "--quiet", "--exec", show}, c.more)...),
		} {
			if r.code != exitOK || strings.Contains(r.stdout, "<>") == c.given {
				t.Errorf("with %q: %+v", c.more, r)
			}
		}
	}
}

func TestLeaseRunHeld(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		s := newSpots(t)
		holder := d.process(sh("nightly", s.beganS+s.untilS)...)
		s.started()
		owner := fmt.Sprintf(":%d until 2", holder.Process.Pid)
		for _, more := range [][]string{nil, {"--wait", "--wait-timeout", "50ms"}} {
			r := d.run("", sh("nightly", "echo ran", more...)...)
			if r.code != exitHeld || r.stdout != "" || !strings.Contains(r.stderr, `"nightly" is held by `) || !strings.Contains(r.stderr, owner) || len(lines(r.stderr)) != 1 {
				t.Errorf("%q: %+v", more, r)
			}
		}
		waiter := d.process(sh("nightly", "echo $PAWL_LEASE_TOKEN", "--wait", "--wait-timeout", "1m")...)
		eventually(t, "somebody stands in line", func() bool { return viewOf(t, d, "nightly").Waiting == 1 })
		before := viewOf(t, d, "nightly").Token
		s.release()
		if code := holder.wait(); code != exitOK {
			t.Errorf("holder: %d: %s", code, holder.stderr.String())
		}
		code := waiter.wait()
		if token, err := strconv.ParseInt(strings.TrimSpace(waiter.stdout.String()), 10, 64); code != exitOK || err != nil || token <= before {
			t.Errorf("waiter: %d, token %d after %d, %v: %s", code, token, before, err, waiter.stderr.String())
		}
	})
}

// Who waits and is told to stop has run nothing, and no longer stands in line.
func TestLeaseRunInterruptedInLine(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		s := newSpots(t)
		d.process(sh("n", s.beganS+s.untilS)...)
		s.started()
		waiter := d.process(sh("n", "echo ran", "--wait")...)
		eventually(t, "somebody stands in line", func() bool { return viewOf(t, d, "n").Waiting == 1 })
		waiter.signal(syscall.SIGTERM)
		if code := waiter.wait(); code != 128+15 || waiter.stdout.Len() > 0 || !strings.Contains(waiter.stderr.String(), "interrupted before") {
			t.Errorf("exit code %d: %s", code, waiter.stderr.String())
		}
		if n := viewOf(t, d, "n").Waiting; n != 0 {
			t.Errorf("%d stand in line", n)
		}
	})
}

// D-61: what a killed pawl held is free when its lease ends, and its command is
// gone with it.
func TestLeaseRunKilled(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		t.Parallel()
		s := newSpots(t)
		victim := d.process(sh("n", s.beganS+"exec sleep 100", "--duration", "4s")...)
		pid := s.started()
		if err := victim.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		victim.wait()
		eventually(t, "the lease to end", func() bool {
			r := d.run("", sh("n", "echo mine")...)
			if r.code != exitOK && r.code != exitHeld {
				t.Fatalf("%+v", r)
			}
			return r.stdout == "mine\n"
		})
		eventually(t, "the command to be gone", func() bool { return gone(pid) })
	})
}

// The lease here is far longer than the test: only giving it back frees it.
func TestLeaseRunGracefulStop(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		for _, c := range []struct {
			signal syscall.Signal
			trap   string
			code   int
		}{
			{syscall.SIGTERM, "", 128 + 15},
			{syscall.SIGTERM, `trap 'exit 3' TERM; `, 3},
			{syscall.SIGINT, `trap 'exit 4' INT; trap 'exit 5' TERM; `, 4},
		} {
			s := newSpots(t)
			p := d.process(sh("n", c.trap+s.beganS+s.untilS, "--duration", "10m")...)
			s.started()
			p.signal(c.signal)
			if code := p.wait(); code != c.code || strings.Contains(p.stderr.String(), "pawl") {
				t.Errorf("%q: exit code %d: %s", c.trap, code, p.stderr.String())
			}
			if r := d.run("", sh("n", "echo mine")...); r.stdout != "mine\n" {
				t.Errorf("%q: not free at once: %+v", c.trap, r)
			}
		}
	})
}

// The lease is held until the last of the command's processes is done.
func TestLeaseRunStopWaitsForAll(t *testing.T) {
	d := onSQLite(t)
	s := newSpots(t)
	// sh itself ends at once; its child cleans up.
	p := d.process(sh("n", `sh -c 'trap "echo >> \"$1\"; `+strings.ReplaceAll(s.untilS, `"`, `\"`)+`echo cleaned; exit" TERM; echo $$ > "$1"; while :; do sleep 0.01; done' sh "`+s.began+`" & wait`,
		"--duration", "10m", "--grace", "1m")...)
	s.started()
	p.signal(syscall.SIGTERM)
	eventually(t, "the child cleans up", func() bool { return strings.HasSuffix(read(t, s.began), "\n\n") })
	if r := d.run("", sh("n", "echo mine")...); r.code != exitHeld {
		t.Errorf("not held while the command cleans up: %+v", r)
	}
	s.release()
	if code := p.wait(); code != 128+15 || p.stdout.String() != "cleaned\n" {
		t.Errorf("exit code %d, %q: %s", code, p.stdout.String(), p.stderr.String())
	}
}

// Who ignores the first signal is killed by the second, and the lease is free at
// once all the same.
func TestLeaseRunSecondSignal(t *testing.T) {
	d := onSQLite(t)
	s := newSpots(t)
	p := d.process(sh("n", `trap "" TERM INT; `+s.beganS+s.untilS, "--duration", "10m")...)
	s.started()
	eventually(t, "the second signal to be seen", func() bool {
		_ = p.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.ended:
			return true
		default:
			return false
		}
	})
	if code := p.wait(); code != 128+9 {
		t.Errorf("exit code %d: %s", code, p.stderr.String())
	}
	if r := d.run("", sh("n", "echo mine")...); r.stdout != "mine\n" {
		t.Errorf("not free at once: %+v", r)
	}
}

func TestLeaseRunLost(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		cases := []struct {
			trap, grace, how string
			p                *process
			pid              string
		}{
			{trap: "", grace: "30s", how: "143"},
			{trap: `trap "exit 0" TERM; `, grace: "30s", how: "exit code 0"},
			{trap: `trap "" TERM; `, grace: "100ms", how: "137"}, // only the end of the grace helps
		}
		for i := range cases { // all at once: each notices only when it renews
			c, s, name := &cases[i], newSpots(t), fmt.Sprint("n", i)
			c.p = d.process(sh(name, c.trap+s.beganS+s.untilS, "--duration", "4s", "--grace", c.grace)...)
			c.pid = s.started()
			owner := fmt.Sprintf(":%d until 2", c.p.Process.Pid)
			if out := d.must("", "leases", "release", name); !strings.HasPrefix(out, name+"  released, was held by ") || !strings.Contains(out, owner) {
				t.Errorf("%q: %s", c.trap, out)
			}
		}
		for _, c := range cases {
			p := c.p
			if code := p.wait(); code != exitLost || !strings.Contains(p.stderr.String(), lease.ErrLost.Error()) || !strings.Contains(p.stderr.String(), c.how) {
				t.Errorf("%q: exit code %d: %s", c.trap, code, p.stderr.String())
			}
			if !gone(c.pid) {
				t.Errorf("%q: the command lives on", c.trap)
			}
		}
	})
}

// No renewal is due before the command ends: only asking in the end can tell.
func TestLeaseRunLostUnnoticed(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		for _, exit := range []string{"0", "7"} {
			s := newSpots(t)
			p := d.process(sh("n", s.beganS+s.untilS+"exit "+exit, "--duration", "10m")...)
			s.started()
			d.must("", "leases", "release", "n")
			s.release()
			if code := p.wait(); code != exitLost || !strings.Contains(p.stderr.String(), lease.ErrLost.Error()) || !strings.Contains(p.stderr.String(), "ended with exit code "+exit) {
				t.Errorf("exit code %d: %s", code, p.stderr.String())
			}
		}
	})
}

// A database that cannot say whether the lease was held makes no failure of what the
// command did.
func TestLeaseRunLastAnswerMissing(t *testing.T) {
	for _, exit := range []int{exitOK, 7} {
		d := onSQLite(t)
		s := newSpots(t)
		p := d.process(sh("n", s.beganS+s.untilS+"exit "+strconv.Itoa(exit), "--duration", "10m")...)
		s.started()
		spoil(t, strings.TrimPrefix(d.flags[0], "--db=sqlite:"), `ALTER TABLE lease RENAME TO away`)
		s.release()
		if code := p.wait(); code != exit || !strings.Contains(p.stderr.String(), "whether the lease was held to the end") {
			t.Errorf("exit code %d: %s", code, p.stderr.String())
		}
	}
}

func TestLeaseRunMakesAFileButNoSchema(t *testing.T) {
	if r := onSQLite(t).run("", sh("n", "echo ran")...); r.stdout != "ran\n" {
		t.Errorf("new file: %+v", r)
	}
	if r := onPostgres(t).run("", sh("n", "echo ran", "--migrate")...); r.stdout != "ran\n" {
		t.Errorf("--migrate: %+v", r)
	}
}
