package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// A requirement is one line of the list.
type requirement struct {
	number    string
	component string
	summary   string
	covered   bool // must be pinned by a test now
}

// maxLine keeps the list readable, and the table made of it.
const maxLine = 100

// components are the parts of pawl that a requirement can belong to.
func components() []string {
	return []string{
		"outbox", "work", "engine", "schema", "pawl", "join",
		"inbox", "lease", "flow", "timer", "job", "fleet", "operate", "brokers", "webhook", "release", "docs", "security", "torture",
	}
}

// numberPattern is what the number of a requirement looks like.
const numberPattern = `(?:OBX-\d{3}|JOIN-\d{3}|D-\d{1,3})`

// readList reads the list. It reports all wrong lines at once.
func readList(path string) ([]requirement, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var requirements []requirement
	var problems []error
	seen := make(map[string]bool)
	for i, line := range strings.Split(string(b), "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		r, err := parseLine(line)
		if err == nil && seen[r.number] {
			err = fmt.Errorf("%s is there twice", r.number)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s:%d: %w", listFile, i+1, err))
			continue
		}
		seen[r.number] = true
		requirements = append(requirements, r)
	}
	return requirements, errors.Join(problems...)
}

// parseLine reads "* OBX-034 | component | summary", the star being optional.
func parseLine(line string) (requirement, error) {
	if len([]rune(line)) > maxLine {
		return requirement{}, fmt.Errorf("longer than %d characters", maxLine)
	}
	rest, covered := strings.CutPrefix(line, "*")
	fields := strings.Split(rest, "|")
	if len(fields) != 3 {
		return requirement{}, errors.New("want: number | component | summary")
	}
	r := requirement{
		number:    strings.TrimSpace(fields[0]),
		component: strings.TrimSpace(fields[1]),
		summary:   strings.TrimSpace(fields[2]),
		covered:   covered,
	}
	switch {
	case !regexp.MustCompile("^" + numberPattern + "$").MatchString(r.number):
		return requirement{}, fmt.Errorf("%q is not a number", r.number)
	case !slices.Contains(components(), r.component):
		return requirement{}, fmt.Errorf("%q is not a component", r.component)
	case r.summary == "":
		return requirement{}, errors.New("no summary")
	}
	return r, nil
}
