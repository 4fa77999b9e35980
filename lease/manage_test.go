package lease_test

import (
	"errors"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/lease"
)

// D-60: a name is listed for ever.
func TestList(t *testing.T) { dbtest.Each(t, testList) }

func testList(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, n := range []string{"c", "B", "a", "d"} {
		l, err := f.Acquire(t.Context(), n, lease.Options{Duration: time.Hour})
		f.mine(l, err)
		if n == "a" {
			f.close(l)
		}
	}
	for _, c := range []struct {
		filter lease.ListOptions
		want   string
	}{
		{lease.ListOptions{}, "Bacd"},
		{lease.ListOptions{Status: lease.Held}, "Bcd"},
		{lease.ListOptions{Status: lease.Free}, "a"},
		{lease.ListOptions{Status: lease.Expired}, ""},
		{lease.ListOptions{After: &lease.Info{Name: "a"}}, "cd"},
		{lease.ListOptions{After: &lease.Info{Name: "d"}}, ""},
	} {
		all, err := engine.Collect(f.List(t.Context(), c.filter), 100)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, i := range all {
			got += i.Name
			if (i.Status == lease.Held) != (i.Name != "a") || nth(i.Token) != 1 || i.LastGranted.IsZero() {
				t.Errorf("%+v", i)
			}
		}
		if got != c.want {
			t.Errorf("%+v lists %q, want %q", c.filter, got, c.want)
		}
	}
}

// D-65
func TestGetUnknown(t *testing.T) { dbtest.Each(t, testGetUnknown) }

func testGetUnknown(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	if _, err := f.Get(t.Context(), name); !errors.Is(err, lease.ErrNotFound) {
		t.Fatalf("want ErrNotFound, got %v", err)
	}
	_, err := f.Get(t.Context(), "")
	_, err2 := f.ForceRelease(t.Context(), "")
	if !errors.Is(err, engine.ErrInvalid) || !errors.Is(err2, engine.ErrInvalid) {
		t.Fatalf("want ErrInvalid, got %v and %v", err, err2)
	}
}

// D-60, D-61: force frees what is held, raises the token, and wakes the next.
func TestForceRelease(t *testing.T) { dbtest.Each(t, testForceRelease) }

func testForceRelease(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	if there, err := f.ForceRelease(t.Context(), name); there || err != nil {
		t.Fatalf("a name that nobody had: %t, %v", there, err)
	}
	l := f.acquire(lease.Options{Duration: time.Hour})
	c := f.wakeable().queueAsleep(0)
	if there, err := f.ForceRelease(t.Context(), name); !there || err != nil {
		t.Fatal(there, err)
	}
	next := <-c
	if got := f.mine(next.l, next.err); got.Token() <= l.Token()+1 {
		t.Fatalf("token %d after %d and a force", got.Token(), l.Token())
	}
	f.close(next.l)
	if there, err := f.ForceRelease(t.Context(), name); there || err != nil {
		t.Fatalf("a free lease: %t, %v", there, err)
	}
}

// D-102: the seed's Lease table, for people who query.
func TestLeaseTable(t *testing.T) { dbtest.Each(t, testLeaseTable) }

func testLeaseTable(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.acquire(lease.Options{Duration: time.Hour, Owner: "ada"})
	var n, owner, until, granted string
	f.db.Row(t, "SELECT name, owner, lease_until_utc, last_granted_utc FROM "+f.db.Table("leases"), &n, &owner, &until, &granted)
	if n != name || owner != "ada" {
		t.Fatal(n, owner)
	}
	for text, want := range map[string]time.Time{until: f.info().Until, granted: f.info().LastGranted} {
		if got, err := time.Parse(time.RFC3339, text); err != nil || got.Sub(want).Abs() > time.Second {
			t.Errorf("%q is not %v: %v", text, want, err)
		}
	}
}
