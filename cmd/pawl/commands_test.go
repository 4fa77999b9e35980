package main

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/pawltest"
)

func TestEnqueueAndWork(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		ids := lines(d.must("{\"n\":1}\n{\"n\":2}\n", "enqueue", "--topic", "t"))
		if len(ids) != 2 || ids[0] == ids[1] {
			t.Errorf("ids: %q", ids)
		}
		got := lines(d.must("", "work", "--topic", "t", "--exec", "cat", "--drain"))
		slices.Sort(got)
		if !slices.Equal(got, []string{`{"n":1}`, `{"n":2}`}) {
			t.Errorf("worked on %q", got)
		}
		if again := d.must("", "work", "--topic", "t", "--exec", "cat", "--drain"); again != "" {
			t.Errorf("again: %q", again)
		}
	})
}

// D-26: failed messages are shown, and come back when someone says so.
func TestFailRetryDiscard(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		id := strings.TrimSpace(d.must("bad", "enqueue", "--topic", "t"))
		fail := []string{"work", "--topic", "t", "--exec", "echo no such customer >&2; exit 65", "--drain"}
		d.leaves(fail...)
		if out := d.must("", "ls", "--failed"); !strings.Contains(out, id) || !strings.Contains(out, "no such customer") {
			t.Errorf("ls --failed:\n%s", out)
		}
		if out := d.must("", "retry", id); out != "retried 1 message\n" {
			t.Errorf("retry: %q", out)
		}
		if out := d.must("", "ls", "--failed"); out != "" {
			t.Errorf("still failed:\n%s", out)
		}
		if out := d.must("", "work", "--topic", "t", "--exec", "cat", "--drain"); out != "bad\n" {
			t.Errorf("after retry: %q", out)
		}

		d.must("worse", "enqueue", "--topic", "t")
		d.leaves(fail...)
		if out := d.must("", "discard", "--all", "--topic", "other"); out != "discarded 0 messages\n" {
			t.Errorf("discard others: %q", out)
		}
		if out := d.must("", "discard", "--all", "--topic", "t"); out != "discarded 1 message\n" {
			t.Errorf("discard: %q", out)
		}
		if out := d.must("", "ls", "--discarded", "--json"); len(lines(out)) != 1 {
			t.Errorf("discarded: %q", out)
		}
	})
}

func TestExitCodesRetry(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		temp, odd := d.must("a", "enqueue", "--topic", "temp"), d.must("b", "enqueue", "--topic", "odd")
		d.leaves("work", "--topic", "temp", "--topic", "odd", "--exec", `echo "$PAWL_TOPIC busy" >&2; [ $PAWL_TOPIC = temp ] && exit 75; exit 3`, "--drain")
		// Not by their state: on a slow machine the second attempt is due before the test looks.
		for id, want := range map[string]string{temp: "exit status 75: temp busy", odd: "exit status 3: odd busy"} {
			var m view.Message
			decode(t, d.must("", "show", strings.TrimSpace(id), "--json"), &m)
			if m.LastError != want || m.RetryCount != 1 || m.Status != "retrying" && m.Status != "ready" {
				t.Errorf("%+v, want %q", m, want)
			}
		}
	})
}

func TestEnvelopesKeysAndDue(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		in := `{"topic":"a","payload":{"x":1},"key":"order-1","correlation_id":"c","headers":{"h":"v"}}
{"topic":"a","payload":"later","due":"1h","priority":-3}
{"topic":"b","payload_base64":"AAH/"}
`
		first := lines(d.must(in, "enqueue"))
		if again := lines(d.must(in, "enqueue")); again[0] != first[0] || again[1] == first[1] {
			t.Errorf("first %q, again %q", first, again)
		}
		var counts struct{ Ready, Scheduled int }
		decode(t, d.must("", "ls", "--counts", "--json"), &counts)
		if counts.Ready != 3 || counts.Scheduled != 2 {
			t.Errorf("counts: %+v", counts)
		}
		var m view.Message
		decode(t, d.must("", "show", first[0], "--json"), &m)
		if *m.Payload != `{"x":1}` || m.CorrelationID != "c" || m.Headers["h"] != "v" || m.Status != "ready" {
			t.Errorf("shown: %+v", m)
		}
		if out := d.must("", "show", first[2], "--payload"); out != "\x00\x01\xff" {
			t.Errorf("payload: %q", out)
		}
		if out := d.must("", "show", first[2]); !strings.Contains(out, "00 01 ff") {
			t.Errorf("no dump:\n%s", out)
		}
	})
}

