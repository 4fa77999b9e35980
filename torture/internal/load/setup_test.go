package load

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/torture/internal/store"
)

// A file that loses its log before anything was written back has its tables and its job all the same.
func TestSetupIsInTheFile(t *testing.T) {
	open := func(path string) *store.Store {
		s, err := store.Open(store.Place{URL: path}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	path, alone := filepath.Join(t.TempDir(), "a.db"), filepath.Join(t.TempDir(), "b.db")
	if err := Setup(t.Context(), open(path)); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(alone, file, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(alone)
	var n int
	if err := s.SQL.QueryRowContext(t.Context(), `SELECT count(*) FROM torture_b`).Scan(&n); err != nil || n != store.Cells {
		t.Errorf("%d cells, %v", n, err)
	}
	p, err := pawl.New(s.Pawl, pawl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Jobs.Get(t.Context(), Job); err != nil {
		t.Error(err)
	}
}
