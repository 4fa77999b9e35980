package tsqltest

import (
	"slices"
	"strings"

	"github.com/sqlc-dev/teesql/ast"
)

// Change is a DELETE, an UPDATE or an INSERT.
type Change struct {
	Kind  string // "Delete", "Update", "Insert"
	Table string // without its schema; "@t" is a table variable
	// Alias says that the statement calls the table by another name than its own.
	Alias bool
	// Hints are those on the table, in capital letters and sorted.
	Hints []string
	// Output says that the statement answers with rows itself, not into a table.
	Output bool
	// Top says that the statement has a TOP of its own.
	Top bool
	// Node is the specification of the statement.
	Node any

	target ast.TableReference
	from   *ast.FromClause
}

// Changes are the statements of a text that change tables, in the order of the text.
func Changes(script *ast.Script) (all []Change) {
	Walk(script, func(n any) {
		c := Change{Node: n}
		switch s := n.(type) {
		case *ast.DeleteSpecification:
			c.Kind, c.target, c.from, c.Output, c.Top = "Delete", s.Target, s.FromClause, s.OutputClause != nil, s.TopRowFilter != nil
		case *ast.UpdateSpecification:
			c.Kind, c.target, c.from, c.Output, c.Top = "Update", s.Target, s.FromClause, s.OutputClause != nil, s.TopRowFilter != nil
		case *ast.InsertSpecification:
			c.Kind, c.target, c.Output, c.Top = "Insert", s.Target, s.OutputClause != nil, s.TopRowFilter != nil
		default:
			return
		}
		c.resolve()
		all = append(all, c)
	})
	return all
}

// resolve finds the table that a statement changes, and the hints on it: it may be
// named by the alias that it has in FROM.
func (c *Change) resolve() {
	switch t := c.target.(type) {
	case *ast.VariableTableReference:
		c.Table = t.Variable.Name
	case *ast.NamedTableReference:
		c.Table, c.Hints = nameOf(t.SchemaObject), Hints(t)
		if t.SchemaObject.SchemaIdentifier == nil {
			c.byAlias(c.Table)
		}
	}
	slices.Sort(c.Hints)
	c.Hints = slices.Compact(c.Hints)
}

// byAlias takes what FROM says of the table with an alias.
func (c *Change) byAlias(alias string) {
	for _, t := range c.named() {
		c.Table, c.Alias, c.Hints = nameOf(t.SchemaObject), true, append(c.Hints, Hints(t)...)
	}
	Walk(c.from, func(n any) {
		if t, ok := n.(*ast.VariableTableReference); ok && t.Alias != nil && strings.EqualFold(t.Alias.Value, alias) {
			c.Table, c.Alias = t.Variable.Name, true
		}
	})
}

func nameOf(o *ast.SchemaObjectName) string {
	if o == nil || o.BaseIdentifier == nil {
		return ""
	}
	return o.BaseIdentifier.Value
}

// Target is what the statement says that it changes: a *ast.NamedTableReference, or a
// *ast.VariableTableReference.
func (c *Change) Target() any { return c.target }

const forceSeek = "FORCESEEK"

// Hints are the hints on a table, in capital letters and sorted.
func Hints(t *ast.NamedTableReference) (all []string) {
	for _, h := range t.TableHints {
		switch h := h.(type) {
		case *ast.TableHint:
			all = append(all, strings.ToUpper(h.HintKind))
		case *ast.IndexTableHint:
			all = append(all, "INDEX")
		case *ast.ForceSeekTableHint:
			all = append(all, forceSeek)
		}
	}
	slices.Sort(all)
	return all
}

// Hinted are the hints of a text on a table that statements read or change, one list for
// each mention of the table.
func Hinted(script *ast.Script, table string) (all [][]string) {
	Walk(script, func(n any) {
		if t, ok := n.(*ast.NamedTableReference); ok && strings.EqualFold(nameOf(t.SchemaObject), table) {
			all = append(all, Hints(t))
		}
	})
	return all
}
