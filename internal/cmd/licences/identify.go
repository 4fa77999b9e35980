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

// identify returns the SPDX id of a licence's text, or "unknown". What would oblige most is sought first.
func identify(text string) string {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	has := func(parts ...string) bool {
		return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(text, p) })
	}
	head := text[:min(len(text), 400)]
	switch {
	case strings.Contains(head, "gnu affero general public license"):
		return "AGPL"
	case strings.Contains(head, "gnu lesser general public license"), strings.Contains(head, "gnu library general public license"):
		return "LGPL"
	case strings.Contains(head, "gnu general public license"):
		return "GPL"
	case has("business source license"), has("commons clause"), has("server side public license"), has("elastic license"):
		return "source-available"
	case has("mozilla public license", "version 2.0", "executable form"):
		return "MPL-2.0"
	case has("apache license", "version 2.0"):
		return "Apache-2.0"
	case has("redistribution and use in source and binary forms", "neither the name"), has("redistribution and use in source and binary forms", "names of its contributors may"):
		return "BSD-3-Clause"
	case has("redistribution and use in source and binary forms"), has("redistributions of source code must retain"):
		return "BSD-2-Clause"
	case has("permission is hereby granted, free of charge", "the above copyright notice and this permission notice shall be included"):
		return "MIT"
	case has("permission is hereby granted, free of charge"):
		return "MIT-0"
	case has("with or without fee is hereby granted", "copyright notice and this permission notice appear in all copies"):
		return "ISC"
	case has("with or without fee is hereby granted"):
		return "0BSD"
	case has("this is free and unencumbered software released into the public domain"):
		return "Unlicense"
	case has("disclaims copyright to this source code"), has("sqlite is public domain"):
		return "blessing"
	case has("creative commons", "cc0 1.0"), has("cc0 1.0 universal"):
		return "CC0-1.0"
	case has("provided 'as-is', without any express or implied warranty", "altered source versions"):
		return "Zlib"
	}
	return "unknown"
}
