package tsqltest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sqlc-dev/teesql/ast"
)

func controlRefusals() []Refusal {
	const throw, transactions = "THROW (Transact-SQL)", "XACT_STATE (Transact-SQL)"
	return []Refusal{
		{443, "CREATE FUNCTION (Transact-SQL)", "a function may not change anything, nor call what is different at each call", sideEffects},
		{134, "DECLARE @local_variable (Transact-SQL)", "a variable is declared once in a batch, whether it is a table or not", declaredTwice},
		{137, "Contained Database Collations", "variables have the collation of the server, which may tell capitals: a variable is written as it was declared", func(s *ast.Script) []string { return otherCases(s) }},
		{102, "EXECUTE (Transact-SQL)", "an argument of EXEC is a constant or a variable", computedArguments},
		{111, "CREATE PROCEDURE (Transact-SQL)", "what creates a procedure, a function, a view, a trigger or a schema is the first statement of its batch", laterCreates},
		{214, "sp_executesql (Transact-SQL)", "the statement that sp_executesql runs is Unicode", narrowStatements},
		{10704, throw, "THROW without arguments stands in a CATCH block", barethrows},
		{35100, throw, "the number of THROW is 50000 or above", throwNumbers},
		{2787, throw, "a percent sign in the message of THROW is doubled", throwPercents},
		{3930, transactions, "what caught an error may be in a transaction that can only be rolled back: it writes and commits only after XACT_STATE()", doomed},
		{266, "COMMIT TRANSACTION (Transact-SQL)", "a procedure ends with as many transactions open as it began with", unevenTransactions},
		{3951, "SET TRANSACTION ISOLATION LEVEL (Transact-SQL)", "a transaction that began at another level does not become SNAPSHOT", snapshots},
		{201, "sp_getapplock (Transact-SQL)", "sp_getapplock has these parameters, in these letters, and knows these modes and owners", applicationLocks},
	}
}

// otherCases finds variables in other letters than those that they were declared in. Names of parameters in a call
// are those of another text.
func otherCases(script *ast.Script, params ...string) (found []string) {
	for _, b := range script.Batches {
		declared, passed := map[string]string{}, map[*ast.VariableReference]bool{}
		for _, p := range params {
			declared["@"+strings.ToLower(p)] = "@" + p
		}
		declare := func(name *ast.Identifier) {
			if name != nil {
				declared[strings.ToLower(name.Value)] = name.Value
			}
		}
		Walk(b, func(n any) {
			switch n := n.(type) {
			case *ast.DeclareVariableElement:
				declare(n.VariableName)
			case *ast.DeclareTableVariableBody:
				declare(n.VariableName)
			case *ast.ProcedureParameter:
				declare(n.VariableName)
			case *ast.ExecuteParameter:
				passed[n.Variable] = true
			}
		})
		Walk(b, func(n any) {
			v, ok := n.(*ast.VariableReference)
			if is := declared[strings.ToLower(nameOfVariable(v))]; ok && !passed[v] && is != "" && is != v.Name {
				found = append(found, fmt.Sprintf("%s, which is declared as %s", v.Name, is))
			}
		})
	}
	return found
}

func nameOfVariable(v *ast.VariableReference) string {
	if v == nil {
		return ""
	}
	return v.Name
}

func computedArguments(script *ast.Script) (found []string) {
	Walk(script, func(n any) {
		p, ok := n.(*ast.ExecuteParameter)
		if !ok || p.ParameterValue == nil {
			return
		}
		switch p.ParameterValue.(type) {
		case *ast.BinaryExpression, *ast.FunctionCall, *ast.ParenthesisExpression, *ast.ScalarSubquery, *ast.CastCall, *ast.CoalesceExpression, *ast.SearchedCaseExpression, *ast.IIfCall:
			found = append(found, "an expression as an argument of EXEC")
		}
	})
	return found
}

func laterCreates(script *ast.Script) (found []string) {
	for _, b := range script.Batches {
		for i, s := range b.Statements {
			switch s.(type) {
			case *ast.CreateProcedureStatement, *ast.CreateFunctionStatement, *ast.CreateViewStatement, *ast.CreateTriggerStatement, *ast.CreateSchemaStatement:
				if i > 0 {
					found = append(found, fmt.Sprintf("%s as statement %d of a batch", kindOf(s), i+1))
				}
			}
		}
	}
	return found
}

// called calls f for each call of a procedure.
func called(script *ast.Script, f func(name string, call *ast.ExecutableProcedureReference)) {
	Walk(script, func(n any) {
		call, ok := n.(*ast.ExecutableProcedureReference)
		if ok && call.ProcedureReference != nil && call.ProcedureReference.ProcedureReference != nil {
			f(strings.ToLower(nameOf(call.ProcedureReference.ProcedureReference.Name)), call)
		}
	})
}

