package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// allowed are the licences that a dependency may have: those that ask for no more than their text and names, and MPL,
// which asks for the source of the files that are under it alone.
func allowed() []string {
	return []string{"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0", "MPL-2.0", "Unlicense", "Zlib", "blessing"}
}

// licencesOf returns a line for each file of a module's folder that holds a licence.
func licencesOf(path string, dir fs.FS) (lines []string, err error) {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var failures []error
	for _, e := range entries {
		if e.IsDir() || !isLicence(e.Name()) {
			continue
		}
		text, err := fs.ReadFile(dir, e.Name())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		id := identify(string(text))
		if !slices.Contains(allowed(), id) {
			failures = append(failures, fmt.Errorf("%s: %s is %q, which is not allowed", path, e.Name(), id))
		}
		lines = append(lines, fmt.Sprintf("%s %s %s %s", path, e.Name(), id, textHash(text)))
	}
	if len(lines) == 0 {
		failures = append(failures, fmt.Errorf("%s: no licence", path))
	}
	slices.Sort(lines)
	return slices.Compact(lines), errors.Join(failures...)
}

// rule names a licence by what its text contains: all of one of the lists.
type rule struct {
	id   string
	head bool // in the beginning: other licences name this one further on
	any  [][]string
}

// rules are those of licences, with what would oblige most first.
func rules() []rule {
	const forms, granted = "redistribution and use in source and binary forms", "permission is hereby granted, free of charge"
	return []rule{
		{"AGPL", true, [][]string{{"gnu affero general public license"}}},
		{"LGPL", true, [][]string{{"gnu lesser general public license"}, {"gnu library general public license"}}},
		{"GPL", true, [][]string{{"gnu general public license"}}},
		{"source-available", false, [][]string{{"business source license"}, {"commons clause"}, {"server side public license"}, {"elastic license"}}},
		{"MPL-2.0", false, [][]string{{"mozilla public license", "version 2.0", "executable form"}}},
		{"Apache-2.0", false, [][]string{{"apache license", "version 2.0"}}},
		{"BSD-3-Clause", false, [][]string{{forms, "neither the name"}, {forms, "names of its contributors may"}}},
		{"BSD-2-Clause", false, [][]string{{forms}, {"redistributions of source code must retain"}}},
		{"MIT", false, [][]string{{granted, "the above copyright notice and this permission notice shall be included"}}},
		{"MIT-0", false, [][]string{{granted}}},
		{"ISC", false, [][]string{{"with or without fee is hereby granted", "copyright notice and this permission notice appear in all copies"}}},
		{"0BSD", false, [][]string{{"with or without fee is hereby granted"}}},
		{"Unlicense", false, [][]string{{"this is free and unencumbered software released into the public domain"}}},
		{"blessing", false, [][]string{{"disclaims copyright to this source code"}, {"sqlite is public domain"}}},
		{"CC0-1.0", false, [][]string{{"creative commons", "cc0 1.0"}, {"cc0 1.0 universal"}}},
		{"Zlib", false, [][]string{{"provided 'as-is', without any express or implied warranty", "altered source versions"}}},
	}
}

// identify returns the SPDX id of a licence's text, or "unknown".
func identify(text string) string {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, r := range rules() {
		in := text
		if r.head {
			in = text[:min(len(text), 400)]
		}
		has := func(parts []string) bool {
			return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(in, p) })
		}
		if slices.ContainsFunc(r.any, has) {
			return r.id
		}
	}
	return "unknown"
}
