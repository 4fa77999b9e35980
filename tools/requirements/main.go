// Command requirements joins the list of requirements with the tests that pin
// them, and writes the table docs/requirements.md:
//
//	go run ./tools/requirements           write the table
//	go run ./tools/requirements -check    only complain
//
// The list is docs/requirements.txt. A test pins a requirement by a mark: a
// comment line that begins with its number, or with several and commas
// between, above or inside the function. Numbers elsewhere in a comment are
// prose. Marks are read in *_test.go files and in packages whose name ends in
// "test", where conformance suites live.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	listFile  = "docs/requirements.txt"
	tableFile = "docs/requirements.md"
)

func main() {
	root := flag.String("root", ".", "the `directory` of the module")
	check := flag.Bool("check", false, "write nothing; fail when a number that must be pinned has no test, a mark is wrong, or the table is out of date")
	flag.Parse()

	if err := run(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run writes the table, or checks it together with everything it rests on.
func run(root string, check bool) error {
	requirements, err := readList(filepath.Join(root, listFile))
	if err != nil {
		return err
	}
	marks, err := newReader(root).findMarks()
	if err != nil {
		return err
	}
	tests, wrongMarks := pin(requirements, marks)
	table := render(requirements, tests)
	path := filepath.Join(root, tableFile)
	if check {
		return errors.Join(wrongMarks, unpinned(requirements, tests), outdated(path, table))
	}
	if wrongMarks != nil {
		return wrongMarks
	}
	return os.WriteFile(path, table, 0o644)
}

// pin gathers the tests of each requirement. A mark with a number that does
// not exist is a slip that would otherwise pin nothing in silence.
func pin(requirements []requirement, marks []mark) (map[string][]test, error) {
	known := make(map[string]bool, len(requirements))
	for _, r := range requirements {
		known[r.number] = true
	}
	tests := make(map[string][]test)
	var problems []error
	for _, m := range marks {
		if !known[m.number] {
			problems = append(problems, fmt.Errorf("%s: there is no requirement %s", m.position, m.number))
			continue
		}
		tests[m.number] = append(tests[m.number], m.test)
	}
	return tests, errors.Join(problems...)
}

// unpinned complains about every number that must have a test and has none.
func unpinned(requirements []requirement, tests map[string][]test) error {
	var problems []error
	for _, r := range requirements {
		if r.covered && len(tests[r.number]) == 0 {
			problems = append(problems, fmt.Errorf("%s has no test: %s", r.number, r.summary))
		}
	}
	return errors.Join(problems...)
}

// outdated complains when the table on disk is not the one we would write.
func outdated(path string, table []byte) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.Equal(old, table) {
		return fmt.Errorf("%s is out of date; run: make requirements", tableFile)
	}
	return nil
}
