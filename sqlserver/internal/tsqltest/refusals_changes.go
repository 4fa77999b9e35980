package tsqltest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sqlc-dev/teesql/ast"
)

func changeRefusals() []Refusal {
	const output, tables = "OUTPUT Clause (Transact-SQL)", "Use Table-Valued Parameters (Database Engine)"
	return []Refusal{
		{332, output, "OUTPUT INTO a table that has triggers, constraints or foreign keys: a variable has none", outputTables},
		{10705, output, "OUTPUT holds no subquery", outputSubqueries},
		{345, output, "OUTPUT calls no function that reads, and one that is not bound to its schema is taken to", outputFunctions},
		{158, output, "OUTPUT holds no aggregate", outputAggregates},
		{352, tables, "a parameter that is a table is READONLY", writableTables},
		{10700, tables, "a parameter that is a table is not changed", changedTables},
		{10735, "Create Filtered Indexes", "the condition of a filtered index compares columns with constants, or asks for NULL, joined by AND", filters},
		{1934, "SET QUOTED_IDENTIFIER (Transact-SQL)", "a change of a table with a filtered index needs the session's usual settings", settings},
		{8164, "INSERT (Transact-SQL)", "INSERT … EXEC of what does so itself, and the caller of a procedure may", insertExec},
	}
}

// outputs calls f for each OUTPUT of a text.
func outputs(script *ast.Script, f func(columns []ast.SelectElement, into ast.TableReference)) {
	Walk(script, func(n any) {
		switch n := n.(type) {
		case *ast.OutputClause:
			f(n.SelectColumns, nil)
		case *ast.OutputIntoClause:
			f(n.SelectColumns, n.IntoTable)
		}
	})
}

func outputTables(script *ast.Script) (found []string) {
	outputs(script, func(_ []ast.SelectElement, into ast.TableReference) {
		if t, ok := into.(*ast.NamedTableReference); ok {
			found = append(found, "OUTPUT INTO "+nameOf(t.SchemaObject))
		}
	})
	return found
}

func outputSubqueries(script *ast.Script) (found []string) {
	outputs(script, func(columns []ast.SelectElement, _ ast.TableReference) {
		Walk(columns, func(n any) {
			switch n.(type) {
			case *ast.ScalarSubquery, *ast.ExistsPredicate:
				found = append(found, "a subquery in OUTPUT")
			}
		})
	})
	return found
}

func outputFunctions(script *ast.Script) (found []string) {
	outputs(script, func(columns []ast.SelectElement, _ ast.TableReference) {
		Walk(columns, func(n any) {
			if f, ok := n.(*ast.FunctionCall); ok && f.CallTarget != nil {
				found = append(found, f.FunctionName.Value+" in OUTPUT")
			}
		})
	})
	return found
}

func outputAggregates(script *ast.Script) (found []string) {
	outputs(script, func(columns []ast.SelectElement, _ ast.TableReference) {
		Walk(columns, func(n any) {
			if f, ok := n.(*ast.FunctionCall); ok && isAggregate(f) {
				found = append(found, f.FunctionName.Value+" in OUTPUT")
			}
		})
	})
	return found
}

// tableParameters are the parameters of a batch's procedure that are tables: those of a type with a schema.
func tableParameters(b *ast.Batch) (all []*ast.ProcedureParameter) {
	Walk(b, func(n any) {
		p, ok := n.(*ast.ProcedureParameter)
		if !ok {
			return
		}
		if t, ok := p.DataType.(*ast.UserDataTypeReference); ok && t.Name != nil && t.Name.SchemaIdentifier != nil {
			all = append(all, p)
		}
	})
	return all
}

func writableTables(script *ast.Script) (found []string) {
	for _, b := range script.Batches {
		for _, p := range tableParameters(b) {
			if !strings.EqualFold(p.Modifier, "ReadOnly") {
				found = append(found, p.VariableName.Value+" is not READONLY")
			}
		}
	}
	return found
}

func changedTables(script *ast.Script) (found []string) {
	for _, b := range script.Batches {
		for _, p := range tableParameters(b) {
			for _, c := range Changes(&ast.Script{Batches: []*ast.Batch{b}}) {
				if strings.EqualFold(c.Table, p.VariableName.Value) {
					found = append(found, c.Table+" is changed")
				}
			}
		}
	}
	return found
}

func filters(script *ast.Script) (found []string) {
	check := func(index *ast.Identifier, filter ast.BooleanExpression) {
		if filter != nil && !isFilter(filter) {
			found = append(found, "the condition of the index "+index.Value)
		}
	}
	Walk(script, func(n any) {
		switch n := n.(type) {
		case *ast.CreateIndexStatement:
			check(n.Name, n.FilterPredicate)
		case *ast.IndexDefinition:
			check(n.Name, n.FilterPredicate)
		}
	})
	return found
}

// isFilter reports whether a condition is one that a filtered index may have.
func isFilter(e ast.BooleanExpression) bool {
	column := func(e ast.ScalarExpression) bool { _, is := e.(*ast.ColumnReferenceExpression); return is }
	switch e := e.(type) {
	case *ast.BooleanBinaryExpression:
		return strings.EqualFold(e.BinaryExpressionType, "And") && isFilter(e.FirstExpression) && isFilter(e.SecondExpression)
	case *ast.BooleanParenthesisExpression:
		return isFilter(e.Expression)
	case *ast.BooleanComparisonExpression:
		return column(e.FirstExpression) && isConstant(e.SecondExpression)
	case *ast.BooleanIsNullExpression:
		return column(e.Expression)
	case *ast.BooleanInExpression:
		return column(e.Expression) && !e.NotDefined && e.Subquery == nil && !slices.ContainsFunc(e.Values, func(v ast.ScalarExpression) bool { return !isConstant(v) })
	}
	return false
}

// isConstant reports whether an expression is made of literals.
func isConstant(e ast.ScalarExpression) bool {
	constant := true
	Walk(e, func(n any) {
		switch n.(type) {
		case *ast.ColumnReferenceExpression, *ast.VariableReference, *ast.FunctionCall, *ast.ScalarSubquery:
			constant = false
		}
	})
	return constant
}

func settings(script *ast.Script) (found []string) {
	needed := []string{"QuotedIdentifier", "AnsiNulls", "AnsiPadding", "AnsiWarnings", "ConcatNullYieldsNull", "ArithAbort", "AnsiDefaults"}
	Walk(script, func(n any) {
		s, ok := n.(*ast.PredicateSetStatement)
		if !ok {
			return
		}
		for option := range strings.SplitSeq(s.Options, ",") {
			option = strings.TrimSpace(option)
			is := func(name string) bool { return strings.EqualFold(name, option) }
			if slices.ContainsFunc(needed, is) && !s.IsOn || is("NumericRoundAbort") && s.IsOn {
				found = append(found, fmt.Sprintf("SET %s is another than the index needs", option))
			}
		}
	})
	return found
}

func insertExec(script *ast.Script) (found []string) {
	Walk(script, func(n any) {
		if i, ok := n.(*ast.InsertSpecification); ok {
			if _, exec := i.InsertSource.(*ast.ExecuteInsertSource); exec {
				found = append(found, "INSERT … EXEC")
			}
		}
	})
	return found
}
