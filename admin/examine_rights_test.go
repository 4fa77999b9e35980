//go:build unix

package admin_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/nobody"
)

func TestExamineSQLiteRights(t *testing.T) {
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
		wantFinding(t, examine(t, db, engine.ExamineLimits{}), "file", health.Problem, name+" cannot be written to", "right")
		if err := os.Chmod(name, info.Mode()); err != nil {
			t.Fatal(err)
		}
		wantOK(t, examine(t, db, engine.ExamineLimits{}), "file")
	}
}

// asNobody runs the test in a process of a user without rights.
func asNobody(t *testing.T) {
	t.Helper()
	out, err := nobody.Command(t, "-test.run=^"+t.Name()+"$", "-test.v").CombinedOutput()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		t.Fatalf("%v\n%s", err, out)
	}
	if err != nil {
		t.Skip("no process of another user can be started here: ", err)
	}
}
