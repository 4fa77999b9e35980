package tsqltest

import (
	"fmt"
	"strings"

	"github.com/sqlc-dev/teesql/ast"
)

// Names knows what a schema's texts create. It is given them in the order in which a server
// gets them.
type Names struct {
	// Schema is the name of the schema that the texts are about.
	Schema string

	created map[string]bool
}

// Add returns the names that a text of the schema uses and that exist nowhere yet, and then adds
// those that it creates. The server looks tables up when a statement runs, and procedures when
// they are called; functions, types and sequences, and what a view reads, have to exist before
// what uses them is created (errors 4121, 2715, 208).
func (n *Names) Add(script *ast.Script) (missing []string) {
	if n.created == nil {
		n.created = map[string]bool{}
	}
	creates := createdNames(script)
	own := map[string]bool{}
	for _, name := range creates {
		own[name] = true
	}
	late := n.late(script)
	n.each(script, func(name, kind string) {
		if !n.created[name] && !own[name] && !(late && (kind == table || kind == procedure)) {
			missing = append(missing, fmt.Sprintf("the %s %s does not exist yet", kind, name))
		}
	})
	for _, name := range creates {
		n.created[name] = true
	}
	return missing
}

// Missing returns the names of the schema that a text uses and that nothing created.
func (n *Names) Missing(script *ast.Script) (missing []string) {
	n.each(script, func(name, kind string) {
		if !n.created[name] {
			missing = append(missing, fmt.Sprintf("the %s %s does not exist", kind, name))
		}
	})
	return missing
}

const (
	table     = "table"
	procedure = "procedure"
)

// late reports whether a text creates what the server binds when it runs: a procedure or a trigger.
func (n *Names) late(script *ast.Script) (is bool) {
	Walk(script, func(n any) {
		switch n.(type) {
		case *ast.CreateProcedureStatement, *ast.CreateTriggerStatement:
			is = true
		}
	})
	return is
}

// each calls f for every name of the schema that a text uses.
func (n *Names) each(script *ast.Script, f func(name, kind string)) {
	use := func(o *ast.SchemaObjectName, kind string) {
		if o != nil && o.SchemaIdentifier != nil && strings.EqualFold(o.SchemaIdentifier.Value, n.Schema) {
			f(strings.ToLower(nameOf(o)), kind)
		}
	}
	Walk(script, func(node any) {
		switch t := node.(type) {
		case *ast.NamedTableReference:
			use(t.SchemaObject, table)
		case *ast.SchemaObjectFunctionTableReference:
			use(t.SchemaObject, "function")
		case *ast.ProcedureReference:
			use(t.Name, procedure)
		case *ast.UserDataTypeReference:
			use(t.Name, "type")
		case *ast.NextValueForExpression:
			use(t.SequenceName, "sequence")
		case *ast.FunctionCall:
			of, ok := t.CallTarget.(*ast.MultiPartIdentifierCallTarget)
			if ids := identifiers(of); ok && len(ids) == 1 && strings.EqualFold(ids[0].Value, n.Schema) {
				f(strings.ToLower(t.FunctionName.Value), "function")
			}
		}
	})
}

func identifiers(c *ast.MultiPartIdentifierCallTarget) []*ast.Identifier {
	if c == nil || c.MultiPartIdentifier == nil {
		return nil
	}
	return c.MultiPartIdentifier.Identifiers
}

// createdNames are the names that a text creates, in lower case.
func createdNames(script *ast.Script) (all []string) {
	Walk(script, func(n any) {
		name := ""
		switch s := n.(type) {
		case *ast.CreateTableStatement:
			name = nameOf(s.SchemaObjectName)
		case *ast.CreateTypeTableStatement:
			name = nameOf(s.Name)
		case *ast.CreateSequenceStatement:
			name = nameOf(s.Name)
		case *ast.CreateViewStatement:
			name = nameOf(s.SchemaObjectName)
		case *ast.CreateFunctionStatement:
			name = nameOf(s.Name)
		case *ast.CreateProcedureStatement:
			name = nameOf(s.ProcedureReference.Name)
		}
		if name != "" {
			all = append(all, strings.ToLower(name))
		}
	})
	return all
}
