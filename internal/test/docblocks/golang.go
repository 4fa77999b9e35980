package docblocks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Workspace is the module of pages whose prelude names no other.
const Workspace = "."

// moduleMark is the line of a prelude that names the folder of the module with the packages
// that its page uses.
var moduleMark = regexp.MustCompile(`(?m)^//docs:module (\S+)$`)

// scope is what a block may use: imports by name, and declarations.
type scope struct {
	imports map[string]string
	decls   []declaration
}

type declaration struct {
	names []string // that of a method has its type's before it: "Order.Validate"
	text  string
}

// Go type-checks the Go blocks of pages that belong to a module: the folder of its go.mod
// below root, or Workspace. preludes has what their readers have, before the first block:
// common.go for all, delivery.go for docs/delivery.md. A page that needs packages of another module
// says so in its prelude: //docs:module internal/test/driverstest.
//
// A block is a program, declarations, statements of a function that returns an error, or an
// expression. Its imports and what it declares outside functions holds for the page's later
// blocks, too. "…" in a line of its own stands for what a reader writes there.
func Go(root, module, preludes string, blocks []*Block) (checked int, failures []error) {
	c := &checker{preludes: preludes}
	var mine []*Block
	for _, b := range blocks {
		if b.Language != "go" || b.Attrs["nocompile"] != "" {
			continue
		}
		of, err := c.moduleOf(b.File)
		if err != nil {
			return 0, []error{err}
		}
		if of == module {
			mine = append(mine, b)
		}
	}
	if err := c.load(filepath.Join(root, filepath.FromSlash(module)), module != Workspace, mine); err != nil {
		return 0, []error{err}
	}
	var page *scope
	last := ""
	for _, b := range mine {
		if b.File != last {
			var err error
			if page, err = c.prelude(b.File); err != nil {
				return checked, append(failures, err)
			}
			last = b.File
		}
		if err := c.check(page, b); err != nil {
			failures = append(failures, err)
		}
		checked++
	}
	return checked, failures
}

type checker struct {
	preludes string
	imports  types.Importer
}

// preludeFile returns the file of a page's own prelude, which need not exist.
func (c *checker) preludeFile(page string) string {
	name := strings.TrimSuffix(strings.TrimPrefix(page, "docs/"), ".md")
	return filepath.Join(c.preludes, strings.ReplaceAll(name, "/", "_")+".go")
}

func (c *checker) moduleOf(page string) (string, error) {
	text, err := os.ReadFile(c.preludeFile(page))
	if errors.Is(err, os.ErrNotExist) {
		return Workspace, nil
	}
	if m := moduleMark.FindSubmatch(text); m != nil {
		return string(m[1]), err
	}
	return Workspace, err
}

// prelude returns what the readers of a page have before its first block.
func (c *checker) prelude(page string) (*scope, error) {
	s := &scope{imports: map[string]string{}}
	for _, file := range []string{filepath.Join(c.preludes, "common.go"), c.preludeFile(page)} {
		text, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) && file == c.preludeFile(page) {
			continue
		}
		if err != nil {
			return nil, err
		}
		_, body, found := bytes.Cut(text, []byte("package prelude\n"))
		if !found {
			return nil, fmt.Errorf("%s: want package prelude", file)
		}
		more, err := parseScope(string(body))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		s.add(more)
	}
	return s, nil
}

// parseScope parses the text of a file without its package clause.
func parseScope(text string) (*scope, error) {
	const head = "package p;"
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", head+text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	source := func(n ast.Node) string {
		return (head + text)[fset.Position(n.Pos()).Offset:fset.Position(n.End()).Offset]
	}
	s := &scope{imports: map[string]string{}}
	for _, spec := range f.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		s.imports[localName(spec, importPath)] = importPath
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = strings.TrimLeft(source(d.Recv.List[0].Type), "*") + "." + name
			}
			s.decls = append(s.decls, declaration{[]string{name}, source(d)})
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				continue
			}
			if d.Tok == token.CONST { // iota counts within the whole group
				s.decls = append(s.decls, declaration{namesOf(d.Specs...), source(d)})
				continue
			}
			for _, spec := range d.Specs {
				s.decls = append(s.decls, declaration{namesOf(spec), d.Tok.String() + " " + source(spec)})
			}
		}
	}
	return s, nil
}

func localName(spec *ast.ImportSpec, importPath string) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	return path.Base(importPath)
}

func namesOf(specs ...ast.Spec) (names []string) {
	for _, spec := range specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			names = append(names, spec.Name.Name)
		case *ast.ValueSpec:
			for _, n := range spec.Names {
				names = append(names, n.Name)
			}
		}
	}
	return names
}

// add adds what another scope has, in place of what has the same names.
func (s *scope) add(more *scope) {
	for name, importPath := range more.imports {
		s.imports[name] = importPath
	}
	for _, d := range more.decls {
		s.remove(d.names)
		for _, name := range d.names {
			delete(s.imports, name)
		}
	}
	for name := range more.imports {
		s.remove([]string{name})
	}
	s.decls = append(s.decls, more.decls...)
}

