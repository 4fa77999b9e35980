package ui_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
	"github.com/bravellian/pawl/ui"
)

// sesame is what only those may read who may read payloads.
const sesame = "open-sesame"

// password is what nobody may read: the value of a header that has a credential.
const password = "hunter-two"

// vault is a dashboard's database with a secret in every payload, and the paths of all routes.
type vault struct {
	*fixture
	secret outbox.MessageID
	bulk   uuid.UUID
}

func openVault(t *testing.T) *vault {
	t.Helper()
	f := &vault{fixture: open(t, dbtest.Engine{Name: "sqlite", Open: dbtest.OpenSQLite})}
	ctx := f.ctx()
	var err error
	headers := map[string]string{"customer": sesame, "X-Auth-Token": password, "authorization": password, "Set-Cookie": password, "api_key": password}
	f.secret, err = f.Outbox.Enqueue(ctx, outbox.Message{Topic: "vault", Queue: "vault", Payload: []byte(sesame), Headers: headers, CorrelationID: sesame})
	f.check(err)
	_, err = f.Outbox.Enqueue(ctx, outbox.Message{Topic: "vault", Queue: "broken"})
	f.check(err)
	f.end("vault", func(owner outbox.OwnerToken, id outbox.Position) (int64, error) {
		return f.Outbox.WorkQueue("").Abandon(ctx, owner, outbox.RetryAfter(time.Hour, errors.New(sesame)), id)
	})
	_, err = f.Timers.Schedule(ctx, timer.Timer{Topic: "vault", Key: "vault", Due: time.Now().Add(time.Hour), Payload: []byte(sesame), Headers: headers, CorrelationID: sesame})
	f.check(err)
	f.check(f.Jobs.Put(ctx, job.Job{Name: "vault", Topic: "vault", Queue: "runs", Schedule: "@daily", Payload: []byte(sesame), Headers: headers}))
	_, err = f.Jobs.Trigger(ctx, "vault")
	f.check(err)
	for _, queue := range []string{"runs", "broken"} {
		f.end(queue, func(owner outbox.OwnerToken, id outbox.Position) (int64, error) {
			return f.Outbox.WorkQueue("").Fail(ctx, owner, errors.New(sesame), id)
		})
	}
	f.join, err = f.Joins.Start(ctx, join.Spec{ExpectedSteps: 1, Metadata: sesame})
	f.check(err)
	act, err := f.Outbox.Redrive(ctx, outbox.FailedFilter{Topic: "vault", Rate: 1}) // stored; nobody works here
	f.check(err)
	f.bulk = act.ID
	return f
}

// end claims the message of a queue, and ends its attempt.
func (f *vault) end(queue string, as func(outbox.OwnerToken, outbox.Position) (int64, error)) {
	f.t.Helper()
	owner := outbox.NewOwnerToken()
	msgs, err := f.Outbox.WorkQueue(queue).Claim(f.ctx(), owner, time.Minute, 1)
	if f.check(err); len(msgs) != 1 {
		f.t.Fatalf("%s: claimed %d", queue, len(msgs))
	}
	f.check2(as(owner, msgs[0].Position))
}

// path is a route's path with something that exists in place of what it names.
func (f *vault) path(route string) (method, path string) {
	method, path, _ = strings.Cut(route, " ")
	path = strings.TrimPrefix(strings.TrimSuffix(path, "{$}"), "/")
	id := f.secret.String()
	if strings.Contains(path, "joins/") {
		id = f.join.String()
	}
	if strings.Contains(path, "bulk/") {
		id = f.bulk.String()
	}
	return method, strings.NewReplacer("{id}", id, "{name}", "vault").Replace(path) + map[bool]string{true: "?payload=true"}[strings.HasPrefix(path, "api/")] + map[string]string{"job": "?name=vault", "job/edit": "?name=vault"}[path]
}

// audited is how much operators did.
func (f *vault) audited() int {
	f.t.Helper()
	entries, err := engine.Collect(audit.List(f.ctx(), f.Internal(access.Key{}).DB, audit.Options{}), 1000)
	f.check(err)
	return len(entries)
}

