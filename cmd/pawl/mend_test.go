package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/view"
)

// failing enqueues messages, JSON lines whose payloads are their errors, and has all
// of them fail for good.
func (d *database) failing(envelopes ...string) (ids []string) {
	d.t.Helper()
	ids = lines(d.must(strings.Join(envelopes, "\n"), "enqueue"))
	d.fail()
	return ids
}

func (d *database) fail() {
	d.t.Helper()
	d.leaves("work", "--topic", "t", "--topic", "u", "--queue", "default", "--queue", "q", "--exec", "cat >&2; exit 65", "--drain", "--quiet")
}

// messages are those of a status, by their payloads.
func (d *database) messages(status string) (all []string) {
	d.t.Helper()
	for line := range strings.Lines(d.must("", "ls", "--"+status, "--json", "--limit", "10000")) {
		var m view.Message
		decode(d.t, line, &m)
		all = append(all, d.must("", "show", "--payload", m.ID.String()))
	}
	slices.Sort(all)
	return all
}

// What a dry run says is what then happens, whichever messages are chosen.
func TestMendByFilter(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		ids := d.failing(`{"topic":"t","payload":"100% busy"}`, `{"topic":"t","payload":"refused","queue":"q"}`, `{"topic":"u","payload":"busy_1"}`)
		mark := time.Now().UTC().Format(time.RFC3339Nano)
		d.failing(`{"topic":"u","payload":"late"}`)
		for n, c := range []struct {
			args []string
			want int
		}{
			{[]string{"--all"}, 4},
			{[]string{"--all"}, 4},
			{[]string{"--all", "--topic", "t"}, 2},
			{[]string{"--all", "--queue", "q"}, 1},
			{[]string{"--all", "--topic", "u", "--queue", "q"}, 0},
			{[]string{"--all", "--error", "busy"}, 2},
			{[]string{"--all", "--error", "0%"}, 1},
			{[]string{"--all", "--error", "busy_"}, 1},
			{[]string{"--all", "--error", "BUSY"}, 0},
			{[]string{"--all", "--since", mark}, 1},
			{[]string{"--all", "--before", mark}, 3},
			{[]string{"--all", "--since", "2020-02-29T12:00:00+01:00", "--before", mark, "--topic", "t"}, 2},
			{[]string{"--all", "--since", "1h"}, 4},
			{[]string{"--all", "--before", "1h"}, 0},
			{[]string{"--all", "--since", "0s"}, 0},
			{[]string{"--all", "--before", "0s"}, 4},
			{[]string{"--all", "--limit", "3"}, 3},
			{[]string{"--all", "--limit", "9", "--rate", "9"}, 4},
			{[]string{ids[1], ids[1], ids[0]}, 2},
		} {
			command, done := "retry", "retried"
			if n%2 == 1 {
				command, done = "discard", "discarded"
			}
			line := append([]string{command, "--dry-run"}, c.args...)
			if out, want := d.must("", line...), fmt.Sprintf("would have %s %s\n", done, engine.Several(c.want, "message")); out != want {
				t.Errorf("%q: %q, want %q", line, out, want)
			}
		}
		if out := d.must("", "retry", "--all", "--dry-run", "--json"); out != `{"would_have_retried":4}`+"\n" {
			t.Errorf("%q", out)
		}
		if r := d.run("", "audit"); r != (result{stderr: "nothing was done\n"}) || !slices.Equal(d.messages("failed"), []string{"100% busy", "busy_1", "late", "refused"}) {
			t.Errorf("a dry run did something: %+v", r)
		}

		for _, c := range []struct {
			args      []string
			said      string
			ready     []string
			discarded []string
		}{
			{[]string{"retry", "--all", "--before", mark, "--error", "busy", "--limit", "1"}, "retried 1 message\n", []string{"100% busy"}, nil},
			{[]string{"discard", "--all", "--since", mark}, "discarded 1 message\n", []string{"100% busy"}, []string{"late"}},
			{[]string{"retry", "--all", "--queue", "q", "--topic", "t", "--json"}, `{"retried":1}` + "\n", []string{"100% busy", "refused"}, []string{"late"}},
			{[]string{"discard", "--all", "--error", "_1", "--json"}, `{"discarded":1}` + "\n", []string{"100% busy", "refused"}, []string{"busy_1", "late"}},
			{[]string{"retry", "--all"}, "retried 0 messages\n", []string{"100% busy", "refused"}, []string{"busy_1", "late"}},
		} {
			if out := d.must("", c.args...); out != c.said {
				t.Errorf("%q: %q", c.args, out)
			}
			if ready, given := d.messages("ready"), d.messages("discarded"); !slices.Equal(ready, c.ready) || !slices.Equal(given, c.discarded) {
				t.Errorf("%q: %q are ready, %q discarded", c.args, ready, given)
			}
		}
		for _, want := range []string{`failed messages with error "_1"`, "failed messages of topic t in queue q", `failed messages with error "busy" before `} {
			if out := d.must("", "audit"); !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
	})
}

