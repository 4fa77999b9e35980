package ui_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

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
func TestUsers(t *testing.T) {
	list, err := ui.BasicAuth(write(t, "# the team", "", "ann:"+hash(t, "one"), "vera:"+hash(t, "two")+":viewer", "rita:"+hash(t, "three")+":reader"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, password string
		want           ui.Access
	}{
		{"ann", "one", ui.Access{Name: "ann", Operator: true, Details: true, Payloads: true}}, {"vera", "two", ui.Access{Name: "vera"}},
		{"rita", "three", ui.Access{Name: "rita", Details: true}},
		{"ann", "two", ui.Access{}}, {"ann", "", ui.Access{}}, {"eve", "one", ui.Access{}}, {"", "", ui.Access{}},
	} {
		for range 2 { // the second time it is remembered
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.SetBasicAuth(c.name, c.password)
			got, err := list.Authorize(r)
			var unknown *ui.UnauthenticatedError
			if got != c.want || (err == nil) != (c.want.Name != "") || err != nil && !errors.As(err, &unknown) {
				t.Errorf("%s with %q: %+v, %v", c.name, c.password, got, err)
			}
		}
	}
}

// D-219: a file that cannot be right is refused, with the line and without the hash.
func TestUsersRefused(t *testing.T) {
	for _, lines := range [][]string{{}, {"# nobody"}, {"ann"}, {"ann:plain"}, {":" + hash(t, "x")}, {"ann:" + hash(t, "x") + ":root"}, {"ann:{SHA}secret"}} {
		if list, err := ui.BasicAuth(write(t, lines...)); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, %v", lines, list, err)
		}
	}
	if _, err := ui.BasicAuth(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there is read")
	}
}

// fake is a hash of a cost that no password has.
func fake(cost int) string { return fmt.Sprintf("$2a$%02d$%s", cost, strings.Repeat("a", 53)) }

// asking is a request with a name and a password.
func asking(ctx context.Context, name, password string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	r.SetBasicAuth(name, password)
	return r
}

// D-452: who gives no name is refused without work, and for every name as much is hashed, whatever the cost of
// its hash.
func TestRefusalsCostTheSame(t *testing.T) {
	work := 0
	defer ui.Compare(func(hash, _ []byte) error {
		cost, err := bcrypt.Cost(hash)
		if err != nil {
			t.Error(err)
		}
		work += 1 << cost
		return bcrypt.ErrMismatchedHashAndPassword
	})()
	list, err := ui.BasicAuth(write(t, "ann:"+fake(5), "ben:"+fake(12)+":viewer", "cleo:"+fake(10)))
	if err != nil {
		t.Fatal(err)
	}
	if got := list.Weak(); !slices.Equal(got, []string{"ann"}) {
		t.Errorf("weak: %q", got)
	}
	for _, header := range []string{"", "Basic", "Basic !", "Bearer x", "Basic " + base64.StdEncoding.EncodeToString([]byte("no colon"))} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Authorization", header)
		if _, err := list.Authorize(r); err == nil || work != 0 {
			t.Errorf("%q: %v, %d", header, err, work)
		}
	}
	for _, name := range []string{"ann", "ben", "cleo", "eve", ""} {
		work = 0
		if _, err := list.Authorize(asking(t.Context(), name, "wrong")); err == nil || work != 1<<12 {
			t.Errorf("%s: %v, %d", name, err, work)
		}
	}
}

// D-452: two passwords are hashed at once; others wait for their turn, and not for ever.
func TestFewAreHashedAtOnce(t *testing.T) {
	begun, proceed := make(chan struct{}, 10), make(chan struct{})
	defer ui.Compare(func(_, _ []byte) error {
		begun <- struct{}{}
		<-proceed
		return nil
	})()
	list, err := ui.BasicAuth(write(t, "ann:"+fake(10)))
	if err != nil {
		t.Fatal(err)
	}
	var asked sync.WaitGroup
	for i := range 2 {
		asked.Go(func() {
			if _, err := list.Authorize(asking(t.Context(), "ann", fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
		})
		<-begun
	}
	over, end := context.WithDeadline(t.Context(), time.Now())
	defer end()
	if _, err := list.Authorize(asking(over, "ann", "third")); !errors.Is(err, context.DeadlineExceeded) || len(begun) > 0 {
		t.Errorf("the third: %v, %d", err, len(begun))
	}
	close(proceed)
	asked.Wait()
	if got, err := list.Authorize(asking(over, "ann", "1")); err != nil || got.Name != "ann" || len(begun) > 0 {
		t.Errorf("one that is remembered: %v, %v", got, err)
	}
}
