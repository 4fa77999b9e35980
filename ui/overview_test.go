package ui_test

import (
	"context"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/postgres"
	"github.com/bravellian/pawl/ui"
)

// text is a page without its tags.
func text(body string) string {
	return strings.Join(strings.Fields(html.UnescapeString(anyTag.ReplaceAllString(body, " "))), " ")
}

// part is what stands between two texts of a page.
func part(t *testing.T, body, from, to string) string {
	t.Helper()
	_, rest, ok := strings.Cut(body, from)
	if !ok {
		t.Fatalf("no %s in %s", from, body)
	}
	rest, _, _ = strings.Cut(rest, to)
	return rest
}

// work has messages of a topic done, or fail for good.
func (f *fixture) work(topic string, n int, err error) {
	f.t.Helper()
	f.check2(f.Outbox.EnqueueBatch(f.ctx(), slices.Repeat([]outbox.Message{messageOf(topic)}, n)))
	owner, queue := outbox.NewOwnerToken(), f.Outbox.WorkQueue("")
	msgs, claimed := queue.Claim(f.ctx(), owner, time.Minute, n)
	f.check(claimed)
	for _, m := range msgs {
		if m.Topic != topic {
			f.t.Fatalf("claimed a message of %s", m.Topic)
		} else if err == nil {
			f.check2(queue.Ack(f.ctx(), owner, m.Position))
		} else {
			f.check2(queue.Fail(f.ctx(), owner, err, m.Position))
		}
	}
}

// D-620: the overview says in words how it is and offers what helps; who does that sees at once what became
// of it.
func TestOverviewHelps(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		s := serve(t, ui.Of(f.Pawl), ui.Options{Refresh: time.Hour})
		_, body, _ := get(t, s, "")
		verdict := part(t, body, `<p class="verdict level-`, `<dl class="facts">`)
		if !strings.Contains(verdict, "<strong>It works, with ") || !strings.Contains(verdict, `>Resume paused`) || !strings.Contains(verdict, `href="./failed"`) {
			t.Errorf("the overview: %s", verdict)
		}
		if !strings.Contains(verdict, `topic paused`) || !strings.Contains(verdict, ` since <time datetime="`) {
			t.Errorf("the overview says no time that a script can tell: %s", verdict)
		}
		if !strings.Contains(verdict, `action="./do/retry"`) || !strings.Contains(verdict, "1 failed message become ready") {
			t.Errorf("the overview does not offer to redrive what failed: %s", verdict)
		}
		if !strings.Contains(body, `<span class="state state-failed-for-good">failed for good</span> 1</td><td><a href="./topic?name=bad`) {
			t.Errorf("a topic with a message that failed for good looks well: %s", text(body))
		}
		form := url.Values{"kind": {"topic"}, "name": {"paused" + canary}}
		if status, answer, _ := do(t, s, http.MethodPost, "do/resume", form, nil); status != http.StatusSeeOther {
			t.Fatalf("resume: %d %s", status, answer)
		}
		if _, body, _ = get(t, s, ""); strings.Contains(body, ">Resume paused") {
			t.Error("what was resumed is shown as paused")
		}
		for name, limit := range map[string]string{"mail": "3 at once", "step": "5 in 1m"} {
			f.check2(f.Admin.SetLimit(f.ctx(), admin.Topic, name, map[string]outbox.Limit{"mail": {Concurrency: 3}, "step": {Rate: 5, Period: time.Minute}}[name], ""))
			s = serve(t, ui.Of(f.Pawl), ui.Options{})
			_, body, _ = get(t, s, "topic?name="+name)
			if !strings.Contains(text(body), "Limit "+limit+" ") || !strings.Contains(body, "<summary>Change the limit</summary>") {
				t.Errorf("the page of %s with a limit: %s", name, text(body))
			}
		}
	})
}

