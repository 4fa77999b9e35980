package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// program does to a test's database what the programs do that use pawl.
func (d *database) program(do func(*join.Joins)) {
	d.t.Helper()
	d.opened(func(s *store) { do(s.pawl().Joins) })
}

// opened does something with a test's database.
func (d *database) opened(do func(*store)) {
	d.t.Helper()
	var g options
	for _, flag := range d.flags {
		name, value, _ := strings.Cut(flag, "=")
		switch name {
		case "--db":
			g.DB = value
		case "--schema":
			g.Schema = value
		}
	}
	s, err := g.open(d.t.Context(), opening{make: true})
	if err != nil {
		d.t.Fatal(err)
	}
	do(s)
	if err := s.close(nil); err != nil {
		d.t.Fatal(err)
	}
}

// fanOut starts a join with a message of topic t for every payload.
func (d *database) fanOut(spec join.Spec, payloads ...string) join.ID {
	d.t.Helper()
	var msgs []outbox.Message
	for _, p := range payloads {
		msgs = append(msgs, outbox.Message{Topic: "t", Payload: []byte(p)})
	}
	var fan join.Fan
	d.program(func(joins *join.Joins) {
		var err error
		if fan, err = joins.FanOut(d.t.Context(), spec, msgs, join.Wait{OnComplete: outbox.Message{Topic: "next"}}); err != nil {
			d.t.Fatal(err)
		}
	})
	return fan.Join
}

// settle has a worker handle what is there: what says "bad" fails for good.
func (d *database) settle() {
	d.t.Helper()
	r := d.run("", "work", "--topic", "t", "--exec", `[ "$(cat)" = bad ] && exit 65; exit 0`, "--drain", "--quiet")
	if r.code != exitOK && r.code != exitLeft {
		d.t.Fatalf("%+v", r)
	}
}

func TestJoinsShowProgress(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		id := d.fanOut(join.Spec{ExpectedSteps: 4, GroupingKey: "customer-7", Metadata: `{"type":"etl"}`, Deadline: time.Now().Add(time.Hour)}, "a", "bad", "c").String()
		if out := d.must("", "joins", "ls"); !strings.Contains(out, "pending") || !strings.Contains(out, "0/4 ") || !strings.Contains(out, "customer-7") {
			t.Errorf("at first:\n%s", out)
		}
		d.settle()
		out := d.must("", "joins", "show", id)
		for _, want := range []string{id, "pending", "2/4  1 failed", "customer-7", `{"type":"etl"}`, "deadline"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
		if states := states(t, d, id); !slices.Equal(states, []string{"failed", "completed", "completed"}) {
			t.Errorf("members: %q", states)
		}
		if states := states(t, d, id, "--failed"); !slices.Equal(states, []string{"failed"}) {
			t.Errorf("failed members: %q", states)
		}
		var v view.Join
		decode(t, d.must("", "joins", "ls", "--json"), &v)
		if v.ID.String() != id || v.CompletedSteps != 2 || v.FailedSteps != 1 || v.Deadline.IsZero() || v.Metadata != "" || v.MetadataBytes != 14 {
			t.Errorf("listed: %+v", v)
		}
		if r := d.run("", "joins", "show", d.fanOut(join.Spec{}, "x").String(), "--failed"); r.code != exitOK || r.stderr != "no failed members\n" {
			t.Errorf("without failures: %+v", r)
		}
	})
}

// states are those of a join's members, in the order they are shown.
func states(t *testing.T, d *database, id string, more ...string) (states []string) {
	t.Helper()
	var v view.Join
	decode(t, d.must("", append([]string{"joins", "show", id, "--json"}, more...)...), &v)
	for _, m := range *v.Members {
		states = append(states, string(m.Status))
	}
	return states
}

// D-207
func TestJoinsShowResults(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		id := d.fanOut(join.Spec{}, "text", "\xff\x00", "")
		if out := d.must("", "joins", "show", id.String()); strings.Contains(out, "RESULT") {
			t.Errorf("without results:\n%s", out)
		}
		d.opened(func(s *store) {
			o := parts.NewOutbox(s, worker.Options{StopWhenEmpty: true, Logger: slog.New(slog.DiscardHandler)})
			o.Handle("t", func(_ context.Context, m *outbox.Message) error { return m.SetResult(m.Payload) })
			if err := o.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
		var v view.Join
		decode(t, d.must("", "joins", "show", id.String(), "--json"), &v)
		var got []string
		for _, m := range *v.Members {
			text := "none"
			if m.Result != nil {
				text = *m.Result
			}
			got = append(got, fmt.Sprintf("%d %s %x", m.ResultBytes, text, m.Member.Result))
		}
		if !slices.Equal(got, []string{"4 text ", "2 none ff00", "0 none "}) {
			t.Errorf("results %q", got)
		}
		out := d.must("", "joins", "show", id.String(), "-n", "1")
		if !strings.Contains(out, "RESULT") || !strings.Contains(out, "4 bytes") {
			t.Errorf("no results in\n%s", out)
		}
	})
}

