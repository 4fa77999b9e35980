package tsqltest

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/sqlc-dev/teesql/ast"
)

// MostRows is how many rows a statement may name with TOP: locks escalate near 5,000.
const MostRows = 1000

// Problems are the breaches of the rules for pawl's texts. params are the names of the
// parameters that the text is run with, with or without their @.
//
// The rules: no MERGE, WAITFOR or CREATE OR ALTER; no common table expression and no
// derived table as the target of a change; nothing newer than SQL Server 2016 at
// compatibility level 130; no TOP of more than [MostRows] rows; no variable that is not
// declared; no variable that a query computes from itself row by row, which has no defined
// result: lists are built by FOR JSON; and nothing of [Refusals].
func Problems(script *ast.Script, params ...string) (found []string) {
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	Walk(script, func(n any) {
		if why := forbidden(n); why != "" {
			add("%s", why)
		}
	})
	if len(params) > 0 {
		found = append(found, otherCases(script, params...)...)
	}
	for _, name := range undeclared(script, params) {
		add("%s is not declared", name)
	}
	for _, name := range changedExpressions(script) {
		add("%s is no table, but the target of a change", name)
	}
	for _, r := range Refusals() {
		found = append(found, r.problemsOf(script)...)
	}
	return found
}

// forbidden says what is wrong with a node itself.
func forbidden(n any) string {
	kind := reflect.TypeOf(n).Elem().Name()
	switch {
	case strings.HasPrefix(kind, "CreateOrAlter"):
		return "CREATE OR ALTER"
	case forbiddenKinds[kind] != "":
		return forbiddenKinds[kind]
	}
	switch n := n.(type) {
	case *ast.TopRowFilter:
		return checkTop(n)
	case *ast.QuerySpecification:
		return accumulates(n)
	case *ast.BinaryExpression:
		if strings.Contains(n.BinaryExpressionType, "Shift") {
			return "an operator to shift bits is newer than SQL Server 2016"
		}
	}
	return ""
}

var forbiddenKinds = map[string]string{
	"MergeStatement":           "MERGE",
	"WaitForStatement":         "WAITFOR",
	"DistinctPredicate":        "IS DISTINCT FROM is newer than SQL Server 2016",
	"WindowClause":             "WINDOW is newer than SQL Server 2016",
	"DeclareCursorStatement":   "a cursor",
	"TruncateTableStatement":   "TRUNCATE TABLE, which takes the lock on the whole table",
	"SaveTransactionStatement": "a savepoint",
}

// newer are the functions that SQL Server 2016 at compatibility level 130 does not have.
var newer = []string{
	"APPROX_COUNT_DISTINCT", "APPROX_PERCENTILE_CONT", "APPROX_PERCENTILE_DISC", "BASE64_DECODE", "BASE64_ENCODE", "BIT_COUNT", "CONCAT_WS",
	"CURRENT_DATE", "DATETRUNC", "DATE_BUCKET", "GENERATE_SERIES", "GET_BIT", "GREATEST", "JSON_ARRAY", "JSON_ARRAYAGG", "JSON_CONTAINS", "JSON_OBJECT",
	"JSON_OBJECTAGG", "JSON_PATH_EXISTS", "LEAST", "LEFT_SHIFT", "PRODUCT", "REGEXP_COUNT", "REGEXP_INSTR", "REGEXP_LIKE", "REGEXP_MATCHES", "REGEXP_REPLACE",
	"REGEXP_SPLIT_TO_TABLE", "REGEXP_SUBSTR", "RIGHT_SHIFT", "SET_BIT", "STRING_AGG", "TRANSLATE", "TRIM", "UNISTR",
}

const newerText = "%s is newer than SQL Server 2016"

// newerCall finds functions that are newer, and arguments of old ones that are.
func newerCall(c *ast.FunctionCall) string {
	name := strings.ToUpper(c.FunctionName.Value)
	switch {
	case c.CallTarget == nil && slices.Contains(newer, name):
		return fmt.Sprintf(newerText, name)
	case slices.Contains([]string{"LTRIM", "RTRIM", "ISJSON"}, name) && len(c.Parameters) > 1:
		return fmt.Sprintf(newerText, name+" with a second argument")
	case len(c.IgnoreRespectNulls) > 0:
		return fmt.Sprintf(newerText, "IGNORE NULLS")
	}
	return ""
}

