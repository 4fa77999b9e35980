package ui_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/ui"
)

// notNumbers are what no number of a form or query may be.
func notNumbers() []string {
	return []string{"1.5", "1e3", "x", "0", "-1", "5 ", "0x5", "١", "99999999999999999999", "ALL", "all "}
}

// D-450: a change whose numbers cannot be read, or that does not say how many it is for, changes nothing; all
// that a filter selects has to be asked for.
func TestNumbersOfChanges(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		s := serve(t, ui.Of(f.Pawl), ui.Options{})
		refused := func(action string, form url.Values) {
			t.Helper()
			if status, body, _ := do(t, s, http.MethodPost, "do/"+action, form, nil); status != http.StatusBadRequest || !strings.Contains(body, `role="alert"`) {
				t.Errorf("%s with %v: %d", action, form, status)
			}
		}
		for _, action := range []string{"retry", "discard"} {
			for _, form := range []url.Values{{}, {"limit": {""}}, {"id": {""}}, {"limit": {"1", "all"}}, {"limit": {"1"}, "rate": {"1", "2"}}} {
				refused(action, form)
			}
			for _, text := range notNumbers() {
				refused(action, url.Values{"limit": {text}})
				refused(action, url.Values{"limit": {"1"}, "rate": {text}})
			}
			if status, _, _ := do(t, s, http.MethodPost, "do/"+action, nil, func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }); status != http.StatusBadRequest {
				t.Errorf("%s without a form: %d", action, status)
			}
		}
		for _, text := range notNumbers() {
			refused("limit", url.Values{"kind": {"topic"}, "name": {"x"}, "concurrency": {text}, "rate": {"1"}, "period": {"1s"}})
			refused("limit", url.Values{"kind": {"topic"}, "name": {"x"}, "concurrency": {"1"}, "rate": {text}, "period": {"1s"}})
		}
		if m, err := f.Outbox.Get(f.ctx(), f.failed); err != nil || m.Status != outbox.Failed {
			t.Errorf("%v, %v", m.Status, err)
		}
		if status, _, _ := do(t, s, http.MethodPost, "do/discard", url.Values{"limit": {"all"}}, nil); status != http.StatusSeeOther {
			t.Errorf("all: %d", status)
		}
		if m, err := f.Outbox.Get(f.ctx(), f.failed); err != nil || m.Status != outbox.Discarded {
			t.Errorf("%v, %v", m.Status, err)
		}
	})
}

// D-450: a page, and the API, refuse what they cannot read of the query.
func TestNumbersOfQueries(t *testing.T) {
	f := open(t, dbtest.Engine{Name: "sqlite", Open: dbtest.OpenSQLite})
	s := serve(t, ui.Of(f.Pawl), ui.Options{})
	refused := func(path string) {
		t.Helper()
		if status, body, _ := get(t, s, path); status != http.StatusBadRequest && !strings.Contains(body, `role="alert"`) {
			t.Errorf("%s: %d", path, status)
		}
	}
	for _, below := range []string{"", "api/v1/"} {
		for _, text := range notNumbers() {
			refused(below + "messages?after=" + url.QueryEscape(text))
		}
		for _, text := range []string{"x", "1", "a+b+c", "%25zz+b"} {
			refused(below + "inbox?after=" + text)
			refused(below + "audit?after=" + text)
		}
		for _, text := range []string{"x+y", "2026-11-22T10:00:00Z+y", "x+6ba7b810-9dad-11d1-80b4-00c04fd430c8"} {
			refused(below + "audit?after=" + text)
		}
		refused(below + "messages?older=-1h")
		refused(below + "messages?newer=soon")
	}
	refused("api/v1/stats?since=-1h")
}