func TestJoinsCancel(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		over := d.fanOut(join.Spec{}, "a").String()
		d.settle()
		pending := d.fanOut(join.Spec{}, "a", "b").String()
		unknown := uuid.New().String()
		r := d.run("", "joins", "cancel", over, unknown, pending)
		want := over + "  was over already: completed\n" + pending + "  cancelled\n"
		if r.code != exitFailure || r.stdout != want || r.stderr != "pawl: join not found: "+unknown+" (or it was cleaned up)\n" {
			t.Errorf("%+v; want %q", r, want)
		}
		var c struct {
			Cancelled bool
			Status    string
		}
		decode(t, d.must("", "joins", "cancel", pending, "--json"), &c)
		if c.Cancelled || c.Status != "cancelled" {
			t.Errorf("again: %+v", c)
		}
		d.settle() // too late to count
		if states := states(t, d, pending); !slices.Equal(states, []string{"not counted", "not counted"}) {
			t.Errorf("members: %q", states)
		}
	})
}

// D-408: a retry of the steps alone says that their joins have ended and what to do; that redrives them.
func TestJoinsRetry(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		pending, failed := d.fanOut(join.Spec{}, "a").String(), ""
		d.opened(func(s *store) {
			fan, err := s.pawl().Joins.FanOut(t.Context(), join.Spec{}, []outbox.Message{{Topic: "bad"}, {Topic: "bad"}}, join.Wait{OnComplete: outbox.Message{Topic: "done"}})
			if err != nil {
				t.Fatal(err)
			}
			failed = fan.Join.String()
		})
		drain := func() {
			if r := d.run("", "work", "--topic", "bad", "--exec", "exit 65", "--drain"); r.code != exitLeft {
				t.Errorf("work: %+v", r)
			}
		}
		drain()
		if out := d.must("", "explain", failed); !strings.Contains(out, "what helps: pawl joins retry "+failed) {
			t.Errorf("explained:\n%s", out)
		}
		want := "retried 2 messages\n2 steps of joins that have failed and stay failed -> pawl joins ls --status failed, then pawl joins retry ID\n"
		if out := d.must("", "retry", "--all", "--dry-run"); out != "would have "+want {
			t.Errorf("a dry run: %q", out)
		}
		if out := d.must("", "retry", "--all", "--limit", "1", "--json"); !strings.Contains(out, `"steps_of_failed_joins":1`) && !strings.Contains(out, `"steps_of_failed_joins": 1`) {
			t.Errorf("as JSON: %q", out)
		}
		unknown := uuid.New().String()
		r := d.run("", "joins", "retry", failed, pending, unknown)
		want = failed + "  retried 1 step, 1 wait\n" + pending + "  has not failed: pending\n"
		if r.code != exitFailure || r.stdout != want || r.stderr != "pawl: join not found: "+unknown+" (or it was cleaned up)\n" {
			t.Errorf("%+v; want %q", r, want)
		}
		var again struct {
			Redriven bool
			Status   string
		}
		if decode(t, d.must("", "joins", "retry", failed, "--json"), &again); again.Redriven || again.Status != "pending" {
			t.Errorf("again: %+v", again)
		}
		drain()
		d.must("", "discard", "--all", "--topic", "bad")
		r = d.run("", "joins", "retry", failed)
		if want := "pawl: no step of the join can run again, so nothing was changed: " + failed + "\n"; r.code != exitFailure || r.stderr != want {
			t.Errorf("%+v; want %q", r, want)
		}
	})
}

