package docblocks

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// D-309: the tests that the threat model names are there.
func TestThreatModelNamesTests(t *testing.T) {
	const repository = "../../.."
	text, err := os.ReadFile(filepath.Join(repository, "docs/threat-model.md"))
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err = filepath.WalkDir(repository, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		code, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(code), -1) {
			there[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(string(text), -1)
	if len(named) < 25 {
		t.Errorf("only %d tests are named", len(named))
	}
	for _, m := range named {
		if !there[m[1]] {
			t.Errorf("there is no %s", m[1])
		}
	}
	for line := range strings.Lines(string(text)) {
		if strings.Count(line, " | ") == 3 && !strings.Contains(line, "| what stops it |") && !strings.Contains(line, "`Test") && !strings.Contains(line, "`Fuzz") {
			t.Errorf("a defence names no test: %s", line)
		}
	}
}
