package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// What public packages export is what api/*.txt says: a name that is added, changed or
// removed is seen in review, and docs/stability.md promises what becomes of it.
func TestExportedNames(t *testing.T) {
	packages, err := exported(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := write(packages, dir); err != nil {
		t.Fatal(err)
	}
	want, have := files(t, dir), files(t, filepath.Join(root, "api"))
	for name, text := range want {
		if have[name] != text {
			t.Errorf("api/%s is out of date; run go run ./tools/api:\n%s", name, differences(have[name], text))
		}
	}
	for name := range have {
		if _, ok := want[name]; !ok {
			t.Errorf("api/%s is of no package", name)
		}
	}
}

// D-240: the overview of the packages has what their comments say.
func TestOverview(t *testing.T) {
	packages, err := exported(root)
	if err != nil {
		t.Fatal(err)
	}
	want, err := overview(packages, root)
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(filepath.Join(root, overviewPage))
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != want {
		t.Errorf("%s is out of date; run go run ./tools/api:\n%s", overviewPage, differences(string(have), want))
	}
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(name)] = string(text)
	}
	return all
}

// differences lists the lines that only one of two texts has.
func differences(old, updated string) string {
	var b strings.Builder
	before, after := strings.Split(old, "\n"), strings.Split(updated, "\n")
	for _, line := range before {
		if !slices.Contains(after, line) {
			b.WriteString("- " + line + "\n")
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			b.WriteString("+ " + line + "\n")
		}
	}
	return b.String()
}

// Files of packages that are gone are removed, and lines tell types, fields and methods.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "gone.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write([]*pkg{{path: module, names: []string{"a"}}, {path: module + "/sqlite/anydriver", names: []string{"b"}}}, dir); err != nil {
		t.Fatal(err)
	}
	got := files(t, dir)
	if len(got) != 2 || got["pawl.txt"] != "a\n" || got["sqlite_anydriver.txt"] != "b\n" {
		t.Errorf("%v", got)
	}
	text := files(t, filepath.Join(root, "api"))["pawl.txt"]
	for _, line := range []string{
		"type Topic[T any] struct", "field Delivery.Body T", "method Topic.Name() string", "var ErrInvalid error", "method DB.Close() error",
		"func NewTopic[T any](name string, opts ...TopicOptions) *Topic[T]", "field Pawl.Outbox *github.com/bravellian/pawl/outbox.Outbox",
	} {
		if !strings.Contains("\n"+text, "\n"+line+"\n") {
			t.Errorf("no line %q", line)
		}
	}
}

// A program that only enqueues or works does not link HTTP: package pawl and both
// engines are used without net/http, health/probe is where it is.
func TestLibraryLinksNoHTTP(t *testing.T) {
	for _, p := range []string{".", "./sqlite", "./postgres", "./fleet"} {
		c := exec.CommandContext(t.Context(), "go", "list", "-deps", p)
		c.Dir = root
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(strings.Fields(string(out)), "net/http") {
			t.Errorf("%s links net/http", p)
		}
	}
}
