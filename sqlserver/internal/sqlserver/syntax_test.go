package sqlserver

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sqlc-dev/teesql/ast"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/sqlserver/internal/tsqltest"
)

// syntaxFile lists the statements of every text and the hints that they give.
const syntaxFile = "testdata/syntax.txt"

var updateSyntax = flag.Bool("update-syntax", false, "write "+syntaxFile)

// script is a text that the server is sent, and the parameters that it is sent with.
type sentText struct {
	text   string
	params []string
}

// sentTexts are all texts, by name.
func sentTexts(t *testing.T, names engine.Names) map[string]sentText {
	t.Helper()
	f, err := engine.Load(folder(), names)
	if err != nil {
		t.Fatal(err)
	}
	db := &DB{folder: f, opts: Options{Schema: names.Schema, Prefix: names.Prefix}}
	all := map[string]sentText{}
	for _, s := range f.Statements() {
		text, params := db.textOf(s), []string(nil)
		for i := range s.Parameters() {
			name, _ := s.Parameter(i + 1)
			params = append(params, name)
		}
		all[s.Name] = sentText{unquoteText(text.own), params}
		all[s.Name+" (caller's)"] = sentText{unquoteText(text.foreign), params}
	}
	for i, m := range f.Migrations {
		all[fmt.Sprintf("schema/%04d", i+1)] = sentText{text: f.Names.Render(m.Text)}
	}
	for _, o := range f.Objects {
		all[o.Kind+"/"+o.Name] = sentText{text: f.Names.Render(o.Text)}
	}
	for name, text := range map[string]string{
		"history": historyTable, "history read": historyRead, "objects read": objectRead, "versioned": readVersioned,
		"schema": fmt.Sprintf(createSchema, names.Schema), "types": makeTypes, "drop": dropOf(names, "thing"),
	} {
		all["go/"+name] = sentText{text: names.Render(text)}
	}
	moveTexts(db, all)
	all["go/lock"] = sentText{historyLock, []string{"p1"}}
	all["go/block"] = sentText{text: names.Render(blockOwn)}
	all["go/in order"] = sentText{text: names.Render(fmt.Sprintf(inOrder, 3))}
	own, foreign := strings.Builder{}, strings.Builder{}
	some := &text{own: "N'SELECT @a AS a'", declare: "N'@a int'", params: 1}
	own.WriteString(begin)
	some.call(&own, some.own, 0)
	own.WriteString(commit)
	foreign.WriteString(guard())
	some.call(&foreign, some.own, 0)
	foreign.WriteString(guarded)
	all["go/own transaction"] = sentText{own.String(), []string{"p1"}}
	all["go/caller's transaction"] = sentText{foreign.String(), []string{"p1"}}
	return all
}

// moveTexts are those of moves.
func moveTexts(db *DB, all map[string]sentText) {
	all["go/fence lock"], all["go/fence unlock"] = sentText{text: lockFence}, sentText{text: unlockFence}
	all["go/move pass"] = sentText{pass, []string{"p1"}}
	tables := engine.Tables()
	for i := range tables {
		s := db.stored(&tables[i])
		keys := []string{"p1", "p2", "p3", "p4"}[:len(s.Key)+1]
		all["go/fence "+s.name] = sentText{text: s.createFence(engine.Fence{ID: [16]byte{1}, Place: "sqlserver://u:xxxxx@h?app%20name=it's"})}
		all["go/fence drop "+s.name] = sentText{text: s.dropFence()}
		all["go/move read "+s.name] = sentText{s.page(false), keys[:1]}
		all["go/move next "+s.name] = sentText{s.page(true), keys}
		all["go/move put "+s.name] = sentText{s.put(), []string{"p1", "p2"}}
		all["go/move analyze "+s.name] = sentText{text: s.analysis()}
		all["go/move delete "+s.name] = sentText{s.deletion(), keys[:len(s.Key)]}
	}
}

