// Package probe serves the health of a pawl or a fleet over HTTP. It is a package of its
// own so that programs without HTTP do not link net/http.
package probe

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/bravellian/pawl/health"
)

// Options configure a Handler. The zero value is right for most programs.
type Options struct {
	// Share is how long the answer to one request of /readyz serves later ones, default
	// 1 s. If negative, only requests that arrive while a check runs share its answer.
	Share time.Duration
}

// Handler returns a handler of two probes, which answers in plain text or JSON:
//
//	/livez   reports whether the loops of this process run. Queries no database.
//	/readyz  reports all checks; 503 also while this process stops.
//
// The status is 200, or 503 if there is a problem; warnings are none, and neither is here what goes
// wrong in handlers of whichever process (failing, unhandled). "?verbose" lists all
// findings also then, "?exclude=NAME" leaves out those of a code or kind and may be
// repeated, and "?format=json", or an Accept header that prefers it, selects JSON.
// The texts name queues, topics and hosts: do not serve them to the public.
func Handler(src health.Source, o Options) http.Handler {
	if o.Share == 0 {
		o.Share = time.Second
	}
	ready := &shared{check: src.Health, fresh: o.Share}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, r *http.Request) { serve(w, r, "livez", src.Alive()) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		report, err := ready.get(r.Context())
		if err != nil { // no answer would count as 200
			report = health.NewReport([]health.Finding{{Code: "process", Level: health.Problem, Summary: err.Error()}})
		}
		serve(w, r, "readyz", inService(report))
	})
	return mux
}

// serve answers a probe.
func serve(w http.ResponseWriter, r *http.Request, probe string, report health.Report) {
	query := r.URL.Query()
	report, unknown := without(report, query["exclude"])
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Accept")
	status := http.StatusOK
	if !report.Healthy() {
		status = http.StatusServiceUnavailable
	}
	if wantsJSON(r) {
		h.Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(report) // an error means that the client is gone
		return
	}
	h.Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	verbose := query.Has("verbose") && query.Get("verbose") != "false"
	fmt.Fprint(w, text(probe, report, verbose, unknown))
}

func wantsJSON(r *http.Request) bool {
	if format := r.URL.Query().Get("format"); format != "" {
		return format == "json"
	}
	for _, accept := range r.Header.Values("Accept") {
		for part := range strings.SplitSeq(accept, ",") {
			kind, _, _ := strings.Cut(part, ";")
			switch strings.ToLower(strings.TrimSpace(kind)) {
			case "application/json":
				return true
			case "text/plain", "text/*", "*/*":
				return false
			}
		}
	}
	return false
}