// D-584, D-585: what is retrying is seen as that by every command, and pawl retry has it run now.
func TestRetryOfRetrying(t *testing.T) {
	onOne(t, func(t *testing.T, d *database) {
		ids := lines(d.must(`{"topic":"t","payload":"a"}
{"topic":"t","payload":"b"}
{"topic":"later","payload":"c","due":"1h"}`, "enqueue"))
		d.leaves("work", "--topic", "t", "--exec", "echo busy >&2; exit 75", "--drain", "--quiet")
		d.must("", "reschedule", ids[0], ids[1], "--due", "1h") // the next attempts are not to come before the test looks
		for _, status := range [][]string{{"--retrying"}, {"--status", "retrying"}} {
			if out := d.must("", append([]string{"ls", "-o", "csv"}, status...)...); strings.Count(out, ",retrying,1,") != 2 || !strings.Contains(out, "again at ") {
				t.Errorf("%q: %s", status, out)
			}
		}
		if out := d.must("", "show", ids[0]); !strings.Contains(out, "retrying") {
			t.Error(out)
		}
		if out := d.must("", "ls", "--counts", "--json"); !strings.Contains(out, `"scheduled":1,"retrying":2,`) {
			t.Error(out)
		}
		if out := d.must("", "backlog", "-o", "csv"); !strings.Contains(out, "default,t,retrying,2,") || !strings.Contains(out, "default,later,scheduled,1,") {
			t.Error(out)
		}
		d.refused("discard", ids[0])
		d.refused("retry", ids[0], ids[2])
		if out := d.must("", "retry", ids[0], "--dry-run") + d.must("", "retry", "--all", "--dry-run") + d.must("", "discard", "--all", "--dry-run"); out != "would have retried 1 message\nwould have retried 2 messages\nwould have discarded 0 messages\n" {
			t.Error(out)
		}
		if out := d.must("", "retry", ids[0]) + d.must("", "retry", "--all"); out != "retried 1 message\nretried 1 message\n" || !slices.Equal(d.messages("ready"), []string{"a", "b"}) {
			t.Error(out)
		}
		if out := d.must("", "audit"); !strings.Contains(out, "reschedule") || !strings.Contains(out, "retrying message ") {
			t.Error(out)
		}
	})
}

// refused insists on a command that fails and changes nothing.
func (d *database) refused(args ...string) {
	d.t.Helper()
	if r := d.run("", args...); r.code == 0 || !strings.Contains(r.stderr, "nothing was changed") {
		d.t.Errorf("%q: %+v", args, r)
	}
}

func TestCancelAndReschedule(t *testing.T) {
	onOne(t, func(t *testing.T, d *database) {
		ids := lines(d.must(`{"topic":"t","payload":"ready"}
{"topic":"t","payload":"later","due":"1h"}
{"topic":"t","payload":"moved","due":"1h"}
{"topic":"t","payload":"put off"}
{"topic":"t","payload":"until 2131"}`, "enqueue"))
		retried := strings.TrimSpace(d.must("retried", "enqueue", "--topic", "u"))
		d.leaves("work", "--topic", "u", "--exec", "exit 75", "--drain", "--quiet")
		if out := d.must("", "cancel", ids[0], ids[1], ids[0], "--reason", "sent by\x1b hand"); out != "cancelled 2 messages\n" {
			t.Errorf("cancel: %q", out)
		}
		var m view.Message
		decode(t, d.must("", "show", ids[0], "--json"), &m)
		if m.Status != "discarded" || m.LastError != "sent by\x1b hand" {
			t.Errorf("cancelled: %+v", m)
		}
		if out := d.must("", "show", ids[1]); !strings.Contains(out, "discarded") || !strings.Contains(out, `sent by\x1b hand`) {
			t.Errorf("shown:\n%s", out)
		}
		for _, c := range []struct{ args, want []string }{
			{[]string{ids[2], retried, "--due", "now"}, []string{"rescheduled 2 messages\n"}},
			{[]string{ids[2], "--due", "1960-01-01T00:00:00Z"}, []string{"rescheduled 1 message\n"}}, // D-8: now
			{[]string{ids[3], "--due", "2h", "--json"}, []string{`{"rescheduled":1}` + "\n"}},
			{[]string{strconv.FormatInt(d.position(ids[4]), 10), "--due", "2131-01-31T12:00:00+01:00"}, []string{"rescheduled 1 message\n"}},
		} {
			if out := d.must("", append([]string{"reschedule"}, c.args...)...); out != c.want[0] {
				t.Errorf("%q: %q", c.args, out)
			}
		}
		decode(t, d.must("", "show", retried, "--json"), &m)
		if m.Status != "ready" || m.RetryCount != 1 {
			t.Errorf("attempts are forgotten: %+v", m)
		}
		got := lines(d.must("", "work", "--topic", "t", "--topic", "u", "--exec", `echo "$(cat) $PAWL_ATTEMPT"`, "--drain", "--quiet"))
		slices.Sort(got)
		if !slices.Equal(got, []string{"moved 1", "retried 2"}) {
			t.Errorf("worked on %q", got)
		}
		if later := d.messages("scheduled"); !slices.Equal(later, []string{"put off", "until 2131"}) {
			t.Errorf("left: %q", later)
		}
		decode(t, d.must("", "show", ids[4], "--json"), &m)
		if want := time.Date(2131, 1, 31, 11, 0, 0, 0, time.UTC); m.NextAttemptAt.IsZero() || !m.NextAttemptAt.Equal(want) {
			t.Errorf("rescheduled: %+v", m)
		}
		if out := d.must("", "reschedule", ids[3], "--due", "0s"); out != "rescheduled 1 message\n" || len(d.messages("ready")) != 1 {
			t.Errorf("at once: %q", out)
		}
	})
}

