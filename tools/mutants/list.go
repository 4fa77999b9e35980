package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// mutant is one wrong version of one file.
type mutant struct {
	position string   // where it is listed
	title    string   // the requirement it breaks, and how
	file     string   // relative to the module
	test     []string // arguments of go test
	old, new string
}

var (
	titleForm  = regexp.MustCompile(`^((OBX|JOIN|D)-\d+(, )?)+: .+`)
	numberForm = regexp.MustCompile(`(OBX|JOIN|D)-\d+`)
)

// readLists reads all mutants, and holds their numbers to the list of requirements.
func readLists(root string) ([]mutant, error) {
	paths, err := filepath.Glob(filepath.Join(root, listFolder, "*.txt"))
	if err != nil {
		return nil, err
	}
	requirements, err := os.ReadFile(filepath.Join(root, "docs/requirements.txt"))
	if err != nil {
		return nil, err
	}
	known := numberForm.FindAllString(string(requirements), -1)
	var all []mutant
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		mutants, err := parse(filepath.Base(path), string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, mutants...)
	}
	for _, m := range all {
		for _, number := range numberForm.FindAllString(strings.SplitN(m.title, ":", 2)[0], -1) {
			if !slices.Contains(known, number) {
				return nil, fmt.Errorf("%s: there is no requirement %s", m.position, number)
			}
		}
	}
	return all, nil
}

// parse reads one list: mutants with blank lines between.
func parse(name, text string) ([]mutant, error) {
	var all []mutant
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); {
		if lines[i] == "" || strings.HasPrefix(lines[i], "#") {
			i++
			continue
		}
		from := i
		for i < len(lines) && lines[i] != "" {
			i++
		}
		m, err := parseOne(lines[from:i])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, from+1, err)
		}
		m.position = fmt.Sprintf("%s:%d", name, from+1)
		all = append(all, m)
	}
	return all, nil
}

func parseOne(lines []string) (m mutant, err error) {
	var before, after []string
	for i, line := range lines {
		rest, found := "", true
		switch {
		case i == 0:
			m.title = line
		case cut(line, "file ", &rest):
			m.file = rest
		case cut(line, "test ", &rest):
			m.test = strings.Fields(rest)
		case cut(line, "-", &rest):
			before = append(before, rest)
		case cut(line, "+", &rest):
			after = append(after, rest)
		default:
			found = false
		}
		if !found {
			return m, fmt.Errorf("not a line of a mutant: %q", line)
		}
	}
	m.old, m.new = strings.Join(before, "\n"), strings.Join(after, "\n")
	switch {
	case !titleForm.MatchString(m.title):
		err = fmt.Errorf("%q is not a number, a colon and what is broken", m.title)
	case m.file == "" || len(m.test) == 0 || m.old == "" || len(after) == 0:
		err = fmt.Errorf("a mutant has a file, a test, a text to find and one to put in its place")
	case m.old == m.new:
		err = fmt.Errorf("nothing changes")
	}
	return m, err
}

func cut(line, prefix string, rest *string) (ok bool) {
	*rest, ok = strings.CutPrefix(line, prefix)
	return ok
}

// apply returns the file's text with the change.
func (m mutant) apply(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.old); n != 1 {
		return "", fmt.Errorf("%s has the text to find %d times, want once: %q", m.file, n, m.old)
	}
	return strings.Replace(string(text), m.old, m.new, 1), nil
}
