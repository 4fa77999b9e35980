package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/alecthomas/kong"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sqlite"
	"github.com/bravellian/pawl/timer"
)

// hostile is what could steer a terminal: it clears the screen, sets the title, turns text around, hides it, and
// begins a line of its own.
const hostile = "x\x1b[2J\x1b]0;title\x07\u009b31m\u202e\u200b\u2028\r\nFORGED"

// inSections are texts of several lines that end what "show" prints, below a heading.
var inSections = regexp.MustCompile(`(?ms)^(last error|payload \([^)]*\)|metadata \([^)]*\)):\n.*`)

// steering returns what could steer a terminal in what was printed, and lines that somebody else began.
func steering(printed string) string {
	for _, r := range printed {
		if r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return fmt.Sprintf("%q", r)
		}
	}
	printed = inSections.ReplaceAllString(printed, "")
	if strings.HasPrefix(printed, "FORGED") || strings.Contains(printed, "\nFORGED") {
		return "a line"
	}
	return ""
}

// steered is a database whose every text is hostile, and what is in it.
type steered struct {
	*database
	dir                            string
	failed, ready, join, tim, bulk string
}

func openSteered(t *testing.T) *steered {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "d"+strings.ReplaceAll(hostile, "\u2028", ""))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s := &steered{database: &database{t, []string{"--db=" + filepath.Join(dir, "a.db")}}, dir: dir}
	s.must("", "migrate")
	db, err := sqlite.Open(filepath.Join(dir, "a.db"))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	t.Cleanup(func() { _ = db.Close() })
	p, err := pawl.New(db, pawl.Options{Worker: hostile, Logger: slog.New(slog.DiscardHandler)})
	must(err)
	ctx := t.Context()
	m := outbox.Message{Topic: hostile, Queue: hostile, Payload: []byte(hostile), CorrelationID: hostile, Headers: map[string]string{hostile: hostile}, OrderingKey: hostile}
	failed, err := p.Outbox.Enqueue(ctx, m)
	must(err)
	owner := outbox.NewOwnerToken()
	msgs, err := p.Outbox.WorkQueue(hostile).Claim(ctx, owner, time.Minute, 1)
	must(err)
	_, err = p.Outbox.WorkQueue("").Fail(ctx, owner, errors.New(hostile), msgs[0].Position)
	must(err)
	m.OrderingKey, m.UniqueKey = "", hostile
	ready, err := p.Outbox.Enqueue(ctx, m)
	must(err)
	m.UniqueKey = ""
	fan, err := p.Joins.FanOut(ctx, join.Spec{GroupingKey: hostile, Metadata: hostile}, []outbox.Message{m, m}, join.Wait{OnComplete: m})
	must(err)
	tim, err := p.Timers.Schedule(ctx, timer.Timer{Topic: hostile, Key: hostile, Due: time.Now().Add(time.Hour), Queue: hostile, CorrelationID: hostile, Payload: []byte(hostile)})
	must(err)
	must(p.Jobs.Put(ctx, job.Job{Name: hostile, Topic: hostile, Schedule: "@daily", Queue: hostile}))
	_, err = p.Jobs.Trigger(ctx, hostile)
	must(err)
	_, err = p.Inbox.AlreadyProcessed(ctx, inbox.Key{Source: hostile, MessageID: hostile})
	must(err)
	_, err = p.Inbox.MarkDead(ctx, inbox.Key{Source: hostile, MessageID: hostile})
	must(err)
	l, err := p.Leases.Acquire(ctx, hostile, lease.Options{Owner: hostile, Duration: time.Minute})
	must(err)
	t.Cleanup(func() { _ = l.Close(context.Background()) })
	by := admin.WithReason(admin.WithActor(ctx, hostile), hostile)
	for _, kind := range []admin.Kind{admin.Topic, admin.Queue} {
		_, err = p.Admin.Pause(by, kind, hostile, hostile)
		must(err)
		_, err = p.Admin.SetLimit(by, kind, hostile, outbox.Limit{Concurrency: 1}, hostile)
		must(err)
	}
	working, end := context.WithCancel(ctx) // so that there is a process
	ended := make(chan error, 1)
	p.Handle("t", func(context.Context, *outbox.Message) error { return nil })
	go func() { ended <- p.Run(working) }()
	t.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	eventually(t, "a worker", func() bool {
		w, err := inspect.ListWorkers(ctx, p.Internal(access.Key{}).DB)
		return err == nil && len(w) > 0
	})
	bulk, err := p.Outbox.Redrive(by, outbox.FailedFilter{Topic: hostile, Queue: hostile, Error: hostile, Rate: 1})
	must(err)
	s.bulk = bulk.ID.String()
	s.failed, s.ready, s.join, s.tim = failed.String(), ready.String(), fan.Join.String(), tim.String()
	return s
}

