package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLengths(t *testing.T) {
	const page = "# A heading that is no sentence\n\nTwo words. Three\nwords more! [A `link.go`](docs/a.md#b) counts by its text?\n- an item, without a stop\n- `x.` is another\n\n" +
		"| a | table |\n\n```go\nno prose at all\n```\n<!-- a comment -->\nThe last.\n\n    indented code\n\n[a]: https://example.com a b c\n"
	if got, want := lengths(page), []int{2, 3, 6, 5, 3, 2}; !slices.Equal(got, want) {
		t.Errorf("sentences of %v words, not %v", got, want)
	}
}

// D-684: a hand-written page has short sentences, and none of the phrases that are always wrong.
func TestProse(t *testing.T) {
	words, err := parse("prose\tis none\\b\tis not one\n")
	if err != nil {
		t.Fatal(err)
	}
	short := "Short is good. "
	long := strings.Repeat("word ", longestMedian+1) + "ends. "
	for _, tt := range []struct{ name, page, text, want string }{
		{"short", "docs/a.md", short + long + short, ""},
		{"long", "docs/a.md", long + short + long, "docs/a.md: half of the sentences have 20 words or more"},
		{"README", "README.md", long, "README.md: half of the sentences"},
		{"the index", "docs/README.md", long, "docs/README.md: half of the sentences"},
		{"generated", "docs/cli.md", long, ""},
		{"a decision", "docs/decisions/a.md", long, ""},
		{"a phrase", "docs/a.md", "\nA pause is none.\n", `docs/a.md:2: "is none": write is not one`},
		{"a quoted phrase", "docs/style.md", "A pause is none.", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			for name, text := range map[string]string{"README.md": short, tt.page: tt.text} {
				file := filepath.Join(root, name)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := checkProse(root, words)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)) {
				t.Errorf("%v, not %q", err, tt.want)
			}
		})
	}
}

// D-684: each phrase that is refused stands among the sentences before of the style page, none among those after.
func TestStylePageHasThePhrases(t *testing.T) {
	words, err := parse(list)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../" + stylePage)
	if err != nil {
		t.Fatal(err)
	}
	var before, after []string
	for line := range strings.Lines(string(text)) {
		if cell := strings.Split(line, "|"); len(cell) == 4 && !strings.HasPrefix(cell[1], " before") && !strings.HasPrefix(cell[1], "---") {
			before, after = append(before, cell[1]), append(after, cell[2])
		}
	}
	if len(before) != 20 {
		t.Errorf("%s has %d pairs of sentences, not 20", stylePage, len(before))
	}
	n := 0
	for _, w := range words {
		if w.scope != "prose" {
			continue
		}
		n++
		if !slices.ContainsFunc(before, w.pattern.MatchString) || slices.ContainsFunc(after, w.pattern.MatchString) {
			t.Errorf("%s stands in no sentence before, or in one after", w.pattern)
		}
	}
	if n < 5 {
		t.Errorf("%d phrases are refused", n)
	}
}
