package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// D-710: what programs set and call is shown by go doc of the package that they import.
func TestVisible(t *testing.T) {
	packages, err := exported(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range invisible(packages) {
		t.Error(fault)
	}
}

// D-710: each way to hide a field or a method is found, and what hides nothing is not.
func TestInvisible(t *testing.T) {
	inner := checked(t, module+"/internal/inner", nil, `
		type Options struct{ Size int }
		type DB interface{ Do() }
		type empty struct{ size int }
		type Mark struct{ empty }`)
	outer := checked(t, module+"/outer", nil, `
		type Options struct{ Size int }
		type Tx = interface{ Exec() }
		type ID [16]byte`)
	for code, want := range map[string]string{
		`type Options = inner.Options`:                                        "is an alias",
		`type Options = outer.Options`:                                        "is an alias",
		`type Tx = outer.Tx`:                                                  "is an alias",
		`type own struct{ Size int }; type Options = own`:                     "is an alias",
		`type Options struct{ inner.Options }`:                                "has the field Options",
		`type own struct{ Size int }; type Options struct{ own }`:             "embeds own",
		`type own struct{}; func (own) Set() {}; type Options struct{ *own }`: "embeds own",
		`type Options struct{ Inner []inner.Options }`:                        "has the field Inner",
		`type Opener func(inner.Options)`:                                     "names internal/inner",
		`func Open() inner.DB { return nil }`:                                 "names internal/inner",
		`var Default inner.Options`:                                           "names internal/inner",
		`type Pool struct{}; func (*Pool) DB() inner.DB { return nil }`:       "has the method DB",

		`type ID = outer.ID`:                                             "",
		`type Tx = interface{ Exec() }`:                                  "",
		`type Options struct{ outer.Options }`:                           "",
		`type Options struct{ inner inner.Options }`:                     "",
		`type own struct{ size int }; type Options struct{ own; N int }`: "",
		`type own inner.Options`:                                         "",
	} {
		p := checked(t, module+"/p", []*types.Package{inner, outer}, code)
		got := strings.Join(invisible([]*pkg{{path: module + "/p", types: p}}), "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s\n%q, want %q", code, got, want)
		}
	}
}

// checked type-checks declarations, which may import the packages given.
func checked(t *testing.T, path string, imports []*types.Package, declarations string) *types.Package {
	t.Helper()
	code := "package " + path[strings.LastIndex(path, "/")+1:] + "\n"
	for _, p := range imports {
		code += "import _ \"" + p.Path() + "\"\n"
		if strings.Contains(declarations, p.Name()+".") {
			code += "import \"" + p.Path() + "\"\n"
		}
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", code+declarations, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := (&types.Config{Importer: among(imports)}).Check(path, fset, []*ast.File{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// among imports one of its packages.
type among []*types.Package

func (a among) Import(path string) (*types.Package, error) {
	for _, p := range a {
		if p.Path() == path {
			return p, nil
		}
	}
	return nil, types.Error{Msg: "no package " + path}
}
