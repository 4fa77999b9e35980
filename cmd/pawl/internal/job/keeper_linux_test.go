package job_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/job"
	"github.com/bravellian/pawl/internal/engine"
)

func TestMain(m *testing.M) {
	if code, ours := job.Process(os.Args[1:]); ours {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// D-465: the keeping process kills the groups that still run when it is alone, and no others,
// also if it took the place of another one; and neither it nor its files are the commands'.
func TestKeeper(t *testing.T) {
	var k job.Keeper
	defer k.Close()
	dir := t.TempDir()
	start := func(name, script string) (cmd *exec.Cmd, pid int) {
		t.Helper()
		file := filepath.Join(dir, name)
		cmd = exec.Command("sh", "-c", job.Shell(script), "sh", file)
		job.Own(cmd)
		if err := k.Start(cmd); err != nil {
			t.Fatal(err)
		}
		until(t, name+" to start", func() bool {
			text, err := os.ReadFile(file)
			pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
			return err == nil && strings.HasSuffix(string(text), "\n")
		})
		return cmd, pid
	}
	const child = `sh -c 'trap "" TERM HUP; echo $$ > "$1"; sleep 100; sleep 100' sh "$1" & `
	leaveBehind := func(name string) (end func()) {
		t.Helper()
		cmd, _ := start(name, `sh -c 'echo $$ > "$1"; while [ ! -e "$1.go" ]; do sleep 0.01; done; echo > "$1.end"' sh "$1" & `)
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		k.Ended(cmd.Process.Pid)
		t.Cleanup(func() { job.Kill(cmd.Process.Pid) })
		return func() {
			t.Helper()
			if err := os.WriteFile(filepath.Join(dir, name+".go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			until(t, "what was left in the background to go on to its end", func() bool {
				_, err := os.Stat(filepath.Join(dir, name+".end"))
				return err == nil
			})
		}
	}
	background := leaveBehind("background")
	second, before := start("before", child+"wait")
	for _, file := range files(t, before) {
		if strings.HasPrefix(file, "pipe:") {
			t.Errorf("the command has %s", file)
		}
	}
	keeping := keepers(t)
	if len(keeping) != 1 {
		t.Fatalf("keeping processes: %v", keeping)
	}
	for i, file := range files(t, keeping[0]) {
		if want := "/dev/null"; i > 0 && i < 3 && file != want {
			t.Errorf("file %d of the keeping process is %s", i, file)
		}
	}
	_ = syscall.Kill(keeping[0], syscall.SIGTERM) // as a service manager sends it to all
	_ = syscall.Kill(keeping[0], syscall.SIGKILL)
	until(t, "the keeping process to end", func() bool { return len(keepers(t)) == 0 })
	third, after := start("after", child+"wait")
	if now := keepers(t); len(now) != 1 {
		t.Fatalf("keeping processes: %v", now)
	}
	late := leaveBehind("late")
	k.Close() // for the keeping process as if this one were gone
	until(t, "groups to be killed", func() bool { return !alive(before) && !alive(after) })
	_, _ = second.Process.Wait()
	_, _ = third.Process.Wait()
	background()
	late()
	if now := keepers(t); len(now) > 0 {
		t.Errorf("keeping processes after the end: %v", now)
	}
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); {
		if time.Now().After(end) || engine.Sleep(t.Context(), 5*time.Millisecond) != nil {
			t.Fatalf("waited without result: %s", what)
		}
	}
}

// alive reports whether a process runs; a zombie does not.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// keepers are the keeping processes that are this one's children, zombies included.
func keepers(t *testing.T) (pids []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it ended meanwhile
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		line, _ := os.ReadFile(filepath.Dir(file) + "/cmdline")
		if fields[1] == strconv.Itoa(os.Getpid()) && (strings.Contains(string(line), "job:keep") || fields[0] == "Z" && !strings.Contains(string(stat), "(sh)")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// files are what the file descriptors of a process are, from 0 on.
func files(t *testing.T, pid int) (all []string) {
	t.Helper()
	dir := "/proc/" + strconv.Itoa(pid) + "/fd/"
	for n := range 10 {
		if file, err := os.Readlink(dir + strconv.Itoa(n)); err == nil {
			all = append(all, file)
		}
	}
	return all
}
