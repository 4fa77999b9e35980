package ui_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/ui"
)

// D-653: what was discarded is taken back on the page of a message, for those that are selected, and for all of
// an act where that is listed; where that is not possible nothing offers it.
func TestUndiscard(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openOn(t, e)
		const many = 1001 // more than one transaction takes: the act is stored
		f.work("mail", many-1, errNo)
		f.work("mail", 1, errNo)
		f.work("report", 2, errNo)
		s := serve(t, ui.Of(f.Pawl), ui.Options{})
		post := func(act, want string, form url.Values) {
			t.Helper()
			if status, answer, h := do(t, s, http.MethodPost, "do/"+act, form, nil); status != http.StatusSeeOther || did(t, s, h) != want {
				t.Fatalf("%s %v: %d %q %s", act, form, status, did(t, s, h), answer)
			}
		}
		offers := func(page string) (fields []string) {
			_, body, _ := get(t, s, page)
			for _, form := range strings.Split(body, `action="../do/undiscard"`)[1:] {
				fields = append(fields, form)
			}
			for _, form := range strings.Split(body, `action="./do/undiscard"`)[1:] {
				fields = append(fields, form)
			}
			return fields
		}
		act := func(page string) string {
			t.Helper()
			all := offers(page)
			if len(all) == 0 {
				t.Fatalf("%s offers nothing", page)
			}
			_, id, _ := strings.Cut(all[0], `name="act" value="`)
			id, _, _ = strings.Cut(id, `"`)
			if _, err := uuid.Parse(id); err != nil {
				t.Fatalf("%s: %q", page, id)
			}
			return id
		}

		post("discard", "2 messages discarded", url.Values{"topic": {"report"}, "limit": {"all"}})
		ids := f.listed(outbox.Discarded)
		if n := len(offers("messages/" + ids[0].String())); n != 1 {
			t.Errorf("the message's page offers it %d times", n)
		}
		post("undiscard", "1 message undiscarded", url.Values{"id": {ids[0].String()}})
		post("undiscard", "1 message undiscarded", url.Values{"act": {act("audit?action=discard")}})
		post("discard", "1\u202f001 messages discarded", url.Values{"topic": {"mail"}, "limit": {"all"}})
		if from := act("bulk"); from != act("failed?topic=mail") || from != act("audit?action=discard") {
			t.Error("the pages offer different acts")
		}
		post("undiscard", "1\u202f001 messages undiscarded", url.Values{"act": {act("bulk")}})
		if n := len(f.listed(outbox.Failed)); n != many+2 {
			t.Errorf("%d are failed", n)
		}
		waits, err := f.Outbox.Enqueue(f.ctx(), messageOf("wait"))
		f.check(err)
		post("cancel", "1 message cancelled", url.Values{"id": {waits.String()}})
		if len(offers("messages/"+waits.String())) != 0 {
			t.Error("it is offered for a cancelled message")
		}
	})
}

// positionOf returns where the newest message of a topic lies.
func (f *fixture) positionOf(topic string) outbox.Position {
	f.t.Helper()
	for m, err := range f.Outbox.List(f.ctx(), outbox.ListOptions{Topic: topic}) {
		f.check(err)
		return m.Position
	}
	f.t.Fatalf("no message of %s", topic)
	return 0
}

// listed returns the ids of the messages in a state.
func (f *fixture) listed(status outbox.Status) (all []outbox.MessageID) {
	f.t.Helper()
	for m, err := range f.Outbox.List(f.ctx(), outbox.ListOptions{Status: status}) {
		f.check(err)
		all = append(all, m.ID)
	}
	return all
}
