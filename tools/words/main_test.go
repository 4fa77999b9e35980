package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	words, err := parse("# a comment\ndocs\t(?i)\\bmend\\b\trepair\ngo\thungry\tmoreWork\n")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for name, text := range map[string]string{
		"README.md": "Mend it.\nfine", "docs/a.md": "hungry, but not mended", "docs/decisions/1.md": "mend", "a.go": "x\nhungry", "b/a_test.go": "mend", ".git/a.go": "hungry",
	} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err = check(root, words)
	if err == nil {
		t.Fatal("nothing found")
	}
	if got, want := err.Error(), "README.md:1: \"Mend\": write repair\na.go:2: \"hungry\": write moreWork"; got != want {
		t.Errorf("found\n%s\nwant\n%s", got, want)
	}
	for _, wrong := range []string{"docs\tx", "sql\tx\ty", "go\t(\ty"} {
		if _, err := parse(wrong); err == nil || !strings.Contains(err.Error(), "list.txt:1") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}
