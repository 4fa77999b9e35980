package job_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
)

func (f *fixture) declare(names ...string) (jobs []job.Job) {
	for _, name := range names {
		jobs = append(jobs, job.Job{Name: name, Schedule: f.schedule, Topic: "t"})
	}
	return jobs
}

// sync syncs and insists on what was stored, left as it was, and removed.
func (f *fixture) sync(owner string, jobs []job.Job, want string, opts ...job.SyncOptions) {
	f.t.Helper()
	done, err := f.Sync(f.t.Context(), owner, jobs, append(opts, job.SyncOptions{})[0])
	if err != nil {
		f.t.Fatal(err)
	}
	if got := fmt.Sprint(done.Stored, done.Unchanged, done.Removed); got != want {
		f.t.Errorf("stored, unchanged and removed %s, want %s", got, want)
	}
}

// names are the jobs and their owners.
func (f *fixture) names() string {
	f.t.Helper()
	all, err := engine.Collect(f.List(f.t.Context(), job.ListOptions{}), 100)
	if err != nil {
		f.t.Fatal(err)
	}
	var text []string
	for _, i := range all {
		text = append(text, i.Name+"/"+i.Owner)
		if len(i.Headers) > 0 {
			f.t.Errorf("%s has headers %v", i.Name, i.Headers)
		}
	}
	return strings.Join(text, " ")
}

// D-206: what is declared is stored, what no longer is is removed, and the jobs of others stay.
func TestSync(t *testing.T) { dbtest.Each(t, testSync) }

func testSync(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, name := range []string{"by hand", "taken"} {
		if err := f.Put(t.Context(), f.declare(name)[0]); err != nil {
			t.Fatal(err)
		}
	}
	f.sync("shop", f.declare("b", "a"), "[a b] [] []", job.SyncOptions{DryRun: true})
	if got := f.names(); got != "by hand/ taken/" {
		t.Fatalf("after a dry run: %s", got)
	}
	f.sync("shop", f.declare("b", "a", "taken"), "[a b taken] [] []")
	f.sync("mail", f.declare("c"), "[c] [] []")
	f.sync("shop", f.declare("b", "a", "taken"), "[] [a b taken] []")
	changed := f.declare("b", "d")
	changed[0].Payload = []byte("new")
	f.sync("shop", changed, "[b d] [] [a taken]", job.SyncOptions{DryRun: true})
	f.sync("shop", changed, "[b d] [] [a taken]")
	if got := f.names(); got != "b/shop by hand/ c/mail d/shop" {
		t.Errorf("there are %s", got)
	}
	f.sync("shop", nil, "[] [] [b d]")
	if got := f.names(); got != "by hand/ c/mail" {
		t.Errorf("there are %s", got)
	}
}

// D-206: a job that cannot be stored, is given twice, or is another's fails the whole call.
func TestSyncRefuses(t *testing.T) { dbtest.Each(t, testSyncRefuses) }

func testSyncRefuses(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.sync("mail", f.declare("theirs"), "[theirs] [] []")
	bad := f.declare("a", "bad")
	bad[1].Schedule = "never"
	large := f.declare("a", "large")
	large[1].Topic = strings.Repeat("t", 256)
	for want, jobs := range map[string][]job.Job{
		`"bad"`: bad, `"large"`: large, `"a" is given twice, at 0 and 2`: f.declare("a", "b", "a"), `"theirs" of "mail"`: f.declare("a", "theirs"),
	} {
		_, err := f.Sync(t.Context(), "shop", jobs, job.SyncOptions{})
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, engine.ErrInvalid) == errors.Is(err, job.ErrOwned) {
			t.Errorf("%v, want one with %s", err, want)
		}
	}
	for _, owner := range []string{"", strings.Repeat("o", 201)} {
		if _, err := f.Sync(t.Context(), owner, nil, job.SyncOptions{}); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("owner %q: %v", owner, err)
		}
	}
	if got := f.names(); got != "theirs/mail" {
		t.Errorf("there are %s", got)
	}
}

// D-594: an older version of a program does not take back what a newer one declared: not by its executable
// and declarations, and not by its version; who wants it to says so.
func TestSyncOfAnOlderVersion(t *testing.T) { dbtest.Each(t, testSyncOfAnOlderVersion) }

func testSyncOfAnOlderVersion(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	old, now := f.declare("nightly"), f.declare("weekly")
	superseded := func(opts job.SyncOptions, jobs []job.Job, want bool) {
		t.Helper()
		done, err := f.Sync(t.Context(), "shop", jobs, opts)
		if err != nil || (done.Superseded != "") != want || want && len(done.Stored)+len(done.Removed) > 0 {
			t.Fatalf("%+v, %v", done, err)
		}
	}
	f.sync("shop", old, "[nightly] [] []")
	f.sync("shop", now, "[weekly] [] [nightly]")
	superseded(job.SyncOptions{DryRun: true}, old, true)
	superseded(job.SyncOptions{}, old, true) // it restarts
	f.sync("shop", now, "[] [weekly] []")
	superseded(job.SyncOptions{Version: "v1.9"}, old, false) // one that names its version is newer
	superseded(job.SyncOptions{}, now, true)
	superseded(job.SyncOptions{Version: "v1.10"}, now, false)
	superseded(job.SyncOptions{Version: "v1.9"}, old, true)
	superseded(job.SyncOptions{Version: "v1.10"}, now, false)
	superseded(job.SyncOptions{Version: "v1.9", Latest: true}, old, false) // a roll-back
	if got := f.names(); got != "nightly/shop" {
		t.Errorf("there are %s", got)
	}
	if known, err := f.Forget(t.Context(), "shop"); err != nil || !known {
		t.Fatal(known, err)
	}
	superseded(job.SyncOptions{}, now, false)
	f.sync("mail", f.declare("other"), "[other] [] []") // another owner's versions are its own
}

// D-206: two versions of a program that sync at once leave the jobs of one of them.
func TestSyncAtOnce(t *testing.T) { dbtest.Each(t, testSyncAtOnce) }

func testSyncAtOnce(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	other := f.another()
	versions := [][]job.Job{f.declare("a", "b", "c"), f.declare("b", "c", "d", "e")}
	for range 3 {
		var both sync.WaitGroup
		for i, version := range []*fixture{f, other} {
			both.Go(func() {
				for range 3 {
					if _, err := version.Sync(t.Context(), "shop", slices.Clone(versions[i]), job.SyncOptions{}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		both.Wait()
		if got := f.names(); got != "a/shop b/shop c/shop" && got != "b/shop c/shop d/shop e/shop" {
			t.Errorf("there are %s", got)
		}
	}
}
