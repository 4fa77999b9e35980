//go:build unix

// Package nobody runs a test's own program as somebody without rights, for what
// happens to those who may not write: a superuser may always.
package nobody

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// id is a user without rights, on most systems by that name.
const id = 65534

// Command is the test's program with arguments, started in a directory of its user's.
// That is this one, or nobody instead of the superuser.
func Command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	dir, err := os.MkdirTemp("", "pawl-test-") //nolint:usetesting // t.TempDir lies where nobody else may go
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	cmd := exec.CommandContext(t.Context(), readableByAll(t, dir), args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	if os.Geteuid() == 0 {
		if err := os.Chown(dir, id, id); err != nil {
			t.Fatal(err)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
	}
	return cmd
}

// readableByAll copies this program to where everybody may run it.
func readableByAll(t testing.TB, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "program")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(path, text, 0o755)
	}
	if err == nil {
		err = os.Chmod(path, 0o755) // whatever the umask
	}
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}
