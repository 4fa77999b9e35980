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
