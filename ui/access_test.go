package ui_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sqlite"
	"github.com/bravellian/pawl/ui"
)

// D-640: who may read details sees headers, correlation ids and errors, finds by them, and sees no payload.
func TestDetailsWithoutPayloads(t *testing.T) {
	f := openEmpty(t)
	const payload, detail = "the-payload", "the-detail"
	id, err := f.Outbox.Enqueue(f.ctx(), outbox.Message{Topic: "mail", Payload: []byte(payload), CorrelationID: detail, Headers: map[string]string{"customer": detail}})
	f.check(err)
	j, err := f.Joins.Start(f.ctx(), join.Spec{ExpectedSteps: 1, Metadata: payload})
	f.check(err)
	f.check(f.Jobs.Put(f.ctx(), job.Job{Name: "nightly", Topic: "mail", Schedule: "@daily", Payload: []byte(payload)}))
	owner := outbox.NewOwnerToken()
	msgs, err := f.Outbox.WorkQueue("").Claim(f.ctx(), owner, time.Minute, 1)
	f.check(err)
	f.check2(f.Outbox.WorkQueue("").Fail(f.ctx(), owner, errors.New(detail), msgs[0].Position))
	who := ui.Access{Name: "rita"}
	s := serve(t, ui.Of(f.Pawl), ui.Options{Authorize: func(*http.Request) (ui.Access, error) { return who, nil }})
	message := "messages/" + id.String()
	for _, details := range []bool{false, true} {
		who.Details = details
		for _, path := range []string{message, "failed", "api/v1/" + message + "?payload=true", "messages?status=failed"} {
			if _, body, _ := get(t, s, path); strings.Contains(body, detail) != details || strings.Contains(body, payload) {
				t.Errorf("%s, details: %v: %s", path, details, body)
			}
		}
		for _, path := range []string{"joins/" + j.String(), "job?name=nightly"} {
			if status, body, _ := get(t, s, path); status != http.StatusOK || strings.Contains(body, payload) {
				t.Errorf("%s, details: %v: %d %s", path, details, status, body)
			}
		}
		if status, _, _ := get(t, s, "messages?correlation="+detail); (status == http.StatusOK) != details {
			t.Errorf("details: %v: found by a correlation id: %d", details, status)
		}
	}
}

// D-641: a change that comes by a proxy which does not keep the address is refused with words that name the
// remedy, and made if the address is trusted; one of another address is not.
func TestTrustedOrigins(t *testing.T) {
	f := openEmpty(t)
	form := url.Values{"kind": {"topic"}, "name": {"mail"}}
	trusting := serve(t, ui.Of(f.Pawl), ui.Options{TrustedOrigins: []string{"https://ops.example"}})
	for origin, done := range map[string]bool{"https://ops.example": true, "http://ops.example": false, "https://ops.example:8443": false, "https://evil.example": false, "null": false} {
		from := func(r *http.Request) { r.Header.Set("Origin", origin) }
		status, body, _ := do(t, trusting, http.MethodPost, "do/pause", form, from)
		if (status == http.StatusSeeOther) != done || !done && (status != http.StatusForbidden || !strings.Contains(body, "TrustedOrigins")) {
			t.Errorf("%s: %d %s", origin, status, body)
		}
	}
	for _, bad := range []string{"ops.example", "https://ops.example/pawl", ""} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q is taken", bad)
				}
			}()
			ui.Handler(ui.Of(f.Pawl), ui.Options{TrustedOrigins: []string{bad}})
		}()
	}
}

// odd are names that addresses, forms and pages may get wrong.
var odd = []string{
	".", "..", "...", "/", "//", "a/b", "/a", "a/", "a/../b", "./a", `\`, `a\b`, "a b", " a", "a ", "%", "%2e", "%2F", "a%20b", "?", "a?b=c&d", "#", "a#b", "&amp;", "a+b", ";", ":", "a:b", "=", "@",
	`"`, "'", "<b>", "`", "$(x)", "{id}", "{$}", "a\nb", "a\r\nb", "a\tb", "é", "e\u0301", "日本", "🦉", "\u202eabc", "\u200b", "null", "0", "-1", canary,
}

