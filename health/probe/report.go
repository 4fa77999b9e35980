package probe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bravellian/pawl/health"
)

// without returns the report without the findings that names mean, and the names that
// mean none. A name means a code, or a kind: what comes before a code's first slash.
func without(r health.Report, names []string) (health.Report, []string) {
	var left []health.Finding
	met := map[string]bool{}
	for i := range r.Findings {
		code, out := r.Findings[i].Code, false
		kind, _, _ := strings.Cut(code, "/")
		for _, name := range names {
			if name == code || name == kind {
				out, met[name] = true, true
			}
		}
		if !out {
			left = append(left, r.Findings[i])
		}
	}
	var unknown []string
	for _, name := range names {
		if !met[name] {
			unknown = append(unknown, name)
		}
	}
	return health.NewReport(left), unknown
}

// inService returns the report with failing handlers and missing ones as warnings: any process would
// say so, and taking them all out of service ends what does work.
func inService(r health.Report) health.Report {
	found := slices.Clone(r.Findings)
	for i := range found {
		if kind, _, _ := strings.Cut(found[i].Code, "/"); kind == "failing" || kind == "unhandled" {
			found[i].Level = min(found[i].Level, health.Warning)
		}
	}
	return health.NewReport(found)
}

// text returns a report as plain text, a line for each finding. If there is no problem, it
// is "ok" alone unless verbose. unknown are the names that were to be excluded and that
// mean no finding.
func text(probe string, r health.Report, verbose bool, unknown []string) string {
	if r.Healthy() && !verbose {
		return "ok\n"
	}
	var b strings.Builder
	if len(r.Findings) > 0 {
		fmt.Fprintln(&b, r)
	}
	for _, name := range unknown {
		fmt.Fprintf(&b, "no check is called %q, nothing was excluded by that name\n", name)
	}
	end := "passed"
	if !r.Healthy() {
		end = "failed"
	}
	fmt.Fprintf(&b, "%s check %s\n", probe, end)
	return b.String()
}
