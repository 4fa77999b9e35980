package tsqltest

import (
	"fmt"
	"strings"

	"github.com/sqlc-dev/teesql/ast"
)

func sequenceRefusals() []Refusal {
	const page = "NEXT VALUE FOR (Transact-SQL)"
	return []Refusal{
		{11719, page, "NEXT VALUE FOR is not allowed in views, functions, subqueries, derived tables and common table expressions", nextValues},
		{11720, page, "NEXT VALUE FOR is not allowed in TOP, OVER, OUTPUT, ON, WHERE, GROUP BY, HAVING and ORDER BY", filteringValues},
		{11721, page, "NEXT VALUE FOR is not allowed beside DISTINCT, UNION, EXCEPT and INTERSECT", distinctValues},
		{11723, page, "NEXT VALUE FOR in a statement with ORDER BY has an OVER of its own", orderedValues},
		{11739, page, "NEXT VALUE FOR is not allowed in a query with TOP or OFFSET", limitedValues},
		{11741, page, "NEXT VALUE FOR is not allowed in CASE, CHOOSE, COALESCE, IIF, ISNULL and NULLIF", conditionalValues},
	}
}

// values are the sequences that a part of a text takes values of, subqueries apart, and whether each has an OVER.
func values(node any) (names []string, bare bool) {
	walkQuery(node, func(n any) {
		if v, ok := n.(*ast.NextValueForExpression); ok {
			names = append(names, "NEXT VALUE FOR "+nameOf(v.SequenceName))
			bare = bare || v.OverClause == nil
		}
	})
	return names, bare
}

func filteringValues(script *ast.Script) (found []string) {
	add := func(_ string, part any) { names, _ := values(part); found = append(found, names...) }
	conditions(script, add)
	Walk(script, func(n any) {
		switch n.(type) {
		case *ast.TopRowFilter, *ast.OverClause, *ast.OutputClause, *ast.OutputIntoClause, *ast.OrderByClause:
			add("", n)
		}
	})
	return found
}

// queries calls f for each query that takes values.
func queries(script *ast.Script, f func(q *ast.QuerySpecification, names []string, bare bool)) {
	Walk(script, func(n any) {
		if q, ok := n.(*ast.QuerySpecification); ok {
			if names, bare := values(q.SelectElements); len(names) > 0 {
				f(q, names, bare)
			}
		}
	})
}

func distinctValues(script *ast.Script) (found []string) {
	queries(script, func(q *ast.QuerySpecification, names []string, _ bool) {
		if strings.EqualFold(q.UniqueRowFilter, "Distinct") {
			found = append(found, names[0]+" with DISTINCT")
		}
	})
	Walk(script, func(n any) {
		if b, ok := n.(*ast.BinaryQueryExpression); ok {
			if names, _ := values(b); len(names) > 0 {
				found = append(found, fmt.Sprintf("%s with %s", names[0], b.BinaryQueryExpressionType))
			}
		}
	})
	return found
}

func orderedValues(script *ast.Script) (found []string) {
	queries(script, func(q *ast.QuerySpecification, names []string, bare bool) {
		if q.OrderByClause != nil && bare {
			found = append(found, names[0]+" with ORDER BY")
		}
	})
	return found
}

func limitedValues(script *ast.Script) (found []string) {
	queries(script, func(q *ast.QuerySpecification, names []string, _ bool) {
		if q.TopRowFilter != nil || q.OffsetClause != nil {
			found = append(found, names[0]+" with TOP or OFFSET")
		}
	})
	return found
}

func conditionalValues(script *ast.Script) (found []string) {
	add := func(n any) { names, _ := values(n); found = append(found, names...) }
	Walk(script, func(n any) {
		switch n := n.(type) {
		case *ast.SimpleCaseExpression, *ast.SearchedCaseExpression, *ast.CoalesceExpression, *ast.NullIfExpression, *ast.IIfCall:
			add(n)
		case *ast.FunctionCall:
			if name := strings.ToUpper(n.FunctionName.Value); name == "ISNULL" || name == "CHOOSE" {
				add(n)
			}
		}
	})
	return found
}
