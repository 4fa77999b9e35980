package sqlserver

import (
	"slices"
	"strings"
	"testing"

	"github.com/sqlc-dev/teesql/ast"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/sqlserver/internal/tsqltest"
)

// The doctor's list of what the migrations make is what they make, under any names.
func TestExpectedObjects(t *testing.T) {
	for _, prefix := range []string{"", "p_"} {
		f, err := engine.Load(folder(), engine.Names{Schema: "pawl", Prefix: prefix})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		texts := []string{makeTypes}
		for _, m := range f.Migrations {
			texts = append(texts, m.Text)
		}
		for _, text := range texts {
			tsqltest.Walk(parsed(t, "schema", f.Names.Render(text)), func(n any) { want = append(want, made(n)...) })
		}
		var got []string
		for _, o := range expectedObjects(f) {
			if o.Kind != "routine" && o.Kind != "view" {
				got = append(got, o.Kind+" "+o.Name)
			}
		}
		slices.Sort(want)
		want = slices.Compact(want) // an index was made again with other columns
		slices.Sort(got)
		if !slices.Equal(got, want) || !slices.Contains(got, "column "+prefix+"timer.key") || len(got) < 200 {
			for _, name := range want {
				if !slices.Contains(got, name) {
					t.Errorf("not found: %s", name)
				}
			}
			t.Errorf("%d objects, want %d: %v", len(got), len(want), got)
		}
	}
}

// made are the names of what a statement makes.
func made(n any) (names []string) {
	switch s := n.(type) {
	case *ast.CreateTableStatement:
		table := s.SchemaObjectName.BaseIdentifier.Value
		names = append(names, "table "+table)
		for _, c := range s.Definition.ColumnDefinitions {
			names = append(names, "column "+table+"."+c.ColumnIdentifier.Value)
		}
	case *ast.AlterTableAddTableElementStatement:
		for _, c := range s.Definition.ColumnDefinitions {
			names = append(names, "column "+s.SchemaObjectName.BaseIdentifier.Value+"."+c.ColumnIdentifier.Value)
		}
	case *ast.CreateIndexStatement:
		names = append(names, "index "+s.OnName.BaseIdentifier.Value+"."+s.Name.Value)
	case *ast.CreateSequenceStatement:
		names = append(names, "sequence "+s.Name.BaseIdentifier.Value)
	case *ast.CreateTypeTableStatement:
		names = append(names, "type "+s.Name.BaseIdentifier.Value)
	}
	return names
}

// What is missing, disabled or another is named, what belongs to a missing table is not.
func TestDifferences(t *testing.T) {
	f, err := engine.Load(folder(), engine.Names{Schema: "s", Prefix: "p_"})
	if err != nil {
		t.Fatal(err)
	}
	x := &examiner{&DB{folder: f, opts: Options{Schema: "s", Prefix: "p_"}}, engine.WithDefaults(engine.ExamineLimits{})}
	want := expectedObjects(f)
	there := slices.DeleteFunc(slices.Clone(want), func(o object) bool {
		return strings.HasPrefix(o.Name, "p_timer.") || o.Name == "p_timer" || o.Name == "p_job.due_at" || o.Name == "p_job_fire"
	})
	for i := range there {
		there[i].Name = strings.ToUpper(there[i].Name) // as a database may have it that ignores case
		there[i].Sound = there[i].Kind != "index" || there[i].Name != "P_OUTBOX_READY.SUSPECT"
	}
	var found []string
	for _, f := range x.missing(want, there) {
		found = append(found, f.Summary)
	}
	slices.Sort(found)
	if expected := []string{"disabled index: p_outbox_ready.suspect", "missing column: p_job.due_at", "missing routine: p_job_fire", "missing table: p_timer"}; !slices.Equal(found, expected) {
		t.Errorf("%q", found)
	}
	var texts []module
	for _, o := range f.Objects {
		texts = append(texts, module{"p_" + o.Name, strings.ReplaceAll(f.Names.Render(o.Text), "\n", "\r\n")})
	}
	if found := x.changed(texts); len(found) > 0 {
		t.Errorf("%v", found)
	}
	texts[3].Definition += " SELECT 1"
	if found := x.changed(texts); len(found) != 1 || !strings.Contains(found[0].Summary, texts[3].Name) {
		t.Errorf("%v", found)
	}
}

