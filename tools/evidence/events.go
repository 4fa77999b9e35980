package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

const module = "github.com/bravellian/pawl"

// event is what of an event of go test -json matters.
type event struct{ Action, Package, ImportPath, Test, Output string }

// run is how the tests of SQL Server in each package ended.
type run map[string]map[string]string // by package and test, "" the package itself: pass or fail

// read reads the events of a run, and prints what failing tests printed.
func read(in io.Reader, out io.Writer) (run, error) {
	found, printed := run{}, map[[2]string]string{}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if e := (event{}); json.Unmarshal([]byte(line), &e) == nil && e.Action != "" {
			found.add(e, printed, out)
		} else if strings.TrimSpace(line) != "" {
			fmt.Fprint(out, line) // of the go command itself
		}
		if err == io.EOF {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (r run) add(e event, printed map[[2]string]string, out io.Writer) {
	at := [2]string{e.Package, e.Test}
	switch e.Action {
	case "output", "build-output":
		if e.Action == "build-output" {
			fmt.Fprint(out, e.Output)
		}
		printed[at] += e.Output
		return
	case "pass", "fail":
	default: // one that was skipped is no evidence of anything
		delete(printed, at)
		return
	}
	if e.Action == "fail" {
		fmt.Fprint(out, printed[at])
	}
	delete(printed, at)
	if e.Action == "fail" && e.Test == "" || onServer(e.Test) {
		name := strings.TrimPrefix(strings.TrimPrefix(e.Package, module), "/")
		if name == "" {
			name = "pawl"
		}
		if r[name] == nil {
			r[name] = map[string]string{}
		}
		r[name][e.Test] = e.Action
	}
}

// onServer reports whether a test talks to SQL Server: the subtest of that name of a suite, and what is below it, or a
// test that has it in its name. All others of a run need no server and are no evidence.
func onServer(test string) bool {
	parts := strings.Split(test, "/")
	return slices.Contains(parts, "sqlserver") || strings.HasSuffix(parts[0], "OnSQLServer")
}

// leaves are the tests of a package that count: those without subtests, and those that failed although no subtest did.
// A package that failed without a test that did, as by a panic, is a failure itself.
func leaves(tests map[string]string) (passed, failed []string) {
	names := slices.Sorted(maps.Keys(tests))
	below := func(name, as string) bool {
		return slices.ContainsFunc(names, func(other string) bool {
			return other != name && (name == "" || strings.HasPrefix(other, name+"/")) && (as == "" || tests[other] == as)
		})
	}
	for _, name := range names {
		switch {
		case tests[name] == "fail" && !below(name, "fail"):
			failed = append(failed, name)
		case tests[name] == "pass" && !below(name, ""):
			passed = append(passed, name)
		}
	}
	return passed, failed
}

// rows are those of a run, with the server and commit of like.
func (r run) rows(like row) (rows []row) {
	for _, name := range slices.Sorted(maps.Keys(r)) {
		passed, failed := leaves(r[name])
		like.Package, like.Passed, like.Failed = name, len(passed), len(failed)
		rows = append(rows, like)
	}
	return rows
}

// failures names what failed.
func (r run) failures() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(r)) {
		_, failed := leaves(r[name])
		for _, test := range failed {
			names = append(names, strings.TrimSuffix(name+":"+test, ":"))
		}
	}
	return names
}
