package store

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

// A file that loses its log before anything was written back has its tables all the same.
func TestTablesAreInTheFile(t *testing.T) {
	open := func(path string) *Store {
		s, err := Open(Place{URL: path}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	path, alone := filepath.Join(t.TempDir(), "a.db"), filepath.Join(t.TempDir(), "b.db")
	if err := open(path).Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(alone, file, 0o600); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := open(alone).SQL.QueryRowContext(t.Context(), `SELECT count(*) FROM torture_b`).Scan(&n); err != nil || n != Cells {
		t.Errorf("%d cells, %v", n, err)
	}
}
