package engine

import (
	"fmt"
	"slices"
)

// Words are the names of what a table stores as a number: the place in the list is the
// number.
type Words []string

// Word returns the name of a number, or "unknown 9" for one that has none: another
// program, or a newer one, wrote it.
func (w Words) Word(n int64) string {
	if n < 0 || n >= int64(len(w)) {
		return fmt.Sprintf("unknown %d", n)
	}
	return w[n]
}

// Number returns the number of a name in a field. It fails with ErrInvalid for a name that
// has none.
func (w Words) Number(field, word string) (int, error) {
	n := slices.Index(w, word)
	if n < 0 {
		return 0, Invalid(field, "not one of %q", []string(w))
	}
	return n, nil
}

const (
	defaultList = 100
	maxList     = 10_000
)

// ListLimit returns how many items a list has that is asked for at most n: 100 for 0 or
// less, and never more than 10 000.
func ListLimit(n int) int {
	if n <= 0 {
		return defaultList
	}
	return min(n, maxList)
}
