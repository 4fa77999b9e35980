package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

const mit = "MIT License\n\nCopyright (c) 2020 Ann\n\nPermission is hereby granted, free of charge, to any person …\nThe above copyright notice and this permission\nnotice shall be included in all copies"

// D-307: a dependency is refused that has no licence, one that is not known, or one that obliges.
func TestLicences(t *testing.T) {
	file := func(name, text string) fstest.MapFS { return fstest.MapFS{name: {Data: []byte(text)}} }
	lines, err := licencesOf("example.com/m", file("LICENSE", mit))
	if err != nil || len(lines) != 1 || !strings.HasPrefix(lines[0], "example.com/m LICENSE MIT ") {
		t.Errorf("%q, %v", lines, err)
	}
	if again, err := licencesOf("example.com/m", file("LICENSE", strings.ReplaceAll(mit, "\n", " \r\n"))); err != nil || again[0] != lines[0] {
		t.Errorf("line ends count: %q, %v", again, err)
	}
	for what, dir := range map[string]fstest.MapFS{
		"none":           {},
		"code":           file("license.go", mit),
		"unknown":        file("LICENSE", "All rights reserved."),
		"GPL":            file("COPYING", "GNU GENERAL PUBLIC LICENSE Version 3 … "+mit),
		"AGPL":           file("LICENSE.txt", "GNU AFFERO GENERAL PUBLIC LICENSE"),
		"LGPL":           file("LICENSE", "GNU Lesser General Public License"),
		"source":         file("LICENSE", "Business Source License 1.1 … "+mit),
		"one of several": {"LICENSE": {Data: []byte(mit)}, "LICENSE-2": {Data: []byte("Commons Clause")}},
	} {
		if lines, err := licencesOf("example.com/m", dir); err == nil {
			t.Errorf("%s is allowed: %q", what, lines)
		}
	}
	for want, text := range map[string]string{
		"Apache-2.0": "Apache License\nVersion 2.0, January 2004", "MPL-2.0": "Mozilla Public License Version 2.0 … Executable Form", "BSD-2-Clause": "Redistribution and use in source and binary forms, with or without",
		"BSD-3-Clause": "Redistribution and use in source and binary forms … Neither the name of", "ISC": "for any purpose with or without fee is hereby granted, provided that the above copyright notice and this permission notice appear in all copies.",
		"0BSD": "for any purpose with or without fee is hereby granted.", "blessing": "The author disclaims copyright to this source code. In place of a legal notice, here is a blessing",
	} {
		if got := identify(text); got != want {
			t.Errorf("%s is taken for %s", want, got)
		}
	}
}

// D-307: what is new, changed or no longer used is reported.
func TestCompare(t *testing.T) {
	list := []string{"a LICENSE MIT 01", "b LICENSE MIT 02"}
	if err := compare(list, list); err != nil {
		t.Error(err)
	}
	err := compare([]string{"a LICENSE MIT 01", "b LICENSE MIT 03", "c LICENSE MIT 04"}, list)
	if err == nil {
		t.Fatal("nothing is reported")
	}
	for _, want := range []string{"new, or changed: b LICENSE MIT 03", "new, or changed: c LICENSE MIT 04", "no longer used: b LICENSE MIT 02"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not reported: %v", want, err)
		}
	}
}
