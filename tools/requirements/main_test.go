package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const smallList = `# a comment

* OBX-001 | outbox | first
* OBX-002 | outbox | second
D-10 | join | third
`

const smallTest = `package p

// OBX-001: whatever follows is prose
func TestAbove(t *testing.T) {}

func TestInside(t *testing.T) {
	// Prose may name OBX-002 without pinning it.
	for _, tt := range cases {
		run(tt) // OBX-001, D-10
	}
}

// TestDoc says what it does.
// OBX-002, OBX-001,
// D-10
func TestDoc(t *testing.T) {}

type suite struct{}

/*
D-10 in a block
*/
func (s *suite) Method(t *testing.T) {}
`

func TestWriteThenCheck(t *testing.T) {
	root := module(t, smallList, map[string]string{"a/a_test.go": smallTest})
	if err := run(root, true); err == nil || !strings.Contains(err.Error(), "out of date") {
		t.Errorf("check without a table: %v", err)
	}
	if err := run(root, false); err != nil {
		t.Fatal(err)
	}
	if err := run(root, true); err != nil {
		t.Errorf("check of a fresh table: %v", err)
	}

	table, err := os.ReadFile(filepath.Join(root, tableFile))
	if err != nil {
		t.Fatal(err)
	}
	link := func(name string) string { return "[a/a_test.go: " + name + "](../a/a_test.go)" }
	for _, want := range []string{
		"| OBX-001 | outbox | first | " + link("TestAbove") + "<br>" + link("TestDoc") + "<br>" + link("TestInside") + " |",
		"| OBX-002 | outbox | second | " + link("TestDoc") + " |",
		"| D-10 | join | third | " + link("TestDoc") + "<br>" + link("TestInside") + "<br>" + link("suite.Method") + " |",
		"Of 3 requirements 2 must be pinned now; 3 have tests.",
	} {
		if !strings.Contains(string(table), want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
}

func TestCheckComplains(t *testing.T) {
	for _, tt := range []struct {
		name, test, want string
	}{
		{"not pinned", "package p\n// OBX-001\nfunc TestX() {}\n", "OBX-002 has no test: second"},
		{"only prose", "package p\n// see OBX-002, OBX-001\nfunc TestX() {}\n", "OBX-002 has no test: second"},
		{"unknown", "package p\n// OBX-001, OBX-999\nfunc TestX() {}\n", "a/a_test.go:2: there is no requirement OBX-999"},
		{"a range", "package p\n// OBX-001 … 002\nfunc TestX() {}\n", "a/a_test.go:2: \"OBX-001 … 002\" is a range"},
		{"another range", "package p\n// OBX-001-OBX-002\nfunc TestX() {}\n", "is a range"},
		{"no function", "package p\nfunc TestX() {}\n// OBX-001\n", "a/a_test.go:3: this mark belongs to no function"},
		{"no Go", "package\n", "a/a_test.go"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := module(t, smallList, map[string]string{"a/a_test.go": tt.test})
			if err := run(root, true); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestWhichFilesHoldTests(t *testing.T) {
	const mark = "package p\n// OBX-001, OBX-002\nfunc TestX() {}\n"
	for file, want := range map[string]bool{
		"a/a_test.go":            true,
		"a_test.go":              true,
		"enginetest/suite.go":    true,
		"a/a.go":                 false,
		"a/testdata/a_test.go":   false,
		"vendor/a/a_test.go":     false,
		".hidden/a_test.go":      false,
		"_ignored/a_test.go":     false,
		"enginetest/a_test.go.x": false,
	} {
		t.Run(file, func(t *testing.T) {
			root := module(t, smallList, map[string]string{file: mark})
			marks, err := newReader(root).findMarks()
			if err != nil {
				t.Fatal(err)
			}
			if got := len(marks) > 0; got != want {
				t.Errorf("marks found: %t, want %t", got, want)
			}
		})
	}
}

func TestWrongLists(t *testing.T) {
	for _, tt := range []struct {
		name, line, want string
	}{
		{"too few fields", "OBX-003 | outbox", "want: number | component | summary"},
		{"too many fields", "OBX-003 | outbox | a | b", "want: number | component | summary"},
		{"number", "OBX-3 | outbox | a", `"OBX-3" is not a number`},
		{"component", "OBX-003 | kitchen | a", `"kitchen" is not a component`},
		{"summary", "OBX-003 | outbox | ", "no summary"},
		{"twice", "OBX-001 | outbox | a", "OBX-001 is there twice"},
		{"long", "OBX-003 | outbox | " + strings.Repeat("a", maxLine), "longer than 100 characters"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := module(t, smallList+tt.line+"\n", nil)
			if err := run(root, true); err == nil || !strings.Contains(err.Error(), "requirements.txt:6: "+tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// The real list must name every number that exists, once, and must demand the
// ones of the components that are finished.
func TestTheListIsComplete(t *testing.T) {
	requirements, err := readList(filepath.Join("..", "..", listFile))
	if err != nil {
		t.Fatal(err)
	}
	var all, covered []string
	for _, r := range requirements {
		if decision, later := strings.CutPrefix(r.number, "D-"); later && len(decision) == 3 && decision >= "400" {
			continue // each comes with its test
		}
		all = append(all, r.number)
		if r.covered {
			covered = append(covered, r.number)
		}
	}
	compare(t, "numbers", all, slices.Concat(
		numbers("OBX-%03d", 1, 112, 114, 114, 116, 126),
		numbers("JOIN-%03d", 1, 21),
		numbers("D-%d", 1, 27, 30, 40, 50, 56, 60, 65, 70, 73, 80, 86, 90, 94, 100, 102, 110, 117, 201, 265, 270, 298, 300, 329),
	))
	compare(t, "covered numbers", covered, slices.Concat(
		numbers("OBX-%03d", 1, 112, 114, 114, 116, 126),
		numbers("JOIN-%03d", 1, 21),
		numbers("D-%d", 1, 27, 30, 40, 50, 56, 60, 65, 70, 73, 80, 86, 90, 94, 100, 102, 110, 114, 116, 117, 201, 265, 270, 298, 300, 329),
	))
}

// numbers expands ranges: first, last, first, last…
func numbers(format string, bounds ...int) []string {
	var all []string
	for i := 0; i < len(bounds); i += 2 {
		for n := bounds[i]; n <= bounds[i+1]; n++ {
			all = append(all, fmt.Sprintf(format, n))
		}
	}
	return all
}

func compare(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	for _, n := range got {
		if !slices.Contains(want, n) {
			t.Errorf("%s: %s is too much", what, n)
		}
	}
	for _, n := range want {
		if !slices.Contains(got, n) {
			t.Errorf("%s: %s is missing", what, n)
		}
	}
}

// module makes a directory with a list and some files.
func module(t *testing.T, list string, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	write(t, filepath.Join(root, listFile), list)
	for name, content := range files {
		write(t, filepath.Join(root, name), content)
	}
	return root
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
