//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
)

// D-460: what commands print keeps no message from being settled, even if nobody reads it; and
// pawl can be stopped.
func TestOutputThatNobodyReads(t *testing.T) {
	d := onSQLite(t)
	d.must("big\n", "enqueue", "--topic", "t")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	script := `if [ "$(cat)" = big ]; then head -c 5000000 /dev/zero | tr '\0' a; echo; head -c 5000000 /dev/zero | tr '\0' b >&2; fi; echo said; exit 65`
	p := newProcess(t, os.Args[0], d.line([]string{"work", "--topic", "t", "--verbose", "--concurrency", "4", "--exec", script})...)
	p.Stdout, p.Stderr = w, w
	p.begin()
	_ = w.Close()
	settled := func(want int) func() bool {
		return func() bool {
			var counts struct{ Failed int }
			decode(t, d.must("", "ls", "--counts", "--json"), &counts)
			return counts.Failed == want
		}
	}
	eventually(t, "the talkative command to be settled", settled(1))
	var more strings.Builder
	for i := range 200 {
		more.WriteString(fmt.Sprintln(i))
	}
	d.must(more.String(), "enqueue", "--topic", "t")
	eventually(t, "the others to be settled", settled(201))
	p.signal(syscall.SIGTERM)
	text, err := io.ReadAll(r)
	if code := p.wait(); code != exitOK || err != nil || len(text) < 10_000_000 {
		t.Errorf("exit code %d, %d bytes, %v", code, len(text), err)
	}
}