// What others put into messages must not steer the terminal of who looks.
func TestControlCharactersAreEscaped(t *testing.T) {
	d := onSQLite(t)
	id := strings.TrimSpace(d.must(`{"topic":"t\u001b[2J","payload":"p\u001b]0;x\u0007","headers":{"h":"\u009b"}}`, "enqueue"))
	d.leaves("work", "--topic", "t\x1b[2J", "--exec", `printf 'e\033[31m' >&2; exit 65`, "--drain", "--quiet")
	for _, args := range [][]string{{"ls"}, {"ls", "--json"}, {"show", id}, {"show", id, "--json"}} {
		if out := d.must("", args...); strings.ContainsAny(out, "\x1b\x07\u009b") {
			t.Errorf("%s: %q", args, out)
		}
	}
}

func TestListPages(t *testing.T) {
	d := onSQLite(t)
	d.must("1\n2\n3\n4\n5\n", "enqueue", "--topic", "t")
	var last view.Message
	page := lines(d.must("", "ls", "--json", "--limit", "2", "--topic", "t"))
	decode(t, page[1], &last)
	next := lines(d.must("", "ls", "--json", "--limit", "10", "--after", jsonText(t, last.Position)))
	if len(page) != 2 || len(next) != 3 {
		t.Errorf("%d, then %d", len(page), len(next))
	}
	if r := d.run("", "ls", "--limit", "2"); !strings.Contains(r.stderr, "--after 4") {
		t.Errorf("no hint to the next page: %q", r.stderr)
	}
}

// ls filters by what is known of a message, with any state and with --json.
func TestListFilters(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		d.must("a", "enqueue", "--topic", "t", "--queue", "mail", "--correlation-id", "c-1", "--header", "tenant=a", "--header", "kind=x")
		d.must("b", "enqueue", "--topic", "t", "--queue", "mail", "--correlation-id", "c-2", "--header", "tenant=b", "--header", "kind=x")
		d.must("c", "enqueue", "--topic", "u", "--correlation-id", "c-1")
		d.leaves("work", "--topic", "u", "--exec", "echo no such customer >&2; exit 65", "--drain", "--quiet")
		for _, c := range []struct {
			args []string
			want []string // correlation ids, newest first
		}{
			{[]string{"--queue", "mail"}, []string{"c-2", "c-1"}},
			{[]string{"--queue", "default", "--failed"}, []string{"c-1"}},
			{[]string{"--queue", "default", "--ready"}, nil},
			{[]string{"--correlation-id", "c-1"}, []string{"c-1", "c-1"}},
			{[]string{"--correlation-id", "c-1", "--ready"}, []string{"c-1"}},
			{[]string{"--error", "such customer"}, []string{"c-1"}},
			{[]string{"--error", "such customer", "--status", "failed", "--topic", "u"}, []string{"c-1"}},
			{[]string{"--error", "timeout", "--failed"}, nil},
			{[]string{"--header", "kind=x"}, []string{"c-2", "c-1"}},
			{[]string{"--header", "kind=x", "--header", "tenant=b"}, []string{"c-2"}},
			{[]string{"--header", "kind="}, nil},
			{[]string{"--before", "1h"}, nil},
			{[]string{"--since", "1h", "--limit", "2"}, []string{"c-1", "c-2"}},
			{[]string{"--before", "1us", "--since", "1h", "--queue", "mail"}, []string{"c-2", "c-1"}},
		} {
			var got []string
			for line := range strings.Lines(d.must("", append([]string{"ls", "--json"}, c.args...)...)) {
				var m view.Message
				decode(t, line, &m)
				got = append(got, m.CorrelationID)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s: %v, want %v", c.args, got, c.want)
			}
		}
		if out := d.must("", "ls", "--header", "tenant=a"); len(lines(out)) != 2 {
			t.Errorf("as a table:\n%s", out)
		}
	})
}

