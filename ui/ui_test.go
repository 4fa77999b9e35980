package ui_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/activity"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/registry"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/ui"
)

var (
	tags   = regexp.MustCompile(`<[a-zA-Z](?:[^>"']|"[^"]*"|'[^']*')*>`)
	anyTag = regexp.MustCompile(`<[^>]*>`)
	quoted = regexp.MustCompile(`"[^"]*"|'[^']*'`)
	// forbidden is what the policy for content forbids in a tag, without what is quoted there.
	forbidden = regexp.MustCompile(`(?i)^<style|\sstyle=|\son[a-z]+=|^<script( defer| type="module")*>|^<(iframe|object|embed|base)\b`)
)

// inline finds scripts and styles in a page.
func inline(body string) string {
	for _, tag := range tags.FindAllString(body, -1) {
		if strings.Contains(tag, `="javascript:`) || forbidden.MatchString(quoted.ReplaceAllString(tag, "")) {
			return tag
		}
	}
	return ""
}

// kindOf is an address without the values of its parameters: orders and filters of a list have thousands
// of combinations, which took five minutes with the race detector.
func kindOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Path + "?" + strings.Join(slices.Sorted(maps.Keys(u.Query())), "&")
}

// D-218: every page that another leads to is there, below any path, and nothing that somebody wrote
// gets into one as it is.
func TestPages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		s := serve(t, ui.Of(f.Pawl), ui.Options{})
		start := s.URL + below + "/"
		seen, kinds, open := map[string]bool{start: true}, map[string]int{}, []string{start}
		var all strings.Builder
		for len(open) > 0 {
			at := open[0]
			open = open[1:]
			path := strings.TrimPrefix(at, start)
			if strings.HasPrefix(path, "do/") {
				continue
			}
			status, body, h := get(t, s, path)
			if status != http.StatusOK {
				t.Errorf("%s: %d %s", at, status, body)
				continue
			}
			if h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'") {
				t.Errorf("%s: %v", at, h)
			}
			if !strings.HasPrefix(h.Get("Content-Type"), "text/html") {
				continue
			}
			all.WriteString(body)
			if strings.Contains(body, `role="alert"`) {
				t.Errorf("%s shows an error: %s", at, body)
			}
			if found := inline(body); found != "" {
				t.Errorf("%s has %q", at, found)
			}
			for _, to := range linked(t, at, body) {
				if !strings.HasPrefix(to, start) {
					t.Errorf("%s leads away to %s", at, to)
				} else if kind := kindOf(t, to); !seen[to] && kinds[kind] < 5 && !strings.Contains(to, "until=") { // each time leads to others
					kinds[kind]++
					seen[to], open = true, append(open, to)
				}
			}
		}
		t.Logf("%d pages", len(seen))
		if len(seen) < 30 {
			t.Errorf("only %d pages", len(seen))
		}
		for _, what := range []string{f.failed.String(), f.ready.String(), f.join.String(), "close-books", "nightly/", "shop", "later", "group", "refused", "at 03:00"} {
			if !strings.Contains(all.String(), what) {
				t.Errorf("no page shows %q", what)
			}
		}
		if strings.Contains(all.String(), "<script>canary") || strings.Contains(all.String(), "<img src=x") {
			t.Error("a page has what somebody wrote as it is")
		}
	})
}

// D-219: nobody comes in from elsewhere, nor by another name of this machine, unless somebody says who
// may.
func TestOnlyThisMachine(t *testing.T) {
	f := open(t, dbtest.Engine{Name: "sqlite", Open: dbtest.OpenSQLite})
	s := serve(t, ui.Of(f.Pawl), ui.Options{})
	if status, _, _ := do(t, s, http.MethodGet, "", nil, func(r *http.Request) { r.Host = "evil.example" }); status != http.StatusForbidden {
		t.Errorf("by another name: %d", status)
	}
	for _, from := range []string{"192.0.2.7:999", "[2001:db8::1]:999", ""} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
		r.RemoteAddr = from
		w := httptest.NewRecorder()
		ui.Handler(ui.Of(f.Pawl), ui.Options{}).ServeHTTP(w, r)
		if w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "mail") {
			t.Errorf("from %q: %d", from, w.Code)
		}
	}
}

