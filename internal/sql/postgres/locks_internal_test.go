package postgres

import (
	"cmp"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
)

// locking are the calls whose locks docs/claim.md lists: a file of the folder, or a routine.
var locking = []string{
	"outbox/enqueue.sql",
	"outbox_enqueue_once",
	"outbox_enqueue_keyed",
	"outbox/enqueue_claimed.sql",
	"outbox_claim_ranges",
	"outbox_claim_queue_suspects",
	"outbox_claim_within_limits",
	"outbox_ack_runs",
	"outbox_fail_runs",
	"outbox_abandon_runs",
	"outbox_release_runs",
	"outbox_extend_runs",
	"outbox_reap_runs",
	"activity_count",
	"outbox_park_runs",
	"act_pause",
	"act_resume",
	"outbox_unpark_runs",
	"limit_put",
	"limit_end",
	"outbox_redrive_rows",
	"outbox_discard",
	"outbox_undiscard",
	"outbox_bulk_step",
	"outbox_cancel",
	"outbox_reschedule",
	"outbox_retopic",
	"outbox_join_results",
	"outbox_join_attach_all",
	"outbox_join_report_step",
	"outbox_join_park",
	"flow_keep",
	"flow_park",
	"flow_put_signal",
	"outbox_join_end",
	"inbox_ack",
	"inbox_end",
	"timer_dispatch",
	"timer_claim_rows",
	"job_fire",
	"job_claim_runs",
	"outbox_purge",
	"outbox_join_purge",
	"outbox_place",
	"outbox_order_repair",
}

// lockStep finds what locks, which table a lock on rows is about, and what is called.
var lockStep = regexp.MustCompile(`LOCK TABLE pawl\.(?P<table>\w+) IN (?P<mode>[A-Z ]+) MODE|pg_(?P<try>try_)?advisory_xact_lock\((?P<key>)` +
	`|(?:DELETE FROM|UPDATE) pawl\.(?P<write>\w+)|INSERT INTO pawl\.(?P<insert>\w+)|(?:FROM|JOIN) pawl\.(?P<read>\w+)(?P<called>\(?)|FOR (?P<for>(?:NO KEY )?UPDATE|(?:KEY )?SHARE)(?P<skip> SKIP LOCKED)?|pawl\.(?P<call>\w+)\(`)

const skipping = " (skip)"

// locks derives which locks a text takes, in the order in which it says so.
type locks struct {
	routines map[string]string
	stop     []string // routines with rows of their own
	seen     map[string]bool
	steps    []string
}

// add adds a lock, unless the one before it is the same, or has picked the rows that are changed.
func (l *locks) add(table, mode string) {
	k := len(l.steps) - 1
	switch {
	case k >= 0 && (l.steps[k] == table+mode || mode == "" && l.steps[k] == table+skipping):
	case k >= 0 && mode == skipping && l.steps[k] == table:
		l.steps[k] += mode // in the DELETE that picks its rows
	default:
		l.steps = append(l.steps, table+mode)
	}
}

func (l *locks) read(text string) {
	text = regexp.MustCompile(`(?m)--.*$`).ReplaceAllString(text, "")
	table := ""
	for _, m := range lockStep.FindAllStringSubmatchIndex(text, -1) {
		is := func(name string) string {
			if i := 2 * lockStep.SubexpIndex(name); m[i] >= 0 {
				return text[m[i]:m[i+1]]
			}
			return ""
		}
		switch {
		case is("mode") != "":
			l.add(is("table"), " (table, "+strings.ToLower(is("mode"))+")")
		case m[2*lockStep.SubexpIndex("key")] >= 0:
			name := regexp.MustCompile(`'pawl\.(\w+)`).FindStringSubmatch(text[m[1]:])[1]
			if is("try") != "" {
				name += skipping
			}
			l.add("advisory ", name)
		case is("write") != "":
			table = is("write")
			l.add(table, "")
		case is("insert") != "":
			end := regexp.MustCompile(`;|INSERT INTO|DELETE FROM|UPDATE pawl`).FindStringIndex(text[m[1]:] + ";")[0]
			if strings.Contains(text[m[1]:m[1]+end], "ON CONFLICT") {
				l.add(is("insert"), " (new)")
			}
		case is("read") != "":
			if table = is("read"); is("called") != "" {
				l.call(table)
			}
		case is("skip") != "":
			l.add(table, skipping)
		case strings.HasSuffix(is("for"), "SHARE"):
			l.add(table, " (shared)")
		case is("for") != "":
			l.add(table, "")
		default:
			l.call(is("call"))
		}
	}
}

func (l *locks) call(name string) {
	if text, ok := l.routines[name]; ok && !l.seen[name] && !slices.Contains(l.stop, name) {
		l.seen[name] = true
		l.read(text)
	}
}

// lockNames shortens the lists: of tables the common prefix, and what many calls do at their end.
var lockNames = strings.NewReplacer("outbox_order, outbox_ready, outbox_lane (new), outbox_order", "*successor*",
	"outbox_join, outbox_join_member, outbox_join, outbox_ready, outbox_join_member", "*joins*", "outbox_", "")

// D-546: the list of lock orders says what the statements say.
func TestLockOrders(t *testing.T) {
	f, err := engine.Load(folder(), engine.Names{Schema: "pawl"})
	if err != nil {
		t.Fatal(err)
	}
	routines := map[string]string{}
	for _, o := range f.Objects {
		if o.Kind == engine.Routines {
			_, routines[o.Name], _ = strings.Cut(o.Text, "AS $f$")
		}
	}
	var rows strings.Builder
	for _, by := range locking {
		text := routines[by]
		if file, err := files.ReadFile(by); err == nil {
			text = string(file)
		}
		if text == "" {
			t.Errorf("there is no %s", by)
		}
		l := locks{routines: routines, stop: []string{"outbox_claim_within_limits"}, seen: map[string]bool{by: true}}
		l.read(text)
		rows.WriteString("- `" + by + "`: " + cmp.Or(lockNames.Replace(strings.Join(l.steps, ", ")), "none") + "\n")
	}
	const page, begin, end = "../../../docs/claim.md", "<!-- locks: TestLockOrders -update -->\n\n", "\n<!-- end -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	is, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatal("docs/claim.md has no list of locks")
	}
	if flag.Lookup("update").Value.String() == "true" {
		is = rows.String()
		if err := os.WriteFile(page, []byte(before+begin+is+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if is != rows.String() {
		t.Errorf("docs/claim.md differs: go test ./internal/sql/postgres -run TestLockOrders -update\n%s", rows.String())
	}
}
