package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

// The page in the repository is what the command writes now.
func TestPageIsCurrent(t *testing.T) {
	if err := run(root, true); err != nil {
		t.Error(err)
	}
}

// A page that says something else is refused, and written anew.
func TestPageIsWritten(t *testing.T) {
	copied := t.TempDir()
	for _, dir := range []string{"internal/engine", "internal/sql", "sqlserver", "docs"} {
		if err := os.CopyFS(filepath.Join(copied, dir), os.DirFS(filepath.Join(root, dir))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(copied, "internal/sql/postgres/lease/get.sql"), []byte("SELECT 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(copied, true); err == nil || !strings.Contains(err.Error(), "out of date") {
		t.Errorf("a page that is out of date: %v", err)
	}
	if err := run(copied, false); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(copied, page))
	if err != nil || !strings.Contains(string(text), "| `lease/get` | common | own | own |") {
		t.Errorf("%v, %s", err, text)
	}
	if err := run(copied, true); err != nil {
		t.Error(err)
	}
}
