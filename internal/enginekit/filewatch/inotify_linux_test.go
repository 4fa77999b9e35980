package filewatch_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bravellian/pawl/internal/enginekit/filewatch"
	"github.com/bravellian/pawl/internal/test/enginetest"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// file is a file that one end of the test writes to.
type file struct {
	*os.File
	t *testing.T
}

func newFile(t *testing.T) *file {
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	must(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return &file{f, t}
}

func (f *file) write() {
	f.t.Helper()
	_, err := f.WriteString("x")
	must(f.t, err)
}

// watched is a watch and what it reported.
type watched struct {
	*filewatch.Watch
	t       *testing.T
	reports chan struct{}
}

func watch(t *testing.T) *watched {
	reports := make(chan struct{}, 100)
	w := &watched{filewatch.New(func() { reports <- struct{}{} }), t, reports}
	t.Cleanup(w.Close)
	return w
}

func (w *watched) arm(path string) {
	w.t.Helper()
	if !w.Arm(path) {
		w.t.Fatal("cannot watch")
	}
}

// want waits for n reports, and fails if there were more by then. A later report of another
// watch shows that nothing is under way any more.
func (w *watched) want(n int) {
	w.t.Helper()
	for range n {
		select {
		case <-w.reports:
		case <-time.After(2 * time.Minute):
			w.t.Fatal("not reported")
		}
	}
	if len(w.reports) > 0 {
		w.t.Errorf("%d reports too many", len(w.reports))
	}
}

func TestOneWriteIsReported(t *testing.T) {
	f, w, other := newFile(t), watch(t), watch(t)
	for range 3 {
		w.arm(f.Name())
		for range 10 {
			f.write()
		}
		w.want(1)
	}
	w.arm(f.Name())
	w.Disarm()
	f.write()
	other.arm(f.Name())
	f.write()
	other.want(1)
	w.want(0)
}

func TestWatchesOfOneFile(t *testing.T) {
	f, both := newFile(t), []*watched{watch(t), watch(t)}
	for i := range both {
		both[0].arm(f.Name())
		both[1].arm(f.Name())
		both[i].Disarm()
		f.write()
		both[1-i].want(1)
		both[i].want(0)
	}
	both[0].Close()
	both[1].arm(f.Name())
	f.write()
	both[1].want(1)
	if both[0].Arm(f.Name()) {
		t.Error("a closed watch was armed")
	}
}

func TestDeletedAndReplacedFiles(t *testing.T) {
	f, w := newFile(t), watch(t)
	w.arm(f.Name())
	must(t, f.Close())
	must(t, os.Remove(f.Name()))
	for len(w.reports) == 0 { // deleting takes several events
		time.Sleep(time.Millisecond)
	}
	if w.Arm(f.Name()) {
		t.Error("a file that does not exist is watched")
	}
	again, err := os.Create(f.Name())
	must(t, err)
	defer again.Close()
	w = watch(t)
	w.arm(f.Name())
	_, err = again.WriteString("x")
	must(t, err)
	w.want(1)
}

// instances counts the inotify instances of this process.
func instances(t *testing.T) (n int) {
	all, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	for _, e := range all {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.Contains(to, "inotify") {
			n++
		}
	}
	return n
}

// A thousand files take one instance and one goroutine, and none when the last is closed.
func TestOneInstance(t *testing.T) {
	before := enginetest.Running()
	var all []*watched
	dir := t.TempDir()
	for i := range 1000 {
		path := filepath.Join(dir, string(rune('a'+i%26))+strings.Repeat("x", i/26))
		must(t, os.WriteFile(path, nil, 0o600))
		w := watch(t)
		w.arm(path)
		all = append(all, w)
	}
	if n := instances(t); n != 1 {
		t.Errorf("%d instances", n)
	}
	for _, w := range all {
		w.Close()
	}
	if n := instances(t); n != 0 {
		t.Errorf("%d instances are left", n)
	}
	if left := before.Left(); left != "" {
		t.Errorf("left behind:\n%s", left)
	}
}

// In a bubble nothing is watched: no time would pass in it.
func TestBubble(t *testing.T) {
	f := newFile(t)
	synctest.Test(t, func(t *testing.T) {
		w := filewatch.New(func() {})
		defer w.Close()
		if w.Arm(f.Name()) {
			t.Error("armed")
		}
		time.Sleep(time.Hour)
	})
}
