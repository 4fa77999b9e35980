package enginetest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
)

// literals are the strings of a Go package, and how often it makes a value of a type.
type literals struct {
	texts map[string]bool
	types map[string]int
}

// sourceLiterals reads the strings of all Go files below root but for tests
// and folders that are to be skipped.
func sourceLiterals(t testing.TB, root string, skip ...string) (all []literals) {
	t.Helper()
	byDir := map[string]literals{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains(skip, rel) || strings.HasPrefix(d.Name(), ".") && rel != "."):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := filepath.Dir(name)
		in, known := byDir[dir]
		if !known {
			in = literals{map[string]bool{}, map[string]int{}}
			byDir[dir] = in
			all = append(all, in)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, _ := strconv.Unquote(lit.Value)
				in.texts[text] = true
			}
			if lit, ok := n.(*ast.CompositeLit); ok {
				switch t := lit.Type.(type) {
				case *ast.Ident:
					in.types[t.Name]++
				case *ast.SelectorExpr:
					in.types[t.Sel.Name]++
				}
			}
			return true
		})
		return nil
	})
	Must(t, err)
	return all
}

// UnusedOperations returns the statements whose operations no program asks for. An engine's own has to be asked for
// in its folder, besides the list of them all.
func UnusedOperations(t testing.TB, root, folder string, statements []*engine.Statement) (unused []string) {
	t.Helper()
	programs := sourceLiterals(t, root, "bench", "internal/engine/op", "internal/test", "tools")
	own := sourceLiterals(t, filepath.Join(root, folder))
	for _, s := range statements {
		name, in, listed := s.Type().Name(), programs, 0
		if !ast.IsExported(name) {
			in, listed = own, 1
		}
		if !slices.ContainsFunc(in, func(l literals) bool { return l.types[name] > listed }) {
			unused = append(unused, s.Name)
		}
	}
	slices.Sort(unused)
	return unused
}