func narrowStatements(script *ast.Script) (found []string) {
	called(script, func(name string, call *ast.ExecutableProcedureReference) {
		if name != "sp_executesql" || len(call.Parameters) == 0 {
			return
		}
		if s, ok := call.Parameters[0].ParameterValue.(*ast.StringLiteral); ok && !s.IsNational {
			found = append(found, "a statement without N'")
		}
	})
	return found
}

func barethrows(script *ast.Script) (found []string) {
	caught := map[any]bool{}
	Walk(script, func(n any) {
		if t, ok := n.(*ast.TryCatchStatement); ok {
			Walk(t.CatchStatements, func(n any) { caught[n] = true })
		}
	})
	Walk(script, func(n any) {
		if t, ok := n.(*ast.ThrowStatement); ok && t.ErrorNumber == nil && !caught[n] {
			found = append(found, "THROW outside of a CATCH block")
		}
	})
	return found
}

func throwNumbers(script *ast.Script) (found []string) {
	const lowest = 50000
	Walk(script, func(n any) {
		t, ok := n.(*ast.ThrowStatement)
		if !ok {
			return
		}
		if l, ok := t.ErrorNumber.(*ast.IntegerLiteral); ok {
			if number, err := strconv.Atoi(l.Value); err != nil || number < lowest {
				found = append(found, "THROW "+l.Value)
			}
		}
	})
	return found
}

func throwPercents(script *ast.Script) (found []string) {
	Walk(script, func(n any) {
		t, ok := n.(*ast.ThrowStatement)
		if !ok {
			return
		}
		if l, ok := t.Message.(*ast.StringLiteral); ok && strings.Contains(strings.ReplaceAll(l.Value, "%%", ""), "%") {
			found = append(found, "a percent sign in a message")
		}
	})
	return found
}

// doomed finds writes and commits in CATCH blocks that do not ask what the transaction can still do. A block that
// throws or rolls back first does neither.
func doomed(script *ast.Script) (found []string) {
	Walk(script, func(n any) {
		t, ok := n.(*ast.TryCatchStatement)
		if !ok {
			return
		}
		asked := false
		Walk(t.CatchStatements, func(n any) {
			if call, ok := n.(*ast.FunctionCall); ok && strings.EqualFold(call.FunctionName.Value, "XACT_STATE") {
				asked = true
			}
		})
		if asked || t.CatchStatements == nil {
			return
		}
		for _, c := range Changes(&ast.Script{Batches: []*ast.Batch{{Statements: t.CatchStatements.Statements}}}) {
			if !strings.HasPrefix(c.Table, "@") {
				found = append(found, fmt.Sprintf("a change of %s in a CATCH block", c.Table))
			}
		}
		Walk(t.CatchStatements, func(n any) {
			if _, ok := n.(*ast.CommitTransactionStatement); ok {
				found = append(found, "COMMIT in a CATCH block")
			}
		})
	})
	return found
}

func unevenTransactions(script *ast.Script) (found []string) {
	Walk(script, func(n any) {
		p, ok := n.(*ast.CreateProcedureStatement)
		if !ok {
			return
		}
		open := 0
		Walk(p, func(n any) {
			switch n.(type) {
			case *ast.BeginTransactionStatement:
				open++
			case *ast.CommitTransactionStatement:
				open--
			}
		})
		if open != 0 {
			found = append(found, fmt.Sprintf("%s leaves %d transactions open", nameOf(p.ProcedureReference.Name), open))
		}
	})
	return found
}

func snapshots(script *ast.Script) (found []string) {
	Walk(script, func(n any) {
		if s, ok := n.(*ast.SetTransactionIsolationLevelStatement); ok && strings.EqualFold(s.Level, "Snapshot") {
			found = append(found, "SET TRANSACTION ISOLATION LEVEL SNAPSHOT")
		}
	})
	return found
}

// applicationLocks checks calls of sp_getapplock. Names of parameters are compared by the letters: those of system
// procedures are, on a server whose collation tells capitals.
func applicationLocks(script *ast.Script) (found []string) {
	known := map[string][]string{
		"@Resource": nil, "@LockTimeout": nil, "@DbPrincipal": nil,
		"@LockMode": {"Shared", "Update", "IntentShared", "IntentExclusive", "Exclusive"}, "@LockOwner": {"Transaction", "Session"},
	}
	called(script, func(name string, call *ast.ExecutableProcedureReference) {
		if name != "sp_getapplock" {
			return
		}
		for _, p := range call.Parameters {
			allowed, is := known[nameOfVariable(p.Variable)]
			if !is {
				found = append(found, fmt.Sprintf("sp_getapplock with %q", nameOfVariable(p.Variable)))
			}
			if l, ok := p.ParameterValue.(*ast.StringLiteral); ok && allowed != nil && !slices.Contains(allowed, l.Value) {
				found = append(found, fmt.Sprintf("sp_getapplock with %s = %s", p.Variable.Name, l.Value))
			}
		}
	})
	return found
}
