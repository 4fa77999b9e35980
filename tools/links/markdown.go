package main

import (
	"errors"
	"fmt"
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
)

var (
	fence      = regexp.MustCompile("^ *(```+|~~~+)")
	codeSpan   = regexp.MustCompile("(`+)[^`].*?(`+)")
	link       = regexp.MustCompile(`\]\(\s*<?([^\s)>]*)>?(?:\s+"[^"]*")?\s*\)`)
	definition = regexp.MustCompile(`^ {0,3}\[[^\]]+\]:\s+<?(\S+?)>?(?:\s|$)`)
	attribute  = regexp.MustCompile(`<[a-z]+\b[^>]*\b(?:href|src)="([^"]*)"`)
	anchor     = regexp.MustCompile(`<[a-z]+\b[^>]*\b(?:id|name)="([^"]*)"`)
	heading    = regexp.MustCompile(`^ {0,3}#{1,6}\s+(.*?)(?:\s+#+)?\s*$`)
	// What of a heading is not in its text.
	linkText = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	tag      = regexp.MustCompile(`<[^>]*>`)
	emphasis = regexp.MustCompile(`(^|[^\w])[*_]+([^*_]+)[*_]+($|[^\w])`)
)

// page is a Markdown file.
type page struct {
	links   []found
	anchors map[string]bool
}

type found struct {
	line int
	to   string
}

// parse reads the links and anchors of a Markdown file; code has none.
func parse(text string) *page {
	p := &page{anchors: map[string]bool{}}
	used := map[string]int{}
	closes, n := "", 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		if m := fence.FindStringSubmatch(line); m != nil && (closes == "" || strings.HasPrefix(m[1], closes)) {
			if closes == "" {
				closes = m[1]
			} else {
				closes = ""
			}
			continue
		}
		if closes != "" {
			continue
		}
		if m := heading.FindStringSubmatch(line); m != nil {
			id := slug(m[1])
			if times := used[id]; times > 0 {
				p.anchors[fmt.Sprintf("%s-%d", id, times)] = true
			} else {
				p.anchors[id] = true
			}
			used[id]++
		}
		line = codeSpan.ReplaceAllString(line, "")
		for _, form := range []*regexp.Regexp{link, definition, attribute} {
			for _, m := range form.FindAllStringSubmatch(line, -1) {
				p.links = append(p.links, found{n, html.UnescapeString(m[1])})
			}
		}
		for _, m := range anchor.FindAllStringSubmatch(line, -1) {
			p.anchors[m[1]] = true
		}
	}
	return p
}

// slug returns the anchor that GitHub gives a heading.
func slug(title string) string {
	title = linkText.ReplaceAllString(title, "$1")
	title = tag.ReplaceAllString(title, "")
	title = emphasis.ReplaceAllString(title, "$1$2$3")
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
			return unicode.ToLower(r)
		}
		return -1
	}, html.UnescapeString(title))
}

// checkMarkdown checks the links of all Markdown below root, and returns how many there are.
func checkMarkdown(root string) (n int, err error) {
	pages := map[string]*page{}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch rel, _ := filepath.Rel(root, path); filepath.ToSlash(rel) {
			case ".git", "site/public":
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		pages[path] = parse(string(text))
		return err
	})
	if err != nil {
		return 0, err
	}
	var wrong []error
	for path, p := range pages {
		for _, l := range p.links {
			n++
			if err := follow(root, pages, path, l.to); err != nil {
				wrong = append(wrong, fmt.Errorf("%s:%d: %s: %w", path, l.line, l.to, err))
			}
		}
	}
	return n, errors.Join(wrong...)
}

// follow returns an error if a link of a page leads nowhere.
func follow(root string, pages map[string]*page, from, to string) error {
	if away, err := external(to); away {
		return err
	}
	file, fragment, _ := strings.Cut(to, "#")
	target := from
	if file != "" {
		target = filepath.Join(filepath.Dir(from), filepath.FromSlash(file))
	}
	if rel, err := filepath.Rel(root, target); err != nil || strings.HasPrefix(rel, "..") {
		if strings.HasPrefix(filepath.ToSlash(file), "../../") { // GitHub's own pages, as ../../issues
			return nil
		}
		return errors.New("it leads out of the repository")
	}
	if _, err := os.Stat(target); err != nil {
		return errors.New("there is no such file")
	}
	if p := pages[target]; p != nil && fragment != "" && !p.anchors[fragment] {
		return errors.New("there is no such heading")
	}
	return nil
}
