package ui_test

import (
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/ui"
)

// retrying has an attempt at a message of a topic fail, and the next one due later.
func (f *fixture) retrying(topic string, err error) outbox.MessageID {
	f.t.Helper()
	id, failed := f.Outbox.Enqueue(f.ctx(), outbox.Message{Topic: topic, Queue: "again", Payload: []byte("what " + topic + " says")})
	f.check(failed)
	owner, queue := outbox.NewOwnerToken(), f.Outbox.WorkQueue("again")
	msgs, failed := queue.Claim(f.ctx(), owner, time.Minute, 1)
	f.check(failed)
	f.check2(queue.Abandon(f.ctx(), owner, outbox.RetryAfter(time.Hour, err), msgs[0].Position))
	return id
}

// row is a row of the first table of a page, by what its first cell has.
func row(t *testing.T, body, first string) string {
	t.Helper()
	return part(t, part(t, body, "<tbody>", "</tbody>"), first+"</td>", "</tr>")
}

// linkOf is where the first link leads.
func linkOf(t *testing.T, body string) string {
	t.Helper()
	return strings.TrimPrefix(html.UnescapeString(part(t, body, `<a href="`, `"`)), "./")
}

// D-631: what failed for good and what is retrying are groups by the kind of error, of which each opens with an
// example: its error in lines with the stack folded, its attempts, and its payload for who may read it.
func TestFailuresAreGroups(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		refused := func(i int) error {
			return fmt.Errorf("customer%d@example.com: refused\nsecond line\ngoroutine 7 [running]:\nmain.main()", i)
		}
		for i := range 3 {
			f.failsWith("mail", refused(i))
		}
		for i := range 2 {
			f.retrying("mail", refused(i+7))
		}
		last := f.retrying("slow", errors.New("no answer within 30 s"))
		as := ui.Access{Name: "olga", Payloads: true, Operator: true}
		s := serve(t, ui.Of(f.Pawl), ui.Options{Authorize: func(*http.Request) (ui.Access, error) { return as, nil }})
		_, body, _ := get(t, s, "failed")
		mail, slow := row(t, body, "mail"), row(t, body, "slow")
		if n := strings.Count(body, "<tr>"); n != 4 || !strings.Contains(mail, `<td class="number">3</td><td class="number">2</td><td><time`) || !strings.Contains(slow, `<td class="number">0</td><td class="number">1</td><td><time`) {
			t.Errorf("%d rows: %s\n%s", n, mail, slow)
		}
		_, body, _ = get(t, s, linkOf(t, slow))
		for _, want := range []string{last.String(), "attempt 1 failed", "what slow says", "--topic slow --fingerprint 'no answer within # s'", "0 failed messages become ready"} {
			if !strings.Contains(text(body), want) {
				t.Errorf("the page of a group has no %q: %s", want, text(body))
			}
		}
		_, body, _ = get(t, s, linkOf(t, mail))
		if !strings.Contains(body, "refused\nsecond line</pre>") || !strings.Contains(body, "<summary>Show the stack, 2 lines</summary>") || !strings.Contains(text(body), "3 failed messages become") {
			t.Errorf("an error with a stack: %s", body)
		}
		as.Payloads = false
		if _, body, _ = get(t, s, "failed"); strings.Contains(body, "refused") || strings.Contains(body, "no answer") || !boxes.MatchString(body) {
			t.Errorf("who may not read payloads: %s", body)
		}
		if status, _, _ := get(t, s, "failed?"+url.Values{"fingerprint": {"no answer within # s"}}.Encode()); status != http.StatusBadRequest {
			t.Errorf("who may not read payloads finds by an error: %d", status)
		}
	})
}

// D-632: a redrive at a rate is seen on the pages of what it changes while it is under way, with how much is done and
// left, and is stopped there; until then the page is kept up to date.
func TestActsAreUnderWay(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		for range 8 {
			f.failsWith("more", errNo)
		}
		s := serve(t, ui.Of(f.Pawl), ui.Options{})
		const group = "failed?topic=more&fingerprint=no"
		if _, body, _ := get(t, s, group); strings.Contains(body, "hx-get") || strings.Contains(body, "Acts on them") {
			t.Errorf("nothing is under way: %s", text(body))
		}
		form := url.Values{"selected": {"yes"}, "row": {"topic=more&fingerprint=no&limit=8"}, "rate": {"2"}}
		if status, body, _ := do(t, s, http.MethodPost, "do/retry", form, nil); status != http.StatusSeeOther {
			t.Fatalf("%d %s", status, body)
		}
		f.check2(f.Internal(access.Key{}).Sources()[0].Dispatch(f.ctx()))
		for path, shown := range map[string]bool{"failed": true, group: true, "failed?topic=more": true, "failed?topic=mail": false, "failed?topic=more&fingerprint=other": false, "failed?queue=other": true} {
			_, body, _ := get(t, s, path)
			if strings.Contains(body, ">Acts on them</h2>") != shown || strings.Contains(body, "hx-get=") != shown || strings.Contains(text(body), "2 of 8 Stop") != shown || strings.Contains(text(body), " 3s 2 failed messages") != shown {
				t.Errorf("%s: %s", path, text(body))
			}
		}
		_, body, _ := get(t, s, group)
		id := part(t, body, `name="id" value="`, `"`)
		if _, _, h := do(t, s, http.MethodPost, "do/stop-bulk", url.Values{"id": {id}, "back": {group}}, nil); did(t, s, h) != "stopped: 2 messages redriven" {
			t.Errorf("stop: %s", did(t, s, h))
		}
		if _, body, _ := get(t, s, group); strings.Contains(body, "Acts on them") || !strings.Contains(body, "6 failed messages become ready") {
			t.Errorf("once it was stopped: %s", text(body))
		}
	})
}

// D-633: pages stay small, whatever the number of failures and topics.
func TestManyFailures(t *testing.T) {
	f := openEmpty(t)
	all := make([]outbox.Message, 10_000)
	for i := range all {
		all[i] = messageOf(fmt.Sprintf("topic-%d-with-a-name-that-is-rather-long", i))
	}
	for rest := all; len(rest) > 0; rest = rest[min(len(rest), 1000):] {
		f.check2(f.Outbox.EnqueueBatch(f.ctx(), rest[:min(len(rest), 1000)]))
	}
	b := &bounded{fixture: f, failure: errors.New(strings.Repeat("“quoted” & <refused> ", 10))}
	b.failAll()
	s := serve(t, ui.Of(f.Pawl), ui.Options{})
	_, body, _ := get(t, s, "failed")
	if len(body) > 200_000 || strings.Count(body, "<tr>") != 51 || !strings.Contains(text(body), "10 000 failed messages become") {
		t.Errorf("%d bytes, %d rows", len(body), strings.Count(body, "<tr>"))
	}
	for _, path := range []string{"", "topics", "queue?name=default", "messages?status=failed", "failed?topic=topic-1-with-a-name-that-is-rather-long", "audit"} {
		if _, body, _ := get(t, s, path); len(body) > 200_000 {
			t.Errorf("%s has %d bytes", path, len(body))
		} else {
			t.Logf("%s has %d bytes", path, len(body))
		}
	}
	if _, body, _ = get(t, s, linkOf(t, part(t, body, `class="more">`, "</p>"))); strings.Count(body, "<tr>") != 51 {
		t.Errorf("the next page has %d rows", strings.Count(body, "<tr>"))
	}
}
