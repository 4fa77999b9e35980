package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// module is the import path of the public packages' root.
const module = "github.com/bravellian/pawl"

// pkg is a public package and a line for each name that it exports.
type pkg struct {
	path  string
	names []string
	types *types.Package
}

// withoutFields is how many of the names are no fields.
func (p *pkg) withoutFields() (n int) {
	for _, name := range p.names {
		if !strings.HasPrefix(name, "field ") {
			n++
		}
	}
	return n
}

// file is where the package's names are kept, below api.
func (p *pkg) file() string {
	name := strings.Trim(strings.TrimPrefix(p.path, module), "/")
	if name == "" {
		name = "pawl"
	}
	return strings.ReplaceAll(name, "/", "_") + ".txt"
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Export, Name string
	DepOnly                  bool
}

// exported returns the public packages of the workspace in dir, in order of their paths.
func exported(dir string) ([]*pkg, error) {
	list, err := goList(dir)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, l := range list {
		exports[l.ImportPath] = l.Export
	}
	imports := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(exports[path])
	})
	var all []*pkg
	for _, l := range list {
		if l.Export == "" { // it has tests alone
			continue
		}
		if l.DepOnly || l.Name == "main" || strings.Contains(l.ImportPath+"/", "/internal/") || strings.HasPrefix(l.ImportPath, module+"/examples/") {
			continue
		}
		p, err := imports.Import(l.ImportPath)
		if err != nil {
			return nil, err
		}
		all = append(all, &pkg{path: l.ImportPath, names: names(p), types: p})
	}
	slices.SortFunc(all, func(a, b *pkg) int { return strings.Compare(a.path, b.path) })
	return all, nil
}

// goList lists the packages of all modules of the workspace in dir, and theirs.
func goList(dir string) ([]listed, error) {
	c := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Name,DepOnly", "work")
	c.Dir, c.Stderr = dir, os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		switch err := d.Decode(&l); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		all = append(all, l)
	}
}

// names returns a line for each name that p exports, sorted.
func names(p *types.Package) []string {
	var all []string
	for _, name := range p.Scope().Names() {
		if o := p.Scope().Lookup(name); o.Exported() && !locked(o) {
			all = append(all, object(p, o)...)
		}
	}
	slices.Sort(all)
	return all
}

// object returns the line of o, which p declares, and those of its fields and methods.
func object(p *types.Package, o types.Object) []string {
	relative := types.RelativeTo(p)
	t, ok := o.(*types.TypeName)
	if !ok {
		return []string{types.ObjectString(o, relative)}
	}
	if alias, ok := t.Type().(*types.Alias); ok {
		return []string{fmt.Sprintf("type %s = %s", t.Name(), types.TypeString(alias.Rhs(), relative))}
	}
	named := t.Type().(*types.Named)
	return append([]string{"type " + t.Name() + parameters(named, relative) + " " + kind(named, relative)}, members(p, t.Name(), named)...)
}

// hidden reports whether programs cannot import a package.
func hidden(p *types.Package) bool {
	return p != nil && strings.HasPrefix(p.Path(), module) && strings.Contains(p.Path()+"/", "/internal/")
}

// locked reports whether o is a function that programs cannot call: it takes the key to what is pawl's own.
func locked(o types.Object) bool {
	f, ok := o.Type().(*types.Signature)
	if !ok {
		return false
	}
	for v := range f.Params().Variables() {
		if named, ok := v.Type().(*types.Named); ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == module+"/internal/access" {
			return true
		}
	}
	return false
}

func parameters(named *types.Named, relative types.Qualifier) string {
	var all []string
	for p := range named.TypeParams().TypeParams() {
		all = append(all, p.Obj().Name()+" "+types.TypeString(p.Constraint(), relative))
	}
	if all == nil {
		return ""
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// kind is what a type is, without its fields and methods.
func kind(named *types.Named, relative types.Qualifier) string {
	switch u := named.Underlying().(type) {
	case *types.Struct:
		return "struct"
	case *types.Interface:
		return "interface"
	default:
		return types.TypeString(u, relative)
	}
}

// members returns the lines of the fields and methods of a type of p under a name.
func members(p *types.Package, name string, named *types.Named) []string {
	relative := types.RelativeTo(p)
	var all []string
	if s, ok := named.Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			if f.Exported() {
				all = append(all, fmt.Sprintf("field %s.%s %s", name, f.Name(), types.TypeString(f.Type(), relative)))
			}
		}
	}
	var of types.Type = named
	if !types.IsInterface(named) {
		of = types.NewPointer(named)
	}
	methods := types.NewMethodSet(of)
	for i := range methods.Len() {
		m := methods.At(i).Obj()
		// What another public type lends by being embedded is listed there.
		if lent := len(methods.At(i).Index()) > 1 && !hidden(m.Pkg()); m.Exported() && !lent && !locked(m) {
			all = append(all, fmt.Sprintf("method %s.%s%s", name, m.Name(), strings.TrimPrefix(types.TypeString(m.Type(), relative), "func")))
		}
	}
	return all
}

// write writes the names of packages into dir and removes the files of packages that are gone.
func write(packages []*pkg, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	keep := map[string]bool{}
	for _, p := range packages {
		keep[p.file()] = true
		if err := os.WriteFile(filepath.Join(dir, p.file()), []byte(strings.Join(p.names, "\n")+"\n"), 0o644); err != nil {
			return err
		}
	}
	old, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return err
	}
	for _, name := range old {
		if !keep[filepath.Base(name)] {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}
