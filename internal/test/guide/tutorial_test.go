//go:build unix

package guide

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// D-243: who follows the tutorial sees what it says: an order and its message, why it waits, and a worker that
// is killed. Its program is that of the page; what a reader stops with Ctrl-C has ended here when it has
// printed what it should.
func TestTutorial(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "shop", "main.go"), program(t, root+"/docs/tutorial.md"))
	write(t, filepath.Join(dir, "shop", "go.mod"), "module shop\n\ngo 1.26.0\n\nrequire github.com/bravellian/pawl v0.0.0\n\nreplace github.com/bravellian/pawl => "+root+"\n")
	sums, err := os.ReadFile(root + "/go.sum")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "shop", "go.sum"), string(sums))
	s := openShell(t, dir)
	replace := strings.NewReplacer("ROOT", root, "DIR", dir)
	until := func(said string) string {
		return "until grep -q '" + said + "' log; do kill -0 $! || break; sleep 0.1; done; kill -INT $!; wait $!; cat log"
	}
	for _, step := range []Step{
		{Command: "go build -C ROOT -o DIR/bin/ ./cmd/pawl && export PATH=DIR/bin:$PATH GOWORK=off"},
		{Command: "go build -C shop -mod=mod -o shop . && cd shop"},
		{Command: "./shop order ada@example.com", Want: []string{"order 1 message …"}},
		{Command: "./shop > log 2>&1 &"},
		{Command: until("is confirmed"), Want: []string{"…", "order 1 is confirmed"}},
		{Command: "./shop order bob@example.com > order; pawl --db shop.db explain $(grep -o '[0-9a-f-]*$' order)", Want: []string{"message …: no_worker", "…"}},
		{Command: "./shop > log 2>&1 &"},
		{Command: "until grep -q 'about order 2' log; do kill -0 $!; sleep 0.05; done; kill -9 $!; wait $! || cat log", Want: []string{"…", "writing to bob@example.com about order 2 ..."}},
		{Command: "export PAWL_DB=shop.db; pawl ls --topic order.created", Want: []string{"ID …", "… order.created  running …lease until …", "… order.created  done …"}},
		{Command: "./shop > log 2>&1 &"},
		{Command: until("is confirmed"), Want: []string{"…", "order 2 is confirmed"}},
	} {
		if err := s.try(step, replace, patience); err != nil {
			t.Fatal(err)
		}
	}
}

// D-718: the first commands of install.md do what they say, in an empty folder.
func TestFirstCommands(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	s, played := openShell(t, t.TempDir()), 0
	steps := []Step{{Command: "go build -C " + root + " -o $PWD/bin/ ./cmd/pawl && export PATH=$PWD/bin:$PATH"}}
	for _, scene := range Read(t, root+"/docs/install.md") {
		if scene.Title == "First commands" {
			steps = append(steps, scene.Steps...)
		}
	}
	for _, step := range steps {
		if step.Command == "pawl ui" { // it serves until Ctrl-C
			continue
		}
		if played++; played > 1 {
			step.Want = []string{"…"}
		}
		if err := s.try(step, strings.NewReplacer(), 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.try(Step{Command: "pawl ls --topic t --status done --json | grep -c topic", Want: []string{"2"}}, strings.NewReplacer(), 0); err != nil || played < 10 {
		t.Errorf("%d commands: %v", played, err)
	}
}

// program is the Go program of a page.
func program(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile("(?s)```go\n(package main.*?)```").FindAllSubmatch(text, -1)
	if len(all) != 1 {
		t.Fatalf("%s has %d programs", path, len(all))
	}
	return string(all[0][1])
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
