//go:build unix

package doctor_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/engine/sqlite"
	"github.com/bravellian/pawl/internal/doctortest"
)

func TestSQLiteRights(t *testing.T) {
	if os.Geteuid() == 0 { // who may write whatever the rights say
		asNobody(t)
		return
	}
	path, db := lite(t, sqlite.Options{})
	for _, name := range []string{path, filepath.Dir(path)} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, info.Mode()&^0o222); err != nil {
			t.Fatal(err)
		}
		doctortest.Want(t, examine(t, db, engine.Limits{}), "file", engine.Problem, name+" cannot be written to", "right")
		if err := os.Chmod(name, info.Mode()); err != nil {
			t.Fatal(err)
		}
		doctortest.WantGone(t, examine(t, db, engine.Limits{}), "file")
	}
}

// nobody is a user without rights, on most systems by that name.
const nobody = 65534

// asNobody runs the test in a process of a user without rights, from a directory that
// is this user's.
func asNobody(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "pawl-nobody-") //nolint:usetesting // t.TempDir lies where nobody else may go
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "test")
	copyProgram(t, self, program)
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		t.Fatalf("%v\n%s", err, out)
	}
	if err != nil {
		t.Skip("no process of another user can be started here: ", err)
	}
}

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