// answer asks a handler for a route.
func (f *vault) answer(h http.Handler, route string, edit func(*http.Request)) *httptest.ResponseRecorder {
	method, path := f.path(route)
	form := url.Values{"id": {f.secret.String()}, "kind": {"topic"}, "name": {"vault"}, "in": {"1h"}, "concurrency": {"1"}}
	r := httptest.NewRequestWithContext(f.ctx(), method, "http://localhost/"+path, strings.NewReader(form.Encode()))
	r.RemoteAddr = "127.0.0.1:9"
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if edit != nil {
		edit(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// D-304: every route of the dashboard, for everybody: who nobody knows, who has no name, who reads, who reads
// payloads, who operates, who comes from another site or by another name of this machine.
func TestEveryRouteForEverybody(t *testing.T) {
	f := openVault(t)
	as := func(a ui.Access, err error) http.Handler {
		return ui.Handler(ui.Of(f.Pawl), ui.Options{Authorize: func(*http.Request) (ui.Access, error) { return a, err }, Logger: quiet()})
	}
	here := ui.Handler(ui.Of(f.Pawl), ui.Options{Logger: quiet()})
	operator := as(ui.Access{Name: "olga", Operator: true, Payloads: true}, nil)
	evil := func(r *http.Request) {
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Origin", "https://evil.example")
	}
	routes := ui.Routes()
	if len(routes) < 50 {
		t.Fatalf("only %d routes", len(routes))
	}
	for _, route := range routes {
		changes := strings.HasPrefix(route, "POST ")
		for _, who := range []struct {
			name   string
			h      http.Handler
			edit   func(*http.Request)
			status int  // 0: any but those of a refusal
			reads  bool // payloads
		}{
			{"nobody", as(ui.Access{}, errors.New("no")), nil, http.StatusForbidden, false},
			{"somebody without a name", as(ui.Access{Operator: true, Payloads: true}, nil), nil, http.StatusForbidden, false},
			{"somebody who is not signed in", as(ui.Access{}, &ui.UnauthenticatedError{Challenge: "Basic"}), nil, http.StatusUnauthorized, false},
			{"somebody for whom there is no time", as(ui.Access{}, context.DeadlineExceeded), nil, http.StatusServiceUnavailable, false},
			{"another machine", here, func(r *http.Request) { r.RemoteAddr = "192.0.2.7:9" }, http.StatusForbidden, false},
			{"another name", here, func(r *http.Request) { r.Host = "evil.example" }, http.StatusForbidden, false},
			{"another name with a port", here, func(r *http.Request) { r.Host = "localhost.evil.example:8080" }, http.StatusForbidden, false},
			{"no name", here, func(r *http.Request) { r.Host = "" }, http.StatusForbidden, false},
			{"a reader", as(ui.Access{Name: "rita"}, nil), nil, map[bool]int{true: http.StatusForbidden}[changes], false},
			{"a reader of payloads", as(ui.Access{Name: "paul", Payloads: true}, nil), nil, map[bool]int{true: http.StatusForbidden}[changes], true},
			{"another site", operator, evil, map[bool]int{true: http.StatusForbidden}[changes], true},
			{"an operator", operator, nil, 0, true},
		} {
			before := 0
			if changes {
				before = f.audited()
			}
			w := f.answer(who.h, route, who.edit)
			refused := w.Code == http.StatusForbidden || w.Code == http.StatusUnauthorized
			if who.status != 0 && w.Code != who.status || who.status == 0 && (refused || !changes && w.Code != http.StatusOK) {
				t.Errorf("%s: %s: %d %.200s", route, who.name, w.Code, w.Body)
			}
			if !who.reads && strings.Contains(w.Body.String(), sesame) {
				t.Errorf("%s: %s reads a payload", route, who.name)
			}
			if strings.Contains(w.Body.String(), password) {
				t.Errorf("%s: %s reads a credential", route, who.name)
			}
			if changes && refused && f.audited() != before {
				t.Errorf("%s: %s changed something", route, who.name)
			}
			checkHeaders(t, route, w.Header())
		}
	}
	if w := f.answer(operator, "GET /messages/{id}", nil); !strings.Contains(w.Body.String(), sesame) {
		t.Error("the secret is nowhere")
	}
}

// D-454: Redact gets all that programs wrote: nothing of it is shown on any page, nor by the API, and who may not read
// payloads finds nothing by it.
func TestRedactReachesEverything(t *testing.T) {
	f := openVault(t)
	access := ui.Access{Name: "paul", Payloads: true}
	h := ui.Handler(ui.Of(f.Pawl), ui.Options{
		Logger: quiet(), Authorize: func(*http.Request) (ui.Access, error) { return access, nil },
		Redact: func(topic string, text []byte) []byte {
			return bytes.ReplaceAll(text, []byte(sesame), []byte("less of "+topic))
		},
	})
	for _, route := range ui.Routes() {
		if !strings.HasPrefix(route, "GET ") {
			continue
		}
		if w := f.answer(h, route, nil); strings.Contains(w.Body.String(), sesame) {
			_, rest, _ := strings.Cut(w.Body.String(), sesame)
			t.Errorf("%s: … %.100s", route, rest)
		}
	}
	if w := f.answer(h, "GET /messages/{id}", nil); strings.Count(w.Body.String(), "less of vault") < 5 {
		t.Errorf("a payload, a header, a correlation id, an error and an attempt: %s", w.Body)
	}
	access.Payloads = false
	for _, query := range []string{"error=open", "correlation=" + sesame} {
		for _, route := range []string{"GET /messages", "GET /api/v1/messages"} {
			if w := f.answer(h, route, func(r *http.Request) { r.URL.RawQuery = query }); w.Code != http.StatusBadRequest {
				t.Errorf("%s?%s: %d", route, query, w.Code)
			}
		}
	}
}

// checkHeaders checks what a browser has to hold to.
func checkHeaders(t *testing.T, route string, h http.Header) {
	t.Helper()
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Cross-Origin-Opener-Policy": "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "same-origin", "Set-Cookie": "", "Access-Control-Allow-Origin": "",
	} {
		if got := h.Get(name); got != want {
			t.Errorf("%s: %s: %q, want %q", route, name, got, want)
		}
	}
	for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'", "script-src 'self';"} {
		if !strings.Contains(h.Get("Content-Security-Policy"), part) {
			t.Errorf("%s: no %s", route, part)
		}
	}
	if strings.HasPrefix(route, "GET /api/") && h.Get("Content-Type") == "text/html; charset=utf-8" {
		t.Errorf("%s answers with a page", route)
	}
}

var scheme = regexp.MustCompile(`(?i)(href|src|action|get|connect)="\s*javascript:`)

// D-304: what a link has in its query gets into no page, and no header, as it is.
func TestQueriesAreEscaped(t *testing.T) {
	f := openVault(t)
	h := ui.Handler(ui.Of(f.Pawl), ui.Options{Logger: quiet()})
	names := []string{"did", "store", "status", "topic", "queue", "correlation", "error", "older", "newer", "id", "after", "group", "source", "key", "actor", "action", "since", "doctor", "kind", "name", "back", "nothing"}
	for _, route := range ui.Routes() {
		if !strings.HasPrefix(route, "GET ") {
			continue
		}
		for _, name := range names {
			for _, value := range []string{canary + "';alert(1);//\r\nSet-Cookie: a=b", "javascript:alert(1)"} {
				w := f.answer(h, route, func(r *http.Request) { r.URL.RawQuery = url.Values{name: {value}}.Encode() })
				page := strings.HasPrefix(w.Header().Get("Content-Type"), "text/html")
				if page && (scheme.MatchString(w.Body.String()) || strings.HasPrefix(value, canary) && inline(w.Body.String()) != "" || strings.Contains(w.Body.String(), "<script>canary") || strings.Contains(w.Body.String(), "<img src=x")) {
					t.Errorf("%s?%s=%s: %s", route, name, value, inline(w.Body.String()))
				}
				if w.Code >= 500 || w.Header().Get("Set-Cookie") != "" {
					t.Errorf("%s?%s=%q: %d %.300s", route, name, value, w.Code, w.Body)
				}
			}
		}
	}
}

// D-303: no request makes the dashboard panic, fail, or change something by another method than POST.
func FuzzRequests(f *testing.F) {
	for _, r := range ui.Routes() {
		method, path, _ := strings.Cut(r, " ")
		f.Add(method, path, "id=1&after=2&status=failed&store=a", "localhost", "kind=topic&name=t&in=1h")
	}
	f.Add("GET", "//evil.example/..%2f", "did=%0d%0a", "127.0.0.1:80", "")
	f.Add("POST", "/do/retry", "", "[::1]:80", "rate=-1&limit=99999999999999999999&older=9999999h")
	var v *vault
	var h http.Handler
	f.Fuzz(func(t *testing.T, method, path, query, host, form string) {
		if v == nil || v.t.Context().Err() != nil {
			v = openVault(t)
			h = ui.Handler(ui.Of(v.Pawl), ui.Options{Logger: quiet()})
		}
		if !strings.HasPrefix(path, "/") || strings.Contains(form, "rate") {
			return
		}
		r := &http.Request{Method: method, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, URL: &url.URL{Path: path, RawQuery: query}, Host: host, RemoteAddr: "127.0.0.1:9", Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
			Body: readCloser{strings.NewReader(form)}, RequestURI: path}
		before := v.audited()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(t.Context()))
		if w.Code >= 500 {
			t.Errorf("%s %q?%q: %d %s", method, path, query, w.Code, w.Body)
		}
		if w.Code == http.StatusForbidden && strings.Contains(w.Body.String(), sesame) {
			t.Error("a refusal has a payload")
		}
		if method != http.MethodPost && v.audited() != before {
			t.Errorf("%s %q changed something", method, path)
		}
	})
}
