package people_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/bravellian/pawl/cmd/pawl/internal/people"
	"github.com/bravellian/pawl/ui"
)

// write makes a file of people.
func write(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "people")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func hash(t *testing.T, password string) string {
	t.Helper()
	h, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return string(h)
}

// D-219: names and passwords of a file are asked for, and say who may change things.
func TestPeople(t *testing.T) {
	list, err := people.Read(write(t, "# the team", "", "ann:"+hash(t, "one"), "vera:"+hash(t, "two")+":viewer"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, password string
		want           ui.Access
	}{
		{"ann", "one", ui.Access{Name: "ann", Operator: true, Payloads: true}}, {"vera", "two", ui.Access{Name: "vera"}},
		{"ann", "two", ui.Access{}}, {"ann", "", ui.Access{}}, {"eve", "one", ui.Access{}}, {"", "", ui.Access{}},
	} {
		for range 2 { // the second time it is remembered
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.SetBasicAuth(c.name, c.password)
			got, err := list.Authorize(r)
			var unknown *ui.Unauthenticated
			if got != c.want || (err == nil) != (c.want.Name != "") || err != nil && !errors.As(err, &unknown) {
				t.Errorf("%s with %q: %+v, %v", c.name, c.password, got, err)
			}
		}
	}
}

// D-219: a file that cannot be right is refused, with the line and without the hash.
func TestPeopleRefused(t *testing.T) {
	for _, lines := range [][]string{{}, {"# nobody"}, {"ann"}, {"ann:plain"}, {":" + hash(t, "x")}, {"ann:" + hash(t, "x") + ":root"}, {"ann:{SHA}secret"}} {
		if list, err := people.Read(write(t, lines...)); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, %v", lines, list, err)
		}
	}
	if _, err := people.Read(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there is read")
	}
}
