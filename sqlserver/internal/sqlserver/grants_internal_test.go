package sqlserver

import (
	"flag"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sqlc-dev/teesql/ast"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/sqlserver/internal/tsqltest"
)

var updateGrants = flag.Bool("update-grants", false, "write grants/*.sql")

// mays are which operations and, of the procedures for programs in other languages, which
// routines a role is for. A name that ends with a * stands for all that begin like it.
type mays struct {
	comment            string
	operations, except []string
	routines           []string
	reads              []string // tables and views beyond those
	sees               bool     // definitions, as the doctor wants them
}

func roleMays() map[engine.Role]mays {
	reading := []string{
		"*/list*", "*/get", "*/find", "job/run", "job/runs", "job/due", "outbox/counts", "outbox/count_dead", "outbox/bulks", "outbox/bulk_due", "outbox/lanes", "outbox/suspects", "limit/use", "*/next_due", "join/members",
		"inbox/stuck", "backlog/*", "health/*", "explain/*", "fleet/*", "clock/*", "generation/check", "doctor/claims", "doctor/leases", "doctor/messages", "doctor/queues", "doctor/runs",
		"join/uncompleted", "join/waits", "flow/load", "outbox/over", "doctor/joins", "doctor/join_missed", "doctor/join_parked", "doctor/lines", "doctor/strays",
	}
	producing := []string{
		"outbox/lane", "outbox/enqueue", "outbox/enqueue_once", "outbox/enqueue_unique", "join/start", "join/attach", "join/attach_new", "join/wait", "timer/schedule", "timer/cancel", "timer/cancel_key",
		"timer/reschedule", "inbox/see", "flow/put_signal", "audit/note", "generation/check", "clock/now",
	}
	asOthers := []string{"outbox_enqueue", "outbox_enqueue_unique", "outbox_join_start", "outbox_join_attach", "outbox_join_wait", "timer_schedule", "timer_cancel", "timer_cancel_key", "timer_reschedule", "inbox_enqueue", "flow_send"}
	return map[engine.Role]mays{
		engine.RoleProducer: {
			comment: `-- A producer enqueues: messages, timers, joins with their waits, messages of the inbox; and
-- takes back or moves the timers it knows the id of. It executes procedures: it reads no
-- payload, no header, no error, and takes nothing out of a queue.
`,
			operations: producing, routines: asOthers,
		},
		engine.RoleWorker: {
			comment: `-- A worker does all that Run and the components do: enqueue, claim, settle, schedule,
-- take leases, work off bulk acts, clean up. It does not pause, limit, start or stop bulk acts, change the audit trail or the schema.
`,
			operations: []string{"*"}, except: []string{"outbox/bulk_put", "outbox/bulk_stop", "pause/put", "pause/end", "limit/put", "limit/remove", "audit/list", "generation/restored", "move/ahead", "move/clear", "move/copied", "move/forget", "move/put", "move/reach", "move/tables", "move/touch"},
			routines: []string{"outbox_*", "timer_*", "job_*", "inbox_*", "lease_*", "flow_*"}, reads: []string{"view"}, sees: true,
		},
		engine.RoleOperator: {
			comment: `-- An operator reads everything, and does what pawl's commands for people do: pause, resume, limit,
-- retry, discard, cancel, reschedule; jobs; timers; joins; leases by force; revive. It claims
-- and settles nothing, and the audit trail can only be added to. It may enqueue: a
-- triggered job is a message.
`,
			operations: slices.Concat(reading, []string{
				"outbox/lane", "outbox/enqueue", "outbox/enqueue_once", "outbox/cancel", "outbox/reschedule", "outbox/redrive", "outbox/discard", "outbox/undiscard", "outbox/bulk_put", "outbox/bulk_step", "outbox/bulk_stop", "pause/*", "limit/*", "job/put", "job/enable", "job/disable",
				"job/delete", "job/trigger", "timer/cancel", "timer/cancel_key", "timer/reschedule", "join/cancel", "join/hold", "join/redrive", "join/mark", "join/wait", "doctor/join_settle", "lease/force", "inbox/revive", "flow/put_signal", "audit/note",
			}),
			routines: []string{"outbox_enqueue", "outbox_enqueue_unique", "outbox_redrive", "timer_cancel", "timer_cancel_key", "timer_reschedule", "job_put", "job_trigger", "job_delete", "outbox_join_cancel", "limit_*", "flow_send"},
			reads:    []string{"view", "table"}, sees: true,
		},
		engine.RoleViewer: {
			comment:    "-- A viewer reads everything, payloads included, and changes nothing.\n",
			operations: reading, reads: []string{"view", "table"}, sees: true,
		},
	}
}

