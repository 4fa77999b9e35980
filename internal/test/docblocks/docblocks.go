// Package docblocks reads the fenced code blocks of the documentation, for the tests that
// compile and run them.
package docblocks

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Block is a fenced code block of a page.
type Block struct {
	File     string            // below the repository, with slashes
	Line     int               // of the first line within the fence
	Language string            // the first word of the info string
	Dialect  string            // the second one, of SQL: "sqlite", "sqlserver"
	Attrs    map[string]string // of the info string: {nocompile="why"}
	Given    []string          // what the reader has: <!-- go: var db *sql.DB --> before the block
	Text     string
}

// String returns the place of the block.
func (b *Block) String() string { return fmt.Sprintf("%s:%d", b.File, b.Line) }

// Pages returns the pages whose blocks are checked: the README and docs, without decisions and
// two tables that programs write.
func Pages(root string) (all []string, err error) {
	all = []string{"README.md"}
	err = filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch rel {
		case "docs/decisions":
			return fs.SkipDir
		case "docs/requirements.md", "docs/engine-contract.md":
			return nil
		}
		if filepath.Ext(rel) == ".md" {
			all = append(all, rel)
		}
		return nil
	})
	return all, err
}

// Read returns the blocks of all pages below the root of the repository.
func Read(root string) (all []*Block, err error) {
	pages, err := Pages(root)
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(page)))
		if err != nil {
			return nil, err
		}
		blocks, err := Parse(page, string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, blocks...)
	}
	return all, nil
}

var (
	fence     = regexp.MustCompile("^( *)(```+|~~~+) *([^`{]*)({.*})? *$")
	attribute = regexp.MustCompile(`(\w+)="([^"]*)"`)
)

// Parse returns the blocks of a page.
func Parse(file, text string) (all []*Block, err error) {
	var (
		open   *Block
		closes string
		indent int
		given  []string
	)
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		m := fence.FindStringSubmatch(line)
		switch {
		case open != nil && m != nil && strings.HasPrefix(m[2], closes) && strings.TrimSpace(m[3]) == "":
			all = append(all, open)
			open = nil
		case open != nil:
			spaces := len(line) - len(strings.TrimLeft(line, " "))
			open.Text += line[min(indent, spaces):] + "\n"
		case m != nil:
			words := strings.Fields(m[3])
			open = &Block{File: file, Line: n + 1, Attrs: map[string]string{}, Given: given}
			closes, indent, given = m[2], len(m[1]), nil
			if len(words) > 0 {
				open.Language = words[0]
			}
			if len(words) > 1 {
				open.Dialect = words[1]
			}
			for _, a := range attribute.FindAllStringSubmatch(m[4], -1) {
				open.Attrs[a[1]] = a[2]
			}
		default:
			if what, found := strings.CutPrefix(strings.TrimSpace(line), "<!-- go: "); found {
				given = append(given, strings.TrimSuffix(what, " -->"))
			}
		}
	}
	if open != nil {
		return nil, fmt.Errorf("%s: the block is never closed", open)
	}
	if given != nil {
		return nil, fmt.Errorf("%s: no block follows %q", file, given)
	}
	return all, nil
}
