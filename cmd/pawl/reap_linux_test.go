package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// asProcess1 starts pawl as process 1 of a container: the one child of what it returns.
func asProcess1(t *testing.T, args ...string) *process {
	t.Helper()
	in := []string{"--pid", "--fork", "--mount-proc"}
	if os.Getuid() != 0 {
		in = append(in, "--user", "--map-root-user")
	}
	if out, err := exec.CommandContext(t.Context(), "unshare", append(slices.Clone(in), "true")...).CombinedOutput(); err != nil {
		t.Fatalf("no process can be made the first of a namespace here; run the tests as root, or allow user namespaces: unshare: %v: %s", err, out)
	}
	return startProgram(t, nil, "unshare", slices.Concat(in, []string{"--kill-child", os.Args[0]}, args)...)
}

// D-464: as process 1 of a container pawl leaves no zombies, and passes signals on.
func TestProcess1LeavesNoZombies(t *testing.T) {
	d, s := onSQLite(t), newSpots(t)
	ended := filepath.Join(t.TempDir(), "ended")
	d.must(strings.Repeat("x\n", 20)+"last\n", "enqueue", "--topic", "t")
	// Each command leaves a process that ends after it. The last one waits.
	p := asProcess1(t, d.line([]string{"work", "--topic", "t", "-c", "1", "--exec",
		`if [ "$(cat)" = last ]; then ` + s.beganS + s.untilS + `echo finished; else sh -c 'sleep 0.01; echo >> "` + ended + `"' >/dev/null 2>&1 & fi`})...)
	s.started()
	eventually(t, "all background processes to be at their end", func() bool { return len(read(t, ended)) == 20 })
	first := pidOf(t, children(t, p.Process.Pid)[0])
	eventually(t, "process 1 to have no child but pawl", func() bool { return len(children(t, first)) == 1 })
	if err := syscall.Kill(first, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.release()
	if code := p.wait(); code != exitOK || p.stdout.String() != "finished\n" || !strings.Contains(p.stderr.String(), "21 done") {
		t.Errorf("exit code %d, %q, %q", code, p.stdout.String(), p.stderr.String())
	}
}

// D-464: the exit code of process 1 is pawl's, also where a signal ended it.
func TestProcess1ExitsAsPawl(t *testing.T) {
	d := onSQLite(t)
	for script, want := range map[string]int{"exit 7": 7, "kill -9 $$": 128 + 9} {
		if p := asProcess1(t, d.line(sh("n", script))...); p.wait() != want {
			t.Errorf("%s: exit code %d: %s", script, p.ProcessState.ExitCode(), p.stderr.String())
		}
	}
}

func pidOf(t *testing.T, text string) int {
	t.Helper()
	pid, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}
