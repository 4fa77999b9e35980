package probe_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/bravellian/pawl/health/probe"
)

// D-303: no request makes a probe say that what is not well is well, unless it excludes the finding by its code or kind,
// nor answer what was asked for as it is in JSON.
func FuzzProbes(f *testing.F) {
	f.Add("GET", "/readyz", "verbose&exclude=x", "application/json")
	f.Add("GET", "/livez", "format=json", "*/*;q=0")
	f.Add("HEAD", "/readyz", "exclude=waiting/queue/q", ",;,")
	h := probe.Handler(&source{ready: report(good, bad), alive: report(good)}, probe.Options{})
	f.Fuzz(func(t *testing.T, method, path, query, accept string) {
		r := &http.Request{Method: method, URL: &url.URL{Path: path, RawQuery: query}, Header: http.Header{"Accept": {accept}}, Host: "h", RequestURI: path}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(t.Context()))
		excludes := r.URL.Query()["exclude"]
		for _, name := range excludes {
			if name == bad.Code || strings.HasPrefix(bad.Code, name+"/") {
				return
			}
		}
		if path == "/readyz" && (method == http.MethodGet || method == http.MethodHead) && w.Code != http.StatusServiceUnavailable {
			t.Errorf("%s %s?%q: %d", method, path, query, w.Code)
		}
		if path != "/readyz" && path != "/livez" { // net/http answers
			return
		}
		for _, c := range w.Body.String() {
			if c < ' ' && c != '\n' {
				t.Errorf("a control character in %q", w.Body)
			}
		}
	})
}
