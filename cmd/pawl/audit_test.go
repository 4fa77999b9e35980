package main

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/join"
)

// audited are the entries of the audit trail, oldest first, as "actor action target count".
func (d *database) audited(args ...string) (all []string) {
	d.t.Helper()
	out := strings.TrimSpace(d.must("", append([]string{"audit", "--json"}, args...)...))
	for line := range strings.Lines(out) {
		var v audit.Entry
		decode(d.t, line, &v)
		if v.ID == [16]byte{} || time.Since(v.At) > time.Hour {
			d.t.Errorf("%+v", v)
		}
		all = append([]string{strings.Join([]string{v.Actor, v.Action, v.Target, number(v.Count)}, " ")}, all...)
	}
	return all
}

func (d *database) wantAudited(want ...string) {
	d.t.Helper()
	if got := strings.Join(d.audited(), "\n"); got != strings.Join(want, "\n") {
		d.t.Errorf("audited:\n%s\n\nwant:\n%s", got, strings.Join(want, "\n"))
	}
}

func TestAudit(t *testing.T) {
	onOne(t, func(t *testing.T, d *database) {
		d.must("", "migrate")
		if r := d.run("", "audit"); r != (result{stderr: "nothing was done\n"}) {
			t.Errorf("none: %+v", r)
		}
		if r := d.run("", "audit", "--json"); r != (result{}) {
			t.Errorf("none as JSON: %+v", r)
		}
		who, err := user.Current()
		if err != nil {
			t.Fatal(err)
		}
		host, _ := os.Hostname()
		self := who.Username + "@" + host

		ids := d.failing(`{"topic":"t","payload":"a"}`, `{"topic":"t","payload":"b"}`, `{"topic":"t","payload":"c"}`)
		d.must("", "discard", "--all", "--limit", "1")
		t.Setenv("PAWL_ACTOR", "ticket-17")
		d.must("", "retry", "--all")
		d.must("", "reschedule", ids[1], ids[2], "--due", "1h", "--actor", "al\x1bice")
		d.must("", "reschedule", ids[2], "--due", "now")
		d.must("", "cancel", ids[1], ids[2], "--reason", "no\nneed")
		d.must("", "pause", "topic", "t", "--actor", "bob")
		d.must("", "pause", "topic", "t", "--actor", "carol") // was paused: nothing was done
		d.must("", "resume", "topic", "t", "--actor", "bob")
		d.must("", "resume", "topic", "t", "--actor", "carol")
		d.must("", "retry", "--all") // nothing
		d.wantAudited(
			self+" discard failed messages 1", "ticket-17 redrive failed messages 2", "al\x1bice reschedule 2 messages 2",
			fmt.Sprintf("ticket-17 reschedule message %d 1", d.position(ids[2])), "ticket-17 cancel 2 messages 2", "bob pause topic t 1", "bob resume topic t 1",
		)
		for _, c := range []struct {
			args []string
			want string
		}{
			{[]string{"--by", "bob"}, "bob pause topic t 1, bob resume topic t 1"},
			{[]string{"--action", "resume"}, "bob resume topic t 1"},
			{[]string{"--action", "retry"}, "ticket-17 redrive failed messages 2"},
			{[]string{"--by", "ticket-17", "--action", "redrive"}, "ticket-17 redrive failed messages 2"},
			{[]string{"--limit", "2"}, "bob pause topic t 1, bob resume topic t 1"},
			{[]string{"-n", "1", "--by", "ticket-17"}, "ticket-17 cancel 2 messages 2"},
			{[]string{"--by", "carol"}, ""},
		} {
			if got := strings.Join(d.audited(c.args...), ", "); got != c.want {
				t.Errorf("%q: %q, want %q", c.args, got, c.want)
			}
		}
		got := lines(d.must("", "audit"))
		if len(got) != 8 || !strings.HasPrefix(got[0], "AT ") || !strings.Contains(got[1], "bob ") || !strings.Contains(got[5], `al\x1bice`) || !strings.HasSuffix(got[7], "  discard     1      failed messages") {
			t.Errorf("%s", strings.Join(got, "\n"))
		}
	})
}