// OBX-001: every text that the server is sent is T-SQL of SQL Server 2016: nothing of it
// is newer, no statement is one that pawl does without, every variable is declared, and no
// statement takes more rows than it may.
func TestTextsAreTSQL(t *testing.T) {
	for _, names := range []engine.Names{{Schema: "pawl"}, {Schema: "Other", Prefix: "x_"}} {
		for name, sent := range sentTexts(t, names) {
			script, err := tsqltest.Parse(sent.text)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			for _, problem := range tsqltest.Problems(script, sent.params...) {
				if name != engine.Routines+"/outbox_sequence" || !strings.HasPrefix(problem, "TOP of @") { // it has to see past all that others keep locked; its table's locks never escalate
					t.Errorf("%s: %s", name, problem)
				}
			}
			for _, problem := range hintProblems(name, script) {
				t.Errorf("%s: %s", name, problem)
			}
			if strings.Contains(sent.text, "sys.databases") && strings.Contains(sent.text, "DB_ID(") {
				t.Errorf("%s: DB_ID() is another number than sys.databases has on Azure SQL: compare names", name)
			}
		}
	}
}

// parsed parses a text under names.
func parsed(t *testing.T, name, text string) *ast.Script {
	t.Helper()
	script, err := tsqltest.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return script
}

// D-500: with a schema and a prefix of one's own every name in a text is one that a text creates,
// and what has to exist before it is used is created before: types in a transaction before that of
// the migrations, functions before procedures and views.
func TestNamesExistInOrder(t *testing.T) {
	for _, n := range []engine.Names{{Schema: "pawl"}, {Schema: "Other", Prefix: "x_"}} {
		f, err := engine.Load(folder(), n)
		if err != nil {
			t.Fatal(err)
		}
		names := tsqltest.Names{Schema: n.Schema}
		inOrder := func(name, text string) {
			for _, missing := range names.Add(parsed(t, name, n.Render(text))) {
				t.Errorf("%s: %s", name, missing)
			}
		}
		inOrder("types", makeTypes)
		inOrder("history", historyTable)
		for i := range f.Migrations {
			inOrder(f.Migrations[i].Name, f.Migrations[i].Text)
		}
		for i := range f.Objects {
			inOrder(f.Objects[i].Name, f.Objects[i].Text)
		}
		for name, sent := range sentTexts(t, n) {
			if strings.HasPrefix(name, "go/fence") || name == "go/drop" {
				continue // of a table that is none, and of triggers
			}
			for _, missing := range names.Missing(parsed(t, name, sent.text)) {
				t.Errorf("%s: %s", name, missing)
			}
		}
	}
}

// D-501: locks on rows of pawl's tables never become one on the table.
func TestLocksDoNotEscalate(t *testing.T) {
	never := map[string]bool{}
	var tables []string
	for name, sent := range sentTexts(t, engine.Names{Schema: "pawl"}) {
		if !strings.HasPrefix(name, "schema/") {
			continue
		}
		script := parsed(t, name, sent.text)
		for _, table := range tsqltest.Tables(script) {
			tables = append(tables, table.Name)
		}
		tsqltest.Walk(script, func(n any) {
			set, ok := n.(*ast.AlterTableSetStatement)
			if !ok {
				return
			}
			for _, o := range set.Options {
				if e, ok := o.(*ast.LockEscalationTableOption); ok && strings.EqualFold(e.Value, "Disable") {
					never[set.SchemaObjectName.BaseIdentifier.Value] = true
				}
			}
		})
	}
	for _, table := range tables {
		if !never[table] {
			t.Errorf("%s: no LOCK_ESCALATION = DISABLE", table)
		}
	}
	if len(tables) < 15 {
		t.Errorf("%d tables", len(tables))
	}
}

// hintProblems are breaches of the rules for hints: what skips locked rows locks those
// that it takes, row by row, or only looks; and nothing locks whole tables, or reads
// what is not committed, but for the look that finds out what is locked.
func hintProblems(name string, script *ast.Script) (found []string) {
	tsqltest.Walk(script, func(n any) {
		t, ok := n.(*ast.NamedTableReference)
		if !ok {
			return
		}
		hints := slices.DeleteFunc(tsqltest.Hints(t), func(hint string) bool { return hint == "INDEX" })
		looks := slices.Equal(hints, []string{"READCOMMITTEDLOCK", "READPAST"}) // see the macro unlocked
		if slices.Contains(hints, "READPAST") && !looks && (!slices.Contains(hints, "UPDLOCK") && !slices.Contains(hints, "XLOCK") || slices.Contains(hints, "ROWLOCK") == slices.Contains(hints, "READCOMMITTEDLOCK")) {
			found = append(found, fmt.Sprintf("READPAST with the hints %v", hints))
		}
		for _, bad := range []string{"NOLOCK", "READUNCOMMITTED", "TABLOCK", "TABLOCKX", "PAGLOCK", "SNAPSHOT"} {
			if slices.Contains(hints, bad) && (name != engine.Routines+"/outbox_sequence" || bad != "READUNCOMMITTED") {
				found = append(found, "the hint "+bad)
			}
		}
	})
	return found
}

