package sqlserver

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sqlc-dev/teesql/ast"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/sqlserver/internal/tsqltest"
)

// schemaColumn is a column of the schema.
type schemaColumn struct {
	name, kind       string
	identity, number bool // computed
}

// schemaTables are the columns of all tables that the migrations make.
func schemaTables(t *testing.T, f *engine.Folder) map[string][]schemaColumn {
	t.Helper()
	tables := map[string][]schemaColumn{}
	add := func(table string, columns []*ast.ColumnDefinition) {
		for _, c := range columns {
			kind := ""
			if d, ok := c.DataType.(*ast.SqlDataTypeReference); ok {
				kind = strings.ToLower(d.Name.BaseIdentifier.Value)
			}
			tables[table] = append(tables[table], schemaColumn{c.ColumnIdentifier.Value, kind, c.IdentityOptions != nil, c.ComputedColumnExpression != nil})
		}
	}
	for _, m := range f.Migrations {
		script, err := tsqltest.Parse(f.Names.Render(m.Text))
		if err != nil {
			t.Fatal(err)
		}
		tsqltest.Walk(script, func(n any) {
			switch s := n.(type) {
			case *ast.CreateTableStatement:
				add(s.SchemaObjectName.BaseIdentifier.Value, s.Definition.ColumnDefinitions)
			case *ast.AlterTableAddTableElementStatement:
				add(s.SchemaObjectName.BaseIdentifier.Value, s.Definition.ColumnDefinitions)
			}
		})
	}
	return tables
}

// kinds are the types of columns by their kinds.
var kinds = map[engine.Kind][]string{
	engine.Int: {"bigint", "int", "smallint"}, engine.Text: {"nvarchar"}, engine.Bytes: {"varbinary"}, engine.Payload: {"varbinary"}, engine.Bool: {"bit"},
	engine.UUID: {"uniqueidentifier"}, engine.Time: {"datetime2"}, engine.Until: {"datetime2"}, engine.Duration: {"bigint"},
}

// D-256: every table and column of the schema belongs to a store, and is moved, or to the database. What
// the server computes or numbers itself is not copied.
func TestTablesAreThoseOfTheSchema(t *testing.T) {
	f, err := engine.Load(folder(), engine.Names{Schema: "pawl"})
	if err != nil {
		t.Fatal(err)
	}
	tables := schemaTables(t, f)
	for _, table := range engine.Tables() {
		name := TableName(table.Name)
		want := map[string]engine.Kind{}
		for _, c := range table.Columns {
			want[c.Name] = c.Kind
		}
		if name == limitClaims { // one column in place of two: see source
			delete(want, "kind")
			delete(want, "name")
			want["of_limit"] = engine.Int
		}
		for _, c := range tables[name] {
			own := slices.ContainsFunc(table.Columns, func(m engine.Column) bool { return m.Name == c.name && m.Own })
			kind, moved := want[c.name]
			delete(want, c.name)
			switch {
			case c.number && moved, c.identity && moved && !own:
				t.Errorf("column %s of %s is moved, but the server makes it", c.name, name)
			case !moved && !c.number && !c.identity:
				t.Errorf("column %s of %s is neither moved nor made by the server", c.name, name)
			case moved && !slices.Contains(kinds[kind], c.kind):
				t.Errorf("column %s of %s is a %s, moved as kind %d", c.name, name, c.kind, kind)
			}
		}
		if len(want) > 0 {
			t.Errorf("table %s has no columns %v", name, want)
		}
		delete(tables, name)
	}
	own := strings.Fields("generation lease_waiter activity audit_trail worker_process move move_table")
	for name := range tables {
		if !slices.Contains(own, name) {
			t.Errorf("table %s is neither moved nor the database's own", name)
		}
	}
}

// computedSize finds how the sizes of names are computed.
var computedSize = regexp.MustCompile(`(?m)^  sizes? +AS (.*?),?\s*(?:--.*)?$`)

// D-316: keys whose texts differ in spaces at their end are distinguished by the very column that the
// indexes of names have for it, and the columns of lists do not collide.
func TestSizesAreThoseOfTheSchema(t *testing.T) {
	f, err := engine.Load(folder(), engine.Names{Schema: "pawl"})
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, m := range f.Migrations {
		text += f.Names.Render(m.Text)
	}
	for _, table := range engine.Tables() {
		var texts []string
		for _, c := range table.KeyColumns() {
			if c.Kind == engine.Text && c.Name != "kind" {
				texts = append(texts, c.Name)
			}
		}
		column, value := sizeOf(texts)
		if column == "" || table.Name == limitClaims {
			continue
		}
		_, create, _ := strings.Cut(text, fmt.Sprintf("CREATE TABLE \"pawl\".\"%s\" (", table.Name))
		create, _, _ = strings.Cut(create, "\n);")
		found := computedSize.FindStringSubmatch(create)
		if found == nil || strings.ReplaceAll(found[1], `"`, "") != value || !strings.Contains(create, "  "+column+" ") {
			t.Errorf("table %s: column %s is computed as %q, want %q", table.Name, column, found, value)
		}
	}
	for _, table := range engine.Tables() {
		names := []string{rowNumber}
		for _, c := range table.Columns {
			names = append(names, c.Name)
			if isBinary(c.Kind) {
				names = append(names, c.Name+payloadAt, c.Name+payloadSize)
			}
		}
		slices.Sort(names)
		if len(slices.Compact(slices.Clone(names))) != len(names) {
			t.Errorf("a list of %s has two columns of a name: %v", table.Name, names)
		}
	}
}

// D-318: no statement of pawl's has OUTPUT without INTO: a fence would refuse it before it can say where
// the store is, and keep a move's own transactions from what they do behind it.
func TestNothingHasOutputWithoutInto(t *testing.T) {
	changes := 0
	for name, sent := range sentTexts(t, engine.Names{Schema: "pawl"}) {
		script, err := tsqltest.Parse(sent.text)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range tsqltest.Changes(script) {
			changes++
			if c.Output && !strings.HasPrefix(c.Table, "@") {
				t.Errorf("%s: a %s of %s answers by OUTPUT", name, c.Kind, c.Table)
			}
		}
	}
	if changes < 100 {
		t.Errorf("%d changes", changes)
	}
}

// The doctor warns of triggers, but not of those of a store that was moved.
func TestFencesAreNoWarning(t *testing.T) {
	for _, prefix := range []string{"", "p_"} {
		f, err := engine.Load(folder(), engine.Names{Schema: "s", Prefix: prefix})
		if err != nil {
			t.Fatal(err)
		}
		x := &examiner{DB: &DB{folder: f, opts: Options{Schema: "s", Prefix: prefix}}}
		tables := engine.Tables()
		for i := range tables {
			s := x.stored(&tables[i])
			fence, table := strings.Trim(strings.TrimPrefix(s.fence(), `"s".`), `"`), prefix+s.name
			found := x.checkTriggers([]trigger{{fence, table}, {"mine", table}, {fence, prefix + "other"}})
			if len(found) != 2 || !strings.Contains(found[0].Summary, "mine") || !strings.Contains(found[1].Summary, "other") {
				t.Errorf("%s on %s: %v", fence, table, found)
			}
		}
	}
}
