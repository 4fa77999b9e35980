// Command size counts the lines of Go, and of the pages of modules, and fails when they pass the budget:
//
//	go run ./tools/size
//
// It prints the lines of every package of the root module, and of the other modules and kinds as sums.
// budget.txt has the most lines that the root module's product and each of its public packages may
// have, and other modules that it names ("module:ui"). Who needs more changes it, in a commit that says why. A file may have 500 lines, tests apart.
package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed budget.txt
var budget string

// longestFile is how many lines a file may have that is no test.
const longestFile = 500

// root is the name of the sum of the product's packages in the root module.
const root = "product"

// counts are lines by package of the root module's product, and by module or kind of all else.
type counts struct {
	product, others map[string]int
	long            []error
}

func main() {
	if err := run(os.Stdout, "."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(out io.Writer, dir string) error {
	limits, err := parse(budget)
	if err != nil {
		return err
	}
	c, err := count(os.DirFS(dir))
	if err != nil {
		return err
	}
	c.print(out, limits)
	return errors.Join(append(c.long, c.over(limits)...)...)
}

// parse reads a budget: a package and its lines on a line. The sum of the product is "product".
func parse(text string) (map[string]int, error) {
	limits := map[string]int{}
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var name string
		var n int
		if _, err := fmt.Sscanf(line, "%s %d", &name, &n); err != nil {
			return nil, fmt.Errorf("budget.txt:%d: want a package and a number", i+1)
		}
		limits[strings.Replace(name, "module:", "module ", 1)] = n
	}
	return limits, nil
}

// count counts the lines of the repository.
func count(repository fs.FS) (*counts, error) {
	c := &counts{product: map[string]int{}, others: map[string]int{}}
	modules := []string{}
	err := fs.WalkDir(repository, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			if _, err := fs.Stat(repository, path.Join(name, "go.mod")); err == nil && name != "." {
				modules = append(modules, name)
			}
			return nil
		}
		if path.Ext(name) != ".go" && (!page(name) || moduleOf(path.Dir(name), modules) == "") {
			return nil
		}
		text, err := fs.ReadFile(repository, name)
		if err != nil {
			return err
		}
		c.add(name, modules, bytes.Count(text, []byte("\n")), generated(text))
		return nil
	})
	return c, err
}

// page reports whether a file is a template, a style sheet or a script that somebody wrote.
func page(name string) bool {
	return slices.Contains([]string{".html", ".css", ".js"}, path.Ext(name)) && !strings.HasSuffix(name, ".min.js")
}

// moduleOf is the innermost of the modules, which are in the order of the tree, that a folder is in; none: "".
func moduleOf(dir string, modules []string) (in string) {
	for _, m := range modules {
		if dir == m || strings.HasPrefix(dir, m+"/") {
			in = m
		}
	}
	return in
}

// generated reports whether a tool wrote a file.
func generated(text []byte) bool {
	head, _, _ := bytes.Cut(text, []byte("\npackage "))
	return bytes.Contains(head, []byte("DO NOT EDIT"))
}

// add counts a file.
func (c *counts) add(name string, modules []string, lines int, generated bool) {
	dir := path.Dir(name)
	in := moduleOf(dir, modules)
	switch {
	case generated:
		c.others["generated"] += lines
		return
	case strings.HasSuffix(name, "_test.go"):
		c.others["tests"] += lines
		return
	case strings.HasPrefix(dir, "internal/test"), strings.HasPrefix(dir, "examples"):
		c.others[strings.Join(strings.SplitN(dir, "/", 3)[:min(2, strings.Count(dir, "/")+1)], "/")] += lines
	case in != "":
		c.others["module "+in] += lines
	default:
		c.product[dir] += lines
	}
	if lines > longestFile {
		c.long = append(c.long, fmt.Errorf("%s has %d lines, more than %d", name, lines, longestFile))
	}
}

// sum returns the lines of the product.
func (c *counts) sum() (n int) {
	for _, lines := range c.product {
		n += lines
	}
	return n
}

func (c *counts) print(out io.Writer, limits map[string]int) {
	row := func(n int, name string) {
		if most, ok := limits[name]; ok {
			name = fmt.Sprintf("%s (at most %d)", name, most)
		}
		_, _ = fmt.Fprintf(out, "%7d  %s\n", n, name)
	}
	for _, name := range slices.Sorted(maps.Keys(c.product)) {
		row(c.product[name], name)
	}
	row(c.sum(), root)
	for _, name := range slices.Sorted(maps.Keys(c.others)) {
		row(c.others[name], name)
	}
}

// over returns an error for each limit that is passed, and for a public package without one.
func (c *counts) over(limits map[string]int) (all []error) {
	lines := maps.Clone(c.product)
	lines[root] = c.sum()
	for name, n := range c.others {
		if _, limited := limits[name]; limited {
			lines[name] = n
		}
	}
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		most, ok := limits[name]
		switch {
		case !ok && !strings.HasPrefix(name, "internal/"):
			all = append(all, fmt.Errorf("%s has no line in tools/size/budget.txt", name))
		case ok && lines[name] > most:
			all = append(all, fmt.Errorf("%s has %d lines, more than %d: see tools/size/budget.txt", name, lines[name], most))
		}
	}
	return all
}
