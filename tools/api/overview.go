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
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// overviewPage is where the overview is kept.
const overviewPage = "docs/api.md"

// overview returns docs/api.md: each public package with its functions and types, by the first
// sentences of their comments, types with their fields, and where its examples are.
func overview(packages []*pkg, root string) (string, error) {
	w := &strings.Builder{}
	w.WriteString("<!-- Written by go run ./tools/api: do not edit. -->\n# Packages\n\n")
	w.WriteString("What programs import, from the comments in the code: what each package is for, its examples, its functions and types. `go doc` prints the\n")
	w.WriteString("comments whole. The files below [api](../api) list every name; [what a version promises](stability.md) says what becomes of it.\n\n| package | |\n|---|---|\n")
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
		if err := writeExamples(w, p, root); err != nil {
			return "", err
		}
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

// directory returns where a package is.
func directory(p *pkg, root string) string {
	return filepath.Join(root, filepath.FromSlash(strings.TrimPrefix(p.path, module)))
}

// documented reads the comments of a package.
func documented(fset *token.FileSet, p *pkg, root string) (*doc.Package, error) {
	dir := directory(p, root)
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

// writeExamples writes what a package's examples show, with links to them.
func writeExamples(w *strings.Builder, p *pkg, root string) error {
	all, err := examples(p, root)
	for i, e := range all {
		if i == 0 {
			w.WriteString("\nExamples:\n\n")
		}
		file := path.Join(strings.TrimPrefix(p.path, module), e.file)
		fmt.Fprintf(w, "- [%s](../%s): %s\n", e.subject(), strings.TrimPrefix(file, "/"), cell(new(doc.Package).Synopsis(e.Doc)))
	}
	return err
}

// writeRows writes a package's functions, types and errors.
func writeRows(w *strings.Builder, fset *token.FileSet, d *doc.Package) {
	w.WriteString("\n| | |\n|---|---|\n")
	functions := func(all []*doc.Func) {
		for _, f := range all {
			if keyed(fset, f.Decl) {
				continue
			}
			fmt.Fprintf(w, "| `%s` | %s |\n", strings.ReplaceAll(signature(fset, f.Decl), "|", `\|`), cell(d.Synopsis(f.Doc)))
		}
	}
	functions(d.Funcs)
	var errors []string
	for _, v := range d.Vars {
		errors = append(errors, named("Err", v.Names)...)
	}
	for _, t := range d.Types {
		text := cell(d.Synopsis(t.Doc)) + list("Values", values(t)) + list("Fields", fields(fset, t)) + list("Methods", methods(fset, t))
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

// list returns names as a sentence, "" for none.
func list(what string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "<br>" + what + ": `" + strings.ReplaceAll(strings.Join(names, "`, `"), "|", `\|`) + "`."
}

// values returns the constants of a type.
func values(t *doc.Type) (names []string) {
	for _, c := range t.Consts {
		names = append(names, c.Names...)
	}
	return names
}

// fields returns the fields of a struct with their types; those that are embedded have none.
func fields(fset *token.FileSet, t *doc.Type) (all []string) {
	spec, _ := t.Decl.Specs[0].(*ast.TypeSpec)
	s, ok := spec.Type.(*ast.StructType)
	if !ok {
		return nil
	}
	for _, f := range s.Fields.List {
		var names []string
		for _, n := range f.Names {
			if n.IsExported() {
				names = append(names, n.Name)
			}
		}
		if of := source(fset, f.Type); len(names) > 0 {
			all = append(all, strings.Join(names, ", ")+" "+of)
		} else if len(f.Names) == 0 {
			all = append(all, of)
		}
	}
	return all
}

// methods returns the methods of a type that programs can call; of an interface, those that it has.
func methods(fset *token.FileSet, t *doc.Type) (names []string) {
	for _, m := range t.Methods {
		if !keyed(fset, m.Decl) {
			names = append(names, m.Name)
		}
	}
	spec, _ := t.Decl.Specs[0].(*ast.TypeSpec)
	if i, ok := spec.Type.(*ast.InterfaceType); ok {
		for _, m := range i.Methods.List {
			for _, n := range m.Names {
				names = append(names, n.Name)
			}
		}
	}
	return names
}

// keyed reports whether programs cannot call a function: it takes the key to what is pawl's own.
func keyed(fset *token.FileSet, f *ast.FuncDecl) bool {
	return strings.Contains(source(fset, f.Type), "access.Key")
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
	f.Body, f.Doc = nil, nil
	return strings.TrimPrefix(source(fset, f), "func ")
}

// source returns the text of a node, on one line.
func source(fset *token.FileSet, node any) string {
	var b bytes.Buffer
	if err := (&printer.Config{Mode: printer.RawFormat}).Fprint(&b, fset, node); err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// cell returns text as Markdown shows it in a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "[", `\[`).Replace(text)
}