// D-798: messages are erased by id and by correlation id, none if one of them runs or is unknown.
func TestErase(t *testing.T) {
	onOne(t, func(t *testing.T, d *database) {
		ids := lines(d.must(`{"topic":"t","payload":"secret","correlation_id":"c"}
{"topic":"t","payload":"secret","correlation_id":"c","due":"1h"}
{"topic":"t","payload":"kept"}`, "enqueue"))
		d.refused("erase", ids[2], "0198c9a0-5d7e-8a41-9c3f-000000000001")
		for _, args := range [][]string{{"erase"}, {"erase", ids[2], "--correlation", "c"}} {
			if r := d.run("", args...); r.code != 2 || !strings.Contains(r.stderr, "give ids, or --correlation") {
				t.Errorf("%q: %+v", args, r)
			}
		}
		if out := d.must("", "erase", "--correlation", "c", "--reason", "request 7"); out != "erased 2 messages\n" {
			t.Errorf("erase: %q", out)
		}
		if out := d.must("", "erase", ids[0], ids[0], "--json"); out != `{"erased":1}`+"\n" {
			t.Errorf("again: %q", out)
		}
		for _, id := range ids[:2] {
			var m view.Message
			decode(t, d.must("", "show", id, "--json"), &m)
			if m.Status != "discarded" || m.LastError != "erased" && m.LastError != "request 7" || m.CorrelationID != "" || m.Payload != nil && *m.Payload != "" {
				t.Errorf("erased: %+v", m)
			}
		}
		if kept := d.messages("ready"); !slices.Equal(kept, []string{"kept"}) {
			t.Errorf("left: %q", kept)
		}
	})
}

func (d *database) position(id string) int64 {
	d.t.Helper()
	var m view.Message
	decode(d.t, d.must("", "show", id, "--json"), &m)
	return int64(m.Position)
}

