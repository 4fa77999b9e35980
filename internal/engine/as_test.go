package engine_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
)

type plain struct{ engine.DB }

type pooled struct{ engine.DB }

func (pooled) PoolStats() engine.PoolStats { return engine.PoolStats{Max: 7} }

type wrapper struct{ engine.DB }

func (w wrapper) Unwrap() engine.DB { return w.DB }

// What a wrapped database offers is found however often it was wrapped, the outermost first.
func TestAs(t *testing.T) {
	for _, c := range []struct {
		name string
		db   engine.DB
		ok   bool
	}{
		{"itself", pooled{}, true}, {"wrapped", wrapper{pooled{}}, true}, {"wrapped twice", wrapper{wrapper{pooled{}}}, true},
		{"nil", nil, false}, {"nothing below", wrapper{}, false}, {"not offered", wrapper{plain{}}, false},
		{"a wrapper that does not unwrap", plain{pooled{}}, false},
	} {
		p, ok := engine.As[engine.Pooled](c.db)
		if ok != c.ok || ok && p.PoolStats().Max != 7 {
			t.Errorf("%s: %v, %v", c.name, p, ok)
		}
	}
	if w, ok := engine.As[wrapper](wrapper{wrapper{pooled{}}}); !ok || w.DB != (wrapper{pooled{}}) {
		t.Errorf("not the outermost: %+v", w)
	}
}

// Nothing asks a database by a type assertion what it offers: wrapped, it would offer nothing, and say nothing. A
// test may assert what its database is if it panics otherwise.
func TestNoAssertionOnADatabase(t *testing.T) {
	files := token.NewFileSet()
	seen := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return firstOf(err, fs.SkipDir)
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || path == filepath.Join("..", "engine", "as.go") {
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		seen++
		for _, at := range assertions(file, strings.HasSuffix(path, "_test.go")) {
			t.Errorf("%s: a type assertion on a database: use engine.As", files.Position(at))
		}
		return nil
	})
	if err != nil || seen < 100 {
		t.Fatal(seen, err)
	}
}

func firstOf(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// assertions returns where a file asserts that a value is a database of some kind.
func assertions(file *ast.File, mayPanic bool) (at []token.Pos) {
	panics := map[ast.Expr]bool{} // asserted without ", ok"
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if a, ok := n.Rhs[0].(*ast.TypeAssertExpr); ok && len(n.Lhs) == 2 && len(n.Rhs) == 1 && isDatabase(a.Type) {
				at = append(at, a.Pos())
				panics[a] = true
			}
		case *ast.TypeAssertExpr:
			if !mayPanic && !panics[n] && isDatabase(n.Type) {
				at = append(at, n.Pos())
			}
		case *ast.TypeSwitchStmt:
			for _, clause := range n.Body.List {
				for _, kind := range clause.(*ast.CaseClause).List {
					if isDatabase(kind) {
						at = append(at, kind.Pos())
					}
				}
			}
		}
		return true
	})
	return at
}

// isDatabase says whether a type is an engine's DB, or an interface of package engine that a DB may have: those
// of transactions it has not.
func isDatabase(e ast.Expr) bool {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	name, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	from, ok := name.X.(*ast.Ident)
	ofCallers := name.Sel.Name == "Tx" || name.Sel.Name == "Conn" // what callers hand in is no database of pawl's
	return ok && (name.Sel.Name == "DB" && from.Name != "sql" || from.Name == "engine" && !ofCallers)
}
