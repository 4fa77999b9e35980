package tsqltest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/sqlc-dev/teesql/ast"
)

// Refusal is something that SQL Server refuses, and that the parser accepts.
type Refusal struct {
	// Number is the error's.
	Number int
	// Source is the page of the maker's documentation that has it, by its title.
	Source string
	// Says is what the documentation says of it.
	Says string
	// Find returns what a text has of it.
	Find func(script *ast.Script) []string
}

// Refusals are those that are known of texts by themselves. [Names] finds what depends on
// other texts: names that do not exist, and what is created too early.
func Refusals() []Refusal {
	return slices.Concat(hintRefusals(), changeRefusals(), queryRefusals(), sequenceRefusals(), controlRefusals())
}

func hintRefusals() []Refusal {
	const hints = "Table Hints (Transact-SQL)"
	return []Refusal{
		{10724, hints, "FORCESEEK may not be given on the target of a change, but on a table in its FROM, there without the parameters of an index; no index may be named on a target", targetHints},
		{1065, hints, "NOLOCK and READUNCOMMITTED may not be given on the target of a change", targetReads},
		{1047, hints, "hints of different isolation levels may not be given together", conflictingHints},
		{650, hints, "READPAST is allowed at READ COMMITTED and REPEATABLE READ alone", readPast},
		{1204, "Transaction Locking and Row Versioning Guide: lock escalation", "a statement that takes more than 5,000 locks takes one on the whole table: rows that are locked by a variable TOP are capped", cappedTops},
	}
}

// problemsOf are the breaches of one kind, with the error's number.
func (r *Refusal) problemsOf(script *ast.Script) (found []string) {
	for _, what := range r.Find(script) {
		found = append(found, fmt.Sprintf("%s (error %d: %s; %s)", what, r.Number, r.Says, r.Source))
	}
	return found
}

// named are the tables that FROM names by the target of a change.
func (c *Change) named() (all []*ast.NamedTableReference) {
	t, ok := c.target.(*ast.NamedTableReference)
	if !ok || t.SchemaObject.SchemaIdentifier != nil {
		return nil
	}
	Walk(c.from, func(n any) {
		if n, ok := n.(*ast.NamedTableReference); ok && n.Alias != nil && strings.EqualFold(n.Alias.Value, nameOf(t.SchemaObject)) {
			all = append(all, n)
		}
	})
	return all
}

func targetHints(script *ast.Script) (found []string) {
	for _, c := range Changes(script) {
		if t, ok := c.target.(*ast.NamedTableReference); ok {
			for _, hint := range Hints(t) {
				if hint == forceSeek || hint == "INDEX" {
					found = append(found, fmt.Sprintf("%s on %s, which is changed", hint, c.Table))
				}
			}
		}
		for _, t := range c.named() {
			for _, h := range t.TableHints {
				seek, ok := h.(*ast.ForceSeekTableHint)
				if _, index := h.(*ast.IndexTableHint); index || ok && seek.IndexValue != nil {
					found = append(found, fmt.Sprintf("an index is named on %s, which is changed", c.Table))
				}
			}
		}
	}
	return found
}

func targetReads(script *ast.Script) (found []string) {
	for _, c := range Changes(script) {
		for _, hint := range c.Hints {
			if hint == "NOLOCK" || hint == "READUNCOMMITTED" {
				found = append(found, fmt.Sprintf("%s on %s, which is changed", hint, c.Table))
			}
		}
	}
	return found
}

// levels are the isolation level that a hint asks for.
var levels = map[string]string{
	"NOLOCK": "uncommitted", "READUNCOMMITTED": "uncommitted", "READCOMMITTED": "committed", "READCOMMITTEDLOCK": "committed",
	"REPEATABLEREAD": "repeatable", "SERIALIZABLE": "serializable", "HOLDLOCK": "serializable", "SNAPSHOT": "snapshot",
}

func hinted(script *ast.Script, f func(table string, hints []string)) {
	Walk(script, func(n any) {
		if t, ok := n.(*ast.NamedTableReference); ok {
			f(nameOf(t.SchemaObject), Hints(t))
		}
	})
}

func conflictingHints(script *ast.Script) (found []string) {
	hinted(script, func(table string, hints []string) {
		level := ""
		for _, hint := range hints {
			if l := levels[hint]; l != "" && level != "" && l != level {
				found = append(found, fmt.Sprintf("the hints %v on %s", hints, table))
				return
			} else if l != "" {
				level = l
			}
		}
	})
	return found
}

func readPast(script *ast.Script) (found []string) {
	hinted(script, func(table string, hints []string) {
		if !slices.Contains(hints, "READPAST") {
			return
		}
		for _, hint := range hints {
			if l := levels[hint]; l != "" && l != "committed" && l != "repeatable" {
				found = append(found, fmt.Sprintf("READPAST with %s on %s", hint, table))
			}
		}
	})
	return found
}

// boundColumns looks for qualifiers statement by statement: what any FROM of a statement
// names may qualify a column anywhere in it.
func boundColumns(script *ast.Script) (found []string) {
	exposed := map[string]bool{"inserted": true, "deleted": true}
	Walk(script, func(n any) {
		if name := exposedName(n); name != "" {
			exposed[strings.ToLower(name)] = true
		}
	})
	Walk(script, func(n any) {
		c, ok := n.(*ast.ColumnReferenceExpression)
		if !ok || c.MultiPartIdentifier == nil {
			return
		}
		ids := c.MultiPartIdentifier.Identifiers
		if len(ids) < 2 {
			return
		}
		if of := ids[len(ids)-2].Value; !exposed[strings.ToLower(of)] {
			found = append(found, fmt.Sprintf("nothing is called %s, which qualifies %s", of, ids[len(ids)-1].Value))
		}
	})
	return found
}