// D-453: without anybody who says who may come in, what a proxy sends on is refused: it may come from anywhere.
func TestForwardedRequestsAreRefused(t *testing.T) {
	f := open(t, dbtest.Engine{Name: "sqlite", Open: dbtest.OpenSQLite})
	everybody := func(*http.Request) (ui.Access, error) { return ui.Access{Name: "olga"}, nil }
	here, proxied := serve(t, ui.Of(f.Pawl), ui.Options{}), serve(t, ui.Of(f.Pawl), ui.Options{Authorize: everybody})
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "x-forwarded-host", "X-Forwarded-Proto", "X-Real-IP", "Via", "CF-Connecting-IP", "True-Client-IP", "X-Client-Ip", "X-Azure-ClientIP", "X-Original-Host", "X-Envoy-External-Address"} {
		by := func(r *http.Request) { r.Header.Set(name, "127.0.0.1") }
		if status, body, _ := do(t, here, http.MethodGet, "", nil, by); status != http.StatusForbidden || !strings.Contains(body, "proxy") {
			t.Errorf("%s: %d %s", name, status, body)
		}
		if status, _, _ := do(t, proxied, http.MethodGet, "", nil, by); status != http.StatusOK {
			t.Errorf("%s, known: %d", name, status)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
	r.RemoteAddr, r.Proto, r.ProtoMinor = "127.0.0.1:9", "HTTP/1.0", 0
	w := httptest.NewRecorder()
	ui.Handler(ui.Of(f.Pawl), ui.Options{Logger: quiet()}).ServeHTTP(w, r)
	if w.Code != http.StatusForbidden {
		t.Errorf("HTTP/1.0: %d", w.Code)
	}
	if status, _, _ := get(t, here, ""); status != http.StatusOK {
		t.Errorf("from here: %d", status)
	}
}

// D-453: a page says nothing that somebody wrote into a link, but in the fields of its own filter.
func TestLinksSayNothing(t *testing.T) {
	const lie = "Call 555 to unlock"
	one := open(t, dbtest.Engine{Name: "sqlite", Open: dbtest.OpenSQLite})
	for of, source := range map[string]ui.Source{"database": ui.Of(one.Pawl), "fleet": ui.OfFleet(tenants(t))} {
		s := serve(t, source, ui.Options{})
		says := func(path string) {
			t.Helper()
			status, body, _ := get(t, s, path)
			if text := anyTag.ReplaceAllString(body, " "); status >= 500 || strings.Contains(text, "unlock") { // not by its number: ids have any
				t.Errorf("%s: %s: %d %s", of, path, status, text)
			}
		}
		for _, route := range ui.Routes() {
			path, page := strings.CutPrefix(route, "GET /")
			if path = strings.TrimSuffix(path, "{$}"); !page || strings.HasPrefix(path, "api/") || strings.HasPrefix(path, "assets/") {
				continue
			}
			named := strings.NewReplacer("{id}", url.PathEscape(lie), "{name}", url.PathEscape(lie)).Replace(path)
			says(named)
			says(named + "?store=acme")
			for _, name := range []string{"did", "store", "status", "topic", "queue", "correlation", "error", "older", "newer", "id", "after", "group", "source", "key", "actor", "action", "examine"} {
				says(path + "?" + url.Values{name: {lie}}.Encode())
				says(path + "?" + url.Values{name: {lie}, "store": {"acme"}}.Encode())
			}
		}
	}
}

// D-219: an operator changes things, a viewer does not, and neither does a page of somebody else; who
// did it is in the audit trail.
func TestAccess(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		who := ui.Access{Name: "vera"}
		s := serve(t, ui.Of(f.Pawl), ui.Options{Authorize: func(*http.Request) (ui.Access, error) { return who, nil }})
		redrive := url.Values{"id": {f.failed.String()}, "back": {"messages/" + f.failed.String()}}
		refused := func(what string, edit func(*http.Request)) {
			t.Helper()
			if status, body, _ := do(t, s, http.MethodPost, "do/retry", redrive, edit); status != http.StatusForbidden {
				t.Errorf("%s: %d %s", what, status, body)
			}
			if m, err := f.Outbox.Get(f.ctx(), f.failed); err != nil || m.Status != outbox.Failed {
				t.Fatalf("%s: %v, %v", what, m.Status, err)
			}
		}
		refused("a viewer", nil)
		if _, body, _ := get(t, s, "messages/"+f.ready.String()); strings.Contains(body, "secret") || strings.Contains(body, "<form method=\"post\"") {
			t.Error("a viewer sees payloads or buttons")
		}
		if _, body, _ := get(t, s, "api/v1/messages/"+f.ready.String()+"?payload=true"); strings.Contains(body, "secret") || !strings.Contains(body, "payload_bytes") {
			t.Errorf("a viewer gets a payload: %s", body)
		}
		who = ui.Access{Name: "olga", Operator: true, Payloads: true}
		refused("another origin", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") })
		refused("another site", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") })
		if status, _, _ := get(t, s, "do/retry?id="+f.failed.String()); status == http.StatusOK || status == http.StatusSeeOther {
			t.Errorf("a link changes something: %d", status)
		}
		status, _, h := do(t, s, http.MethodPost, "do/retry", redrive, nil)
		if want := "../messages/" + f.failed.String() + "?did="; status != http.StatusSeeOther || !strings.HasPrefix(h.Get("Location"), want) || did(t, s, h) != "1 message redriven" {
			t.Errorf("redrive: %d, to %s: %s", status, h.Get("Location"), did(t, s, h))
		}
		if m, err := f.Outbox.Get(f.ctx(), f.failed); err != nil || m.Status != outbox.Ready {
			t.Errorf("%v, %v", m.Status, err)
		}
		entries, err := engine.Collect(audit.List(f.ctx(), f.Internal(access.Key{}).DB, audit.Options{Actor: "olga"}), 100)
		if err != nil || len(entries) != 1 || entries[0].Count != 1 {
			t.Errorf("%+v, %v", entries, err)
		}
		if _, body, _ := get(t, s, "messages/"+f.ready.String()); !strings.Contains(body, "secret") {
			t.Error("an operator does not see the payload")
		}
		if status, _, _ := do(t, s, http.MethodPost, "do/nothing", url.Values{}, nil); status != http.StatusNotFound {
			t.Errorf("an unknown action: %d", status)
		}
	})
}

// D-219: what leads back leads nowhere else.
func TestBackStaysHere(t *testing.T) {
	f := open(t, dbtest.Engine{Name: "sqlite", Open: dbtest.OpenSQLite})
	s := serve(t, ui.Of(f.Pawl), ui.Options{})
	for _, to := range []string{"https://evil.example/", "//evil.example", "/etc", "../../..", `\\evil.example`, "javascript:alert(1)", "messages?status=failed"} {
		status, _, h := do(t, s, http.MethodPost, "do/resume", url.Values{"kind": {"topic"}, "name": {"x"}, "back": {to}}, nil)
		here, _ := url.Parse("http://localhost" + below + "/do/resume")
		at, err := here.Parse(h.Get("Location"))
		if status != http.StatusSeeOther || err != nil || at.Host != "localhost" || !strings.HasPrefix(at.Path, below+"/") {
			t.Errorf("%s: %d, to %s", to, status, h.Get("Location"))
		}
	}
}

// D-219: a payload is shown as the program allows.
func TestRedact(t *testing.T) {
	f := open(t, dbtest.Engine{Name: "sqlite", Open: dbtest.OpenSQLite})
	s := serve(t, ui.Of(f.Pawl), ui.Options{Redact: func(topic string, _ []byte) []byte { return []byte("redacted " + topic) }})
	for _, path := range []string{"messages/" + f.ready.String(), "api/v1/messages/" + f.ready.String() + "?payload=true"} {
		if _, body, _ := get(t, s, path); strings.Contains(body, "secret") || !strings.Contains(body, "redacted mail") {
			t.Errorf("%s: %s", path, body)
		}
	}
}

// D-219: who may read everything and change nothing finds no button, and cannot do without.
func TestReadOnly(t *testing.T) {
	f := open(t, dbtest.Engine{Name: "sqlite", Open: dbtest.OpenSQLite})
	s := serve(t, ui.Of(f.Pawl), ui.Options{ReadOnly: true})
	if _, body, _ := get(t, s, "failed"); strings.Contains(body, "<form method=\"post\"") {
		t.Error("there are buttons")
	}
	if status, _, _ := do(t, s, http.MethodPost, "do/retry", url.Values{"id": {f.failed.String()}}, nil); status != http.StatusForbidden {
		t.Errorf("redrive: %d", status)
	}
}

// D-217, D-604: the page of topics says how fast messages of each come and are done, as far as it is known.
func TestRatesOfTopics(t *testing.T) {
	f := openEmpty(t)
	_, err := f.Outbox.EnqueueBatch(f.ctx(), slices.Repeat([]outbox.Message{messageOf("mail")}, 1200))
	f.check(err)
	owner := outbox.NewOwnerToken()
	msgs, err := f.Outbox.WorkQueue("").Claim(f.ctx(), owner, time.Minute, 300)
	f.check(err)
	var s *httptest.Server
	row := func() string {
		s = serve(t, ui.Of(f.Pawl), ui.Options{}) // which has not read anything within the second
		_, body, _ := get(t, s, "topics")
		_, row, _ := strings.Cut(body, ">mail</a>")
		row, _, _ = strings.Cut(row, "</tr>")
		return strings.Join(strings.Fields(anyTag.ReplaceAllString(row, " ")), " ")
	}
	if text := row(); !strings.Contains(text, "unknown unknown unknown 900 ") {
		t.Errorf("nobody counted: %s", text)
	}
	if _, body, _ := get(t, s, ""); !strings.Contains(body, `<rect width="600" height="120" fill="url(#hatch)">`) || !strings.Contains(body, "nobody counted") {
		t.Error("the overview shows that nothing was done")
	}
	for _, m := range msgs {
		f.check2(f.Outbox.WorkQueue("").Ack(f.ctx(), owner, m.Position))
	}
	table := f.db.Table("activity")
	f.check2(f.db.SQL.ExecContext(f.ctx(), "INSERT INTO "+table+" SELECT grain, minute - 9, queue, 'before', worker, done, retried, failed, expired, unhandled, waits, takes, '[]', errors FROM "+table+" LIMIT 1"))
	if text := row(); !strings.HasPrefix(text, "120 30 ") {
		t.Errorf("want 1200 and 300 in ten minutes: %s", text)
	}
	f.check2(f.db.SQL.ExecContext(f.ctx(), "DELETE FROM "+table+" WHERE topic = 'before'")) // of one minute, or of two, it is known
	if text := row(); !strings.HasPrefix(text, "1 200 300 ") && !strings.HasPrefix(text, "600 150 ") {
		t.Errorf("want 1200 and 300 in a minute: %s", text)
	}
}

// D-543: who handles a topic is shown also where the handler is for a pattern.
func TestHandledByPattern(t *testing.T) {
	f := openEmpty(t)
	f.check2(f.Outbox.Enqueue(f.ctx(), messageOf("mail")))
	registry.New(f.db, nil, activity.New()).Show(f.ctx(), registry.Self{Name: "postman", Queues: []string{"letters"}, Topics: []string{"ma*"}})
	_, body, _ := get(t, serve(t, ui.Of(f.Pawl), ui.Options{}), "topics")
	for name, handled := range map[string]bool{"mail": true, "ma*": true, "letters": true, "default": false} {
		_, row, _ := strings.Cut(body, ">"+name+"</a>")
		row, _, known := strings.Cut(row, "</tr>")
		if !known || strings.Contains(row, "postman") != handled {
			t.Errorf("%s: %s", name, row)
		}
	}
}

// D-218: the page of a join shows its steps, or those of a state.
func TestStepsByState(t *testing.T) {
	f := open(t, dbtest.Engine{Name: "sqlite", Open: dbtest.OpenSQLite})
	s := serve(t, ui.Of(f.Pawl), ui.Options{})
	for path, steps := range map[string]int{"": 2, "?status=" + string(join.Pending): 2, "?status=" + string(join.Failed): 0} {
		_, body, _ := get(t, s, "joins/"+f.join.String()+path)
		if n := strings.Count(body, "<td>step"); n != steps || !strings.Contains(body, `name="status"`) {
			t.Errorf("%s: %d steps", path, n)
		}
	}
	if status, _, _ := get(t, s, "joins/"+f.join.String()+"?status=none"); status != http.StatusBadRequest {
		t.Errorf("a state that is none: %d", status)
	}
}
