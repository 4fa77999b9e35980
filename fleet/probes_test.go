package fleet_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/health/probe"
	"github.com/bravellian/pawl/internal/test/dbtest"
)

// ask sends a probe to a fleet.
func ask(t *testing.T, h http.Handler, path string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

// D-110: the same probes as for one database; a store that fails is named, and comes
// back.
func TestProbesOfAFleet(t *testing.T) {
	t.Parallel()
	w := newWard()
	dbs := files(t, "a", "b")
	dbs[1] = w.admits(dbs[1], nil)
	o := quick()
	o.Engines = w.engines()
	f := open(t, fleet.Static(dbs...), o)
	f.Handle("t", newRecord().Handle)
	h := probe.Handler(f, probe.Options{Share: -1})
	if code, body := ask(t, h, "/livez?verbose"); code != 200 || !strings.Contains(body, "the fleet is new") {
		t.Errorf("before Run: %d\n%s", code, body)
	}
	stop := start(t, f)
	until := func(path string, want int, says string) {
		t.Helper()
		dbtest.Until(t, fmt.Sprintf("%s says %d and %q", path, want, says), func() bool {
			code, body := ask(t, h, path)
			return code == want && strings.Contains(body, says)
		})
	}
	until("/readyz?verbose", 200, "all 2 stores are well")
	w.rule(dbs[1], fails)
	until("/readyz", 503, "[-]store/b problem: ")
	until("/readyz", 503, errSick.Error())
	if text := f.Health(t.Context()).String(); !strings.Contains(text, "1 of 2 stores fail\n[-]store/b problem: failed ") {
		t.Errorf("as text: %s", text)
	}
	until("/readyz?exclude=store&verbose", 200, "1 of 2 stores fail")
	until("/livez", 200, "ok")
	w.rule(dbs[1], nil)
	until("/readyz?verbose", 200, "all 2 stores are well")
	stop()
	until("/readyz", 503, "[-]process problem: stopped")
	until("/livez", 200, "ok")
}

// D-110: what is listed is bounded.
func TestProbesOfAFleetThatFailsAltogether(t *testing.T) {
	t.Parallel()
	w := newWard()
	var keys []string
	for i := range 30 {
		keys = append(keys, fmt.Sprintf("s%02d", i))
	}
	dbs := files(t, keys...)
	for i := range dbs {
		dbs[i] = w.admits(dbs[i], fails)
	}
	o := quick()
	o.Engines = w.engines()
	f := open(t, fleet.Static(dbs...), o)
	start(t, f)
	dbtest.Until(t, "all fail", func() bool {
		c := f.Health(t.Context()).Find("stores")
		return c.Level == health.Problem && c.Facts.Get("failing") == 30
	})
	if r := f.Health(t.Context()); len(r.Findings) > 25 || r.Find("store") == nil || !strings.Contains(r.Find("store").Summary, "10 more") {
		t.Errorf("%d checks:\n%s", len(r.Findings), r)
	}
}

// D-110: a fleet that cannot read its list goes on with what it knows, and says so.
func TestProbesOfAFleetWithoutItsList(t *testing.T) {
	t.Parallel()
	l := listOf(files(t, "a")...)
	f := open(t, l, quick())
	start(t, f)
	dbtest.Until(t, "it is well", func() bool { return f.Health(t.Context()).Level == health.OK })
	l.fail(errors.New("no such table"))
	_ = f.Refresh(t.Context())
	if c := f.Health(t.Context()).Find("stores"); c.Level != health.Warning || !strings.Contains(c.Summary, "no such table") {
		t.Errorf("%+v", c)
	}
}