// D-116: what is done to timers, jobs, joins, leases and messages of the inbox is noted once.
func TestAuditOfOtherCommands(t *testing.T) {
	onOne(t, func(t *testing.T, d *database) {
		t.Setenv("PAWL_ACTOR", "a")
		join := d.fanOut(join.Spec{}, "x").String()
		timer := d.added("--due", "1h", "--data", "")
		d.added("--due", "1h", "--data", "", "--key", "k")
		d.must("", "jobs", "put", "n", "--schedule", "@daily", "--topic", "t")
		d.hold(time.Hour, "l")
		d.receive(func(ctx context.Context, box *inbox.Inbox) error {
			if err := seen(ctx, box, "s", "dead"); err != nil {
				return err
			}
			_, err := box.MarkDead(ctx, inbox.Key{Source: "s", MessageID: "dead"})
			return err
		})
		for range 2 { // the second time there is nothing to do for some
			d.must("", "joins", "cancel", join)
			d.must("", "timers", "cancel", timer)
			d.must("", "leases", "release", "l")
			d.must("", "inbox", "revive", "s", "dead")
		}
		d.must("", "timers", "cancel", "--key", "k")
		d.must("", "jobs", "disable", "n")
		d.must("", "jobs", "enable", "n")
		d.must("", "jobs", "run", "n")
		d.must("", "jobs", "runs", "n")
		d.run("", "jobs", "rm", "none")
		d.must("", "jobs", "rm", "n")
		if r := d.run("", "audit", "--action", "retried\x1b"); r.code != exitOK || !strings.Contains(r.stderr, `by the name of "retried\x1b"; pawl itself notes redrive, `) {
			t.Errorf("an action that nobody knows: %+v", r)
		}
		for _, action := range []string{"cancel", "release", "revive", "disable", "enable", "trigger", "run", "remove", "rm"} {
			if len(d.audited("--action", action)) == 0 {
				t.Errorf("nothing was noted as %q", action)
			}
		}
		d.must("", "jobs", "put", "n", "--schedule", "@daily", "--topic", "t", "--reason", "INC-\x1b42")
		if out := d.must("", "audit", "-n", "1"); !strings.Contains(out, "  REASON\n") || !strings.HasSuffix(out, "  job n   INC-\\x1b42\n") {
			t.Errorf("with a reason: %s", out)
		}
		if out := d.must("", "audit", "-n", "1", "--json"); !strings.Contains(out, `"reason":"INC-\u001b42"`) {
			t.Errorf("with a reason: %s", out)
		}
		d.wantAudited(
			"a put job n 1", "a cancel join "+join+" 1", "a cancel timer "+timer+" 1", "a release lease l 1", "a revive inbox s/dead 1",
			`a cancel timer key "k" 1`, "a disable job n 1", "a enable job n 1", "a trigger job n 1", "a remove job n 1", "a put job n 1",
		)
	})
}

// D-116: what cannot be noted is not done.
func TestUnwrittenNote(t *testing.T) {
	d := onSQLite(t)
	timer := d.added("--due", "1h", "--data", "")
	spoil(t, strings.TrimPrefix(d.flags[0], "--db=sqlite:"), `ALTER TABLE audit_trail RENAME COLUMN actor TO somebody`)
	r := d.run("", "timers", "cancel", timer)
	if r.code != exitFailure || len(d.timersOf("--status", "cancelled")) != 0 {
		t.Errorf("%+v", r)
	}
}

func TestAuditMistakes(t *testing.T) {
	d := onSQLite(t)
	d.must("", "migrate")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"audit", "--limit", "0"}, "--limit: not within 1"},
		{[]string{"audit", "--limit", "10001"}, "--limit: not within 1"},
		{[]string{"audit", "x"}, "unexpected argument"},
		{[]string{"workers", "x"}, "unexpected argument"},
	} {
		if r := d.run("", c.args...); r.code != exitUsage || !strings.Contains(r.stderr, c.want) || r.stdout != "" || len(lines(r.stderr)) != 1 {
			t.Errorf("%q: %+v; want %q", c.args, r, c.want)
		}
	}
}