// matchesNothing returns the patterns that are of no name.
func matchesNothing(patterns, names []string) (all []string) {
	for _, p := range patterns {
		if !slices.ContainsFunc(names, func(name string) bool { return matches([]string{p}, name) }) {
			all = append(all, p)
		}
	}
	return all
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		before, after, star := strings.Cut(p, "*")
		if strings.HasPrefix(p, "*/") {
			_, part, _ := strings.Cut(name, "/")
			return matches([]string{p[2:]}, part)
		}
		return p == name || star && after == "" && strings.HasPrefix(name, before)
	})
}

// forOthers reports whether a routine is there for programs in other languages.
func forOthers(name string) bool {
	return slices.Contains([]string{
		"outbox_enqueue", "outbox_enqueue_unique", "outbox_claim", "outbox_set_result", "outbox_ack", "outbox_abandon", "outbox_fail", "outbox_release", "outbox_extend", "outbox_reap_expired", "outbox_redrive", "outbox_join_start", "outbox_join_attach",
		"outbox_join_report", "outbox_join_wait", "outbox_join_cancel", "timer_schedule", "timer_cancel", "timer_cancel_key", "timer_reschedule", "timer_claim", "timer_ack", "timer_abandon", "timer_fail",
		"timer_reap_expired", "job_put", "job_trigger", "job_delete", "job_run_claim", "job_run_ack", "job_run_abandon", "job_run_fail", "job_run_reap_expired", "inbox_enqueue", "inbox_claim", "inbox_ack",
		"inbox_abandon", "inbox_fail", "inbox_reap_expired", "lease_acquire", "lease_renew", "lease_release", "lease_guard", "limit_set", "limit_remove", "flow_send",
	}, name)
}

// OBX-123, OBX-124: each role has the rights that what it is for needs: on the procedures
// that are executed, and on the tables that statements themselves read and change. What a
// procedure does needs none: its owner is theirs.
func TestGrants(t *testing.T) {
	for role, may := range roleMays() {
		want := may.comment + strings.Join(rightsOf(t, &may), "\n") + "\n"
		path := "grants/" + string(role) + ".sql"
		if *updateGrants {
			enginetest.Must(t, os.WriteFile(path, []byte(want), 0o644))
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s is not what its operations need: run go test ./sqlserver/internal/sqlserver -run TestGrants -update-grants, and look at what it changes: %v", path, err)
		}
	}
	for _, name := range []string{"generation_restored", "audit_purge", "outbox_claim_queue", "outbox_dead", "pause_put"} {
		for _, role := range []engine.Role{engine.RoleProducer, engine.RoleViewer} {
			if text, err := os.ReadFile("grants/" + string(role) + ".sql"); err != nil || strings.Contains(string(text), "pawl."+name+" ") {
				t.Errorf("a %s may %s: %v", role, name, err)
			}
		}
	}
}

