package docblocks

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// identifier is a word of a comment that can only be an identifier: it has a capital inside, or is
// qualified. pgx.Conn and sql.DB are others' names, so only the words with a capital inside are looked for.
var identifier = regexp.MustCompile(`(?:[a-zA-Z]\w*\.)*\b([A-Z][a-z0-9]+[A-Z]\w*|[a-z][a-z0-9]+[A-Z]\w*)`)

// words are names of other programs and packages, and words that are written with a capital inside.
var words = strings.Fields("ArrayGetter BuildInfo CommandComplete GeneratePartitionKey JavaScript JobArgs KiB OpenAPI OpenTelemetry PgBouncer RabbitMQ StackDepot TypeScript W3C WebAssembly")

// sources are the identifiers and strings of Go files, and their comments.
type sources struct {
	names    map[string]bool
	texts    strings.Builder
	comments map[token.Position]string
}

func (s *sources) read(t *testing.T, path string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	if ast.IsGenerated(file) {
		return
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			s.names[n.Name] = true
		case *ast.BasicLit:
			s.texts.WriteString(n.Value + "\n")
		}
		return true
	})
	for _, group := range file.Comments {
		for _, c := range group.List {
			if !strings.HasPrefix(c.Text, "//go:") {
				s.comments[files.Position(c.Pos())] = c.Text
			}
		}
	}
}

// unknown returns the identifiers in a comment that are nowhere.
func (s *sources) unknown(comment string) (all []string) {
	for _, m := range identifier.FindAllStringSubmatch(comment, -1) {
		if name := strings.TrimSuffix(m[1], "s"); !s.names[m[1]] && !s.names[name] && !strings.Contains(s.texts.String(), m[1]) {
			all = append(all, m[0])
		}
	}
	return all
}

// D-493: comments of Go code name no function, type or field that is not there.
func TestComments(t *testing.T) {
	s := sources{names: map[string]bool{}, comments: map[token.Position]string{}}
	for _, w := range words {
		s.names[w] = true
	}
	err := filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "site" || strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2 || d.Name() == "build") {
			return fs.SkipDir
		}
		if err == nil && strings.HasSuffix(path, ".go") {
			s.read(t, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.unknown("// TestComments and read of Max" + "MisfireSpread, see t.Fatal"); len(got) != 1 {
		t.Errorf("found %q", got)
	}
	for at, comment := range s.comments {
		for _, name := range s.unknown(comment) {
			t.Errorf("%s: there is no %s", at, name)
		}
	}
}
