package tsqltest

import (
	"fmt"
	"strings"

	"github.com/sqlc-dev/teesql/ast"
)

// Sorts finds queries of payloads from tables that are joined to table variables or lists in JSON, which have ORDER BY and
// which the server has to sort: it knows how many rows a variable has when it runs, but not how many rows of the table each
// of them finds, nor anything of a list, and asks for memory for all of them and their payloads. A query is in order as it is where FROM begins
// with a variable, each join is a LOOP, and ORDER BY names the variable's clustered key and then ids of the table.
func Sorts(script *ast.Script) (found []string) {
	keys := variableKeys(script)
	Walk(script, func(n any) {
		q, ok := n.(*ast.QuerySpecification)
		if !ok || q.OrderByClause == nil || q.FromClause == nil {
			return
		}
		s := source{}
		walkQuery(q.FromClause, s.add)
		if s.variable == nil && !s.list || len(s.tables) == 0 || !payload(q) {
			return
		}
		if s.list {
			found = append(found, fmt.Sprintf("ORDER BY of %s: OPENJSON has no order", strings.Join(s.tables, ", ")))
			return
		}
		if why := s.sorted(q.OrderByClause, keys[strings.ToLower(s.variable.Variable.Name)]); why != "" {
			found = append(found, fmt.Sprintf("ORDER BY of %s: %s", strings.Join(s.tables, ", "), why))
		}
	})
	return found
}

// variableKeys are the clustered keys of the table variables of a text.
func variableKeys(script *ast.Script) map[string][]KeyColumn {
	keys := map[string][]KeyColumn{}
	Walk(script, func(n any) {
		if b, ok := n.(*ast.DeclareTableVariableBody); ok && b.VariableName != nil {
			keys[strings.ToLower(b.VariableName.Value)] = clusteredKey(b.Definition)
		}
	})
	return keys
}

// source is what a query reads, in the order in which FROM has it.
type source struct {
	variable *ast.VariableTableReference // that FROM begins with
	list     bool                        // FROM begins with OPENJSON
	first    bool                        // something was seen
	tables   []string
	other    bool // a join that is no LOOP
}

func (s *source) add(n any) {
	switch n := n.(type) {
	case *ast.VariableTableReference:
		if !s.first {
			s.variable = n
		}
		s.first = true
	case *ast.NamedTableReference:
		s.first = true
		s.tables = append(s.tables, nameOf(n.SchemaObject))
	case *ast.OpenJsonTableReference:
		s.list = s.list || !s.first
		s.first = true
	case *ast.QualifiedJoin:
		s.other = s.other || !strings.EqualFold(n.JoinHint, "Loop") && !joinsVariables(n)
	}
}

// joinsVariables reports whether both sides of a join are variables, whose rows hold no payloads.
func joinsVariables(j *ast.QualifiedJoin) bool {
	_, first := j.FirstTableReference.(*ast.VariableTableReference)
	_, second := j.SecondTableReference.(*ast.VariableTableReference)
	return first && second
}

// payload reports whether a query returns payloads.
func payload(q *ast.QuerySpecification) (is bool) {
	Walk(q.SelectElements, func(n any) {
		if c, ok := n.(*ast.ColumnReferenceExpression); ok && c.MultiPartIdentifier != nil {
			ids := c.MultiPartIdentifier.Identifiers
			is = is || strings.EqualFold(ids[len(ids)-1].Value, "payload")
		}
	})
	return is
}

// sorted says why the rows are not in order as they are found.
func (s *source) sorted(by *ast.OrderByClause, key []KeyColumn) string {
	if s.other {
		return "a join is no LOOP"
	}
	of := s.variable.Variable.Name
	if s.variable.Alias != nil {
		of = s.variable.Alias.Value
	}
	for i, e := range by.OrderByElements {
		c, ok := e.Expression.(*ast.ColumnReferenceExpression)
		if !ok || strings.EqualFold(string(e.SortOrder), "Descending") {
			return "not by columns, ascending"
		}
		ids := c.MultiPartIdentifier.Identifiers
		name := ids[len(ids)-1].Value
		switch {
		case i < len(key) && (len(ids) < 2 || !strings.EqualFold(ids[len(ids)-2].Value, of) || !strings.EqualFold(name, key[i].Name)):
			return fmt.Sprintf("%s is not column %d of the key of %s", name, i+1, s.variable.Variable.Name)
		case i >= len(key) && !strings.EqualFold(name, "id"):
			return name + " is behind the key"
		}
	}
	if len(key) == 0 {
		return s.variable.Variable.Name + " has no key"
	}
	return ""
}

// TableVariables are the table variables of a text.
func TableVariables(script *ast.Script) (names []string) {
	Walk(script, func(n any) {
		if b, ok := n.(*ast.DeclareTableVariableBody); ok && b.VariableName != nil {
			names = append(names, b.VariableName.Value)
		}
	})
	return names
}
