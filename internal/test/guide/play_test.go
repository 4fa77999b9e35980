//go:build unix

package guide

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// D-243: a guide that says something else than what happens fails, and so does one whose command does.
func TestTry(t *testing.T) {
	s := openShell(t, t.TempDir())
	replace := strings.NewReplacer("PLACE", "here")
	for _, c := range []struct {
		command, want string
		fails         bool
	}{
		{"echo one", "one", false},
		{"echo one", "two", true},
		{"echo PLACE", "PLACE", false},
		{"echo a 17 b", "a … b", false},
		{"printf 'a\\nb\\nc\\n'", "a\n…\nc", false},
		{"printf 'a\\nb\\n'", "a", true},
		{"printf unended", "unended", false},
		{"export KEPT=1", "", false},
		{"echo $KEPT", "1", false},
		{"echo said; false", "said", true},
		{"false; echo $?", "1", false},
		{"ls none", "…", true},
		{"grep none /dev/null", "", true}, // for some time
	} {
		err := s.try(Step{Command: c.command, Want: lines(c.want)}, replace, 100*time.Millisecond)
		if (err != nil) != c.fails {
			t.Errorf("$ %s, want %q: %v", c.command, c.want, err)
		}
	}
	// What works in the background needs its time, and ends with the test.
	steps := []Step{{Command: "(sleep 0.2; echo done > file; sleep 600) &"}, {Command: "cat file", Want: []string{"done"}}}
	for _, step := range steps {
		if err := s.try(step, replace, time.Minute); err != nil {
			t.Error(err)
		}
	}
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// D-243: the commands of a guide are those behind the prompts of its console blocks.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "README.md")
	text := "# A\n```console\n$ one\nsays\nthis\n$ two\n```\n<!-- test: it rains -->\n```go\n$ none\n```\n## B\ntext\n## C\n```console\n# no heading\n```\n"
	text = strings.Replace(text, "# no heading", "$ three\n# no heading", 1)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	all := Read(t, path)
	if len(all) != 2 || all[0].Title != "A" || all[1].Title != "C" || len(all[0].Steps) != 3 {
		t.Fatalf("%+v", all)
	}
	first := all[0].Steps
	if first[0].Command != "one" || strings.Join(first[0].Want, " ") != "says this" || first[1].Line != 6 || first[2].Happens != "it rains" {
		t.Errorf("%+v", first)
	}
	if third := all[1].Steps[0]; third.Command != "three" || strings.Join(third.Want, "") != "# no heading" {
		t.Errorf("%+v", third)
	}
}
