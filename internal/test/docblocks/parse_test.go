package docblocks_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/test/docblocks"
)

// D-238: blocks are found with their place, language, dialect and attributes.
func TestParse(t *testing.T) {
	t.Parallel()
	blocks, err := docblocks.Parse("a.md", "x\n<!-- go: var n int -->\n```go {nocompile=\"another project's code\"}\na\n```\n\n- y\n\n  ~~~sql sqlite\n  b\n    c\n  ~~~\n\n````\n```\n````\n")
	if err != nil || len(blocks) != 3 {
		t.Fatal(blocks, err)
	}
	a, b, c := blocks[0], blocks[1], blocks[2]
	if a.String() != "a.md:4" || a.Language != "go" || a.Attrs["nocompile"] != "another project's code" || !slices.Equal(a.Given, []string{"var n int"}) || a.Text != "a\n" {
		t.Errorf("got %+v", a)
	}
	if b.String() != "a.md:10" || b.Language != "sql" || b.Dialect != "sqlite" || b.Given != nil || b.Text != "b\n  c\n" {
		t.Errorf("got %+v", b)
	}
	if c.Language != "" || c.Text != "```\n" {
		t.Errorf("got %+v", c)
	}
	for _, wrong := range []string{"```go\n", "<!-- go: var n int -->\n"} {
		if _, err := docblocks.Parse("a.md", wrong); err == nil {
			t.Errorf("%q is well", wrong)
		}
	}
}

// D-238: what does not compile is reported at its line; what a block only shows a part of is not.
func TestGo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"common.go": "package prelude\n\nimport \"errors\"\n\nvar n int\n\nfunc count(a int) int\n",
		"b.go":      "package prelude\n\nvar n string\n",
		"other.go":  "package prelude\n\n//docs:module elsewhere\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ name, text, want string }{
		{"statements", "```go\na := count(n)\nif a > 1 {\n\treturn errors.New(\"x\")\n}\n```\n", ""},
		{"expression", "```go\n[]int{n}\n```\n", ""},
		{"program", "```go\npackage main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println() }\n```\n", ""},
		{"elision", "```go\nfunc f() int {\n\t…\n}\n```\n", ""},
		{"declared before", "```go\nimport \"strings\"\n\ntype T struct{}\n\nfunc (T) M() {}\n```\n\n```go\nT{}.M()\n_ = strings.ToUpper\n```\n", ""},
		{"declared again", "```go\nfunc f() {}\n```\n\n```go\nfunc f() int { return 1 }\n\nvar _ = f() + 1\n```\n", ""},
		{"given", "<!-- go: var m []int -->\n```go\nm[0]++\n```\n", ""},
		{"given to one block", "<!-- go: var m []int -->\n```go\nm[0]++\n```\n\n```go\nm[1]++\n```\n", "docs/a.md:7: undefined: m"},
		{"no such name", "\n```go\n// A comment.\nmissing()\n```\n", "docs/a.md:4: undefined: missing"},
		{"wrong type", "```go\ncount(\"x\")\n```\n", "docs/a.md:2: cannot use"},
		{"no such package", "```go\nimport \"no/such\"\n\nvar _ = such.X\n```\n", "no such package: no/such"},
		{"wrong program", "```go\npackage main\n\nfunc main() { x() }\n```\n", "docs/a.md:4: undefined: x"},
		{"no Go", "```go\nif {\n```\n", "docs/a.md:2: "},
		{"not compiled", "```go {nocompile=\"of another project\"}\nif {\n```\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			blocks, err := docblocks.Parse("docs/a.md", tt.text)
			if err != nil {
				t.Fatal(err)
			}
			_, failures := docblocks.Go(root, docblocks.Workspace, dir, blocks)
			switch {
			case tt.want == "" && len(failures) > 0:
				t.Error(failures)
			case tt.want != "" && (len(failures) != 1 || !strings.Contains(failures[0].Error(), tt.want)):
				t.Errorf("got %v, want %s", failures, tt.want)
			}
		})
	}
	own, err := docblocks.Parse("docs/b.md", "```go\n_ = n + \"text\"\n```\n")
	if err != nil {
		t.Fatal(err)
	}
	other, err := docblocks.Parse("docs/other.md", "```go\nmissing()\n```\n")
	if err != nil {
		t.Fatal(err)
	}
	if n, failures := docblocks.Go(root, docblocks.Workspace, dir, append(own, other...)); n != 1 || len(failures) != 0 {
		t.Errorf("a page's own prelude, and a page of another module: %d blocks, %v", n, failures)
	}
}

// D-238: SQL is split at semicolons that end statements.
func TestStatements(t *testing.T) {
	t.Parallel()
	got := docblocks.Statements("-- a; b\nSELECT ';', \"x;y\"; /* ; */ DO $$ BEGIN; END $$;\n-- the end;\n")
	want := []string{"-- a; b\nSELECT ';', \"x;y\"", "/* ; */ DO $$ BEGIN; END $$"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// D-241: the site's navigation has every page, and the decisions by their folder.
func TestNavigation(t *testing.T) {
	t.Parallel()
	menu, err := os.ReadFile(root + "/site/data/menu.yaml")
	if err != nil {
		t.Fatal(err)
	}
	listed := regexp.MustCompile(`[\w./-]+\.md`).FindAllString(string(menu), -1)
	pages, err := docblocks.Pages(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if !slices.Contains(listed, page) {
			t.Errorf("%s is in no section of site/data/menu.yaml", page)
		}
	}
	for i, page := range listed {
		if _, err := os.Stat(filepath.Join(root, page)); err != nil || slices.Contains(listed[:i], page) {
			t.Errorf("site/data/menu.yaml: %s is there twice, or no page", page)
		}
	}
}

// D-241: the script that others wrote is as they released it: minisearch 7.2.0, dist/umd/index.js.
func TestScriptIsAsReleased(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(root + "/site/assets/minisearch.js")
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != "03c27931eb603af1d3358579e9885eafdb6a2f5fa9929557b3e77d7e99d06d03" {
		t.Errorf("the checksum is %x", sum)
	}
}
