package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// longestMedian is how many words the middle one of a page's sentences may have, by length.
const longestMedian = 18

// generated are pages that programs write.
var generated = []string{"docs/api.md", "docs/cli.md", "docs/engine-contract.md", "docs/requirements.md"}

// stylePage quotes the phrases that it warns of.
const stylePage = "docs/style.md"

// checkProse returns an error for each hand-written page below root with long sentences or phrases that are
// always wrong.
func checkProse(root string, words []word) error {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		return err
	}
	var found []error
	for _, file := range append(pages, filepath.Join(root, "README.md")) {
		name := path.Base(filepath.ToSlash(file))
		if name != "README.md" || filepath.Dir(file) != filepath.Clean(root) {
			name = "docs/" + name
		}
		if slices.Contains(generated, name) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		found = append(found, prose(name, string(text), words)...)
	}
	return errors.Join(found...)
}

func prose(name, text string, words []word) (wrong []error) {
	if n := median(lengths(text)); n > longestMedian {
		wrong = append(wrong, fmt.Errorf("%s: half of the sentences have %d words or more: at most %d, see docs/style.md", name, n, longestMedian))
	}
	if name != stylePage {
		wrong = append(wrong, lines(name, []byte(text), "prose", words)...)
	}
	return wrong
}

func median(n []int) int {
	if len(n) == 0 {
		return 0
	}
	slices.Sort(n)
	return n[len(n)/2]
}

var (
	fences   = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	comments = regexp.MustCompile(`(?s)<!--.*?-->`)
	linked   = regexp.MustCompile(`!?\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])`)
	code     = regexp.MustCompile("`[^`]+`")                     // counts as a word
	noProse  = regexp.MustCompile(`^(#|\||<|\[[^\]]*\]: |    )`) // headings, tables, tags, addresses, code
	item     = regexp.MustCompile(`^ *([-*]|\d+\.) `)
	ends     = regexp.MustCompile("[.!?][\"')*`]*( |$)")
)

// lengths returns how many words each sentence of a page has: of its paragraphs and lists, not of headings,
// tables and code. A paragraph or an item of a list ends a sentence, too.
func lengths(text string) (all []int) {
	text = comments.ReplaceAllString(fences.ReplaceAllString(text, ""), "")
	text = linked.ReplaceAllString(code.ReplaceAllString(text, "code"), "$1")
	var paragraph []string
	end := func() {
		for _, sentence := range ends.Split(strings.Join(paragraph, " "), -1) {
			if n := len(strings.Fields(sentence)); n > 0 {
				all = append(all, n)
			}
		}
		paragraph = nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		skip := noProse.MatchString(line)
		if skip || strings.TrimSpace(line) == "" || item.MatchString(line) {
			end()
		}
		if !skip {
			paragraph = append(paragraph, item.ReplaceAllString(line, ""))
		}
	}
	end()
	return all
}
