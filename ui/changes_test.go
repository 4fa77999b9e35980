package ui_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
	"github.com/bravellian/pawl/ui"
)

// D-219: every change that a page offers does what it says, and is audited under the name of whoever
// made it.
func TestChanges(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		s := serve(t, ui.Of(f.Pawl), ui.Options{Authorize: func(*http.Request) (ui.Access, error) { return ui.Access{Name: "olga", Operator: true}, nil }})
		do := func(action, want string, pairs ...string) {
			t.Helper()
			form := url.Values{"reason": {"because"}}
			for i := 0; i < len(pairs); i += 2 {
				form.Set(pairs[i], pairs[i+1])
			}
			status, body, h := do(t, s, http.MethodPost, "do/"+action, form, nil)
			if status != http.StatusSeeOther || !strings.Contains(did(t, s, h), want) {
				t.Errorf("%s: %d, %q, %s", action, status, did(t, s, h), body)
			}
		}
		is := func(what string, got, want any, err error) {
			t.Helper()
			if err != nil || got != want {
				t.Errorf("%s: %v, %v, want %v", what, got, err, want)
			}
		}
		status := func(id outbox.MessageID) (outbox.Status, error) {
			m, err := f.Outbox.Get(f.ctx(), id)
			if err != nil {
				return "", err
			}
			return m.Status, nil
		}
		do("reschedule", "1 message rescheduled", "id", f.ready.String(), "in", "1h")
		do("cancel", "1 message cancelled", "id", f.ready.String())
		got, err := status(f.ready)
		is("cancelled", got, outbox.Discarded, err)
		long, err := f.Outbox.Enqueue(f.ctx(), outbox.Message{Topic: "long", Queue: "long"})
		is("enqueued", nil, nil, err)
		held, err := f.Outbox.WorkQueue("long").Claim(f.ctx(), outbox.NewOwnerToken(), time.Minute, 1)
		is("claimed", len(held), 1, err)
		if _, page, _ := get(t, s, "messages/"+long.String()); !strings.Contains(page, "pawl cancel "+long.String()+" --running") {
			t.Error("the page of what runs does not say how it is stopped")
		}
		do("cancel", "0 messages cancelled", "id", long.String())
		do("stop", "1 message cancelled", "id", long.String())
		do("retry", "1 message redriven", "topic", "bad"+canary, "limit", "1")
		got, err = status(f.failed)
		is("redriven", got, outbox.Ready, err)
		do("discard", "0 messages discarded", "error", "refused", "limit", "all")
		do("pause", "topic mail paused", "kind", "topic", "name", "mail")
		do("pause", "nothing was changed", "kind", "topic", "name", "mail")
		do("resume", "topic mail resumed", "kind", "topic", "name", "mail")
		do("limit", "queue q limited", "kind", "queue", "name", "q", "concurrency", "3", "rate", "5", "period", "1m")
		limits, err := f.Admin.Limits(f.ctx())
		is("limits", len(limits), 2, err)
		do("unlimit", "queue q has no limit any more", "kind", "queue", "name", "q")
		do("cancel-join", "join cancelled", "id", f.join.String())
		j, err := f.Joins.Get(f.ctx(), f.join)
		is("join", j.Status, join.Cancelled, err)
		fan, err := f.Joins.FanOut(f.ctx(), join.Spec{}, []outbox.Message{{Topic: "lost"}}, join.Wait{})
		is("fan-out", len(fan.Messages), 1, err)
		owner := outbox.NewOwnerToken()
		for claimed := false; !claimed; {
			got, err := f.Outbox.WorkQueue("").Claim(f.ctx(), owner, time.Minute, 1)
			if err != nil || len(got) == 0 {
				t.Fatalf("%d messages, %v", len(got), err)
			}
			claimed = got[0].ID == fan.Messages[0]
			end := f.Outbox.WorkQueue("").Ack
			if claimed {
				end = func(ctx context.Context, owner outbox.OwnerToken, ids ...outbox.Position) (int64, error) {
					return f.Outbox.WorkQueue("").Fail(ctx, owner, errors.New("no"), ids...)
				}
			}
			_, err = end(f.ctx(), owner, got[0].Position)
			is("settled", nil, nil, err)
		}
		do("retry", "1 step of joins that have failed", "topic", "lost", "limit", "all")
		do("retry-join", "0 steps ready again", "id", fan.Join.String())
		do("retry-join", "nothing was changed", "id", fan.Join.String())
		j, err = f.Joins.Get(f.ctx(), fan.Join)
		is("join", j.Status, join.Pending, err)
		do("revive", "message revived", "source", "shop"+canary, "id", "m"+canary)
		in, err := f.Inbox.Get(f.ctx(), inbox.Key{Source: "shop" + canary, MessageID: "m" + canary})
		is("inbox", in.Status, inbox.Seen, err)
		one, err := f.Timers.GetKey(f.ctx(), "key"+canary)
		is("timer", one.Status, timer.Scheduled, err)
		do("reschedule-timer", "timer rescheduled", "id", one.ID.String(), "in", "2h")
		do("cancel-timer", "timer cancelled", "id", one.ID.String())
		one, err = f.Timers.Get(f.ctx(), one.ID)
		is("timer", one.Status, timer.Cancelled, err)
		do("disable-job", "job disabled", "name", "nightly/"+canary)
		jb, err := f.Jobs.Get(f.ctx(), "nightly/"+canary)
		is("job", jb.Enabled, false, err)
		do("enable-job", "job enabled", "name", "nightly/"+canary)
		do("run-job", "enqueued", "name", "nightly/"+canary)
		do("release-lease", "lease released", "name", "close-books"+canary)
		l, err := f.Leases.Get(f.ctx(), "close-books"+canary)
		is("lease", l.Status, lease.Free, err)
		do("repair", "examined")
		entries, err := engine.Collect(audit.List(f.ctx(), f.Internal(access.Key{}).DB, audit.Options{Actor: "olga"}), 100)
		actions := map[string]bool{}
		for _, e := range entries {
			actions[e.Action] = true
		}
		if err != nil || len(actions) < 10 {
			t.Errorf("audited: %v, %v", actions, err)
		}
	})
}

