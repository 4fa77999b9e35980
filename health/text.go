package health

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// String returns the check as one line: "[+]database ok: answered within 2ms".
func (c *Check) String() string {
	return fmt.Sprintf("%s%s %s: %s", mark(c.Verdict), clean(c.Name), c.Verdict, clean(c.Text))
}

// mark returns the sign of a verdict.
func mark(v Verdict) string {
	switch v {
	case OK:
		return "[+]"
	case Warn:
		return "[!]"
	}
	return "[-]"
}

// Text returns a report as plain text, one line for each check. If nothing failed, it
// is "ok" alone unless verbose. The text ends with a line for each of the names in
// unknown: those that were to be excluded and matched no check.
func Text(probe string, r Report, verbose bool, unknown []string) string {
	if r.Healthy() && !verbose {
		return "ok\n"
	}
	var b strings.Builder
	for i := range r.Checks {
		fmt.Fprintln(&b, &r.Checks[i])
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

// clean replaces control characters by blanks.
func clean(s string) string {
	if !strings.ContainsFunc(s, unicode.IsControl) {
		return s
	}
	return strings.Join(slices.Collect(strings.FieldsFuncSeq(s, unicode.IsControl)), " ")
}
