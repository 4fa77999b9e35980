package tsqltest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sqlc-dev/teesql/ast"
)

func queryRefusals() []Refusal {
	const names = "Database Engine events and errors 4000 to 4999"
	return []Refusal{
		{4104, names, "a column is qualified by what FROM calls its table: by the alias where there is one, otherwise by the table's own name", boundColumns},
		{4108, "OVER Clause (Transact-SQL)", "a function with OVER stands in what SELECT lists, or in ORDER BY", windows},
		{147, "WHERE (Transact-SQL)", "WHERE and ON hold no aggregate", filteringAggregates},
		{130, "Aggregate Functions (Transact-SQL)", "the argument of an aggregate holds no subquery and no aggregate", nestedAggregates},
		{141, "SELECT @local_variable (Transact-SQL)", "a SELECT assigns variables or returns rows, not both", mixedSelects},
		{1033, "ORDER BY Clause (Transact-SQL)", "ORDER BY in a view, a derived table or a subquery needs TOP, OFFSET or FOR", innerOrders},
		{10741, "TOP (Transact-SQL)", "TOP and OFFSET do not stand in one query", topOffset},
		{8155, "FROM clause (Transact-SQL)", "a column of a derived table, a view or a common table expression has a name", namelessColumns},
		{13605, "Format query results as JSON with FOR JSON", "a column of FOR JSON has a name", namelessJSON},
		{13601, "Format query results as JSON with FOR JSON", "no two columns of FOR JSON have one name", twiceInJSON},
		{195, "ALTER DATABASE compatibility level (Transact-SQL)", "a function has to be one of SQL Server 2016 at compatibility level 130", newerFunctions},
	}
}

func isAggregate(f *ast.FunctionCall) bool {
	return f.CallTarget == nil && slices.Contains([]string{"AVG", "CHECKSUM_AGG", "COUNT", "COUNT_BIG", "MAX", "MIN", "STDEV", "STDEVP", "SUM", "VAR", "VARP"}, strings.ToUpper(f.FunctionName.Value))
}

// walkQuery is Walk without what subqueries hold.
func walkQuery(node any, f func(n any)) {
	inner := map[any]bool{}
	Walk(node, func(n any) {
		if inner[n] {
			return
		}
		var below any
		switch n := n.(type) {
		case *ast.ScalarSubquery:
			below = n.QueryExpression
		case *ast.ExistsPredicate:
			below = n.Subquery
		case *ast.BooleanInExpression:
			below = n.Subquery
		case *ast.QueryDerivedTable:
			below = n.QueryExpression
		}
		Walk(below, func(n any) { inner[n] = true })
		f(n)
	})
}

// conditions calls f for what chooses rows: WHERE, HAVING, GROUP BY and ON.
func conditions(script *ast.Script, f func(kind string, condition any)) {
	Walk(script, func(n any) {
		switch n := n.(type) {
		case *ast.WhereClause:
			f("WHERE", n)
		case *ast.HavingClause:
			f("HAVING", n)
		case *ast.GroupByClause:
			f("GROUP BY", n)
		case *ast.QualifiedJoin:
			f("ON", n.SearchCondition)
		}
	})
}

func windows(script *ast.Script) (found []string) {
	conditions(script, func(kind string, condition any) {
		walkQuery(condition, func(n any) {
			if call, ok := n.(*ast.FunctionCall); ok && call.OverClause != nil {
				found = append(found, fmt.Sprintf("%s OVER in %s", call.FunctionName.Value, kind))
			}
		})
	})
	return found
}

func filteringAggregates(script *ast.Script) (found []string) {
	conditions(script, func(kind string, condition any) {
		if kind == "HAVING" {
			return
		}
		walkQuery(condition, func(n any) {
			if call, ok := n.(*ast.FunctionCall); ok && isAggregate(call) {
				found = append(found, call.FunctionName.Value+" in "+kind)
			}
		})
	})
	return found
}

func nestedAggregates(script *ast.Script) (found []string) {
	Walk(script, func(n any) {
		call, ok := n.(*ast.FunctionCall)
		if !ok || !isAggregate(call) {
			return
		}
		Walk(call.Parameters, func(n any) {
			switch n := n.(type) {
			case *ast.ScalarSubquery, *ast.ExistsPredicate:
				found = append(found, "a subquery in "+call.FunctionName.Value)
			case *ast.BooleanInExpression:
				if n.Subquery != nil {
					found = append(found, "a subquery in "+call.FunctionName.Value)
				}
			case *ast.FunctionCall:
				if isAggregate(n) && call.OverClause == nil {
					found = append(found, n.FunctionName.Value+" in "+call.FunctionName.Value)
				}
			}
		})
	})
	return found
}