// What a server shared by all tests cannot be made to say is judged here.
func TestJudgements(t *testing.T) {
	good := serverInfo{Version: "15.0.4", Edition: 3, Level: 150, Versioned: true, Counts: true, Measures: true, Verify: 2}
	with := func(change func(s *serverInfo)) *serverInfo {
		s := good
		change(&s)
		return &s
	}
	x := &examiner{&DB{folder: &engine.Folder{Names: engine.Names{Schema: "s"}}}, engine.WithDefaults(engine.ExamineLimits{})}
	minute := int64(60_000_000)
	one, zero := 1, 0
	for _, c := range []struct {
		name  string
		found []health.Finding
		level health.Level
		want  string
	}{
		{"good server", checkServer(&good), health.OK, "SQL Server 15.0.4"},
		{"old server", checkServer(with(func(s *serverInfo) { s.Version = "12.0.1" })), health.Problem, "12.0.1"},
		{"Azure's version", checkServer(with(func(s *serverInfo) { s.Version, s.Edition = "12.0.2000.8", 5 })), health.OK, "12.0.2000.8"},
		{"old level", checkServer(with(func(s *serverInfo) { s.Level = 110 })), health.Problem, "110"},
		{"read only", checkServer(with(func(s *serverInfo) { s.ReadOnly, s.Standby = true, true })), health.Problem, "READ_ONLY"},
		{"replica", checkServer(with(func(s *serverInfo) { s.Standby = true })), health.Problem, "replica"},
		{"no row versions", checkServer(with(func(s *serverInfo) { s.Versioned = false })), health.Note, "READ_COMMITTED_SNAPSHOT"},
		{"closes", checkServer(with(func(s *serverInfo) { s.Closes = true })), health.Warning, "AUTO_CLOSE"},
		{"shrinks", checkServer(with(func(s *serverInfo) { s.Shrinks = true })), health.Warning, "AUTO_SHRINK"},
		{"no statistics", checkServer(with(func(s *serverInfo) { s.Counts = false })), health.Warning, "statistics"},
		{"durable", checkDurability(&good), health.OK, ""},
		{"delayed durability", checkDurability(with(func(s *serverInfo) { s.Delayed = 2 })), health.Warning, "FORCED"},
		{"durability as asked for", checkDurability(with(func(s *serverInfo) { s.Delayed = 1 })), health.OK, ""},
		{"no checksums", checkDurability(with(func(s *serverInfo) { s.Verify = 0 })), health.Warning, "PAGE_VERIFY"},
		{"session", checkSession([]sessionSetting{{"QUOTED_IDENTIFIER", &one}, {"NUMERIC_ROUNDABORT", &zero}, {"ARITHABORT", &zero}, {"ANSI_NULLS", nil}}), health.OK, ""},
		{"quotes", checkSession([]sessionSetting{{"QUOTED_IDENTIFIER", &zero}}), health.Problem, "QUOTED_IDENTIFIER is OFF"},
		{"rounding", checkSession([]sessionSetting{{"NUMERIC_ROUNDABORT", &one}}), health.Problem, "NUMERIC_ROUNDABORT is ON"},
		{"young transaction", x.checkTransactions([]transaction{{Micros: minute}}), health.OK, ""},
		{"old transaction", x.checkTransactions([]transaction{{ID: 51, State: "sleeping", Micros: 6 * minute}}), health.Warning, "session 51"},
		{"very old transaction", x.checkTransactions([]transaction{{ID: 52, Micros: 61 * minute, Wrote: true}}), health.Problem, "locked"},
		{"full table", x.checkSpace([]room{{"outbox_ready", 1_000_000, 40_000}}), health.OK, "1000000 rows"},
		{"empty table", x.checkSpace([]room{{"outbox_ready", 10, 40_000}}), health.Warning, "312 MB"},
		{"empty messages", x.checkSpace([]room{{"outbox_message", 10, 40_000}}), health.OK, ""},
	} {
		worst, text := health.OK, ""
		for _, f := range c.found {
			worst, text = max(worst, f.Level), text+f.Summary
		}
		if worst != c.level || !strings.Contains(text, c.want) {
			t.Errorf("%s: %v, want %v with %q", c.name, c.found, c.level, c.want)
		}
	}
}
