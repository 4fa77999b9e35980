package enginetest

import (
	"reflect"
	"slices"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
)

// Bound checks that the columns of every statement's answer are those that its operation declares. columns asks the
// database for their names, and fails where it does not understand the statement.
func Bound(t *testing.T, statements []*engine.Statement, columns func(s *engine.Statement) ([]string, error)) {
	t.Helper()
	if len(statements) < 10 {
		t.Errorf("there are only %d statements", len(statements))
	}
	for _, s := range statements {
		got, err := columns(s)
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		if want := s.Columns(); want != nil && !slices.Equal(got, want) {
			t.Errorf("%s answers with %q, declared is %q", s.Name, got, want)
		}
		if s.Counts() && len(got) != 1 {
			t.Errorf("%s answers with %q, declared is a number", s.Name, got)
		}
	}
}

// Shared fails the test unless the statements of two databases have their parameters in common.
func Shared(t testing.TB, a, b []*engine.Statement) {
	t.Helper()
	where := map[string]uintptr{}
	for _, s := range a {
		where[s.Name] = reflect.ValueOf(s).Elem().FieldByName("params").Pointer()
	}
	for _, s := range b {
		if at := reflect.ValueOf(s).Elem().FieldByName("params").Pointer(); where[s.Name] != at {
			t.Fatalf("%s was read again", s.Name)
		}
	}
	if len(b) == 0 || len(a) != len(b) {
		t.Fatalf("%d and %d statements", len(a), len(b))
	}
}
