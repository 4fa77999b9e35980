package ui_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
	"github.com/bravellian/pawl/ui"
)

var (
	boxes = regexp.MustCompile(`<input type="checkbox" name="row" value="([^"]*)" form="select-\d+"`)
	acted = regexp.MustCompile(`formaction="\./do/([^"]*)"`)
)

// D-657: messages that are selected get another topic.
// D-630: in every list rows are selected by check boxes, and something is done to all of them by a form that
// needs no script; who may change nothing sees neither.
func TestSelectAndAct(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		for i := range 2 {
			f.fails("again")
			f.check2(f.Outbox.Enqueue(f.ctx(), messageOf("wait")))
			f.check2(f.Timers.Schedule(f.ctx(), timer.Timer{Topic: "wait", Due: time.Now().Add(time.Hour)}))
			f.check2(f.Joins.Start(f.ctx(), join.Spec{ExpectedSteps: 1, GroupingKey: "wait"}))
			name := []string{"one & more", "two"}[i]
			f.check(f.Jobs.Put(f.ctx(), job.Job{Name: name, Topic: "report", Schedule: "@daily"}))
			key := inbox.Key{Source: "a b", MessageID: name}
			f.check2(f.Inbox.AlreadyProcessed(f.ctx(), key))
			f.check2(f.Inbox.MarkDead(f.ctx(), key))
			held, err := f.Leases.Acquire(f.ctx(), name, lease.Options{Owner: "host", Duration: time.Minute})
			f.check(err)
			t.Cleanup(func() { _ = held.Close(f.t.Context()) })
		}
		as := ui.Access{Name: "olga", Operator: true}
		s := serve(t, ui.Of(f.Pawl), ui.Options{Authorize: func(*http.Request) (ui.Access, error) { return as, nil }})
		for _, one := range []struct {
			list, act, want string
			rows            int
		}{
			{"messages?topic=again", "retopic", "2 rows: 1 message moved", 2},
			{"messages?topic=moved", "discard", "2 rows: 1 message discarded", 2},
			{"messages?topic=wait", "reschedule", "2 rows: 1 message rescheduled", 2},
			{"messages?status=scheduled&topic=wait", "cancel", "2 rows: 1 message cancelled", 2},
			{"messages?topic=wait", "undiscard", "2 rows: 0 messages undiscarded", 2},
			{"messages?status=done", "", "", 0},
			{"timers?topic=wait", "reschedule-timer", "2 rows: timer rescheduled", 2},
			{"timers?topic=wait", "cancel-timer", "2 rows: timer cancelled", 2},
			{"joins?group=wait", "cancel-join", "2 rows: join cancelled", 2},
			{"jobs", "disable-job", "3 rows: job disabled", 3},
			{"inbox?source=a+b", "revive", "2 rows: message revived", 2},
			{"leases", "release-lease", "3 rows: lease released", 3},
		} {
			_, body, _ := get(t, s, one.list)
			form := url.Values{"selected": {"yes"}, "in": {"1h"}, "topic": {"moved"}, "reason": {"because"}, "back": {one.list}}
			for _, m := range boxes.FindAllStringSubmatch(body, -1) {
				form.Add("row", html.UnescapeString(m[1]))
			}
			if len(form["row"]) != one.rows || (one.rows > 0) != strings.Contains(body, `formaction="./do/`+one.act+`"`) {
				t.Errorf("%s: %d can be selected, to %v: %s", one.list, len(form["row"]), acted.FindAllString(body, -1), body)
			}
			if one.act == "" {
				continue
			}
			if status, answer, h := do(t, s, http.MethodPost, "do/"+one.act, form, nil); status != http.StatusSeeOther || did(t, s, h) != one.want {
				t.Errorf("%s of %s: %d %q %s", one.act, one.list, status, did(t, s, h), answer)
			}
			form.Del("row")
			if status, answer, _ := do(t, s, http.MethodPost, "do/"+one.act, form, nil); status != http.StatusBadRequest || !strings.Contains(answer, "none is selected") {
				t.Errorf("%s of nothing: %d %s", one.act, status, answer)
			}
		}
		form := url.Values{"selected": {"yes"}, "row": {"name=two", "name=none", "name=two"}}
		if _, _, h := do(t, s, http.MethodPost, "do/enable-job", form, nil); did(t, s, h) != "2 rows: job enabled; 1 row: job not found" {
			t.Errorf("of three rows one is not there: %s", did(t, s, h))
		}
		form["row"] = []string{"name=none"}
		if status, _, _ := do(t, s, http.MethodPost, "do/enable-job", form, nil); status != http.StatusNotFound {
			t.Errorf("no row is there: %d", status)
		}
		as.Operator = false
		if _, body, _ := get(t, s, "jobs"); boxes.MatchString(body) || acted.MatchString(body) {
			t.Errorf("a viewer may select: %s", body)
		}
	})
}

// D-630: what matches a filter of failed messages leads to where all of it is changed, and how many they are.
func TestAllThatMatch(t *testing.T) {
	f := openEmpty(t)
	f.work("mail", 3, errNo)
	f.check2(f.Outbox.Enqueue(f.ctx(), outbox.Message{Topic: "mail"}))
	s := serve(t, ui.Of(f.Pawl), ui.Options{})
	for query, to := range map[string]string{"status=failed&topic=mail": "./failed?topic=mail", "status=retrying": "./failed", "topic=mail": "", "status=failed&older=1h": ""} {
		_, body, _ := get(t, s, "messages?"+query)
		if strings.Contains(body, `href="`+to+`">All that match`) != (to != "") {
			t.Errorf("%s: %s", query, body)
		}
	}
	if _, body, _ := get(t, s, "failed?topic=mail"); !strings.Contains(body, "3 failed messages become ready again") {
		t.Errorf("what would be changed: %s", text(body))
	}
}
