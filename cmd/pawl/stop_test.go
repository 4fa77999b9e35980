//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// One stop arrives as two signals: GNU timeout sends it to the process and to its group.
//
// D-463: a stop that arrives as several signals at once is one; work and "lease run" go on
// to their commands' ends.
func TestOneStopAsTwoSignals(t *testing.T) {
	for name, c := range map[string]struct {
		args func(d *database, script string) []string
		code int
	}{
		"work": {func(d *database, script string) []string {
			d.must("x", "enqueue", "--topic", "t")
			return []string{"work", "--topic", "t", "--exec", script}
		}, exitOK},
		"lease run": {func(_ *database, script string) []string { return sh("n", `trap "" TERM INT HUP; `+script) }, exitOK},
	} {
		for _, second := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
			t.Run(name+" "+second.String(), func(t *testing.T) {
				d, s := onSQLite(t), newSpots(t)
				p := d.process(c.args(d, s.beganS+s.untilS+"echo finished")...)
				s.started()
				p.signal(syscall.SIGINT)
				p.signal(second) // one of the same kind may be merged with the first
				p.signal(syscall.SIGTERM)
				s.release()
				if code := p.wait(); code != c.code || p.stdout.String() != "finished\n" {
					t.Errorf("exit code %d, %q, %q", code, p.stdout.String(), p.stderr.String())
				}
			})
		}
	}
}

// killed are pawls whose commands have a child each: what is called with the shell code
// that the command runs.
func killed(t *testing.T, test func(t *testing.T, d *database, args func(script string) []string)) {
	t.Run("work", func(t *testing.T) {
		d := onSQLite(t)
		d.must("x", "enqueue", "--topic", "t")
		test(t, d, func(script string) []string { return []string{"work", "--topic", "t", "--exec", script} })
	})
	t.Run("lease run", func(t *testing.T) {
		test(t, onSQLite(t), func(script string) []string { return sh("n", script) })
	})
}

// The shell dies with pawl on Linux by itself; its child, which has a child too, does not.
//
// D-465: commands, with all that they started, end when pawl is killed.
func TestCommandsEndWithAKilledPawl(t *testing.T) {
	killed(t, func(t *testing.T, d *database, args func(string) []string) {
		s := newSpots(t)
		p := d.process(args(`sh -c 'trap "" TERM HUP; sh -c "echo \$\$ > \"` + s.began + `\"; sleep 100; sleep 100" & wait; wait'; exit 0`)...)
		pid := s.started()
		if err := p.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		p.wait()
		eventually(t, "the command's grandchild to be gone", func() bool { return gone(pid) })
	})
}

// D-465: what a command left in the background when it ended by itself runs on.
func TestBackgroundSurvivesAKilledPawl(t *testing.T) {
	d, s := onSQLite(t), newSpots(t)
	next := filepath.Join(t.TempDir(), "next")
	d.must("1\n2\n", "enqueue", "--topic", "t")
	p := d.process("work", "--topic", "t", "-c", "1", "--exec",
		`if [ "$(cat)" = 1 ]; then sh -c 'echo $$ > "`+s.began+`"; while [ ! -e "`+s.goOn+`" ]; do sleep 0.01; done; echo > "`+next+`.end"' >/dev/null 2>&1 & else sleep 100 & echo $! > "`+next+`"; wait; fi`)
	s.started()
	eventually(t, "the second command", func() bool { return strings.HasSuffix(read(t, next), "\n") })
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.wait()
	second := strings.TrimSpace(read(t, next))
	eventually(t, "the second command to be gone", func() bool { return gone(second) })
	if err := os.WriteFile(s.goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "what the first command left to go on to its end", func() bool { return read(t, next+".end") != "" })
}