func mixedSelects(script *ast.Script) (found []string) {
	Walk(script, func(n any) {
		q, ok := n.(*ast.QuerySpecification)
		if !ok {
			return
		}
		sets := 0
		for _, e := range q.SelectElements {
			if _, is := e.(*ast.SelectSetVariable); is {
				sets++
			}
		}
		if sets > 0 && sets < len(q.SelectElements) {
			found = append(found, "a SELECT that assigns and returns")
		}
	})
	return found
}

// inner calls f for queries that are part of another one, or of a view, and says which columns are named beside them.
func inner(script *ast.Script, f func(kind string, q *ast.QuerySpecification, named bool)) {
	each := func(kind string, e any, named bool) {
		for {
			switch q := e.(type) {
			case *ast.QueryParenthesisExpression:
				e = q.QueryExpression
				continue
			case *ast.BinaryQueryExpression: // the first one names the columns
				e = q.FirstQueryExpression
				continue
			case *ast.QuerySpecification:
				f(kind, q, named)
			}
			return
		}
	}
	Walk(script, func(n any) {
		switch n := n.(type) {
		case *ast.QueryDerivedTable:
			each("a derived table", n.QueryExpression, len(n.Columns) > 0)
		case *ast.CommonTableExpression:
			each("a common table expression", n.QueryExpression, len(n.Columns) > 0)
		case *ast.CreateViewStatement:
			each("a view", n.SelectStatement.QueryExpression, len(n.Columns) > 0)
		case *ast.ScalarSubquery:
			each("a subquery", n.QueryExpression, true)
		case *ast.ExistsPredicate:
			each("a subquery", n.Subquery, true)
		case *ast.BooleanInExpression:
			if n.Subquery != nil {
				each("a subquery", n.Subquery, true)
			}
		}
	})
}

func innerOrders(script *ast.Script) (found []string) {
	inner(script, func(kind string, q *ast.QuerySpecification, _ bool) {
		if q.OrderByClause != nil && q.TopRowFilter == nil && q.OffsetClause == nil && q.ForClause == nil {
			found = append(found, "ORDER BY in "+kind)
		}
	})
	return found
}

func topOffset(script *ast.Script) (found []string) {
	Walk(script, func(n any) {
		if q, ok := n.(*ast.QuerySpecification); ok && q.TopRowFilter != nil && q.OffsetClause != nil {
			found = append(found, "TOP with OFFSET")
		}
	})
	return found
}

// columnName is the name of a column that SELECT lists, "" where it has none; ok is false for what is no column.
func columnName(e ast.SelectElement) (name string, ok bool) {
	s, ok := e.(*ast.SelectScalarExpression)
	if !ok {
		return "", false
	}
	if s.ColumnName != nil {
		if s.ColumnName.Identifier != nil {
			return s.ColumnName.Identifier.Value, true
		}
		return "a literal", true
	}
	if c, is := s.Expression.(*ast.ColumnReferenceExpression); is && c.MultiPartIdentifier != nil {
		ids := c.MultiPartIdentifier.Identifiers
		return ids[len(ids)-1].Value, true
	}
	return "", true
}

func namelessColumns(script *ast.Script) (found []string) {
	inner(script, func(kind string, q *ast.QuerySpecification, named bool) {
		for i, e := range q.SelectElements {
			if name, ok := columnName(e); ok && name == "" && !named {
				found = append(found, fmt.Sprintf("column %d of %s", i+1, kind))
			}
		}
	})
	return found
}

// jsonQueries calls f for the names of the columns of each FOR JSON.
func jsonQueries(script *ast.Script, f func(names []string)) {
	Walk(script, func(n any) {
		q, ok := n.(*ast.QuerySpecification)
		if !ok {
			return
		}
		if _, is := q.ForClause.(*ast.JsonForClause); !is {
			return
		}
		var names []string
		for _, e := range q.SelectElements {
			if name, ok := columnName(e); ok {
				names = append(names, name)
			}
		}
		f(names)
	})
}

func namelessJSON(script *ast.Script) (found []string) {
	jsonQueries(script, func(names []string) {
		if i := slices.Index(names, ""); i >= 0 {
			found = append(found, fmt.Sprintf("column %d of FOR JSON", i+1))
		}
	})
	return found
}

func twiceInJSON(script *ast.Script) (found []string) {
	jsonQueries(script, func(names []string) {
		for i, name := range names {
			if name != "" && slices.Index(names, name) < i {
				found = append(found, name+" twice in FOR JSON")
			}
		}
	})
	return found
}
