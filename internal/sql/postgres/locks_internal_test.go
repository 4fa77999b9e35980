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
var locking = []struct{ what, by string }{
	{"enqueue", "outbox/enqueue.sql"},
	{"enqueue ids of the caller", "outbox_enqueue_once"},
	{"enqueue with a unique key", "outbox_enqueue_keyed"},
	{"hand over to an idle worker", "outbox/enqueue_claimed.sql"},
	{"claim", "outbox_claim_ranges"},
	{"claim suspects", "outbox_claim_queue_suspects"},
	{"claim while there are limits", "outbox_claim_within_limits"},
	{"ack", "outbox_ack_runs"},
	{"fail", "outbox_fail_runs"},
	{"abandon", "outbox_abandon_runs"},
	{"release", "outbox_release_runs"},
	{"extend", "outbox_extend_runs"},
	{"reap", "outbox_reap_runs"},
	{"count what a program settles", "activity_count"},
	{"park, of a paused topic", "outbox_park_runs"},
	{"pause", "act_pause"},
	{"resume", "act_resume"},
	{"unpark, of an ended pause", "outbox_unpark_runs"},
	{"limit", "limit_put"},
	{"remove a limit", "limit_end"},
	{"redrive", "outbox_redrive"},
	{"discard", "outbox_discard"},
	{"undiscard", "outbox_undiscard"},
	{"a step of many", "outbox_bulk_step"},
	{"cancel", "outbox_cancel"},
	{"reschedule", "outbox_reschedule"},
	{"retopic", "outbox_retopic"},
	{"store a step's result", "outbox_join_results"},
	{"attach to a join", "outbox_join_attach_all"},
	{"report a step", "outbox_join_report_step"},
	{"park a wait", "outbox_join_park"},
	{"end a join", "outbox_join_end"},
	{"ack of the inbox", "inbox_ack"},
	{"fail and abandon of the inbox", "inbox_end"},
	{"dispatch timers", "timer_dispatch"},
	{"claim timers", "timer_claim_rows"},
	{"fire jobs", "job_fire"},
	{"claim runs of jobs", "job_claim_runs"},
	{"clean up messages", "outbox_purge"},
	{"clean up joins", "outbox_join_purge"},
	{"doctor: a message in no place", "outbox_place"},
	{"doctor: a line without a head", "outbox_order_repair"},
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

// D-546: the table of lock orders says what the statements say.
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
	rows.WriteString("| what | by | locks, in this order |\n|---|---|---|\n")
	for _, c := range locking {
		text := routines[c.by]
		if file, err := files.ReadFile(c.by); err == nil {
			text = string(file)
		}
		if text == "" {
			t.Errorf("there is no %s", c.by)
		}
		l := locks{routines: routines, stop: []string{"outbox_claim_within_limits"}, seen: map[string]bool{c.by: true}}
		l.read(text)
		rows.WriteString("| " + c.what + " | `" + c.by + "` | " + cmp.Or(strings.ReplaceAll(strings.Join(l.steps, " → "), "outbox_", ""), "none") + " |\n")
	}
	const page, begin, end = "../../../docs/claim.md", "<!-- locks: TestLockOrders -update -->\n\n", "\n<!-- end -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	is, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatal("docs/claim.md has no table of locks")
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