func rightsOf(t *testing.T, may *mays) []string {
	t.Helper()
	f, err := engine.Load(folder(), engine.Names{Schema: "pawl"})
	enginetest.Must(t, err)
	rights := map[string]bool{}
	give := func(right, on string) { rights["GRANT "+right+" ON "+on+" TO "+roleMark+";"] = true }
	for _, table := range []string{"pawl_schema", "pawl_object"} {
		give("SELECT", "pawl."+table)
	}
	texts := sentTexts(t, engine.Names{Schema: "pawl"})
	kinds := map[string]string{}
	for _, o := range expectedObjects(f) {
		kinds[o.Name] = o.Kind
	}
	var names []string
	for _, o := range append(op.All(), statements()...) {
		name := engine.NameOf(o)
		names = append(names, name)
		if !matches(may.operations, name) || matches(may.except, name) {
			continue
		}
		script, err := tsqltest.Parse(texts[name].text)
		enginetest.Must(t, err)
		needed(script, kinds, give)
		for _, field := range reflect.VisibleFields(reflect.TypeOf(o)) {
			if list, ok := tableTypes()[field.Type]; ok {
				give("EXECUTE", "TYPE::pawl."+list)
			}
		}
	}
	if stray := matchesNothing(slices.Concat(may.operations, may.except), names); len(stray) > 0 {
		t.Errorf("no operation %v", stray)
	}
	if matches(may.operations, "outbox/enqueue") {
		give("EXECUTE", "pawl.outbox_next_block")
		give("UPDATE", "pawl.outbox_block")
	}
	for name, kind := range kinds {
		if kind == "routine" && forOthers(name) && matches(may.routines, name) {
			give("EXECUTE", "pawl."+name)
		}
		if slices.Contains(may.reads, kind) {
			give("SELECT", "pawl."+name)
		}
	}
	lines := slices.Sorted(maps.Keys(rights))
	if may.sees {
		lines = append(lines, allObjects)
	}
	return lines
}

// columnsOf are the columns that an UPDATE changes, as a right on a table lists them.
func columnsOf(change any) string {
	update, ok := change.(*ast.UpdateSpecification)
	if !ok {
		return ""
	}
	var names []string
	for _, c := range update.SetClauses {
		if set, ok := c.(*ast.AssignmentSetClause); ok && set.Column != nil {
			parts := set.Column.MultiPartIdentifier.Identifiers
			names = append(names, parts[len(parts)-1].Value)
		}
	}
	slices.Sort(names)
	return " (" + strings.Join(names, ", ") + ")"
}

// needed gives the rights that a text needs, what it executes left to itself.
func needed(script *ast.Script, kinds map[string]string, give func(right, on string)) {
	for _, c := range tsqltest.Changes(script) {
		if kinds[c.Table] == "table" {
			give(strings.ToUpper(c.Kind)+columnsOf(c.Node), "pawl."+c.Table)
		}
	}
	tsqltest.Walk(script, func(n any) {
		switch n := n.(type) {
		case *ast.NamedTableReference:
			if n.SchemaObject.SchemaIdentifier != nil && (kinds[n.SchemaObject.BaseIdentifier.Value] == "table" || kinds[n.SchemaObject.BaseIdentifier.Value] == "view") {
				give("SELECT", "pawl."+n.SchemaObject.BaseIdentifier.Value)
			}
		case *ast.SchemaObjectFunctionTableReference:
			give("SELECT", "pawl."+n.SchemaObject.BaseIdentifier.Value)
		case *ast.FunctionCall:
			if n.CallTarget != nil && kinds[n.FunctionName.Value] == "routine" {
				give("EXECUTE", "pawl."+n.FunctionName.Value)
			}
		case *ast.ProcedureReference:
			if name := n.Name.BaseIdentifier.Value; kinds[name] == "routine" {
				give("EXECUTE", "pawl."+name)
			}
		}
	})
}

// D-101: names are those of the place, and the user's is quoted.
func TestGrantTexts(t *testing.T) {
	for _, prefix := range []string{"", "p_"} {
		f, err := engine.Load(folder(), engine.Names{Schema: "other", Prefix: prefix})
		enginetest.Must(t, err)
		db := &DB{folder: f, opts: Options{Schema: "other", Prefix: prefix}}
		for _, role := range (&DB{}).Roles() {
			text, err := db.grant(engine.Grant{Role: role, To: "odd]; DROP"})
			enginetest.Must(t, err)
			if _, err := tsqltest.Parse(text); err != nil {
				t.Errorf("%s: %v", role, err)
			}
			if strings.Contains(text, "pawl.") || strings.Contains(text, "$(") || !strings.Contains(text, `ON "other"."`+prefix+`pawl_schema" TO [odd]]; DROP];`) {
				t.Errorf("%s, prefix %q: %s", role, prefix, text)
			}
			if shared := strings.Contains(text, "SCHEMA::"); shared != (prefix == "" && role != engine.RoleProducer) {
				t.Errorf("%s, prefix %q: rights on the whole schema: %v", role, prefix, shared)
			}
		}
	}
}