// exposedName is the name by which FROM calls a table: its alias, or its own name.
func exposedName(n any) string {
	if f := reflect.ValueOf(n).Elem().FieldByName("Alias"); f.IsValid() {
		if alias, ok := f.Interface().(*ast.Identifier); ok && alias != nil {
			return alias.Value
		}
	}
	if t, ok := n.(*ast.NamedTableReference); ok {
		return nameOf(t.SchemaObject)
	}
	return ""
}

func nextValues(script *ast.Script) (found []string) {
	inside := func(n any) {
		Walk(n, func(n any) {
			if v, ok := n.(*ast.NextValueForExpression); ok {
				found = append(found, "NEXT VALUE FOR "+nameOf(v.SequenceName))
			}
		})
	}
	Walk(script, func(n any) {
		switch n.(type) {
		case *ast.CreateViewStatement, *ast.CreateFunctionStatement, *ast.ScalarSubquery, *ast.QueryDerivedTable, *ast.CommonTableExpression:
			inside(n)
		}
	})
	return found
}

func sideEffects(script *ast.Script) (found []string) {
	Walk(script, func(n any) {
		f, ok := n.(*ast.CreateFunctionStatement)
		if !ok {
			return
		}
		Walk(f, func(n any) {
			switch n := n.(type) {
			case *ast.FunctionCall:
				if name := strings.ToUpper(n.FunctionName.Value); n.CallTarget == nil && slices.Contains([]string{"RAND", "NEWID", "NEWSEQUENTIALID", "TEXTPTR"}, name) {
					found = append(found, fmt.Sprintf("%s in the function %s", name, nameOf(f.Name)))
				}
			case *ast.ExecuteStatement, *ast.ThrowStatement, *ast.RaiseErrorStatement, *ast.TryCatchStatement:
				found = append(found, fmt.Sprintf("%s in the function %s", kindOf(n), nameOf(f.Name)))
			}
		})
		for _, c := range Changes(&ast.Script{Batches: []*ast.Batch{{Statements: []ast.Statement{f}}}}) {
			if !strings.HasPrefix(c.Table, "@") {
				found = append(found, fmt.Sprintf("a change of %s in the function %s", c.Table, nameOf(f.Name)))
			}
		}
	})
	return found
}

func declaredTwice(script *ast.Script) (found []string) {
	for _, b := range script.Batches {
		declared := map[string]bool{}
		Walk(b, func(n any) {
			var name *ast.Identifier
			switch n := n.(type) {
			case *ast.DeclareVariableElement:
				name = n.VariableName
			case *ast.DeclareTableVariableBody:
				name = n.VariableName
			case *ast.ProcedureParameter:
				name = n.VariableName
			}
			if name == nil {
				return
			}
			if declared[strings.ToLower(name.Value)] {
				found = append(found, name.Value+" is declared twice")
			}
			declared[strings.ToLower(name.Value)] = true
		})
	}
	return found
}

func newerFunctions(script *ast.Script) (found []string) {
	Walk(script, func(n any) {
		why := ""
		switch n := n.(type) {
		case *ast.FunctionCall:
			why = newerCall(n)
		case *ast.GlobalFunctionTableReference:
			why = newerTable(n)
		}
		if why != "" {
			found = append(found, why)
		}
	})
	return found
}

// cappedTops finds variables in TOP of a query that locks, or of a change, of which the text
// does not say that they are at most [MostRows]: IF @v > 1000 SET @v = 1000.
func cappedTops(script *ast.Script) (found []string) {
	capped := capsOf(script)
	check := func(top *ast.TopRowFilter) {
		Walk(top, func(n any) {
			if v, ok := n.(*ast.VariableReference); ok && !capped[strings.ToLower(v.Name)] && !slices.Contains(found, "TOP of "+v.Name) {
				found = append(found, "TOP of "+v.Name)
			}
		})
	}
	Walk(script, func(n any) {
		switch n := n.(type) {
		case *ast.DeleteSpecification:
			check(n.TopRowFilter)
		case *ast.UpdateSpecification:
			check(n.TopRowFilter)
		case *ast.QuerySpecification:
			if locks(n.FromClause) {
				check(n.TopRowFilter)
			}
		}
	})
	return found
}

// locks reports whether a FROM locks what it reads until the transaction ends.
func locks(from *ast.FromClause) (is bool) {
	Walk(from, func(n any) {
		if t, ok := n.(*ast.NamedTableReference); ok {
			is = is || slices.ContainsFunc(Hints(t), func(hint string) bool { return hint == "UPDLOCK" || hint == "XLOCK" })
		}
	})
	return is
}

// capsOf are the variables that a text caps.
func capsOf(script *ast.Script) map[string]bool {
	capped := map[string]bool{}
	Walk(script, func(n any) {
		i, ok := n.(*ast.IfStatement)
		if !ok {
			return
		}
		above, ok := i.Predicate.(*ast.BooleanComparisonExpression)
		set, is := i.ThenStatement.(*ast.SetVariableStatement)
		if !ok || !is || !strings.EqualFold(above.ComparisonType, "GreaterThan") {
			return
		}
		v, ok := above.FirstExpression.(*ast.VariableReference)
		_, literal := set.Expression.(*ast.IntegerLiteral)
		if ok && literal && strings.EqualFold(v.Name, set.Variable.Name) && checkRows(set.Expression) == "" && checkRows(above.SecondExpression) == "" {
			capped[strings.ToLower(v.Name)] = true
		}
	})
	return capped
}
