package health

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
)

// HandlerOptions adjust a Handler. The zero value is right for most programs.
type HandlerOptions struct {
	// Share is how long the answer of one look serves other probes of /readyz,
	// default 1 s; negative: only those that come while it is under way.
	Share time.Duration
}

// Handler serves two probes, in plain text or as JSON:
//
//	/livez   do the loops of this process go round? Asks no database.
//	/readyz  is everything well? 503 while this process stops, too.
//
// The status is 200 or 503; warnings are no failures. "?verbose" lists the checks of
// what is well, too, "?exclude=NAME" leaves checks out by name or kind, any number of
// times, and "?format=json", or an Accept header that wants it, asks for JSON. The
// texts name queues, topics and hosts: serve them to those who may know.
func Handler(src Source, o HandlerOptions) http.Handler {
	if o.Share == 0 {
		o.Share = time.Second
	}
	ready := &shared{look: src.Health, fresh: o.Share}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, r *http.Request) { serve(w, r, "livez", src.Alive()) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		report, err := ready.get(r.Context())
		if err != nil { // and silence would count as 200
			report = NewReport([]Check{fail("process", err.Error())})
		}
		serve(w, r, "readyz", report)
	})
	return mux
}

// serve answers a probe.
func serve(w http.ResponseWriter, r *http.Request, probe string, report Report) {
	query := r.URL.Query()
	report, vain := report.Without(query["exclude"]...)
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
		_ = json.NewEncoder(w).Encode(report) // who does not listen need not be told
		return
	}
	h.Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	verbose := query.Has("verbose") && query.Get("verbose") != "false"
	fmt.Fprint(w, Text(probe, report, verbose, vain))
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

// String is a check in a line: "[+]database ok: answered within 2ms".
func (c *Check) String() string {
	return fmt.Sprintf("%s%s %s: %s", mark(c.Verdict), clean(c.Name), c.Verdict, clean(c.Text))
}

// mark is how plain text shows a verdict.
func mark(v Verdict) string {
	switch v {
	case OK:
		return "[+]"
	case Warn:
		return "[!]"
	}
	return "[-]"
}

// Text is a report in plain text, a line a check: "ok" alone if nothing failed,
// unless verbose. vain are names that were to be excluded and met no check.
func Text(probe string, r Report, verbose bool, vain []string) string {
	if r.Healthy() && !verbose {
		return "ok\n"
	}
	var b strings.Builder
	for i := range r.Checks {
		fmt.Fprintln(&b, &r.Checks[i])
	}
	for _, name := range vain {
		fmt.Fprintf(&b, "no check is called %q, nothing was excluded by that name\n", name)
	}
	end := "passed"
	if !r.Healthy() {
		end = "failed"
	}
	fmt.Fprintf(&b, "%s check %s\n", probe, end)
	return b.String()
}

// clean keeps a check in its line.
func clean(s string) string {
	if !strings.ContainsFunc(s, unicode.IsControl) {
		return s
	}
	return strings.Join(slices.Collect(strings.FieldsFuncSeq(s, unicode.IsControl)), " ")
}
