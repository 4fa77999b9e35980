package main

import (
	"bytes"
	"fmt"
	"strings"
)

const intro = `<!-- Written by go run ./tools/engine-contract: do not edit. -->

# What an engine holds

An engine is a folder of SQL and the Go that runs it, behind ` + "`engine.DB`" + `. This page says what another one would have to hold; the
command that writes it prints how many files and lines the engines there are take for it. How to write a statement is in
[CONTRIBUTING.md](../CONTRIBUTING.md); what the operations promise is in their doc comments, ` + "`go doc ./internal/engine/op`" + `. Loading a folder fails where a statement and its operation do not
fit, and the conformance suites (` + "`internal/test/enginetest`" + ` and its neighbours) say whether it keeps the promises.

`

func (c *contract) render() []byte {
	var b bytes.Buffer
	b.WriteString(intro)
	common, open := 0, 0
	for _, o := range c.operations {
		if o.common {
			common++
		} else {
			open++
		}
	}
	fmt.Fprintf(&b, "## In short\n\n")
	fmt.Fprintf(&b, "- %d operations. The statement of %d is the same text everywhere: a new engine writes none of them, unless its SQL needs another text.\n", len(c.operations), common)
	fmt.Fprintf(&b, "- %d operations are to be answered by a statement of the engine's own, or by Go where one statement cannot.\n", open)
	fmt.Fprintf(&b, "- %d methods of `engine.DB`: %s.\n", len(c.methods), "`"+strings.Join(c.methods, "`, `")+"`")
	fmt.Fprintf(&b, "- The schema, the views, and an `engine.Syntax`: how a parameter is written, and the clock.\n\n")
	c.renderOperations(&b)
	return b.Bytes()
}

// renderEngines is the table of what the engines hold.
func (c *contract) renderEngines() []byte {
	b := &bytes.Buffer{}
	b.WriteString("Files and lines, without tests:\n\n|  |")
	for _, e := range c.engines {
		fmt.Fprintf(b, " %s |", e.name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(c.engines)) + "\n")
	for _, row := range []struct {
		what string
		of   func(e *own) amount
	}{
		{"statements in internal/engine/op", func(*own) amount { return c.common }},
		{"statements of operations", func(e *own) amount { return e.statements }},
		{"statements that Go runs for an operation, and the engine's own", func(e *own) amount { return e.parts }},
		{"macros", func(e *own) amount { return e.macros }},
		{"schema", func(e *own) amount { return e.schema }},
		{"views", func(e *own) amount { return e.views }},
		{"routines that statements call", func(e *own) amount { return e.routines }},
		{"Go", func(e *own) amount { return e.code }},
		{"**needed for all operations**", needed},
		{"routines that only programs in other languages call", func(e *own) amount { return e.public }},
		{"rights", func(e *own) amount { return e.grants }},
	} {
		fmt.Fprintf(b, "| %s |", row.what)
		for _, e := range c.engines {
			n := row.of(e)
			fmt.Fprintf(b, " %d, %d lines |", n.files, n.lines)
		}
		b.WriteString("\n")
	}
	return b.Bytes()
}

func needed(e *own) (sum amount) {
	for _, n := range []amount{e.statements, e.parts, e.macros, e.schema, e.views, e.routines, e.code} {
		sum.add(n)
	}
	return sum
}

func (c *contract) renderOperations(b *bytes.Buffer) {
	b.WriteString("## The operations\n\n*common*: the statement is in `internal/engine/op`. *own*: in the engine's folder. *call*: derived from the fields, a call of a routine. *Go*: a function of the engine's answers it.\n\n| operation |")
	for _, e := range c.engines {
		fmt.Fprintf(b, " %s |", e.name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(c.engines)) + "\n")
	for _, o := range c.operations {
		fmt.Fprintf(b, "| `%s` |", o.name)
		for _, e := range c.engines {
			how := "Go"
			switch {
			case o.statement[e.name]:
				how = "own"
			case o.called[e.name]:
				how = "call"
			case o.common:
				how = "common"
			}
			fmt.Fprintf(b, " %s |", how)
		}
		b.WriteString("\n")
	}
}