// D-621: topics that fail stand before those that only wait, whatever their names, and each has a page.
func TestMostUrgentFirst(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openOn(t, e)
		f.work("a-well", 20, nil)
		f.work("z-fails", 20, errors.New("refused"))
		f.check2(f.Outbox.Enqueue(f.ctx(), messageOf("m-waits")))
		s := serve(t, ui.Of(f.Pawl), ui.Options{})
		for _, path := range []string{"", "topics"} {
			_, body, _ := get(t, s, path)
			shown := text(part(t, body, ">Topics</h2>", "</table>"))
			z, m, a := strings.Index(shown, "z-fails"), strings.Index(shown, "m-waits"), strings.Index(shown, "a-well")
			if !strings.Contains(shown, "failing z-fails") || z < 0 || m < z || a < m {
				t.Errorf("%s: %s", path, shown)
			}
		}
		_, body, _ := get(t, s, "topic?name=z-fails")
		for _, want := range []string{"State failing", "Failed 20", "20 failed attempts", "refused", "Redrive", "Discard", "Pause", "Set a limit"} {
			if !strings.Contains(text(body), want) {
				t.Errorf("the page of a topic that fails has no %q: %s", want, text(body))
			}
		}
		_, body, _ = get(t, s, "queue?name=default")
		if shown := text(part(t, body, `<div id="live"`, "</main>")); !strings.Contains(shown, "Its topics") || strings.Index(shown, "z-fails") > strings.Index(shown, "a-well") {
			t.Errorf("the page of a queue: %s", shown)
		}
		if _, body, _ = get(t, s, "topic?name=nothing"); !strings.Contains(body, "Nothing is known of it.") {
			t.Errorf("what is not there: %s", text(body))
		}
	})
}

// D-623: the time that a page is about lies in its address, which refuses what is no time.
func TestTimeInTheAddress(t *testing.T) {
	f := openEmpty(t)
	f.work("mail", 20, nil)
	s := serve(t, ui.Of(f.Pawl), ui.Options{})
	for since, current := range map[string]string{"": "1 hour", "6h": "6 hours", "24h0m0s": "24 hours", "720h": "30 days"} {
		_, body, _ := get(t, s, "?since="+since)
		if !strings.Contains(body, `aria-current="true">`+current+`</a>`) || !strings.Contains(body, ">20 done</span>") {
			t.Errorf("since %q: %s", since, part(t, body, `class="ranges"`, "</figure>"))
		}
	}
	before := "?since=1h&until=" + url.QueryEscape(time.Now().Add(-2*time.Hour).UTC().Format(time.RFC3339))
	if _, body, _ := get(t, s, before); !strings.Contains(body, ">0 done</span>") || !strings.Contains(body, `rel="next">later →`) || !strings.Contains(body, `<rect width="600" height="120" fill="url(#hatch)">`) {
		t.Errorf("two hours ago: %s", part(t, body, `class="ranges"`, "</figure>"))
	}
	for _, bad := range []string{"since=soon", "since=1s", "since=721h", "until=soon"} {
		for _, path := range []string{"", "topics", "topic", "queue"} {
			if status, body, _ := get(t, s, path+"?"+bad); status != http.StatusBadRequest || !strings.Contains(body, `role="alert"`) {
				t.Errorf("%s?%s: %d", path, bad, status)
			}
		}
	}
}

// D-624: one field finds what has an id or a name; what programs wrote is looked for if the visitor may read it.
func TestFind(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		who := ui.Access{Name: "olga", Payloads: true}
		s := serve(t, ui.Of(f.Pawl), ui.Options{Authorize: func(*http.Request) (ui.Access, error) { return who, nil }})
		finds := func(q, want string) {
			t.Helper()
			status, body, h := get(t, s, "find?q="+url.QueryEscape(q))
			if to := h.Get("Location"); to != want || (status == http.StatusSeeOther) != (want != "") {
				t.Errorf("%s as %s: %d, to %s, want %s: %s", q, who.Name, status, to, want, text(body))
			}
		}
		finds(" "+f.failed.String()+" ", "./messages/"+f.failed.String())
		finds(f.join.String(), "./joins/"+f.join.String())
		finds("nightly/"+canary, "./job?name="+url.QueryEscape("nightly/"+canary))
		finds("mail", "./topic?name=mail")
		finds("default", "./queue?name=default")
		finds(canary, "./messages?correlation="+url.QueryEscape(canary))
		finds("nothing of this name", "")
		finds("", "")
		who = ui.Access{Name: "vera"}
		finds(canary, "")
		finds("mail", "./topic?name=mail")
	})
	fleet := serve(t, ui.OfFleet(tenants(t)), ui.Options{})
	if _, _, h := get(t, fleet, "find?q=order-of-best"); h.Get("Location") != "./topic?name=order-of-best&store=best" {
		t.Errorf("in a fleet: %s", h.Get("Location"))
	}
}

