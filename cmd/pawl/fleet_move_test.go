//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A store goes to another database; the command of --exec runs before it is there for good, and a
// move whose command fails goes on when it is repeated, or is given up.
func TestFleetMove(t *testing.T) {
	dir, _ := tenants(t)
	list, next, seen := filepath.Join(dir, "list"), filepath.Join(t.TempDir(), "next.db"), filepath.Join(t.TempDir(), "seen")
	if err := os.WriteFile(list, []byte("a sqlite:"+dir+"/a.db\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	move := func(more ...string) result {
		return command(t.Context(), "", append([]string{"fleet", "move", "a", "--to", "sqlite:" + next, "--fleet", "list:" + list}, more...)...)
	}
	for range 2 {
		if r := move("--exec", "echo ran >>"+seen+"; exit 3"); r.code != exitFailure || !strings.Contains(r.stderr, "exit status 3") {
			t.Fatalf("the command fails: %+v", r)
		}
	}
	if r := move("--give-up"); r != (result{stdout: "store a stays where it is\n"}) {
		t.Errorf("given up: %+v", r)
	}
	if r := move("--exec", "echo ran >>"+seen); r.code != exitOK || !strings.HasPrefix(r.stdout, "store a is at sqlite:"+next+" now: ") {
		t.Errorf("%+v", r)
	}
	if text, err := os.ReadFile(seen); err != nil || string(text) != "ran\nran\nran\n" {
		t.Errorf("the commands wrote %q, %v", text, err)
	}
	if r := move("--give-up"); r.code != exitFailure || !strings.Contains(r.stderr, "the store was moved") {
		t.Errorf("given up when it is over: %+v", r)
	}
}
