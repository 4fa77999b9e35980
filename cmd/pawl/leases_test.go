package main

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/lease"
)

// hold takes leases as a program would that dies: they are held and not renewed.
func (d *database) hold(duration time.Duration, names ...string) {
	d.t.Helper()
	for _, name := range names {
		ctx := d.t.Context()
		d.opened(func(s *store) {
			l, err := parts.NewLeases(s, "app-7\x1b[2J", slog.New(slog.DiscardHandler)).Acquire(ctx, name, lease.Options{Duration: duration})
			if err != nil {
				d.t.Fatal(err)
			}
			d.t.Cleanup(func() { _ = l.Close(ctx) })
		})
	}
}

func TestLeasesListAndPage(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		d.must("", "migrate")
		if r := d.run("", "leases", "ls"); r.code != exitOK || r.stdout != "" || r.stderr != "no leases\n" {
			t.Errorf("none: %+v", r)
		}
		d.hold(time.Hour, "a", "b's", "c")
		d.must("", "leases", "release", "c")
		r := d.run("", "leases", "ls", "--limit", "2")
		if !strings.Contains(r.stdout, "b's") || strings.Contains(r.stdout, "\nc") || !strings.Contains(r.stderr, `--after 'b'\''s'`) {
			t.Errorf("first page: %+v", r)
		}
		for _, c := range []struct {
			args []string
			want int
		}{{nil, 3}, {[]string{"--after", "b's"}, 1}, {[]string{"--held"}, 2}} {
			out := d.must("", append([]string{"leases", "ls", "--json"}, c.args...)...)
			if len(lines(out)) != c.want || strings.Contains(out, "\x1b") {
				t.Errorf("%q: want %d\n%s", c.args, c.want, out)
			}
		}
		a, free := viewOf(t, d, "a"), viewOf(t, d, "c")
		if a.Status != lease.Held || a.Owner != "app-7\x1b[2J" || a.Token == 0 || a.Until.IsZero() || time.Until(a.Until) < 50*time.Minute {
			t.Errorf("held: %+v", a)
		}
		if free.Status != lease.Free || free.Owner != "" || free.Token <= a.Token || !free.Until.IsZero() {
			t.Errorf("free: %+v", free)
		}
	})
}

// viewOf is a lease as "pawl leases ls" shows it.
func viewOf(t *testing.T, d *database, name string) (v lease.Info) {
	t.Helper()
	for _, line := range lines(d.must("", "leases", "ls", "--json")) {
		var one lease.Info
		if decode(t, line, &one); one.Name == name {
			v = one
		}
	}
	return v
}

func TestLeasesRelease(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		d.hold(time.Hour, "one", "two")
		// Nothing is touched where one is no name.
		if r := d.run("", "leases", "release", "one", ""); r.code != exitUsage || viewOf(t, d, "one").Status != lease.Held {
			t.Errorf("with a mistake: %+v", r)
		}
		r := d.run("", "leases", "release", "one", "n\x1bone")
		if r.code != exitFailure || !strings.HasPrefix(r.stdout, `one  released, was held by app-7\x1b[2J until 2`) || r.stderr != `pawl: lease not found: "n\x1bone"`+"\n" {
			t.Errorf("%+v", r)
		}
		if out := d.must("", "leases", "release", "one"); out != "one  was not held\n" {
			t.Errorf("again: %q", out)
		}
		var v released
		decode(t, d.must("", "leases", "release", "two", "--json"), &v)
		if !v.Released || v.Owner != "app-7\x1b[2J" || v.Until == nil || v.Token == 0 {
			t.Errorf("%+v", v)
		}
		token := v.Token
		v = released{}
		decode(t, d.must("", "leases", "release", "two", "--json"), &v)
		if v.Released || v.Owner != "" || v.Token != token {
			t.Errorf("again: %+v", v)
		}
	})
}

// A lease that ran out was not held, whoever is still named as its owner.
func TestLeasesReleaseExpired(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		d.hold(time.Second, "n")
		eventually(t, "the lease to run out", func() bool { return viewOf(t, d, "n").Status == lease.Expired })
		if out := d.must("", "leases", "release", "n"); out != "n  was not held\n" {
			t.Errorf("%q", out)
		}
	})
}

func TestHolding(t *testing.T) {
	e := &lease.HeldError{Name: "n", Waiting: 2}
	if got := holding(e); got != `"n" is free, but others wait for it: 2` {
		t.Error(got)
	}
	e.Owner, e.Until = "o", time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC)
	if got := holding(e); got != fmt.Sprintf("%q is held by o until 2026-03-02 06:00:00Z", "n") {
		t.Error(got)
	}
}