func TestJoinsListFiltersAndPages(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		var ids []string
		for n := range 5 {
			ids = append(ids, d.fanOut(join.Spec{GroupingKey: fmt.Sprint("odd ", n%2)}, "x").String())
		}
		slices.Sort(ids)
		slices.Reverse(ids)
		r := d.run("", "joins", "ls", "--limit", "2")
		if !strings.Contains(r.stdout, ids[1]) || strings.Contains(r.stdout, ids[2]) || !strings.Contains(r.stderr, "--after "+ids[1]) {
			t.Errorf("first page: %+v", r)
		}
		for _, c := range []struct {
			args []string
			want int
		}{
			{[]string{"--after", ids[1]}, 3}, {[]string{"--group", "odd 1"}, 2}, {[]string{"--status", "pending"}, 5},
		} {
			if out := d.must("", append([]string{"joins", "ls", "--json"}, c.args...)...); len(lines(out)) != c.want {
				t.Errorf("%q: want %d\n%s", c.args, c.want, out)
			}
		}
		if r := d.run("", "joins", "ls", "--status", "failed"); r.code != exitOK || r.stdout != "" || r.stderr != "no joins\n" {
			t.Errorf("failed ones: %+v", r)
		}
		t.Setenv("PAWL_JOINS_LS_LIMIT", "1")
		if out := d.must("", "joins", "list", "--json"); len(lines(out)) != 1 {
			t.Errorf("the variable does nothing:\n%s", out)
		}
	})
}

func TestJoinsShowBoundsMembers(t *testing.T) {
	d := onSQLite(t)
	id := d.fanOut(join.Spec{}, strings.Split(strings.Repeat("x", 25), "")...).String()
	r := d.run("", "joins", "show", id)
	if n := strings.Count(r.stdout, "  t      pending"); n != 20 || r.stderr != "5 more not shown: --members N\n" {
		t.Errorf("%d shown: %+v", n, r)
	}
	var v view.Join
	decode(t, d.must("", "joins", "show", id, "--members", "0", "--json"), &v)
	if len(*v.Members) != 0 || *v.NotShown != 25 {
		t.Errorf("%+v", v)
	}
}

// What programs put into joins must not steer the terminal of who looks.
func TestJoinsAreCleaned(t *testing.T) {
	d := onSQLite(t)
	id := d.fanOut(join.Spec{GroupingKey: "k\x1b[2J", Metadata: "m\x1b]0;x\x07 of several words"}, "x").String()
	for _, args := range [][]string{{"ls"}, {"ls", "--json"}, {"show", id}, {"show", id, "--json"}} {
		if out := d.must("", append([]string{"joins"}, args...)...); strings.ContainsAny(out, "\x1b\x07") || !strings.Contains(out, "k") {
			t.Errorf("%s: %q", args, out)
		}
	}
}

func TestStepsAndBar(t *testing.T) {
	for _, c := range []struct {
		completed, failed, expected int
		bar, text                   string
	}{
		{0, 0, 3, "··········", "0/3"},
		{12, 2, 40, "███x······", "12/40  2 failed"},
		{999, 0, 1000, "█████████·", "999/1000"},
		{998, 1, 1000, "████████x·", "998/1000  1 failed"},
		{0, 1, 1, "xxxxxxxxxx", "0/1  1 failed"},
		{3, 0, 3, "██████████", "3/3"},
	} {
		j := &join.Info{CompletedSteps: c.completed, FailedSteps: c.failed, ExpectedSteps: c.expected}
		if got := bar(j, barWidth); got != c.bar {
			t.Errorf("%+v: %s", c, got)
		}
		if got := steps(&bytes.Buffer{}, j); got != c.text {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestDeadlineText(t *testing.T) {
	now := time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		status join.Status
		after  time.Duration
		want   string
	}{
		{join.Pending, time.Hour, "2026-03-02 07:00:00Z"},
		{join.Pending, -time.Hour, "2026-03-02 05:00:00Z, passed: it fails when a worker next checks"},
		{join.Failed, -time.Hour, "2026-03-02 05:00:00Z"},
	} {
		if got := deadlineText(&join.Info{Status: c.status, Deadline: now.Add(c.after)}, now); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	if got := deadlineText(&join.Info{}, now); got != "" {
		t.Errorf("without a deadline: %s", got)
	}
}

// D-33: whoever works off the steps fires what waits for them.
func TestWorkFiresWaits(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		d.fanOut(join.Spec{}, "a", "b")
		d.settle()
		if out := d.must("", "ls", "--topic", "next"); !strings.Contains(out, "next") {
			t.Errorf("nothing followed:\n%s", out)
		}
	})
}
