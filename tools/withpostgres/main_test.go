package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/bravellian/pawl/internal/test/pgcluster"
)

// asProgram makes this test binary behave as withpostgres itself.
const asProgram = "PAWL_WITHPOSTGRES_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// program prepares a run of withpostgres with its own idea of the environment.
func program(t *testing.T, url string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1", variable+"="+url)
	cmd.Stderr = os.Stderr
	return cmd
}

func TestStartsAServerForTheCommand(t *testing.T) {
	out, err := program(t, "", "-set", "fsync=off", "--", "sh", "-c", `echo "$`+variable+`"`).Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(out), "postgres://") {
		t.Errorf("the command saw %q", out)
	}
}

func TestKeepsAServerThatIsThere(t *testing.T) {
	out, err := program(t, "postgres://elsewhere", "sh", "-c", `echo "$`+variable+`"`).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(out)); got != "postgres://elsewhere" {
		t.Errorf("the command saw %q", got)
	}
}

func TestStartsAVersion(t *testing.T) {
	out, err := program(t, "postgres://elsewhere", "-version", "18", "--", "sh", "-c", `echo "$`+variable+` $`+pgcluster.VersionVariable+`"`).Output()
	if err != nil {
		t.Fatal(err)
	}
	if url, version, _ := strings.Cut(strings.TrimSpace(string(out)), " "); url == "postgres://elsewhere" || version != "18" {
		t.Errorf("the command saw %q and version %q", url, version)
	}
}

func TestExitCodes(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		want int
	}{
		{"success", []string{"--", "true"}, 0},
		{"the command's own", []string{"--", "sh", "-c", "exit 75"}, 75},
		{"killed", []string{"--", "sh", "-c", "kill -TERM $$"}, exitSignalled + int(syscall.SIGTERM)},
		{"no such command", []string{"--", "no-such-command-anywhere"}, exitNotFound},
		{"no command", nil, exitUsage},
		{"half a setting", []string{"-set", "fsync", "--", "true"}, exitUsage},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := program(t, "postgres://elsewhere", tt.args...)
			_ = cmd.Run()
			if got := cmd.ProcessState.ExitCode(); got != tt.want {
				t.Errorf("exit code %d, want %d", got, tt.want)
			}
		})
	}
}

func TestForwardsSignals(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(s.String(), func(t *testing.T) {
			script := `trap 'exit 42' INT TERM; echo ready; while :; do sleep 0.05; done`
			cmd := program(t, "postgres://elsewhere", "--", "sh", "-c", script)
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
				t.Error(err)
			}
			if err := cmd.Process.Signal(s); err != nil {
				t.Error(err)
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != 42 {
				t.Errorf("exit code %d: the command did not get the signal", got)
			}
		})
	}
}