// D-642: whatever a topic, queue, job, lease or message of the inbox is called, it has pages that open, and what is
// done on them is done to it.
func TestOddNames(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		db := e.Open(t)
		p, err := pawl.New(db.DB, pawl.Options{Logger: quiet()})
		f := &fixture{Pawl: p, t: t, db: db}
		f.check(err)
		s := serve(t, ui.Of(f.Pawl), ui.Options{})
		for _, name := range odd {
			f.check2(f.Outbox.Enqueue(f.ctx(), outbox.Message{Topic: name, Queue: name, CorrelationID: name}))
			f.check(f.Jobs.Put(f.ctx(), job.Job{Name: name, Topic: "report", Schedule: "@daily"}))
			f.check2(f.Inbox.AlreadyProcessed(f.ctx(), inbox.Key{Source: name, MessageID: name}))
			held, err := f.Leases.Acquire(f.ctx(), name, lease.Options{Duration: time.Minute})
			f.check(err)
			t.Cleanup(func() { _ = held.Close(context.Background()) })
		}
		var linksTo []string
		for _, list := range []string{"topics", "jobs", "inbox", "leases"} {
			_, body, _ := get(t, s, list)
			linksTo = append(linksTo, linked(t, s.URL+below+"/"+list, body)...)
		}
		for _, name := range odd {
			q := url.Values{"name": {name}}.Encode()
			for _, page := range []string{"topic?", "queue?", "job?"} {
				status, body, _ := get(t, s, page+q)
				if status != http.StatusOK || strings.Contains(body, "Nothing is known of it") || strings.Contains(body, `role="alert"`) || !slices.Contains(linksTo, s.URL+below+"/"+page+q) {
					t.Errorf("%s%s: %d %s", page, q, status, text(body))
				}
			}
			q = url.QueryEscape(name)
			for _, page := range []string{"messages?topic=" + q, "messages?queue=" + q, "messages?correlation=" + q, "inbox?source=" + q + "&id=" + q} {
				if status, body, _ := get(t, s, page); status != http.StatusOK || strings.Contains(body, `class="none"`) {
					t.Errorf("%s: %d %s", page, status, text(body))
				}
			}
			form := url.Values{"name": {name}, "back": {"job?" + url.Values{"name": {name}}.Encode()}}
			if status, body, h := do(t, s, http.MethodPost, "do/disable-job", form, nil); status != http.StatusSeeOther || !strings.HasPrefix(h.Get("Location"), "../job?") {
				t.Errorf("disable %q: %d, to %s: %s", name, status, h.Get("Location"), body)
			}
			if j, err := f.Jobs.Get(f.ctx(), name); err != nil || j.Enabled {
				t.Errorf("%q: %+v, %v", name, j, err)
			}
		}
	})
}

// D-642: a store has pages, whatever its key.
func TestOddStores(t *testing.T) {
	dir := t.TempDir()
	var all []fleet.Database
	for i, key := range odd {
		all = append(all, fleet.Database{Key: key, URL: "sqlite:" + filepath.Join(dir, strconv.Itoa(i)+".db")})
	}
	f, err := fleet.New(fleet.Static(all...), fleet.Options{Engines: map[string]fleet.Opener{"sqlite": sqlite.OpenURL}, Pawl: pawl.Options{EnableSchemaDeployment: true, Logger: quiet()}})
	if err == nil {
		t.Cleanup(func() { _ = f.Close() })
		err = f.MigrateAll(t.Context(), "")
	}
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, ui.OfFleet(f), ui.Options{})
	_, stores, _ := get(t, s, "stores")
	to := linked(t, s.URL+below+"/stores", stores)
	for _, key := range odd {
		q := url.Values{"store": {key}}.Encode()
		for _, page := range []string{"?", "topics?", "messages?"} {
			if status, body, _ := get(t, s, page+q); status != http.StatusOK || strings.Contains(body, `role="alert"`) {
				t.Errorf("%s%s: %d %s", page, q, status, text(body))
			}
		}
		if !slices.Contains(to, s.URL+below+"/?"+q) {
			t.Errorf("nothing leads to %q", key)
		}
	}
}
