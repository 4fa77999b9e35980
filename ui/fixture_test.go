package ui_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
	"github.com/bravellian/pawl/ui"
)

// canary would run in a browser if anything that a program or a person wrote got into a page as it is.
const canary = `"><script>canary()</script><img src=x onerror=canary()>`

// fixture is a dashboard of a fresh database.
type fixture struct {
	*pawl.Pawl
	t      *testing.T
	db     dbtest.Database
	failed outbox.MessageID
	ready  outbox.MessageID
	join   join.ID
}

// openEmpty makes a database.
func openEmpty(t *testing.T) *fixture {
	t.Helper()
	return openOn(t, dbtest.Engine{Name: "sqlite", Open: dbtest.OpenSQLite})
}

func openOn(t *testing.T, e dbtest.Engine) *fixture {
	t.Helper()
	db := e.Open(t)
	p, err := pawl.New(db.DB, pawl.Options{Logger: slog.New(slog.DiscardHandler)})
	f := &fixture{Pawl: p, t: t, db: db}
	f.check(err)
	return f
}

// open makes a database that has something for every page, with names that would do harm.
func open(t *testing.T, e dbtest.Engine) *fixture {
	t.Helper()
	db := e.Open(t)
	p, err := pawl.New(db.DB, pawl.Options{Logger: slog.New(slog.DiscardHandler), Worker: "worker" + canary})
	f := &fixture{Pawl: p, t: t, db: db}
	f.check(err)
	ctx := f.ctx()
	f.failed, err = p.Outbox.Enqueue(ctx, outbox.Message{Topic: "bad" + canary, Payload: []byte(`{"a":"` + "payload" + `"}`), CorrelationID: canary, Headers: map[string]string{"h": canary}})
	f.check(err)
	owner := outbox.NewOwnerToken()
	msgs, err := p.Outbox.WorkQueue("").Claim(ctx, owner, time.Minute, 1)
	if f.check(err); len(msgs) != 1 {
		t.Fatalf("claimed %d", len(msgs))
	}
	_, err = p.Outbox.WorkQueue("").Fail(ctx, owner, errors.New("refused "+canary), msgs[0].Position)
	f.check(err)
	f.ready, err = p.Outbox.Enqueue(ctx, outbox.Message{Topic: "mail", Payload: []byte("secret " + canary)})
	f.check(err)
	fan, err := p.Joins.FanOut(ctx, join.Spec{GroupingKey: "group" + canary, Metadata: canary}, []outbox.Message{{Topic: "step"}, {Topic: "step"}}, join.Wait{OnComplete: outbox.Message{Topic: "then"}})
	f.check(err)
	f.join = fan.Join
	_, err = p.Timers.Schedule(ctx, timer.Timer{Topic: "later", Key: "key" + canary, Due: time.Now().Add(time.Hour)})
	f.check(err)
	f.check(p.Jobs.Put(ctx, job.Job{Name: "nightly/" + canary, Topic: "report", Schedule: "0 3 * * *", Zone: "Europe/Berlin"}))
	_, err = p.Jobs.Trigger(ctx, "nightly/"+canary)
	f.check(err)
	_, err = p.Inbox.AlreadyProcessed(ctx, inbox.Key{Source: "shop" + canary, MessageID: "m" + canary})
	f.check(err)
	_, err = p.Inbox.MarkDead(ctx, inbox.Key{Source: "shop" + canary, MessageID: "m" + canary})
	f.check(err)
	held, err := p.Leases.Acquire(ctx, "close-books"+canary, lease.Options{Owner: "host" + canary, Duration: time.Minute})
	f.check(err)
	t.Cleanup(func() { _ = held.Close(context.Background()) })
	_, err = p.Admin.Pause(admin.WithActor(ctx, "ann"+canary), admin.Topic, "paused"+canary, canary)
	f.check(err)
	_, err = p.Admin.SetLimit(ctx, admin.EachTopic, "call.*", outbox.Limit{Concurrency: 2}, canary)
	f.check(err)
	return f
}

func (f *fixture) ctx() context.Context { return f.t.Context() }

func (f *fixture) check(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// below is where tests mount the dashboard: it must work below any path.
const below = "/ops/pawl"

// serve serves a dashboard for the length of a test.
func serve(t *testing.T, source ui.Source, o ui.Options) *httptest.Server {
	t.Helper()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute // the machine may be slow
	}
	mux := http.NewServeMux()
	mux.Handle(below+"/", http.StripPrefix(below, ui.Handler(source, o)))
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// get reads a page.
func get(t *testing.T, s *httptest.Server, path string) (status int, body string, h http.Header) {
	t.Helper()
	return do(t, s, http.MethodGet, path, nil, nil)
}

// do sends a request; what is changed of it is up to edit. It follows no redirect.
func do(t *testing.T, s *httptest.Server, method, path string, form url.Values, edit func(*http.Request)) (status int, body string, h http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+below+"/"+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if edit != nil {
		edit(r)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text), answer.Header
}

var didText = regexp.MustCompile(`<p class="did" role="status">([^<]*)</p>`)

// did is what the page says that a change leads back to.
func did(t *testing.T, s *httptest.Server, h http.Header) string {
	t.Helper()
	at, err := url.Parse(s.URL + below + "/do/any")
	if err == nil {
		at, err = at.Parse(h.Get("Location"))
	}
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := get(t, s, strings.TrimPrefix(at.RequestURI(), below+"/"))
	if found := didText.FindStringSubmatch(body); found != nil {
		return found[1]
	}
	return ""
}

var links = regexp.MustCompile(`(?:href|src|action|hx-get)="([^"]*)"`)

// linked returns where a page leads, as a browser resolves it.
func linked(t *testing.T, at, body string) (all []string) {
	t.Helper()
	base, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range links.FindAllStringSubmatch(body, -1) {
		to, err := base.Parse(strings.NewReplacer("&amp;", "&", "&#43;", "+", "&#39;", "'", "&#34;", `"`).Replace(m[1]))
		if err != nil {
			t.Fatalf("%s leads to %q: %v", at, m[1], err)
		}
		to.Fragment = ""
		all = append(all, to.String())
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (f *fixture) check2(_ any, err error) { f.t.Helper(); f.check(err) }

func messageOf(topic string) outbox.Message { return outbox.Message{Topic: topic} }

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// readCloser is a body.
type readCloser struct{ io.Reader }

func (readCloser) Close() error { return nil }
