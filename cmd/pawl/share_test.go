//go:build unix

package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// D-249, D-250: workers with the same control database divide the stores among themselves.
// One drains its own and leaves the others; when it is alone all are its own.
func TestWorkersShareAFleet(t *testing.T) {
	dir, control := t.TempDir(), "sqlite:"+filepath.Join(t.TempDir(), "control.db")
	for _, key := range strings.Split("a b c d e f g h i j", " ") {
		one := &database{t, []string{"--db=sqlite:" + filepath.Join(dir, key+".db")}}
		one.must("for "+key, "enqueue", "--topic", "t")
	}
	c := &database{t, []string{"--db=" + control}}
	c.must("", "migrate")
	d := &database{t, []string{"--fleet=dir:" + dir}}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	marks := t.TempDir()
	share := []string{"work", "--share", control, "--topic", "t", "--exec", `echo "$PAWL_STORE"`, "--drain"}
	other := make(chan result, 1)
	go func() { // it has the topic of no message, and so leaves them all
		other <- command(ctx, "", d.line([]string{"work", "--share", control, "--queue", "none", "--topic", "t", "--exec", "touch " + marks})...)
	}()
	eventually(t, "the other to be there", func() bool {
		return strings.Contains(c.must("", "leases", "ls"), "fleet/default/1")
	})
	r := d.run("", share...)
	first := lines(r.stdout)
	if r.code != exitOK || len(first) == 0 || len(first) == 10 {
		t.Errorf("with another: %+v", r)
	}
	stop()
	if r := <-other; r.code != exitOK {
		t.Errorf("the other: %+v", r)
	}
	r = d.run("", share...)
	all := append(lines(r.stdout), first...)
	slices.Sort(all)
	if r.code != exitOK || strings.Join(all, "") != "abcdefghij" {
		t.Errorf("alone: %+v, %q", r, all)
	}
}

// D-249: mistakes in the options of a shared fleet are found before the work begins.
func TestShareMistakes(t *testing.T) {
	dir, d := tenants(t)
	none := filepath.Join(dir, "none", "control.db")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--share-copies", "2"}, exitUsage, "go with --share"},
		{[]string{"--share", "sqlite:" + none, "--share-copies=-1"}, exitUsage, "negative"},
		{[]string{"--share", "sqlite:" + none, "--share-name", "a/b"}, exitUsage, "slash"},
		{[]string{"--share", "sqlite:" + none}, exitFailure, "does not exist"},
		{[]string{"--share", "mysql://x/y"}, exitUsage, "--share"},
		{[]string{"--share", "sqlite:" + filepath.Join(dir, "broken.db"), "--drain"}, exitFailure, "not a database"},
	} {
		r := d.run("", append([]string{"work", "--topic", "t", "--exec", "true"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%q: %+v; want %d and %q", c.args, r, c.code, c.want)
		}
	}
	one := &database{t, []string{"--db=sqlite:" + filepath.Join(dir, "a.db")}}
	if r := one.run("", "work", "--topic", "t", "--exec", "true", "--share", "sqlite:"+none); r.code != exitUsage || !strings.Contains(r.stderr, "goes with --fleet") {
		t.Errorf("%+v", r)
	}
}