func TestFileArgumentAndWhole(t *testing.T) {
	d := onSQLite(t)
	file := filepath.Join(t.TempDir(), "report")
	if err := os.WriteFile(file, []byte("a\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.must("", "enqueue", "--topic", "t", file)
	d.must("", "enqueue", "--topic", "w", "--format", "whole", "--header", "a=b;c", file)
	if got := d.must("", "work", "--topic", "w", "--topic", "t", "-c", "1", "--exec", `wc -l; echo "$PAWL_HEADERS"`, "--drain"); !strings.Contains(got, `{"a":"b;c"}`) {
		t.Errorf("got %q", got)
	}
	var counts struct{ Done int }
	decode(t, d.must("", "ls", "--counts", "--json"), &counts)
	if counts.Done != 3 {
		t.Errorf("done: %d", counts.Done)
	}
}

// A command that enqueues the next message must not inherit the topic of the
// one it works on as an option.
func TestVariables(t *testing.T) {
	d := onSQLite(t)
	t.Setenv("PAWL_DB", strings.TrimPrefix(d.flags[0], "--db="))
	t.Setenv("PAWL_TOPIC", "inherited")
	t.Setenv("PAWL_ENQUEUE_TOPIC", "configured")
	t.Setenv("PAWL_JSON", "true")
	r := command(t.Context(), "x", "enqueue")
	var m view.Message
	decode(t, r.stdout, &m)
	if m.Topic != "configured" {
		t.Errorf("%+v", r)
	}
}

func TestHelpAndVersion(t *testing.T) {
	for _, args := range [][]string{{}, {"--help"}, {"enqueue", "--help"}, {"work", "--help"}, {"--version"}, {"demo", "--help"}, {"joins", "--help"}, {"joins", "show", "--help"}, {"timers", "--help"}, {"jobs", "next", "--help"},
		{"inbox", "ls", "--help"}, {"leases", "release", "--help"}, {"lease", "run", "--help"}, {"fleet", "--help"}, {"fleet", "status", "--help"},
		{"retry", "--help"}, {"pauses", "--help"}, {"workers", "--help"}, {"audit", "--help"}} {
		if r := command(t.Context(), "", args...); r.code != exitOK || !strings.Contains(r.stdout, "pawl") || r.stderr != "" {
			t.Errorf("%q: %+v", args, r)
		}
	}
	if r := command(t.Context(), "", "ls", "--help"); !before(r.stdout, "\nFlags:\n", "\nFlags of all commands:\n") || !before(r.stdout, "Flags of all commands:", "--db=URL") {
		t.Errorf("its own flags are not listed first:\n%s", r.stdout)
	}
	if r := command(t.Context(), "", "--help"); strings.Contains(r.stdout, "demo-worker") || !strings.Contains(r.stdout, "PAWL_DB") {
		t.Errorf("help:\n%s", r.stdout)
	}
}

func TestHelpOfOperators(t *testing.T) {
	for _, c := range []struct {
		command string
		want    []string
	}{
		{"", []string{"PAWL_FLEET", "PAWL_FLEET_QUERY", "PAWL_STORE", "PAWL_ACTOR", "reschedule", "workers"}},
		{"retry", []string{"PAWL_RETRY_DRY_RUN", "PAWL_RETRY_SINCE", "--error", "pawl retry --all --topic mail"}},
		{"discard", []string{"PAWL_DISCARD_RATE", "retention period"}},
		{"cancel", []string{"PAWL_REASON", "is a step of a join"}},
		{"reschedule", []string{"PAWL_RESCHEDULE_DUE", "pawl reschedule 4711 --due now"}},
		{"pause", []string{"PAWL_REASON", "pawl pause queue reports"}},
		{"resume", []string{"same order"}},
		{"pauses", []string{"or ending"}},
		{"workers", []string{"PAWL_WORKERS_ALL", "a day"}},
		{"backlog", []string{"10 000", "+"}},
		{"audit", []string{"PAWL_AUDIT_BY", "a year"}},
	} {
		r := command(t.Context(), "", strings.Fields(c.command+" --help")...)
		for _, want := range c.want {
			if r.code != exitOK || !strings.Contains(r.stdout, want) {
				t.Errorf("%s: no %q in\n%s", c.command, want, r.stdout)
			}
		}
	}
}

func decode(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// before reports whether a text has both parts, the first of them first.
func before(text, first, second string) bool {
	i, j := strings.Index(text, first), strings.Index(text, second)
	return i >= 0 && j > i
}

// D-704: show says that a payload is sealed or offloaded in place of its bytes, which --payload still prints.
func TestShowSealed(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		sealed := pawl.Sealed(nil, pawltest.Keys())
		for want, codec := range map[string]pawl.Codec{"payload: sealed with key test, ": sealed, "payload: offloaded, ": pawl.Offload(sealed, pawltest.NewStore(), 0)} {
			m, err := pawl.NewTopic[string]("t", pawl.TopicOptions{Codec: codec}).Message("secret")
			if err != nil {
				t.Fatal(err)
			}
			id := strings.TrimSpace(d.must(`{"topic":"t","payload_base64":"`+base64.StdEncoding.EncodeToString(m.Payload)+`"}`, "enqueue"))
			if out := d.must("", "show", id); !strings.Contains(out, want) || strings.Contains(out, "70 61 77 6c") {
				t.Errorf("no %q in %s", want, out)
			}
			if out := d.must("", "show", id, "--payload"); out != string(m.Payload) {
				t.Errorf("payload: %q", out)
			}
		}
	})
}
