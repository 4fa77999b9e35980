//go:build unix

package guide

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// D-243: who follows the tutorial sees what it says: an order and its message, a worker that is killed, and
// a webhook that is verified. Its programs are those of the page; what a reader stops with Ctrl-C has ended
// here when it has said what it should.
func TestTutorial(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for i, program := range programs(t, root+"/docs/tutorial.md") {
		name := []string{"shop", "warehouse"}[i]
		write(t, filepath.Join(dir, name, "main.go"), program)
		write(t, filepath.Join(dir, name, "go.mod"), "module "+name+"\n\ngo 1.26.0\n\nrequire github.com/bravellian/pawl v0.0.0\n\nreplace github.com/bravellian/pawl => "+root+"\n")
		sums, err := os.ReadFile(root + "/go.sum")
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name, "go.sum"), string(sums))
	}
	s := openShell(t, dir)
	replace := strings.NewReplacer("ROOT", root, "DIR", dir, "PORT", FreePort(t))
	until := func(said string) string {
		return "until grep -q '" + said + "' log; do kill -0 $! || break; sleep 0.1; done; kill -INT $!; wait $!; cat log"
	}
	for _, step := range []Step{
		{Command: "go build -C ROOT -o DIR/bin/ ./cmd/pawl && export PATH=DIR/bin:$PATH GOWORK=off"},
		{Command: "sed -i 's/127.0.0.1:9000/127.0.0.1:PORT/' warehouse/main.go"},
		{Command: "go build -C shop -mod=mod -o shop . && go build -C warehouse -mod=mod -o warehouse . && cd shop"},
		{Command: "./shop order ada@example.com", Want: []string{"order 1 message …"}},
		{Command: "./shop > log 2>&1 &"},
		{Command: until("is confirmed"), Want: []string{"…", "order 1 is confirmed"}},
		{Command: "./shop order bob@example.com > order; pawl --db shop.db explain $(grep -o '[0-9a-f-]*$' order)", Want: []string{"message …: no_worker", "…"}},
		{Command: "./shop > log 2>&1 &"},
		{Command: "until grep -q 'about order 2' log; do kill -0 $!; sleep 0.05; done; kill -9 $!; wait $! || cat log", Want: []string{"…", "writing to bob@example.com about order 2 ..."}},
		{Command: "export PAWL_DB=shop.db; pawl ls --topic order.created", Want: []string{"ID …", "… order.created  running …lease until …", "… order.created  done …"}},
		{Command: "./shop > log 2>&1 &"},
		{Command: until("is confirmed"), Want: []string{"…", "order 2 is confirmed"}},
		{Command: "./shop order carl@example.com", Want: []string{"order 3 message …"}},
		{Command: `export HOOK_SECRET="whsec_$(head -c 32 /dev/urandom | base64)"`},
		{Command: "(cd ../warehouse; PAWL_DB= exec ./warehouse > log 2>&1) &"},
		{Command: "pawl work --topic order.created --webhook http://127.0.0.1:PORT --secret-env HOOK_SECRET --allow-private > log 2>&1 &"},
		{Command: "cat ../warehouse/log", Want: []string{`packing {"number":3,"email":"carl@example.com"}, message …`}},
		{Command: "pawl ls --status done --json | grep -c order.created", Want: []string{"3"}},
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

// programs are the Go programs of a page.
func programs(t *testing.T, path string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```go\n(package main.*?)```").FindAllSubmatch(text, -1) {
		all = append(all, string(m[1]))
	}
	if len(all) != 2 {
		t.Fatalf("%s has %d programs", path, len(all))
	}
	return all
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
