package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// selector is a name of a package as guides write it: outbox.Message.
var selector = regexp.MustCompile(`\b([a-z]+)\.([A-Z]\w*)`)

// The guides name only what programs can use. Those of the insides (decisions, the contract
// of engines, the map of the code) may name more.
func TestGuidesNameWhatIsPublic(t *testing.T) {
	packages, err := exported("../..")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, p := range packages {
		names[path.Base(p.path)] += strings.Join(p.names, "\n") + "\n"
	}
	guides, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(guides) == 0 {
		t.Fatal(guides, err)
	}
	for _, guide := range append(guides, "../../README.md") {
		switch filepath.Base(guide) {
		case "architecture.md", "engine-contract.md", "requirements.md":
			continue
		}
		text, err := os.ReadFile(guide)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range selector.FindAllStringSubmatch(string(text), -1) {
			public, known := names[m[1]]
			if known && !regexp.MustCompile(`\b`+m[2]+`\b`).MatchString(public) {
				t.Errorf("%s: %s is not public", filepath.Base(guide), m[0])
			}
		}
	}
}

// promised is how a page says which versions of PostgreSQL pawl works on.
var promised = regexp.MustCompile(`PostgreSQL(?: databases for pawl, version| \|)? (\d\d)(?: to (\d\d)| and later)`)

// D-713: pages promise the versions of PostgreSQL that make test-matrix tests.
func TestPostgresVersions(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	tested := regexp.MustCompile(`(?m)^VERSIONS := (\d\d) .*(\d\d)$`).FindSubmatch(makefile)
	if tested == nil {
		t.Fatal("the Makefile names no versions")
	}
	for _, page := range []string{"docs/support.md", "CHANGELOG.md", "postgres/postgres.go", "CONTRIBUTING.md"} {
		text, err := os.ReadFile("../../" + page)
		if err != nil {
			t.Fatal(err)
		}
		all := promised.FindAllStringSubmatch(string(text), -1)
		if len(all) == 0 && page != "CONTRIBUTING.md" {
			t.Errorf("%s names no versions of PostgreSQL", page)
		}
		for _, m := range all {
			if m[1] != string(tested[1]) || m[2] != "" && m[2] != string(tested[2]) {
				t.Errorf("%s: %s, %s to %s are tested", page, m[0], tested[1], tested[2])
			}
		}
	}
}
