package ui_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
	"github.com/bravellian/pawl/ui"
)

// D-635: a join is drawn with its steps by state: each of few, of thousands those of a topic as one.
// D-655: and with its waits, what they send and how far they are.
func TestJoinIsDrawn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openOn(t, e)
		fan := func(steps ...outbox.Message) join.Fan {
			t.Helper()
			fan, err := f.Joins.FanOut(f.ctx(), join.Spec{}, steps, join.Wait{OnComplete: messageOf("then")})
			f.check(err)
			return fan
		}
		few := fan(messageOf("pay"), messageOf("pack"), messageOf("a topic with a name that is too long"))
		owner, queue := outbox.NewOwnerToken(), f.Outbox.WorkQueue("")
		msgs, err := queue.Claim(f.ctx(), owner, time.Minute, 3)
		f.check(err)
		for _, m := range msgs {
			switch m.Topic {
			case "pay":
				f.check2(queue.Ack(f.ctx(), owner, m.Position))
			case "pack":
				f.check2(queue.Fail(f.ctx(), owner, errNo, m.Position))
			}
		}
		many := fan(append(slices.Repeat([]outbox.Message{messageOf("pay")}, 990), slices.Repeat([]outbox.Message{messageOf("pack")}, 110)...)...)
		s := serve(t, ui.Of(f.Pawl), ui.Options{})
		_, body, _ := get(t, s, "joins/"+few.Join.String())
		drawn := part(t, body, `<figure class="graph">`, "</figure>")
		for _, want := range []string{
			`href="../messages/` + few.Messages[0].String() + `"><g class="node out"`, ">✓ 1 × pay<", ">■ 1 × pack<", ">○ 1 × a topic with a name that is …<", `<title>1 pending: a topic with a name that is too long</title>`, "2 of 3, 1 failed steps", `class="edge bad"`,
		} {
			if !strings.Contains(drawn, want) {
				t.Errorf("no %s in %s", want, drawn)
			}
		}
		waits := func(id join.ID, class, text, title string) {
			t.Helper()
			_, body, _ := get(t, s, "joins/"+id.String())
			drawn := part(t, body, `<figure class="graph">`, "</figure>")
			if want := `<g class="node ` + class + `" transform="translate(689 `; !strings.Contains(drawn, want) || !strings.Contains(drawn, ">"+text+"<") || !strings.Contains(drawn, "<title>"+title+"</title>") {
				t.Errorf("no wait %s %s %s in %s", class, text, title, drawn)
			}
		}
		waits(few.Join, "plain", "○ sends then", "wait, ready: sends then")
		f.check2(f.Joins.Wait(f.ctx(), few.Join, join.Wait{OnComplete: messageOf("then"), OnFail: messageOf("alert")}))
		waits(few.Join, "plain", "○ sends then, or alert if it fails", "wait, ready: sends then, or alert if it fails")
		both := fan(messageOf("pay"))
		_, err = f.Outbox.Cancel(f.ctx(), "", f.positionOf(join.DefaultTopic))
		f.check(err)
		waits(both.Join, "bad", "■ sends then", "wait, discarded: sends then")
		_, body, _ = get(t, s, "joins/"+many.Join.String())
		drawn = part(t, body, `<figure class="graph">`, "</figure>")
		if n := strings.Count(drawn, "<a "); n != 3 || !strings.Contains(drawn, "× pay<") || !strings.Contains(drawn, "among the first 1\u202f000") || !strings.Contains(drawn, "?status=pending") {
			t.Errorf("%d nodes: %s", n, drawn)
		}
	})
}

// D-636: the last runs of a job and the timers of the next day are drawn, and told apart without colors.
func TestRunsAndTimersAreDrawn(t *testing.T) {
	f := openEmpty(t)
	f.check(f.Jobs.Put(f.ctx(), job.Job{Name: "nightly", Topic: "report", Schedule: "@daily"}))
	for i := range 3 {
		f.check2(f.Jobs.Trigger(f.ctx(), "nightly"))
		owner, queue := outbox.NewOwnerToken(), f.Outbox.WorkQueue("")
		if i == 2 {
			break
		}
		msgs, err := queue.Claim(f.ctx(), owner, time.Minute, 1)
		f.check(err)
		if i == 0 {
			f.check2(queue.Ack(f.ctx(), owner, msgs[0].Position))
		} else {
			f.check2(queue.Fail(f.ctx(), owner, errNo, msgs[0].Position))
		}
	}
	for i := range 5 {
		f.check2(f.Timers.Schedule(f.ctx(), timer.Timer{Topic: "later", Due: time.Now().Add(time.Duration(i)*time.Hour + time.Minute)}))
	}
	s := serve(t, ui.Of(f.Pawl), ui.Options{})
	_, body, _ := get(t, s, "job?name=nightly")
	if drawn := part(t, body, `<figure class="chart">`, "</figure>"); !strings.Contains(drawn, "<span>✓</span><span>■</span><span>○</span>") || !strings.Contains(drawn, "<title>succeeded, ") {
		t.Errorf("the runs: %s", drawn)
	}
	_, body, _ = get(t, s, "timers")
	drawn := part(t, body, `<figure class="chart">`, "</figure>")
	if n := strings.Count(drawn, ">1 timer due from"); n != 5 || strings.Count(drawn, "<span>") != 24 || !strings.Contains(drawn, "<span>6 h</span>") {
		t.Errorf("%d hours have timers: %s", n, drawn)
	}
}