func newerTable(r *ast.GlobalFunctionTableReference) string {
	name := strings.ToUpper(r.Name.Value)
	if slices.Contains(newer, name) {
		return fmt.Sprintf(newerText, name)
	}
	if name == "STRING_SPLIT" && len(r.Parameters) > 2 {
		return fmt.Sprintf(newerText, name+" with a third argument")
	}
	return ""
}

func checkTop(t *ast.TopRowFilter) string {
	if t.Percent || t.WithTies {
		return "TOP with PERCENT or WITH TIES"
	}
	return checkRows(t.Expression)
}

// checkRows refuses a number of rows that is a literal above the limit, and what is
// neither a literal nor made of variables.
func checkRows(e ast.ScalarExpression) string {
	switch e := e.(type) {
	case *ast.ParenthesisExpression:
		return checkRows(e.Expression)
	case *ast.IntegerLiteral:
		if n, err := strconv.Atoi(e.Value); err != nil || n > MostRows {
			return fmt.Sprintf("TOP of %s rows, more than %d", e.Value, MostRows)
		}
		return ""
	}
	variables := false
	Walk(e, func(n any) {
		_, is := n.(*ast.VariableReference)
		variables = variables || is
	})
	if !variables {
		return "TOP of neither a number nor a variable"
	}
	return ""
}

// accumulates finds a variable that is assigned from itself for every row.
func accumulates(q *ast.QuerySpecification) (problem string) {
	if q.FromClause == nil {
		return ""
	}
	for _, e := range q.SelectElements {
		set, ok := e.(*ast.SelectSetVariable)
		if !ok {
			continue
		}
		Walk(set.Expression, func(n any) {
			if v, ok := n.(*ast.VariableReference); ok && strings.EqualFold(v.Name, set.Variable.Name) {
				problem = v.Name + " is computed from itself row by row"
			}
		})
		if !strings.EqualFold(set.AssignmentKind, "Equals") {
			problem = set.Variable.Name + " is computed from itself row by row"
		}
	}
	return problem
}

// undeclared are the variables of a text that neither it nor params declare.
func undeclared(script *ast.Script, params []string) (names []string) {
	declared, passed := map[string]bool{}, map[*ast.VariableReference]bool{}
	for _, p := range params {
		declared["@"+strings.ToLower(strings.TrimPrefix(p, "@"))] = true
	}
	Walk(script, func(n any) {
		switch n := n.(type) {
		case *ast.DeclareVariableElement:
			declared[strings.ToLower(n.VariableName.Value)] = true
		case *ast.DeclareTableVariableBody:
			if n.VariableName != nil {
				declared[strings.ToLower(n.VariableName.Value)] = true
			}
		case *ast.ProcedureParameter:
			declared[strings.ToLower(n.VariableName.Value)] = true
		case *ast.ExecuteParameter:
			passed[n.Variable] = true // a name of the procedure that is called
		}
	})
	Walk(script, func(n any) {
		v, ok := n.(*ast.VariableReference)
		if ok && !passed[v] && !declared[strings.ToLower(v.Name)] && !slices.Contains(names, v.Name) {
			names = append(names, v.Name)
		}
	})
	return names
}

// changedExpressions are the common table expressions and derived tables that
// statements of a text change.
func changedExpressions(script *ast.Script) (names []string) {
	expressions := map[string]bool{}
	Walk(script, func(n any) {
		switch n := n.(type) {
		case *ast.CommonTableExpression:
			expressions[strings.ToLower(n.ExpressionName.Value)] = true
		case *ast.QueryDerivedTable:
			if n.Alias != nil {
				expressions[strings.ToLower(n.Alias.Value)] = true
			}
		}
	})
	for _, c := range Changes(script) {
		t, ok := c.target.(*ast.NamedTableReference)
		if ok && t.SchemaObject.SchemaIdentifier == nil && (expressions[strings.ToLower(c.Table)] || !c.Alias && expressions[strings.ToLower(nameOf(t.SchemaObject))]) {
			names = append(names, c.Table)
		}
	}
	return names
}
