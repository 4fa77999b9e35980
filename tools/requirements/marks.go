package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
)

// A test is a function that pins requirements.
type test struct {
	file string // from the root, with slashes
	name string // of the function, with its receiver's type if it has one
}

// A mark says that a test pins a requirement.
type mark struct {
	number   string
	position string // file:line, for complaints
	test     test
}

// A reader finds the marks in a module.
type reader struct {
	root    string
	list    *regexp.Regexp // a line that begins with numbers, and what follows them
	openEnd *regexp.Regexp // a rest that makes a range of them
}

func newReader(root string) *reader {
	return &reader{
		root:    root,
		list:    regexp.MustCompile(`^\s*(` + numberPattern + `(?:\s*,\s*` + numberPattern + `)*)\b(.*)$`),
		openEnd: regexp.MustCompile(`^\s*(?:…|\.\.+|–|—|-|to\b)\s*(?:[A-Z]+-)?\d`),
	}
}

// findMarks reads all tests of the module. It reports all wrong marks at once.
func (r *reader) findMarks() ([]mark, error) {
	var marks []mark
	var problems []error
	err := filepath.WalkDir(r.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(r.root, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipDir(name):
			return filepath.SkipDir
		case d.IsDir() || !holdsTests(name):
			return nil
		}
		found, err := r.marksInFile(path, filepath.ToSlash(name))
		marks = append(marks, found...)
		problems = append(problems, err)
		return nil
	})
	return marks, errors.Join(append(problems, err)...)
}

// skipDir leaves out what the go command leaves out, too.
func skipDir(name string) bool {
	base := filepath.Base(name)
	return base == "testdata" || base == "vendor" ||
		strings.HasPrefix(base, "_") || strings.HasPrefix(base, ".") && base != "."
}

// holdsTests tells files with tests from others. A conformance suite is shared
// by the tests of several packages, so it cannot be in a _test.go file; such
// packages are named like the standard library's: httptest, iotest.
func holdsTests(name string) bool {
	if filepath.Ext(name) != ".go" {
		return false
	}
	return strings.HasSuffix(name, "_test.go") || strings.HasSuffix(filepath.Dir(name), "test")
}

// marksInFile reads the marks of one file.
func (r *reader) marksInFile(path, name string) ([]mark, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var marks []mark
	var problems []error
	for _, group := range file.Comments {
		for _, comment := range group.List {
			position := fmt.Sprintf("%s:%d", name, files.Position(comment.Pos()).Line)
			numbers, function, err := r.marksInComment(file, comment)
			if err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", position, err))
			}
			for _, number := range numbers {
				marks = append(marks, mark{number, position, test{name, function}})
			}
		}
	}
	return marks, errors.Join(problems...)
}

// marksInComment returns the numbers and the function they belong to.
func (r *reader) marksInComment(file *ast.File, comment *ast.Comment) (numbers []string, function string, err error) {
	numbers, err = r.numbersIn(comment.Text)
	if err != nil || len(numbers) == 0 {
		return nil, "", err
	}
	f := funcAt(file, comment)
	if f == nil {
		return nil, "", errors.New("this mark belongs to no function")
	}
	return numbers, funcName(f), nil
}

// numbersIn reads the numbers at the beginning of each line of a comment. A
// range is refused, because it looks like a mark and would pin its first
// number alone.
func (r *reader) numbersIn(comment string) ([]string, error) {
	comment = strings.TrimSuffix(strings.TrimLeft(comment, "/*"), "*/")
	var numbers []string
	for _, line := range strings.Split(comment, "\n") {
		m := r.list.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if r.openEnd.MatchString(m[2]) {
			return nil, fmt.Errorf("%q is a range; name every number", strings.TrimSpace(line))
		}
		for _, number := range strings.Split(m[1], ",") {
			numbers = append(numbers, strings.TrimSpace(number))
		}
	}
	return numbers, nil
}

// funcAt is the function that a comment belongs to: the one around it, else
// the next one below it. It is nil at the end of a file.
func funcAt(file *ast.File, comment *ast.Comment) *ast.FuncDecl {
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && comment.Pos() < f.End() {
			return f
		}
	}
	return nil
}

// funcName is the name of a function as a reader would look for it.
func funcName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	t := f.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if generic, ok := t.(*ast.IndexExpr); ok {
		t = generic.X
	}
	if ident, ok := t.(*ast.Ident); ok {
		return ident.Name + "." + f.Name.Name
	}
	return f.Name.Name
}