// D-656: the field suggests topics, queues, jobs and stores that the dashboard knows, without asking for them.
func TestFindSuggests(t *testing.T) {
	names := func(s *httptest.Server, path string) []string {
		t.Helper()
		_, body, _ := get(t, s, path)
		if strings.Count(body, `list="names"`) != 1 {
			t.Errorf("%s: no field with suggestions", path)
		}
		if !strings.Contains(body, "<datalist") {
			return nil
		}
		list := part(t, body, `<datalist id="names">`, "</datalist>")
		return strings.Split(html.UnescapeString(strings.TrimSuffix(strings.TrimPrefix(list, "<option>"), "</option>")), "</option><option>")
	}
	f := openEmpty(t)
	f.work("mail", 1, errNo)
	f.check2(f.Outbox.Enqueue(f.ctx(), outbox.Message{Topic: "</datalist>", Queue: "slow"}))
	f.check(f.Jobs.Put(f.ctx(), job.Job{Name: "nightly", Topic: "report", Schedule: "@daily"}))
	s := serve(t, ui.Of(f.Pawl), ui.Options{Refresh: time.Hour})
	if got := names(s, "audit"); got != nil {
		t.Errorf("before anything was read: %q", got)
	}
	want := []string{"</datalist>", "default", "mail", "nightly", "slow"}
	get(t, s, "")
	for _, path := range []string{"audit", "messages/none"} {
		if got := names(s, path); !slices.Equal(got, want) {
			t.Errorf("%s suggests %q", path, got)
		}
	}
	fleet := serve(t, ui.OfFleet(tenants(t)), ui.Options{Refresh: time.Hour})
	get(t, fleet, "topics?store=best")
	if got := names(fleet, "audit?store=acme"); !slices.Equal(got, []string{"acme", "best", "gone"}) {
		t.Errorf("in another store: %q", got)
	}
	if got := names(fleet, "stores"); !slices.Equal(got, []string{"acme", "best", "default", "gone", "order-of-acme", "order-of-best"}) {
		t.Errorf("of all stores: %q", got)
	}
	if _, _, h := get(t, fleet, "find?q=acme"); h.Get("Location") != "./?store=acme" {
		t.Errorf("a store: %s", h.Get("Location"))
	}
}

// reading counts what is read of a database.
type reading struct {
	engine.DB
	n atomic.Int64
}

func (r *reading) Unwrap() engine.DB { return r.DB }

func (r *reading) Read(ctx context.Context, call *engine.Call) error {
	r.n.Add(1)
	return r.DB.Read(ctx, call)
}

func (r *reading) ReadAll(ctx context.Context, calls ...*engine.Call) error {
	r.n.Add(int64(len(calls)))
	return engine.ReadAll(ctx, r.DB, calls...)
}

// D-625, D-644: many who look at once cost a database what one does. An overview that is kept open costs four statements
// a refresh, whatever else it shows: that is read less often.
func TestManyViewers(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		db := e.Open(t)
		r := &reading{DB: db.DB}
		p, err := pawl.New(r, pawl.Options{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		f := &fixture{Pawl: p, t: t, db: db}
		f.check2(f.Outbox.Enqueue(f.ctx(), messageOf("mail")))
		s := serve(t, ui.Of(p), ui.Options{Refresh: time.Hour})
		cost := func(paths ...string) int64 {
			r.n.Store(0)
			for _, path := range paths {
				get(t, s, path)
			}
			return r.n.Load()
		}
		if n := cost(""); n == 0 || n > 24 {
			t.Errorf("the first overview costs %d statements", n)
		}
		if n := cost("", "?since=1h", "topics", "topics?name=x", "queue?name=default"); n > 2 { // a queue's page looks for what failed
			t.Errorf("the next pages cost %d statements", n)
		}
		s = serve(t, ui.Of(p), ui.Options{Refresh: time.Millisecond})
		cost("")
		least := int64(100)
		for range 3 { // once in 15 seconds it is more
			dbtest.Until(t, "the overview is read again", func() bool { return cost("") > 0 })
			least = min(least, r.n.Load())
		}
		if least > 4 {
			t.Errorf("a refresh costs %d statements", least)
		}
	})
}