// One id that is wrong, and nothing is touched.
func TestMendingNothing(t *testing.T) {
	onOne(t, func(t *testing.T, d *database) {
		failed := d.failing(`{"topic":"t","payload":"x"}`)[0]
		waiting := strings.TrimSpace(d.must("y", "enqueue", "--topic", "t"))
		const unknown = "6ba7b814-9dad-11d1-80b4-00c04fd430c8"
		long := strings.Repeat("é", 1001)
		for _, c := range []struct {
			args []string
			code int
			want string
		}{
			{[]string{"retry", failed, waiting}, exitFailure, "message " + waiting + " is ready, not failed; nothing was changed"},
			{[]string{"retry", failed, unknown, "--dry-run"}, exitFailure, "not found: " + unknown + " (or it was cleaned up)"},
			{[]string{"retry", failed, "zz"}, exitUsage, `"zz" is neither a UUID nor a position`},
			{[]string{"discard", failed, waiting}, exitFailure, "is ready, not failed; nothing was changed"},
			{[]string{"discard", failed, "999999"}, exitFailure, "not found: 999999"},
			{[]string{"discard"}, exitUsage, "want ids or --all"},
			{[]string{"discard", failed, "--all"}, exitUsage, "want ids or --all"},
			{[]string{"discard", failed, "--queue", "q"}, exitUsage, "go with --all"},
			{[]string{"discard", failed, "--error", "x"}, exitUsage, "go with --all"},
			{[]string{"retry", failed, "--since", "1h"}, exitUsage, "go with --all"},
			{[]string{"retry", failed, "--before", "1h"}, exitUsage, "go with --all"},
			{[]string{"retry", failed, "-n", "1"}, exitUsage, "go with --all"},
			{[]string{"retry", "--all", "--limit=-1"}, exitUsage, "--limit: less than 1"},
			{[]string{"retry", "--all", "--rate=-1"}, exitUsage, "--rate: less than 1"},
			{[]string{"retry", "--all", "--rate", "many"}, exitUsage, "--rate"},
			{[]string{"retry", "--all", "--since", "yesterday"}, exitUsage, `--since: "yesterday": want a time like`},
			{[]string{"retry", "--all", "--since=-1h"}, exitUsage, `--since: "-1h": want a time like`},
			{[]string{"retry", "--all", "--before", "2026-11-22"}, exitUsage, `--before: "2026-11-22": want a time like`},
			{[]string{"cancel"}, exitUsage, "<id>"},
			{[]string{"cancel", waiting, failed}, exitFailure, "message " + failed + " is failed, not waiting; nothing was changed"},
			{[]string{"cancel", waiting, unknown}, exitFailure, "not found: " + unknown},
			{[]string{"cancel", waiting, "zz"}, exitUsage, `"zz" is neither`},
			{[]string{"cancel", waiting, "--reason", long}, exitUsage, "--reason: more than 1000 characters"},
			{[]string{"reschedule", "--due", "now"}, exitUsage, "<id>"},
			{[]string{"reschedule", waiting}, exitUsage, "missing flags: --due=WHEN"},
			{[]string{"reschedule", waiting, "--due=-1h"}, exitUsage, `--due: "-1h": want a time like`},
			{[]string{"reschedule", waiting, "--due", "tomorrow"}, exitUsage, `--due: "tomorrow": want a time like`},
			{[]string{"reschedule", waiting, failed, "--due", "1h"}, exitFailure, "is failed, not waiting; nothing was changed"},
			{[]string{"reschedule", waiting, unknown, "--due", "1h"}, exitFailure, "not found: " + unknown},
			{[]string{"reschedule", waiting, "zz", "--due", "1h"}, exitUsage, `"zz" is neither`},
		} {
			if r := d.run("", c.args...); r.code != c.code || !strings.Contains(r.stderr, c.want) || r.stdout != "" || len(lines(r.stderr)) != 1 {
				t.Errorf("%.200q: %+v; want %d and %q", c.args, r, c.code, c.want)
			}
		}
		if failed, ready := d.messages("failed"), d.messages("ready"); fmt.Sprint(failed, ready) != "[x] [y]" {
			t.Errorf("%q are failed, %q ready", failed, ready)
		}
		if r := d.run("", "audit"); r.stdout != "" {
			t.Errorf("noted: %s", r.stdout)
		}
	})
}

// D-650: a discard is taken back by ids, by a filter, or by its act; what was cancelled stays so.
func TestUndiscard(t *testing.T) {
	onOne(t, func(t *testing.T, d *database) {
		ids := d.failing(`{"topic":"t","payload":"a"}`, `{"topic":"t","payload":"b"}`, `{"topic":"u","payload":"c"}`)
		waits := lines(d.must(`{"topic":"wait","payload":""}`, "enqueue"))[0]
		d.must("", "cancel", waits)
		d.must("", "discard", "--all", "--topic", "t")
		var act audit.Entry
		decode(t, d.must("", "audit", "--action", "discard", "--json"), &act)
		d.must("", "discard", ids[2])
		for _, c := range []struct {
			args []string
			said string
		}{
			{[]string{"undiscard", ids[0]}, "undiscarded 1 message\n"},
			{[]string{"undiscard", "--all", "--act", act.ID.String(), "--dry-run"}, "would have undiscarded 1 message\n"},
			{[]string{"undiscard", "--all", "--act", act.ID.String()}, "undiscarded 1 message\n"},
			{[]string{"undiscard", "--all", "--topic", "t"}, "undiscarded 0 messages\n"},
			{[]string{"undiscard", "--all", "--json"}, `{"undiscarded":1}` + "\n"},
		} {
			if out := d.must("", c.args...); out != c.said {
				t.Errorf("%q: %q", c.args, out)
			}
		}
		if failed := d.messages("failed"); !slices.Equal(failed, []string{"a", "b", "c"}) {
			t.Errorf("failed: %q", failed)
		}
		for said, args := range map[string][]string{
			"undiscarded 0 messages; 1 cancelled, or discarded more than an hour ago": {"undiscard", waits},
			"is failed, not discarded; nothing was changed":                           {"undiscard", ids[0]},
			`--act "x"`:  {"undiscard", "--all", "--act", "x"},
			"want ids":   {"undiscard"},
			"unknown fl": {"undiscard", "--all", "--rate", "3"},
		} {
			if r := d.run("", args...); r.code == 0 || !strings.Contains(r.stderr, said) {
				t.Errorf("%q: %+v", args, r)
			}
		}
	})
}
