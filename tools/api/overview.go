package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// overviewPage is where the overview is kept.
const overviewPage = "docs/api.md"

// overview returns docs/api.md: each public package with its functions and types, by the first
// sentences of their comments.
func overview(packages []*pkg, root string) (string, error) {
	w := &strings.Builder{}
	w.WriteString("<!-- Written by go run ./tools/api: do not edit. -->\n# Packages\n\n")
	w.WriteString("What programs import, from the comments in the code; `go doc` prints all of them. The files below [api](../api) list every name, and\n")
	w.WriteString("[what a version promises](stability.md) says what becomes of it.\n\n| package | |\n|---|---|\n")
	var all []*doc.Package
	fset := token.NewFileSet()
	for _, p := range packages {
		d, err := documented(fset, p, root)
		if err != nil {
			return "", err
		}
		all = append(all, d)
		fmt.Fprintf(w, "| [%s](#%s) | %s |\n", title(p), anchor(p), cell(strings.TrimPrefix(d.Synopsis(d.Doc), "Package "+d.Name+" ")))
	}
	for i, p := range packages {
		d := all[i]
		fmt.Fprintf(w, "\n## %s\n\n`import %q` · [every name](../api/%s)\n\n", title(p), p.path, p.file())
		fmt.Fprintf(w, "%s\n", strings.TrimSpace(string(d.Printer().Markdown(d.Parser().Parse(firstParagraph(d.Doc))))))
		writeRows(w, fset, d)
	}
	return w.String(), nil
}

// title returns the path of a package below the module.
func title(p *pkg) string {
	if p.path == module {
		return "pawl"
	}
	return "pawl" + strings.TrimPrefix(p.path, module)
}

func anchor(p *pkg) string { return strings.ReplaceAll(title(p), "/", "") }

// documented reads the comments of a package.
func documented(fset *token.FileSet, p *pkg, root string) (*doc.Package, error) {
	dir := filepath.Join(root, filepath.FromSlash(strings.TrimPrefix(p.path, module)))
	b, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, name := range b.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return doc.NewFromFiles(fset, files, p.path)
}

func firstParagraph(text string) string {
	text, _, _ = strings.Cut(text, "\n\n")
	return text
}

// writeRows writes a package's functions, types and errors.
func writeRows(w *strings.Builder, fset *token.FileSet, d *doc.Package) {
	w.WriteString("\n| | |\n|---|---|\n")
	functions := func(all []*doc.Func) {
		for _, f := range all {
			fmt.Fprintf(w, "| `%s` | %s |\n", strings.ReplaceAll(signature(fset, f.Decl), "|", `\|`), cell(d.Synopsis(f.Doc)))
		}
	}
	functions(d.Funcs)
	var errors []string
	for _, v := range d.Vars {
		errors = append(errors, named("Err", v.Names)...)
	}
	for _, t := range d.Types {
		var methods []string
		for _, m := range t.Methods {
			methods = append(methods, "`"+m.Name+"`")
		}
		text := cell(d.Synopsis(t.Doc))
		if len(methods) > 0 {
			text += " Methods: " + strings.Join(methods, ", ") + "."
		}
		fmt.Fprintf(w, "| type `%s` | %s |\n", t.Name, text)
		functions(t.Funcs)
		for _, v := range t.Vars {
			errors = append(errors, named("Err", v.Names)...)
		}
	}
	if len(errors) > 0 {
		slices.Sort(errors)
		fmt.Fprintf(w, "\nErrors: %s.\n", strings.Join(errors, ", "))
	}
}

// named returns those of the names that begin with a word, as code.
func named(prefix string, names []string) (all []string) {
	for _, n := range names {
		if strings.HasPrefix(n, prefix) {
			all = append(all, "`"+n+"`")
		}
	}
	return all
}

// signature returns a function without its body, on one line.
func signature(fset *token.FileSet, f *ast.FuncDecl) string {
	var b bytes.Buffer
	f.Body, f.Doc = nil, nil
	if err := (&printer.Config{Mode: printer.RawFormat}).Fprint(&b, fset, f); err != nil {
		return f.Name.Name
	}
	return strings.TrimPrefix(strings.Join(strings.Fields(b.String()), " "), "func ")
}

// cell returns text as Markdown shows it in a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "[", `\[`).Replace(text)
}
