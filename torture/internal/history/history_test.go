package history

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func appendAll(t *testing.T, folder, process string, n int) {
	t.Helper()
	w, err := Create(folder, process)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	for i := range n {
		if err := w.Append(Event{Op: Handle, Outcome: Began, Message: fmt.Sprint(i), Detail: "a \"quoted\"\nline"}); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, folder string) ([]Event, Defects) {
	t.Helper()
	files, err := Folder(folder)
	if err != nil {
		t.Fatal(err)
	}
	var all []Event
	defects, err := files.Each(func(e *Event) error { all = append(all, *e); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return all, defects
}

// Several files are read as one, in the order of time, each event once and as it was written.
func TestMerge(t *testing.T) {
	folder := t.TempDir()
	var wg sync.WaitGroup
	const processes, events = 5, 200
	for i := range processes {
		wg.Go(func() { appendAll(t, folder, fmt.Sprint("p", i), events) })
	}
	wg.Wait()
	all, defects := read(t, folder)
	if len(all) != processes*events || defects.Torn != 0 || len(defects.Broken) != 0 {
		t.Fatalf("%d events, %+v", len(all), defects)
	}
	seqs := map[string]int64{}
	for i, e := range all {
		if i > 0 && compare(&all[i-1], &e) >= 0 {
			t.Fatalf("event %d is not behind the one before", i)
		}
		if seqs[e.Process]++; e.Seq != seqs[e.Process] || e.Message != fmt.Sprint(e.Seq-1) || e.Detail != "a \"quoted\"\nline" {
			t.Fatalf("%+v", e)
		}
	}
}

// A writer that several goroutines share keeps its file in order.
func TestWriterIsShared(t *testing.T) {
	folder := t.TempDir()
	w, err := Create(folder, "p")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if err := w.Append(Event{Op: Claim, Outcome: OK}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	all, _ := read(t, folder)
	for i, e := range all {
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d has number %d", i+1, e.Seq)
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if err := w.Append(Event{Op: Claim, Outcome: OK}); err == nil {
		t.Error("a closed writer writes")
	}
}

func TestNamesAreNew(t *testing.T) {
	folder := t.TempDir()
	appendAll(t, folder, "p", 1)
	for _, name := range []string{"p", "", "a/b"} {
		if _, err := Create(folder, name); err == nil {
			t.Errorf("a second file of %q", name)
		}
	}
}

// D-289: a last line that is not whole is counted; a line that cannot be read elsewhere is reported.
func TestTornAndBroken(t *testing.T) {
	const good = `{"at":5,"process":"p","seq":1,"op":"claim","outcome":"ok"}` + "\n"
	for _, tt := range []struct {
		name, text           string
		events, torn, broken int
	}{
		{"whole", good, 1, 0, 0},
		{"empty", "", 0, 0, 0},
		{"torn", good + `{"at":6,"pro`, 1, 1, 0},
		{"torn at once", `{`, 0, 1, 0},
		{"without its end", good + strings.TrimSuffix(good, "\n"), 1, 1, 0},
		{"broken in between", good + "{\n" + good, 2, 0, 1},
		{"broken at first", "no event\n" + good, 1, 0, 1},
		{"no operation", `{"at":5,"process":"p","seq":1,"op":"dance","outcome":"ok"}` + "\n", 0, 0, 1},
		{"no outcome", `{"at":5,"process":"p","seq":1,"op":"claim","outcome":"maybe"}` + "\n", 0, 0, 1},
		{"longer than the buffer", `{"at":5,"process":"p","seq":1,"op":"claim","outcome":"ok","detail":"` + strings.Repeat("x", 3*buffer) + "\"}\n" + good, 2, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, "p"+Suffix), []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			all, d := read(t, folder)
			if len(all) != tt.events || d.Torn != tt.torn || len(d.Broken) != tt.broken {
				t.Errorf("%d events, %+v", len(all), d)
			}
		})
	}
}

// D-289: a process that is killed while it writes loses nothing that it knows to have written.
func TestKilledWriter(t *testing.T) {
	if folder := os.Getenv("HISTORY_WRITER"); folder != "" {
		w, err := Create(folder, "killed")
		for i := 1; err == nil; i++ {
			err = w.Append(Event{Op: Claim, Outcome: OK})
			fmt.Println(i)
		}
		t.Fatal(err)
	}
	folder := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledWriter$")
	cmd.Env = append(os.Environ(), "HISTORY_WRITER="+folder)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines, known := bufio.NewScanner(out), 0
	for known < 500 && lines.Scan() {
		known++
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	for lines.Scan() {
		known++
	}
	_ = cmd.Wait() // it was killed
	all, d := read(t, folder)
	if len(all) < known || known < 500 || len(d.Broken) > 0 {
		t.Errorf("%d events of %d that were known, %+v", len(all), known, d)
	}
	for i, e := range all {
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d has number %d", i+1, e.Seq)
		}
	}
}