// runTables are the tables in which runs, timers and job runs wait for somebody to claim them.
var runTables = []string{"outbox_ready", "timer", "job_run"}

// The routines that claim skip what others have locked and lock what they take, in two
// variants, or by READCOMMITTEDLOCK alone: where READ_COMMITTED_SNAPSHOT is ON the server
// refuses READPAST without it, and where no pages are locked ROWLOCK adds nothing. What a
// claim changes is what it locked. Runs of jobs are taken one by one, out of the runs of
// messages that they are part of.
func TestClaimsSkipLockedRows(t *testing.T) {
	claims := 0
	for name, sent := range sentTexts(t, engine.Names{Schema: "pawl"}) {
		if !strings.HasPrefix(name, engine.Routines+"/") || !strings.Contains(name, "_claim") || name == engine.Routines+"/job_claim_runs" {
			continue
		}
		script, err := tsqltest.Parse(sent.text)
		if err != nil {
			t.Fatal(err)
		}
		var plain, versioned, changes int
		for _, table := range runTables {
			for _, hints := range tsqltest.Hinted(script, table) {
				hints = slices.DeleteFunc(hints, func(hint string) bool { return hint == "INDEX" })
				switch {
				case slices.Equal(hints, []string{"READPAST", "ROWLOCK", "UPDLOCK"}):
					plain++
				case slices.Equal(hints, []string{"READCOMMITTEDLOCK", "READPAST", "UPDLOCK"}):
					versioned++
				case slices.Contains(hints, "UPDLOCK"):
					t.Errorf("%s: a claim from %s with the hints %v", name, table, hints)
				}
			}
		}
		for _, c := range tsqltest.Changes(script) {
			if slices.Contains(runTables, c.Table) && c.Kind != "Insert" {
				changes++
			}
		}
		if changes == 0 {
			continue // it calls one that claims
		}
		if claims++; versioned == 0 || plain > 0 && plain != versioned {
			t.Errorf("%s: %d claims with ROWLOCK, %d with READCOMMITTEDLOCK, for %d changes", name, plain, versioned, changes)
		}
	}
	if claims == 0 {
		t.Error("no routine claims")
	}
}

// settling are parts of the names of routines that claim, settle, extend and reap.
var settling = regexp.MustCompile(`_(claim|claim_\w+|ack|abandon|fail|release|extend|park|reap)(_runs)?$`)

// A claim or a settlement deletes and updates run by run what it knows by its key: with
// ROWLOCK, or rows that it has locked before and remembers, or that it locks in the same
// statement.
func TestSettlementsLockRows(t *testing.T) {
	changes := 0
	for name, sent := range sentTexts(t, engine.Names{Schema: "pawl"}) {
		if !strings.HasPrefix(name, engine.Routines+"/") || !settling.MatchString(name) {
			continue
		}
		script, err := tsqltest.Parse(sent.text)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range tsqltest.Changes(script) {
			if c.Table != "outbox_ready" && c.Table != "outbox_claimed" || c.Kind == "Insert" {
				continue
			}
			if changes++; !slices.Contains(c.Hints, "ROWLOCK") && !knowsRows(&c) {
				t.Errorf("%s: a %s of %s with the hints %v", name, c.Kind, c.Table, c.Hints)
			}
		}
	}
	if changes == 0 {
		t.Error("no routine settles")
	}
}

// knowsRows reports whether a change names its rows by a list that the routine has, or
// that it reads with locks on it.
func knowsRows(c *tsqltest.Change) (known bool) {
	tsqltest.Walk(c.Node, func(n any) {
		switch t := n.(type) {
		case *ast.VariableTableReference:
			known = known || t.Variable.Name != outputOf(c)
		case *ast.NamedTableReference:
			known = known || slices.Contains(tsqltest.Hints(t), "UPDLOCK")
		}
	})
	return known
}

