package main

import (
	"cmp"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// example is an Example function of a package's tests.
type example struct {
	*doc.Example
	file    string   // its name in the package's directory
	calls   []string // names of the functions and methods that the file's code calls
	imports []string
}

// examples returns those of the directory of a package: what is of the whole package first, then
// by name.
func examples(p *pkg, root string) (all []example, err error) {
	files, err := filepath.Glob(filepath.Join(directory(p, root), "*_test.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if !strings.Contains(string(text), "\nfunc Example") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		calls, imports := called(f)
		for _, e := range doc.Examples(f) {
			all = append(all, example{e, path.Base(filepath.ToSlash(name)), calls, imports})
		}
	}
	slices.SortFunc(all, func(a, b example) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// called returns the names of what a file calls and the paths that it imports.
func called(f *ast.File) (calls, imports []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			called := c.Fun
			if of, ok := called.(*ast.IndexExpr); ok { // of a type: flow.Wait[T]
				called = of.X
			}
			if s, ok := called.(*ast.SelectorExpr); ok {
				calls = append(calls, s.Sel.Name)
			}
		}
		return true
	})
	for _, i := range f.Imports {
		imports = append(imports, strings.Trim(i.Path.Value, `"`))
	}
	return calls, imports
}

// subject is what an example is of: "package", "Jobs.Sync", "Pawl (expiry)".
func (e *example) subject() string {
	name := strings.ReplaceAll(e.Name, "_", ".")
	if at := strings.LastIndex(name, ".") + 1; name != "" && unicode.IsLower(rune(name[at])) {
		of, what := strings.TrimSuffix(name[:at], "."), name[at:]
		return cmp.Or(of, "package") + " (" + what + ")"
	}
	return cmp.Or(name, "package")
}