// remove removes what has one of the names, with the methods of a type.
func (s *scope) remove(names []string) {
	s.decls = slices.DeleteFunc(s.decls, func(d declaration) bool {
		return slices.ContainsFunc(d.names, func(have string) bool {
			of, _, _ := strings.Cut(have, ".")
			return have != "_" && have != "init" && (slices.Contains(names, have) || slices.Contains(names, of))
		})
	})
}

func (s *scope) clone() *scope {
	imports := map[string]string{}
	for name, importPath := range s.imports {
		imports[name] = importPath
	}
	return &scope{imports, slices.Clone(s.decls)}
}

// The ways in which a block can be Go.
var (
	elision = regexp.MustCompile(`(?m)^\s*…\s*$`)
	leading = regexp.MustCompile(`\A(\s*(//[^\n]*\n)?)*import\s+(\((?s:.*?)\)|[^\n]*)\n`)
)

// check type-checks one block, and adds to the page what it declares.
func (c *checker) check(page *scope, b *Block) error {
	given, err := parseScope(strings.Join(b.Given, "\n"))
	if err != nil {
		return fmt.Errorf("%s: <!-- go: … -->: %w", b, err)
	}
	own := page.clone()
	own.add(given)
	place := fmt.Sprintf("//line %s:%d\n", b.File, b.Line)
	text := elision.ReplaceAllString(b.Text, `panic("…")`)

	if program(text) {
		return c.types(place + text)
	}
	if declared, err := parseScope(text); err == nil {
		page.add(declared)
		own.add(declared)
		own.decls = own.decls[:len(own.decls)-len(declared.decls)] // they stand in the block itself
		body := leading.ReplaceAllStringFunc(text, blank)
		return c.types(own.file(place + body))
	}
	body := text
	if m := leading.FindString(text); m != "" {
		declared, err := parseScope(m)
		if err != nil {
			return fmt.Errorf("%s: %w", b, err)
		}
		page.add(declared)
		own.add(declared)
		body = blank(m) + text[len(m):]
	}
	if _, err := parser.ParseExpr(strings.TrimSpace(body)); err == nil && !strings.HasSuffix(strings.TrimSpace(body), ")") {
		return c.types(own.file(place + "var _ = " + strings.TrimSpace(body) + "\n"))
	}
	return c.types(own.file("func _() error {\n" + place + body + "\npanic(0)\n}\n"))
}

// program reports whether a block is a whole file.
func program(text string) bool {
	return regexp.MustCompile(`(?m)\A(\s*(//.*)?\n)*package `).MatchString(text)
}

// blank returns as many empty lines as a text has.
func blank(text string) string { return strings.Repeat("\n", strings.Count(text, "\n")) }

// file returns a file with what is in scope, and a body.
func (s *scope) file(body string) string {
	w := &strings.Builder{}
	for _, d := range s.decls {
		fmt.Fprintf(w, "//line prelude:1\n%s\n", d.text)
	}
	w.WriteString(body)
	imports := &strings.Builder{}
	for name, importPath := range s.imports {
		if strings.Contains(w.String(), name+".") { // else it may be of a module that this one does not know
			fmt.Fprintf(imports, "import %s %q\n", name, importPath)
		}
	}
	return "package page\n" + imports.String() + w.String()
}

// types type-checks a file. What is declared and not used is no error: a block shows a part
// of a program.
func (c *checker) types(text string) error {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	var found []error
	conf := types.Config{Importer: c.imports, Error: func(err error) {
		var e types.Error
		if errors.As(err, &e) && e.Soft && (strings.HasPrefix(e.Msg, "declared and not used") || strings.Contains(e.Msg, "imported and not used") || strings.Contains(e.Msg, "imported as")) {
			return
		}
		found = append(found, err)
	}}
	_, _ = conf.Check("page", fset, []*ast.File{f}, nil) // what it returns is the first of those
	return errors.Join(found...)
}

// load lists the packages that preludes and blocks import, and compiles what is needed.
func (c *checker) load(dir string, alone bool, blocks []*Block) error {
	needed := map[string]bool{}
	seen := map[string]bool{}
	for _, b := range blocks {
		if !seen[b.File] {
			seen[b.File] = true
			s, err := c.prelude(b.File)
			if err != nil {
				return err
			}
			for _, importPath := range s.imports {
				needed[importPath] = true
			}
		}
		head := b.Text
		if !program(head) {
			head = "package p\n" + leading.FindString(b.Text)
		}
		f, err := parser.ParseFile(token.NewFileSet(), b.String(), head, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			importPath, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			needed[importPath] = true
		}
	}
	exports, err := exportData(dir, alone, needed)
	if err != nil {
		return err
	}
	c.imports = importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no such package: %s", path)
		}
		return os.Open(exports[path])
	})
	return nil
}

// exportData returns the files with the export data of packages and what they import.
func exportData(dir string, alone bool, needed map[string]bool) (map[string]string, error) {
	args := []string{"list", "-e", "-export", "-deps", "-json=ImportPath,Export", "--"}
	for importPath := range needed {
		args = append(args, importPath)
	}
	slices.Sort(args[6:])
	list := exec.Command("go", args...)
	list.Dir = dir
	if alone {
		list.Env = append(os.Environ(), "GOWORK=off")
	}
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	exports := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return exports, nil
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
	}
}
