package declare

import (
	"slices"
	"testing"
)

// D-594: versions are compared part by part.
func TestCompare(t *testing.T) {
	want := []string{"1", "1.2", "1.9", "1.10", "2", "2026-11-27T09:00:00Z", "2026-11-27T10:00:00Z", "v1.9.9", "v1.10.0", "v2"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, compare)
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if compare("v1.02", "v1.2") != 0 {
		t.Error("01 is another number")
	}
}
