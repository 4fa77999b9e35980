// Command words fails when a word comes back that the project has replaced by the field's (list.txt says
// which, where, and what to write instead), and when a page of the documentation has long sentences.
package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

//go:embed list.txt
var list string

// word is a pattern that must not be found in the files of a scope.
type word struct {
	scope, instead string
	pattern        *regexp.Regexp
}

func main() {
	words, err := parse(list)
	if err == nil {
		err = errors.Join(check(".", words), checkProse(".", words))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// parse reads a list: scope, pattern and replacement on a line, separated by tabs.
func parse(text string) (words []word, err error) {
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		part := strings.Split(line, "\t")
		if len(part) != 3 || part[0] != "docs" && part[0] != "prose" && part[0] != "go" {
			return nil, fmt.Errorf("list.txt:%d: want docs, prose or go, a pattern and a replacement", i+1)
		}
		pattern, err := regexp.Compile(part[1])
		if err != nil {
			return nil, fmt.Errorf("list.txt:%d: %w", i+1, err)
		}
		words = append(words, word{part[0], part[2], pattern})
	}
	return words, nil
}

// check returns an error for each line below root that has one of the words.
func check(root string, words []word) error {
	var found []error
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") && rel != "." || rel == "tools/words" {
				return fs.SkipDir
			}
			return nil
		}
		scope := scopeOf(filepath.ToSlash(rel))
		if scope == "" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found = append(found, lines(rel, text, scope, words)...)
		return nil
	})
	return errors.Join(append(found, err)...)
}

// scopeOf returns which words a file must not have; "" for any.
func scopeOf(path string) string {
	dir, name := filepath.Split(path)
	switch {
	case strings.HasSuffix(name, ".go"):
		return "go"
	case !strings.HasSuffix(name, ".md") || name == "requirements.md":
		return ""
	case dir == "docs/" || path == "README.md" || path == "CHANGELOG.md":
		return "docs"
	}
	return ""
}

func lines(path string, text []byte, scope string, words []word) (found []error) {
	n := 0
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		n++
		for _, w := range words {
			if at := w.pattern.FindString(s.Text()); w.scope == scope && at != "" {
				found = append(found, fmt.Errorf("%s:%d: %q: write %s", path, n, at, w.instead))
			}
		}
	}
	return found
}