// D-219: what cannot be done says why, and nothing is changed.
func TestChangesRefused(t *testing.T) {
	f := open(t, dbtest.Engine{Name: "sqlite", Open: dbtest.OpenSQLite})
	s := serve(t, ui.Of(f.Pawl), ui.Options{})
	for action, form := range map[string]url.Values{
		"retry": {"id": {"nonsense"}}, "cancel": {"id": {"99999999"}}, "reschedule": {"id": {f.ready.String()}, "in": {"soon"}}, "pause": {"kind": {"table"}, "name": {"x"}},
		"limit": {"kind": {"topic"}, "name": {"x"}}, "cancel-join": {"id": {"x"}}, "retry-join": {"id": {"x"}}, "run-job": {"name": {"none"}}, "cancel-timer": {"id": {"x"}}, "reschedule-timer": {"id": {"x"}},
	} {
		if status, body, _ := do(t, s, http.MethodPost, "do/"+action, form, nil); status < 400 || status > 499 || !strings.Contains(body, `role="alert"`) {
			t.Errorf("%s: %d %s", action, status, body)
		}
	}
	if status, _, _ := do(t, s, http.MethodPost, "do/retry", url.Values{"x": {strings.Repeat("y", 2_000_000)}}, nil); status != http.StatusBadRequest {
		t.Errorf("a form that is too large: %d", status)
	}
}

// timed is an answer whose time limits are noted.
type timed struct {
	*httptest.ResponseRecorder
	read, write []time.Time
}

func (w *timed) SetReadDeadline(at time.Time) error  { w.read = append(w.read, at); return nil }
func (w *timed) SetWriteDeadline(at time.Time) error { w.write = append(w.write, at); return nil }

// D-451: a change is not cut off by the limits of its server, which hold for everybody who may not make one.
func TestChangesMayTakeLong(t *testing.T) {
	f := open(t, dbtest.Engine{Name: "sqlite", Open: dbtest.OpenSQLite})
	access := ui.Access{Name: "olga"}
	h := ui.Handler(ui.Of(f.Pawl), ui.Options{Authorize: func(*http.Request) (ui.Access, error) { return access, nil }, Logger: quiet()})
	for _, may := range []bool{false, true} {
		access.Operator = may
		r := httptest.NewRequest(http.MethodPost, "/do/repair", nil)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := &timed{ResponseRecorder: httptest.NewRecorder()}
		h.ServeHTTP(w, r)
		want := []time.Time{{}}
		if !may {
			want = nil
		}
		if !slices.Equal(w.read, want) || !slices.Equal(w.write, want) {
			t.Errorf("operator %v: %d, read until %v, written until %v", may, w.Code, w.read, w.write)
		}
	}
}

// D-585: a message that is retrying has a state of its own, and runs now if somebody says so.
func TestRunNow(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		s := serve(t, ui.Of(f.Pawl), ui.Options{Authorize: func(*http.Request) (ui.Access, error) { return ui.Access{Name: "olga", Operator: true}, nil }})
		id, err := f.Outbox.Enqueue(f.ctx(), outbox.Message{Topic: "again", Queue: "again"})
		f.check(err)
		owner := outbox.NewOwnerToken()
		_, err = f.Outbox.WorkQueue("again").Claim(f.ctx(), owner, time.Minute, 1)
		f.check(err)
		_, err = f.Outbox.WorkQueue("again").Abandon(f.ctx(), owner, outbox.RetryAfter(time.Hour, errors.New("busy")), id.Position())
		f.check(err)
		if _, body, _ := get(t, s, "messages?status=retrying"); !strings.Contains(body, id.String()) {
			t.Error("not listed as retrying")
		}
		if _, body, _ := get(t, s, "messages?status=scheduled"); strings.Contains(body, id.String()) {
			t.Error("listed as scheduled")
		}
		if _, body, _ := get(t, s, "messages/"+id.String()); !strings.Contains(body, "Run now") || !strings.Contains(body, "pawl retry "+id.String()) {
			t.Error("the page does not offer to run it now")
		}
		status, _, h := do(t, s, http.MethodPost, "do/retry", url.Values{"id": {id.String()}}, nil)
		if status != http.StatusSeeOther || !strings.Contains(did(t, s, h), "1 message redriven") {
			t.Errorf("%d, %q", status, did(t, s, h))
		}
		m, err := f.Outbox.Get(f.ctx(), id)
		if f.check(err); m.NextAttemptAt.After(time.Now().Add(time.Minute)) || m.RetryCount != 1 {
			t.Errorf("%+v", m)
		}
	})
}
