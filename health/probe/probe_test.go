package probe_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/health/probe"
)

// source returns the reports that a test sets.
type source struct {
	ready, alive health.Report
	checks       atomic.Int64
	wait         chan struct{} // before a check ends; nil: does not wait
}

func (s *source) Health(context.Context) health.Report {
	s.checks.Add(1)
	if s.wait != nil {
		<-s.wait
	}
	return s.ready
}

func (s *source) Alive() health.Report { return s.alive }

func report(checks ...health.Finding) health.Report { return health.NewReport(checks) }

var (
	good = health.Finding{Code: "database", Level: health.OK, Summary: "answered"}
	soso = health.Finding{Code: "paused", Level: health.Warning, Summary: "paused: queue q"}
	bad  = health.Finding{Code: "waiting/queue/q", Level: health.Problem, Summary: "12 messages\nare due", Facts: health.Facts{{Key: "due", Value: 12}}}
)

func get(t *testing.T, h http.Handler, method, url string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, url, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// D-110
func TestProbes(t *testing.T) {
	sick := probe.Handler(&source{ready: report(good, soso, bad), alive: report(good)}, probe.Options{})
	fine := probe.Handler(&source{ready: report(good, soso), alive: report(good)}, probe.Options{})
	all := "[+]database ok: answered\n[!]paused warning: paused: queue q\n[-]waiting/queue/q problem: 12 messages are due\nreadyz check failed\n"
	for _, c := range []struct {
		name, method, url string
		h                 http.Handler
		status            int
		body              string
	}{
		{"well", "GET", "/readyz", fine, 200, "ok\n"},
		{"verbose", "GET", "/readyz?verbose", fine, 200, "[+]database ok: answered\n[!]paused warning: paused: queue q\nreadyz check passed\n"},
		{"not well", "GET", "/readyz", sick, 503, all},
		{"alive all the same", "GET", "/livez", sick, 200, "ok\n"},
		{"left out", "GET", "/readyz?exclude=waiting/queue/q", sick, 200, "ok\n"},
		{"left out by kind", "GET", "/readyz?exclude=paused&exclude=waiting&verbose", sick, 200, "[+]database ok: answered\nreadyz check passed\n"},
		{"an unknown name is left out", "GET", "/readyz?exclude=waitin&verbose", fine, 200, "[+]database ok: answered\n[!]paused warning: paused: queue q\n" +
			"no check is called \"waitin\", nothing was excluded by that name\nreadyz check passed\n"},
		{"elsewhere", "GET", "/healthz", fine, 404, "404 page not found\n"},
		{"another method", "POST", "/readyz", fine, 405, "Method Not Allowed\n"},
	} {
		w := get(t, c.h, c.method, c.url)
		if w.Code != c.status || w.Body.String() != c.body {
			t.Errorf("%s: %d\n%s\nwant %d\n%s", c.name, w.Code, w.Body, c.status, c.body)
		}
		if c.status != 404 && c.status != 405 && w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: may be cached", c.name)
		}
	}
}

// D-110: for programs.
// D-573: handlers that fail take no process out of service.
func TestFailingHandlersAreNoOutage(t *testing.T) {
	failing := health.Finding{Code: "failing/mail", Level: health.Problem, Summary: "mail: 100 % of 34 attempts failed"}
	unhandled := health.Finding{Code: "unhandled/old", Level: health.Problem, Summary: "50 messages of old"}
	w := httptest.NewRecorder()
	probe.Handler(&source{ready: report(good, failing, unhandled)}, probe.Options{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz?verbose", nil))
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "[!]failing/mail warning: mail: 100 %") {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
}

func TestProbesAsJSON(t *testing.T) {
	h := probe.Handler(&source{ready: report(good, bad)}, probe.Options{})
	for url, accept := range map[string]string{"/readyz?format=json": "", "/readyz": "text/html, application/json;q=0.9, */*;q=0.1", "/readyz?exclude=other": "application/json"} {
		w := get(t, h, "GET", url, "Accept", accept)
		var got health.Report
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v\n%s", url, err, w.Body)
		}
		if w.Code != 503 || got.Level != health.Problem || len(got.Findings) != 2 || got.Find(bad.Code).Facts.Get("due") != 12.0 || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %+v", url, w.Code, got)
		}
	}
	if w := get(t, h, "GET", "/readyz", "Accept", "*/*"); !strings.HasPrefix(w.Body.String(), "[+]") {
		t.Errorf("curl gets %s", w.Body)
	}
	if w := get(t, h, "GET", "/readyz?format=text", "Accept", "application/json"); !strings.HasPrefix(w.Body.String(), "[+]") {
		t.Errorf("format=text gets %s", w.Body)
	}
}

// D-110
func TestHEAD(t *testing.T) {
	s := httptest.NewServer(probe.Handler(&source{ready: report(bad), alive: report(good)}, probe.Options{}))
	defer s.Close()
	for path, want := range map[string]int{"/readyz": 503, "/livez": 200} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodHead, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("HEAD %s: %d, want %d", path, answer.StatusCode, want)
		}
	}
}

// D-110: requests that arrive together cause one check; a stale report causes another.
func TestProbesShareACheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &source{ready: report(good), wait: make(chan struct{})}
		h := probe.Handler(src, probe.Options{})
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if w := get(t, h, "GET", "/readyz"); w.Code != 200 {
					t.Errorf("%d", w.Code)
				}
			})
		}
		synctest.Wait()
		gone, leave := context.WithCancel(t.Context())
		leave() // one that does not wait is not kept
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(gone, "GET", "/readyz", nil))
		close(src.wait)
		all.Wait()
		if n := src.checks.Load(); n != 1 {
			t.Errorf("%d checks for all", n)
		}
		time.Sleep(999 * time.Millisecond)
		get(t, h, "GET", "/readyz")
		if n := src.checks.Load(); n != 1 {
			t.Errorf("%d checks within a second", n)
		}
		time.Sleep(time.Millisecond)
		get(t, h, "GET", "/readyz")
		if n := src.checks.Load(); n != 2 {
			t.Errorf("%d checks after a second", n)
		}
	})
}

// D-110: a check that panics leaves no request waiting, and is not answered with 200.
func TestACheckThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &breaking{begun: make(chan struct{}), wait: make(chan struct{})}
		h := probe.Handler(src, probe.Options{})
		go func() {
			defer func() { _ = recover() }() // as net/http does
			get(t, h, "GET", "/readyz")
		}()
		<-src.begun
		second := make(chan int)
		go func() { second <- get(t, h, "GET", "/readyz").Code }()
		synctest.Wait()
		close(src.wait)
		if code := <-second; code != 503 {
			t.Errorf("%d", code)
		}
	})
}

type breaking struct{ begun, wait chan struct{} }

func (b *breaking) Health(context.Context) health.Report {
	close(b.begun)
	<-b.wait
	panic("broken")
}
func (b *breaking) Alive() health.Report { return health.Report{} }
