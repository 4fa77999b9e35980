package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/sqlite"
)

// D-708: what is no SQLite file is one line that says why and what helps.
func TestOpenSaysWhatHelps(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "README.md")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir:                                   "it is a directory; name a file in it, such as " + filepath.Join(dir, "pawl.db"),
		"file:" + dir + "?mode=rwc":           "it is a directory; name a file in it, such as ",
		filepath.Join(dir, "none", "pawl.db"): "no such directory: " + filepath.Join(dir, "none") + "; make it, or name another",
		text:                                  "file is not a database (26); name a SQLite file, or a path without a file",
		"postgres://u:secret@h/d":             "open sqlite: database unreachable: postgres:// is no SQLite file; name its path, or open another engine",
	} {
		_, err := sqlite.Open(path)
		if !errors.Is(err, engine.ErrUnreachable) || !strings.HasSuffix(err.Error(), want) && !strings.Contains(err.Error(), want+dir) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