// outputOf is the table variable that a change puts its rows into.
func outputOf(c *tsqltest.Change) (name string) {
	tsqltest.Walk(c.Node, func(n any) {
		if o, ok := n.(*ast.OutputIntoClause); ok {
			if v, ok := o.IntoTable.(*ast.VariableTableReference); ok {
				name = v.Variable.Name
			}
		}
	})
	return name
}

// No table lies in the order of a uniqueidentifier, and none backwards.
func TestClusteredKeys(t *testing.T) {
	tables := 0
	for name, sent := range sentTexts(t, engine.Names{Schema: "pawl"}) {
		if !strings.HasPrefix(name, "schema/") {
			continue
		}
		script, err := tsqltest.Parse(sent.text)
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range tsqltest.Tables(script) {
			tables++
			if len(table.Clustered) == 0 {
				t.Errorf("%s is a heap", table.Name)
			}
			for i, c := range table.Clustered {
				if c.Descending || c.Type == "uniqueidentifier" && i == 0 {
					t.Errorf("%s lies in the order of %s, a %s", table.Name, c.Name, c.Type)
				}
			}
		}
	}
	if tables < 15 {
		t.Errorf("%d tables", tables)
	}
}

// created finds what a text creates in a schema.
var created = regexp.MustCompile(`(?i)\b(?:CREATE\s+(?:TABLE|TYPE|SEQUENCE|VIEW|PROCEDURE|FUNCTION|SYNONYM|TRIGGER)\s+"?\w+"?\.|CONSTRAINT\s+)"?(\w+)`)

// Tables, views, procedures, functions, sequences and constraints share the names of a
// schema: the server refuses the second one (error 2714). Babelfish does not.
func TestNamesAreUnique(t *testing.T) {
	in := map[string]string{}
	for name, sent := range sentTexts(t, engine.Names{Schema: "pawl"}) {
		for _, match := range created.FindAllStringSubmatch(sent.text, -1) {
			object := strings.ToLower(match[1])
			if other, twice := in[object]; twice {
				t.Errorf("%s and %s both create %s", name, other, object)
			}
			in[object] = name
		}
	}
	for _, object := range []string{"outbox_ready", "outbox_block", "timer_list", "outbox_item", "outbox_ack", "pawl_object", "move_inbox"} {
		if in[object] == "" {
			t.Errorf("nothing creates %s", object)
		}
	}
}

// The texts consist of exactly the statements, with exactly the hints, that the file
// lists; -update-syntax writes it.
func TestSyntax(t *testing.T) {
	var b strings.Builder
	all := sentTexts(t, engine.Names{Schema: "pawl"})
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if strings.HasSuffix(name, " (caller's)") {
			continue
		}
		script, err := tsqltest.Parse(all[name].text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		fmt.Fprintf(&b, "%s: %s\n", name, counted(tsqltest.Kinds(script)))
		for _, line := range mentions(script) {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	if *updateSyntax {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(syntaxFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(syntaxFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != b.String() {
		t.Errorf("the texts are not those of %s: run go test ./sqlserver/internal/sqlserver -run TestSyntax -update-syntax, and look at what it changes", syntaxFile)
	}
}

// counted writes a list with equal neighbors as one: "Set×3".
func counted(list []string) string {
	var all []string
	for i := 0; i < len(list); {
		n := 1
		for i+n < len(list) && list[i+n] == list[i] {
			n++
		}
		word := list[i]
		if n > 1 {
			word += "×" + strconv.Itoa(n)
		}
		all, i = append(all, word), i+n
	}
	return strings.Join(all, " ")
}

// mentions are the changes of a text to tables, and the hints of those it reads.
func mentions(script *ast.Script) (lines []string) {
	targets := map[any]bool{}
	for _, c := range tsqltest.Changes(script) {
		if !strings.HasPrefix(c.Table, "@") {
			lines = append(lines, strings.TrimRight(fmt.Sprintf("%s %s %s", strings.ToLower(c.Kind), c.Table, strings.Join(c.Hints, " ")), " "))
		}
		targets[c.Target()] = true
	}
	tsqltest.Walk(script, func(n any) {
		if t, ok := n.(*ast.NamedTableReference); ok && !targets[n] {
			if hints := tsqltest.Hints(t); len(hints) > 0 {
				lines = append(lines, "read "+t.SchemaObject.BaseIdentifier.Value+" "+strings.Join(hints, " "))
			}
		}
	})
	return lines
}