// commandLines are the lines to try, by command. Those that only read come first. A command without one fails
// the test.
func (s *steered) commandLines() []struct {
	command string
	args    [][]string
} {
	list := filepath.Join(s.dir, "list")
	if err := os.WriteFile(list, []byte("k\x1b[2J\u202e sqlite:"+filepath.Join(s.dir, "none\x1b[2J")+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	fleets := [][]string{{"--fleet", "dir:" + s.dir}, {"--fleet", "list:" + list}, {"--fleet", "list:" + hostile}}
	return []struct {
		command string
		args    [][]string
	}{
		{"ls", slices.Concat([][]string{{}, {"--failed"}, {"--counts"}, {"--topic", hostile}, {"--queue", hostile, "-n", "1"}, {"--after", hostile}, {"--status", hostile}, {"--error", hostile}}, fleets)},
		{"show", [][]string{{s.failed}, {s.ready}, {hostile}, {s.join}}},
		{"explain", [][]string{{s.failed}, {s.ready}, {s.join}, {s.tim}, {hostile}, {"job:" + hostile}}},
		{"pauses", slices.Concat([][]string{{}}, fleets)},
		{"limits ls", slices.Concat([][]string{{}}, fleets)},
		{"failures", slices.Concat([][]string{{}, {"--topic", hostile}}, fleets)},
		{"stats", slices.Concat([][]string{{}, {hostile}, {"--queue", hostile}}, fleets)},
		{"retopic", [][]string{{hostile, "t" + hostile, "--dry-run"}, {hostile, hostile}}},
		{"jobs forget", [][]string{{hostile}}},
		{"backlog", slices.Concat([][]string{{}, {"--topic", hostile}}, fleets)},
		{"workers", slices.Concat([][]string{{}}, fleets)},
		{"audit", slices.Concat([][]string{{}, {"--actor", hostile}}, fleets)},
		{"joins ls", [][]string{{}, {"-n", "1"}, {"--status", hostile}}},
		{"joins show", [][]string{{s.join}, {hostile}}},
		{"flows ls", [][]string{{}, {"--flow", hostile}, {"--after", hostile}, {"--status", hostile}}},
		{"flows show", [][]string{{s.failed}, {hostile}}},
		{"flows signal", [][]string{{s.failed, hostile}, {hostile, "a"}}},
		{"flows cancel", [][]string{{hostile}}},
		{"timers ls", [][]string{{}, {"-n", "1"}, {"--status", hostile}}},
		{"jobs ls", [][]string{{}, {"-n", "1"}}},
		{"jobs runs", [][]string{{hostile}, {"no" + hostile}}},
		{"jobs next", [][]string{{hostile}, {"@daily", "--zone", hostile}, {"@daily"}}},
		{"inbox ls", [][]string{{}, {"-n", "1"}, {"--source", hostile}, {"--status", hostile}}},
		{"inbox show", [][]string{{hostile, hostile}, {hostile, "no" + hostile}}},
		{"leases ls", [][]string{{}, {"-n", "1"}}},
		{"health", slices.Concat([][]string{{}, {"--verbose"}}, fleets)},
		{"doctor", slices.Concat([][]string{{}}, fleets)},
		{"evidence", [][]string{{"--load", "10ms"}, {"--load", hostile}}},
		{"fleet ls", fleets},
		{"fleet status", fleets},
		{"migrate", slices.Concat([][]string{{}, {"--status"}, {"--check"}, {"--grants", hostile}, {"--grants", "viewer=" + hostile}, {"--format", hostile}}, fleets)},
		{"after-restore", slices.Concat([][]string{{}}, fleets)},
		{"enqueue", [][]string{{"--topic", hostile}, {hostile}, {"--topic", "t", "--due", hostile}, {"--topic", "t", "--header", hostile}, {"--format", hostile}, {"--format", "envelope"}}},
		{"work", [][]string{{"--topic", hostile, "--queue", hostile, "--exec", "printf 'e\\033[31m\\n' >&2; exit 1", "--drain", "--verbose"}, {"--topic", hostile, "--webhook", "http://" + hostile + "/", "--drain"},
			{"--topic", hostile, "--exec", "true", "--drain", "--listen", hostile}}},
		{"retry", [][]string{{"--all", "--topic", hostile, "--dry-run"}, {hostile}, {s.ready}, {"--all", "--topic", hostile}}},
		{"discard", [][]string{{hostile}, {s.ready}, {"--all", "--topic", hostile}}},
		{"undiscard", [][]string{{hostile}, {s.ready}, {"--all", "--topic", hostile}, {"--all", "--act", hostile}}},
		{"bulk ls", slices.Concat([][]string{{}}, fleets)},
		{"bulk stop", [][]string{{hostile}, {s.bulk}, {s.bulk}}},
		{"cancel", [][]string{{hostile}, {s.failed}}},
		{"erase", [][]string{{hostile}, {"--correlation", hostile}, {hostile, "--correlation", hostile}}},
		{"reschedule", [][]string{{s.ready, "--due", hostile}, {hostile, "--due", "1h"}, {s.ready, "--due", "1h"}}},
		{"pause", [][]string{{"topic", hostile}, {"queue", "no" + hostile}, {hostile, hostile}}},
		{"resume", [][]string{{"topic", hostile}, {"queue", hostile}, {hostile, hostile}}},
		{"limits set", [][]string{{"topic", hostile, "--concurrency", "2"}, {"each", hostile, "--concurrency", "2"}, {"topic", "t", "--rate", hostile}}},
		{"limits rm", [][]string{{"topic", hostile}, {"topic", "no" + hostile}}},
		{"joins cancel", [][]string{{hostile}, {s.join}}},
		{"joins retry", [][]string{{hostile}, {s.join}}},
		{"timers add", [][]string{{"--topic", hostile, "--due", "1h", "--key", hostile}, {"--topic", "t", "--due", hostile}}},
		{"timers cancel", [][]string{{"--key", hostile}, {"--key", "no" + hostile}, {hostile}}},
		{"jobs put", [][]string{{hostile, "--topic", hostile, "--schedule", "@daily"}, {hostile, "--topic", "t", "--schedule", hostile}, {"j", "--topic", "t", "--schedule", "@daily", "--zone", hostile}}},
		{"jobs sync", [][]string{{hostile}, {list}, {list, "--owner", hostile}}},
		{"jobs run", [][]string{{hostile}, {"no" + hostile}}},
		{"jobs enable", [][]string{{hostile}, {"no" + hostile}}},
		{"jobs disable", [][]string{{hostile}, {"no" + hostile}}},
		{"jobs rm", [][]string{{hostile}, {"no" + hostile}}},
		{"inbox revive", [][]string{{hostile, hostile}, {hostile, "no" + hostile}, {"--all", "--source", hostile}}},
		{"lease run", [][]string{{hostile, "--", "true"}, {hostile, "--wait", hostile, "--", "true"}, {"other" + hostile, "--", "no-such-command\x1b[2J"}}},
		{"leases release", [][]string{{hostile}, {"no" + hostile}}},
		{"fleet move", [][]string{
			{hostile, "--to", "sqlite:" + filepath.Join(s.dir, "new"), "--fleet", "dir:" + s.dir}, {"a", "--to", hostile, "--fleet", "dir:" + s.dir},
			{"a", "--drain", "0s", "--to", "sqlite:" + filepath.Join(s.dir, "new\x1b[2J"), "--fleet", "dir:" + s.dir}, {"a", "--give-up", "--to", "sqlite:" + filepath.Join(s.dir, "new\x1b[2J"), "--fleet", "dir:" + s.dir},
		}},
		{"import origin", [][]string{{"--from", hostile}}},
		{"import table", [][]string{{"--from", hostile, "--map", "topic='t',payload=p", "--pending", "a=b", "--delete"}, {"--from", "outbox_message", "--map", hostile, "--pending", "a=b", "--delete"},
			{"--from", "outbox_message", "--map", "topic=topic,payload=" + hostile, "--pending", "a=b", "--delete"}, {"--from", "outbox_message", "--map", "topic=message_id,payload=payload,key=topic", "--pending", "id=1", "--delete", "--dry-run"}}},
		{"version", [][]string{{}, {hostile}}},
		{"completion", [][]string{{hostile}}},
		{"man", [][]string{{filepath.Join(s.dir, "man")}}},
		{"ui", [][]string{{"--listen", hostile}, {"--basic-auth", hostile}, {"--fleet", "list:" + hostile}}},
		{"demo", [][]string{{"--runs", hostile}}},
	}
}

// leaves are all commands that do something.
func leaves(t *testing.T) (all []string) {
	t.Helper()
	var c cli
	parser, err := (&app{}).parser(&c)
	if err != nil {
		t.Fatal(err)
	}
	var walk func(n *kong.Node, path string)
	walk = func(n *kong.Node, path string) {
		for _, child := range n.Children {
			if !child.Hidden {
				walk(child, strings.TrimSpace(path+" "+child.Name))
			}
		}
		if len(n.Children) == 0 {
			all = append(all, path)
		}
	}
	walk(parser.Model.Node, "")
	return all
}

// D-302: no command prints what steers a terminal, whoever stored it or named it: every command, in every format,
// of messages, names, errors, workers, stores and paths that all hold it.
func TestNoCommandSteersATerminal(t *testing.T) {
	s := openSteered(t)
	left := leaves(t)
	for _, c := range s.commandLines() {
		at := slices.Index(left, c.command)
		if at < 0 {
			t.Errorf("there is no command %s", c.command)
			continue
		}
		left = slices.Delete(left, at, at+1)
		for _, args := range c.args {
			for _, format := range [][]string{nil, {"--json"}, {"-o", "csv"}, {"-o", "id"}} {
				line := slices.Concat(strings.Fields(c.command), format, args)
				if !slices.Contains(args, "--fleet") {
					line = s.line(line)
				}
				r := command(t.Context(), `{"topic":"t`+`\u001b`+`","payload":"x"}`+"\n", line...)
				if r.stdout+r.stderr == "" && r.code != exitOK {
					t.Errorf("%q says nothing", line)
				}
				for _, printed := range []string{r.stdout, r.stderr} {
					if what := steering(printed); what != "" {
						t.Errorf("pawl %s %q prints %s:\n%q", c.command, slices.Concat(format, args), what, printed)
					}
				}
			}
		}
	}
	if len(left) > 0 {
		t.Errorf("commands without a line in this test: %q", left)
	}
}

// D-302: nor do logs, in any of their forms.
func TestLogsDoNotSteerATerminal(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		for _, onTerminal := range []bool{false, true} {
			var b strings.Builder
			newLogger(&b, slog.LevelInfo, asJSON, onTerminal).With("worker", hostile).Info("said", "topic", hostile, "error", errors.New(hostile), "cause", engine.Invalid("topic", "%s", hostile))
			if what := steering(b.String()); what != "" || !strings.Contains(b.String(), "said") {
				t.Errorf("JSON %v, terminal %v: %s in %q", asJSON, onTerminal, what, b.String())
			}
		}
	}
}
