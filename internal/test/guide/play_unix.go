//go:build unix

package guide

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// reads are commands that change nothing, and so may be repeated until they print what the guide says:
// workers in the background need their time.
var reads = regexp.MustCompile(`^(curl|grep|cat|wc|pawl (ls|show|explain|jobs ls|timers ls|joins ls|fleet status))\b`)

// patience is how long such a command may need to print what the guide says.
const patience = 2 * time.Minute

// Play runs the commands of a guide in a directory, all in one shell, as its reader would type them,
// and fails the test where one prints something else, or fails. replace says what stands for what the guide
// says. Whatever the commands leave behind in the background is ended with the test.
func Play(t *testing.T, path, dir string, replace ...string) {
	t.Helper()
	scenes := Read(t, path)
	if len(scenes) == 0 {
		t.Fatalf("%s has no commands", path)
	}
	replacer := strings.NewReplacer(replace...)
	s := openShell(t, dir)
	for _, scene := range scenes {
		for _, step := range scene.Steps {
			if step.Happens != "" {
				t.Fatalf("%s:%d: nothing happens by itself here", path, step.Line)
			}
			if err := s.try(step, replacer, patience); err != nil {
				t.Fatalf("%s:%d: %v", path, step.Line, err)
			}
		}
	}
}

// shell is a shell that is given its commands one by one.
type shell struct {
	in  io.Writer
	out *bufio.Reader
}

// end is what the shell says after each command: no program writes it.
const end = "\x01end of the command\x01"

func openShell(t *testing.T, dir string) *shell {
	t.Helper()
	cmd := exec.Command("bash", "--noprofile", "--norc")
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The group is the shell's own, so nothing else is ended.
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Error(err)
		}
		_ = cmd.Wait()
	})
	return &shell{in, bufio.NewReader(out)}
}

// try runs a command and compares what it prints. One that only reads is repeated for so long.
func (s *shell) try(step Step, replace *strings.Replacer, patience time.Duration) error {
	command, want := replace.Replace(step.Command), Wanted(replace, step.Want)
	for deadline := time.Now().Add(patience); ; {
		got, code, err := s.run(command)
		switch {
		case err != nil:
			return fmt.Errorf("$ %s\n%s%w", command, got, err)
		case want.MatchString(Plain(got)) && code == "0":
			return nil
		case !reads.MatchString(command) || time.Now().After(deadline):
			return fmt.Errorf("$ %s\n%s\nwith exit code %s; the guide says\n%s", command, got, code, strings.Join(step.Want, "\n"))
		}
		time.Sleep(50 * time.Millisecond) // to ask again, not to wait for anything
	}
}

// run runs a command and returns what it prints, and its exit code.
func (s *shell) run(command string) (out, code string, err error) {
	if _, err := fmt.Fprintf(s.in, "%s\necho $'%s'$?\n", command, strings.ReplaceAll(end, "\x01", `\x01`)); err != nil {
		return "", "", fmt.Errorf("the shell has ended: %w", err)
	}
	var text strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if before, status, ended := strings.Cut(line, end); ended {
			text.WriteString(before)
			code = strings.TrimSuffix(status, "\n")
			break
		}
		text.WriteString(line)
		if err != nil {
			return text.String(), "", fmt.Errorf("the shell has ended: %w", err)
		}
	}
	out = text.String()
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += "\n" // as the next prompt would have it
	}
	return out, code, nil
}
