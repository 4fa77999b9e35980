package sqlservertest_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	_ "github.com/bravellian/pawl/internal/test/dbtest" // a change there runs this test again
)

// root is the folder of the repository.
const root = "../.."

// overlay says which files "make test-sqlserver" builds in the place of which.
const overlay = "sqlserver/testdata/suites/overlay.json"

// The suites of the library's packages compile with SQL Server among their engines, and
// no package of theirs imports itself through it. Nothing else notices where no server is.
func TestSuitesCompile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, overlay))
	if err != nil {
		t.Fatal(err)
	}
	var files struct{ Replace map[string]string }
	if err := json.Unmarshal(text, &files); err != nil || len(files.Replace) == 0 {
		t.Fatalf("%d files are replaced: %v", len(files.Replace), err)
	}
	vet := []string{"vet", "-overlay", overlay}
	for file, by := range files.Replace {
		for _, name := range []string{file, by} {
			if _, err := os.ReadFile(filepath.Join(root, name)); err != nil {
				t.Errorf("%s: %v", overlay, err)
			}
		}
		vet = append(vet, "./"+filepath.Dir(file))
	}
	command(t, vet...)
	command(t, "list", "-overlay", overlay, "-test", "work")
}

// command runs a go command in the workspace.
func command(t *testing.T, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "go", args...)
	c.Dir, c.Env = root, append(os.Environ(), "GOWORK=")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("go %v: %v\n%s", args, err, out)
	}
}
