package fleet_test

import (
	"slices"
	"testing"
	"time"

	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/parts"
)

// An examination makes every check of a fleet's store that it makes of the same database by itself, also the engine's own.
func TestExamineThroughAStore(t *testing.T) {
	t.Parallel()
	pg, _ := servers(t, 1)
	dbs := append(pg, file(t, "file"))
	f := open(t, fleet.Static(dbs...), quick())
	for _, d := range dbs {
		s, err := f.Operator(access.Key{}).Store(t.Context(), d.Key)
		must(t, err)
		db, err := s.DB(access.Key{})
		must(t, err)
		want, got := checked(t, db), checked(t, s.Pawl.Internal(access.Key{}).DB)
		if !slices.Equal(got, want) || len(want) < 13 {
			t.Errorf("%s: checked\n%v, want\n%v", d.Key, got, want)
		}
	}
}

// checked returns the checks of an examination.
func checked(t *testing.T, db engine.DB) (names []string) {
	t.Helper()
	for _, found := range parts.NewAdmin(db).ExamineWith(t.Context(), access.Key{}, engine.ExamineOptions{Timeout: time.Minute}).Findings {
		if !slices.Contains(names, found.Code) {
			names = append(names, found.Code)
		}
	}
	return names
}

// A store's database offers what its engine does, before anybody used it, too, until the store has left.
func TestStoreOffersWhatItsEngineDoes(t *testing.T) {
	t.Parallel()
	f := open(t, fleet.Static(file(t, "a")), quick())
	s, err := f.Operator(access.Key{}).Store(t.Context(), "a")
	must(t, err)
	if _, ok := engine.As[engine.Pooled](s.Pawl.Internal(access.Key{}).DB); !ok {
		t.Error("no Pooled")
	}
	if _, ok := engine.As[engine.IdleCloser](s.Pawl.Internal(access.Key{}).DB); !ok {
		t.Error("no Idler")
	}
	if _, ok := engine.As[engine.Fingerprinter](s.Pawl.Internal(access.Key{}).DB); !ok {
		t.Error("no Watched")
	}
	must(t, f.Close())
	if _, ok := engine.As[engine.Pooled](s.Pawl.Internal(access.Key{}).DB); ok {
		t.Error("Pooled after the fleet was closed")
	}
}
