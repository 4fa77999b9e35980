package evidence

import (
	"strings"
	"testing"
)

const showplan = `<?xml version="1.0" encoding="utf-16"?>
<ShowPlanXML xmlns="http://schemas.microsoft.com/sqlserver/2004/07/showplan" Version="1.5"><BatchSequence><Batch><Statements><StmtSimple StatementText="SELECT"><QueryPlan>
<MemoryGrantInfo SerialRequiredMemory="512" SerialDesiredMemory="GRANT"/>
OUTER<RelOp PhysicalOp="Nested Loops"><NestedLoops>
<RelOp PhysicalOp="INNER"><TableScan><Object Table="[@runs]"/></TableScan></RelOp>
<RelOp PhysicalOp="Clustered Index Seek"><IndexScan><Object Schema="[pawl]" Table="[outbox_message]" Index="[PK]"/></IndexScan></RelOp>
</NestedLoops></RelOp>END
</QueryPlan></StmtSimple></Statements></Batch></BatchSequence></ShowPlanXML>`

// D-822: a sort is found above a join that reads messages, not below it, and the largest grant of memory.
func TestPlans(t *testing.T) {
	document := func(outer, end, inner, grant string) string {
		return strings.NewReplacer("OUTER", outer, "END", end, "INNER", inner, "GRANT", grant).Replace(showplan)
	}
	for name, c := range map[string]struct {
		text string
		want plan
	}{
		"above":  {document(`<RelOp PhysicalOp="Sort"><Sort>`, `</Sort></RelOp>`, "Table Scan", "70000"), plan{true, 70000}},
		"below":  {document("", "", "Sort", "1024"), plan{false, 1024}},
		"none":   {document("", "", "Table Scan", "0"), plan{}},
		"others": {strings.ReplaceAll(document(`<RelOp PhysicalOp="Sort"><Sort>`, `</Sort></RelOp>`, "Table Scan", "1"), "[outbox_message]", "[outbox_ready]"), plan{false, 1}},
	} {
		var got plan
		if err := got.add(c.text); err != nil || got != c.want {
			t.Errorf("%s: %+v, want %+v: %v", name, got, c.want, err)
		}
	}
	if err := new(plan).add("<ShowPlanXML"); err == nil {
		t.Error("half a plan was read")
	}
}

// D-822: every procedure is called with nothing in its parameters; a table is a variable.
func TestProcedureCalls(t *testing.T) {
	calls := callsOf("s", [][3]string{{"a", "", ""}, {"b", "@n", ""}, {"b", "@l", "list"}, {"b", "@m", "other"}})
	want := []procedureCall{{"a", "EXEC s.a"}, {"b", "DECLARE @t1 s.list; DECLARE @t2 s.other; EXEC s.b @n = NULL, @l = @t1, @m = @t2"}}
	if len(calls) != 2 || calls[0] != want[0] || calls[1] != want[1] {
		t.Errorf("%q", calls)
	}
}
