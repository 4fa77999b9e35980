package main

import (
	"errors"
	"fmt"
	"html"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	element = regexp.MustCompile(`<[a-zA-Z][^>]*>`)
	leads   = regexp.MustCompile(`\s(?:href|src)=(?:"([^"]*)"|'([^']*)'|([^\s">]+))`)
	named   = regexp.MustCompile(`\sid=(?:"([^"]*)"|'([^']*)'|([^\s">]+))`)
	comment = regexp.MustCompile(`(?s)<!--.*?-->`)
)

// parseHTML reads the links and anchors of a page of the site. The pages are Hugo's, where "<"
// in text is escaped.
func parseHTML(text string) *page {
	p := &page{anchors: map[string]bool{}}
	for _, e := range element.FindAllString(comment.ReplaceAllString(text, ""), -1) {
		for _, m := range leads.FindAllStringSubmatch(e, -1) {
			p.links = append(p.links, found{to: html.UnescapeString(m[1] + m[2] + m[3])})
		}
		for _, m := range named.FindAllStringSubmatch(e, -1) {
			p.anchors[html.UnescapeString(m[1]+m[2]+m[3])] = true
		}
	}
	return p
}

// checkSite checks the links of all pages below a directory: each leads to a file there, by a
// relative path, so that the site works below any address.
func checkSite(dir string) (n int, err error) {
	pages := map[string]*page{}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".html" {
			return err
		}
		text, err := os.ReadFile(path)
		pages[path] = parseHTML(string(text))
		return err
	})
	if err != nil {
		return 0, err
	}
	if len(pages) == 0 {
		return 0, fmt.Errorf("%s has no pages: make site", dir)
	}
	var wrong []error
	for path, p := range pages {
		for _, l := range p.links {
			n++
			if err := visit(pages, path, l.to); err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %s: %w", path, l.to, err))
			}
		}
	}
	return n, errors.Join(wrong...)
}

// visit returns an error if a link of a page of the site leads nowhere.
func visit(pages map[string]*page, from, to string) error {
	if away, err := external(to); away {
		return err
	}
	u, err := url.Parse(to)
	if err != nil {
		return err
	}
	target := from
	switch {
	case strings.HasPrefix(u.Path, "/"):
		return errors.New("it is not relative")
	case u.Path != "":
		target = filepath.Join(filepath.Dir(from), filepath.FromSlash(u.Path))
	}
	if info, err := os.Stat(target); err != nil {
		return errors.New("there is no such page")
	} else if info.IsDir() {
		return errors.New("it is a directory, which only servers turn into a page")
	}
	if p := pages[target]; p != nil && u.Fragment != "" && !p.anchors[u.Fragment] {
		return errors.New("there is no such anchor")
	}
	return nil
}