var firstLinks = regexp.MustCompile(`<tr><td>.*?<a href="[^"]*"[^>]*>([^<]*)</a>`)

// D-634: columns are sorted by with links, where all rows of a table are there; the address says by which.
func TestColumnsAreSortedBy(t *testing.T) {
	f := openEmpty(t)
	for i, topic := range []string{"b", "c", "a"} {
		f.some(topic, []int{2, 1, 11}[i])
		f.check(f.Jobs.Put(f.ctx(), job.Job{Name: topic, Topic: "report", Schedule: "@daily", Zone: []string{"Europe/Rome", "UTC", "Asia/Tokyo"}[i]}))
	}
	s := serve(t, ui.Of(f.Pawl), ui.Options{})
	for path, want := range map[string]string{
		"topics?sort=Topic": "abc", "topics?sort=-Topic": "cba", "?sort=-Waiting": "abc", "topics?sort=Waiting": "cba", "topics?sort=nothing": "bca",
		"jobs?sort=Zone": "abc", "jobs?sort=-Zone": "cba",
	} {
		_, body, _ := get(t, s, path)
		order := ""
		for _, m := range firstLinks.FindAllStringSubmatch(part(t, body, "<tbody>", "</tbody>"), -1) {
			order += m[1]
		}
		if order != want {
			t.Errorf("%s: %s", path, order)
		}
	}
	_, body, _ := get(t, s, "topics?since=6h0m0s&sort=-Waiting")
	head := part(t, body, "<thead>", "</thead>")
	for _, want := range []string{`aria-sort="descending"><a href="./topics?since=6h0m0s&amp;sort=Waiting">Waiting</a>`, `<th scope="col"><a href="./topics?since=6h0m0s&amp;sort=Topic">Topic</a>`, `<a href="./topics?since=6h0m0s&amp;sort=-Oldest">Oldest</a>`} {
		if !strings.Contains(head, want) {
			t.Errorf("no %s in %s", want, head)
		}
	}
	f.some("more", 60)
	if _, body, _ = get(t, s, "messages?sort=Topic"); strings.Contains(part(t, body, "<thead>", "</thead>"), "href") {
		t.Error("a list of which this is one page can be sorted")
	}
}

// D-633: stores of a fleet come in pages.
func TestManyStores(t *testing.T) {
	var all []fleet.Database
	for i := range 60 {
		all = append(all, fleet.Database{Key: fmt.Sprintf("tenant-%02d", i), URL: "postgres://u@127.0.0.1:1/none"}) // nobody listens
	}
	f, err := fleet.New(fleet.Static(all...), fleet.Options{Engines: map[string]fleet.Opener{"postgres": postgres.OpenURL}})
	if err == nil {
		err = f.Refresh(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	s := serve(t, ui.OfFleet(f), ui.Options{})
	_, body, _ := get(t, s, "")
	if strings.Count(body, "<tr>") != 51 || len(body) > 200_000 || !strings.Contains(body, "of 60 stores") {
		t.Errorf("%d rows, %d bytes", strings.Count(body, "<tr>"), len(body))
	}
	if _, body, _ = get(t, s, linkOf(t, part(t, body, `class="more">`, "</p>"))); strings.Count(body, "<tr>") != 11 || !strings.Contains(body, ">tenant-59<") {
		t.Errorf("then %d rows", strings.Count(body, "<tr>"))
	}
}
