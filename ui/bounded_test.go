package ui_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/ui"
)

// looking adds up how many messages the windows of lists may have.
type looking struct {
	engine.DB
	sum      atomic.Int64
	payloads atomic.Int64 // windows with payloads
}

func (l *looking) Unwrap() engine.DB { return l.DB }

func (l *looking) Read(ctx context.Context, call *engine.Call) error {
	switch o := reflect.ValueOf(call.Operation); {
	case !strings.HasPrefix(call.Name(), "outbox/list_"):
	case strings.HasSuffix(call.Name(), "_floor"):
		l.sum.Add(o.FieldByName("Look").Int())
	case !o.FieldByName("Bare").Bool():
		l.payloads.Add(1)
	}
	return l.DB.Read(ctx, call)
}

// bounded is a dashboard of a database with 10 501 messages that failed and as many that are ready, of
// which the first is of another topic.
type bounded struct {
	*fixture
	*looking
	s       *httptest.Server
	failure error
}

func openBounded(t *testing.T, e dbtest.Engine) *bounded {
	t.Helper()
	db := e.Open(t)
	b := &bounded{fixture: &fixture{t: t, db: db}, looking: &looking{DB: db.DB}}
	p, err := pawl.New(b.looking, pawl.Options{Logger: slog.New(slog.DiscardHandler)})
	b.check(err)
	b.Pawl = p
	b.some("rare failed", 1)
	b.some("failed", 10_500)
	b.failAll()
	b.some("rare", 1)
	b.some("often", 10_500)
	b.s = serve(t, ui.Of(p), ui.Options{})
	return b
}

func (f *fixture) some(topic string, n int) {
	f.t.Helper()
	f.check2(f.Outbox.EnqueueBatch(f.ctx(), slices.Repeat([]outbox.Message{messageOf(topic)}, n)))
}

func (b *bounded) failAll() {
	b.t.Helper()
	for owner := outbox.NewOwnerToken(); ; {
		msgs, err := b.Outbox.WorkQueue("").Claim(b.ctx(), owner, time.Minute, 1000)
		if b.check(err); len(msgs) == 0 {
			return
		}
		var all []outbox.Position
		for _, m := range msgs {
			all = append(all, m.Position)
		}
		_, err = b.Outbox.WorkQueue("").Fail(b.ctx(), owner, cmp.Or(b.failure, errors.New("refused")), all...)
		b.check(err)
	}
}

// page reads a page, or fails the test if that reads more than is allowed.
func (b *bounded) page(path string) string {
	b.t.Helper()
	b.sum.Store(0)
	b.payloads.Store(0)
	status, body, _ := get(b.t, b.s, path)
	most := int64(10_000)
	if strings.HasPrefix(path, "failed") { // not their payloads, and not again by itself
		most = 1_000_000
	}
	if sum := b.sum.Load(); status != http.StatusOK || sum == 0 || sum > most {
		b.t.Errorf("%s: %d, for which %d messages are read", path, status, sum)
	}
	if n := b.payloads.Load(); n > 0 && !strings.HasPrefix(path, "api/") {
		b.t.Errorf("%s: payloads are read %d times, and shown nowhere", path, n)
	}
	return body
}

// D-221: no page reads more than a bounded number of messages, however many there are: one that is
// short says so, and leads on to what it has not read.
func TestPagesAreBounded(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		b := openBounded(t, e)
		const readOn = `Read on</a>`
		for path, found := range map[string]bool{
			"messages": true, "messages?topic=often": true, "messages?status=failed&topic=failed": true, "messages?status=ready&topic=often": true,
			"messages?topic=rare": false, "messages?status=done": false, "messages?correlation=none&status=ready": false, "messages?status=failed&error=none": false, "messages?older=1h": false,
		} {
			body := b.page(path)
			if strings.Contains(body, readOn) == found || strings.Contains(body, "None of those that were read is meant") == found || strings.Contains(body, "Next page</a>") != found {
				t.Errorf("%s: a full page: %v; %s", path, found, body)
			}
		}
		for path, pages := range map[string]int{"messages?topic=rare": 3, "messages?status=ready&topic=rare": 2, "messages?status=failed&topic=rare+failed": 2, "messages?topic=rare+failed": 3} {
			all := ""
			for to, n := path, 1; ; n++ {
				body := b.page(to)
				all += body
				_, after, more := strings.Cut(body, `class="more">`)
				if more != (n < pages) || n > pages {
					t.Fatalf("%s: page %d of %d leads on: %v", path, n, pages, more)
				}
				if !more {
					break
				}
				_, after, _ = strings.Cut(after, `href="`)
				to, _, _ = strings.Cut(after, `"`)
				to = strings.TrimPrefix(html.UnescapeString(to), "./")
			}
			if strings.Count(all, "<td>rare") != 1 {
				t.Errorf("%s: the message is there %d times: %s", path, strings.Count(all, "<td>rare"), all)
			}
		}
		if body := b.page("failed?topic=rare+failed"); !strings.Contains(body, ">rare failed<") || !strings.Contains(body, "1 failed message become") {
			t.Errorf("what failed and is rare: %s", body)
		}
		if body := b.page("failed"); !strings.Contains(body, ">10\u202f500<") || !strings.Contains(body, "10\u202f501 failed messages become") || strings.Contains(body, "there may be more") {
			t.Errorf("what failed: %s", body)
		}
		var list struct {
			Items []json.RawMessage
			Next  string
		}
		b.check(json.Unmarshal([]byte(b.page("api/v1/messages?topic=rare")), &list))
		if len(list.Items) != 0 || list.Next == "" {
			t.Errorf("the API answers %d messages, and on from %q", len(list.Items), list.Next)
		}
		next := "api/v1/messages?topic=rare&after=" + list.Next
		list.Next = ""
		if b.check(json.Unmarshal([]byte(b.page(next)), &list)); len(list.Items) != 1 {
			t.Errorf("then %d messages, and on from %q", len(list.Items), list.Next)
		}
	})
}
