package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/bravellian/pawl/"

// D-530: which functions and files of this module calls enter that were made before. One path has a limit: it is
// what a reader keeps in mind.
func TestWalks(t *testing.T) {
	folder := t.TempDir()
	program := filepath.Join(folder, "walk")
	output(t, "go", "build", "-covermode=atomic", "-coverpkg="+module+"...", "-o="+program, ".")
	output(t, program, folder)
	for _, w := range []struct {
		name             string
		functions, files int // at most; 0: any number
	}{
		{"EnqueueTx", 70, 25},
		{"Topic.EnqueueTx", 0, 0},
		{"Enqueue", 0, 0},
		{"Claim and Ack", 0, 0},
		{"Run", 0, 0},
	} {
		t.Run(w.name, func(t *testing.T) {
			functions, files := entered(t, filepath.Join(folder, w.name))
			t.Logf("%d functions in %d files\n%s", len(functions), len(files), strings.Join(functions, "\n"))
			if len(functions) == 0 {
				t.Error("nothing was counted")
			}
			if w.functions > 0 && (len(functions) > w.functions || len(files) > w.files) {
				t.Errorf("want at most %d functions in %d files", w.functions, w.files)
			}
		})
	}
}

// function is a line of "covdata func": file, line, name and how much of it ran.
var function = regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(module) + `(\S+\.go):\d+:\s+(\S+)\s+(\d+\.\d)%$`)

// entered returns the functions and files of which something ran.
func entered(t *testing.T, counters string) (functions, files []string) {
	for _, m := range function.FindAllStringSubmatch(output(t, "go", "tool", "covdata", "func", "-i="+counters), -1) {
		if file := m[1]; m[3] != "0.0" && !strings.HasPrefix(file, "internal/test/walk/") {
			functions = append(functions, file+" "+m[2])
			if !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	return functions, files
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
