package admin

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bravellian/pawl/health"
)

// String returns the explanation as text for people, of several lines: what was
// explained and why it has not run, what helps, the facts, and the causes below. What
// else has the same id follows behind a blank line.
func (x *Explanation) String() string {
	var b strings.Builder
	x.write(&b)
	for i := range x.AlsoMatches {
		b.WriteString("\n\n")
		x.AlsoMatches[i].write(&b)
	}
	return b.String()
}

// write writes the explanation without those of other things, and no line end behind it.
func (x *Explanation) write(b *strings.Builder) {
	fmt.Fprintf(b, "%s %s: %s", x.Kind, inLine(x.ID), x.Code)
	writeFinding(b, "", &x.Finding)
	for i := range x.Also {
		writeFinding(b, "besides, "+x.Also[i].Code+": ", &x.Also[i])
	}
	if len(x.Facts) > 0 {
		b.WriteByte('\n')
	}
	width := 0
	for _, f := range x.Facts {
		width = max(width, utf8.RuneCountInString(f.Key))
	}
	for _, f := range x.Facts {
		fmt.Fprintf(b, "\n  %-*s  %s", width, f.Key, inLine(fmt.Sprint(f.Value)))
	}
	if len(x.Causes) > 0 {
		b.WriteString("\n\nbecause of")
	}
	x.writeCauses(b, "  ")
}

func writeFinding(b *strings.Builder, lead string, f *health.Finding) {
	fmt.Fprintf(b, "\n%s%s", lead, inLine(f.Summary))
	if f.NextStep != "" {
		fmt.Fprintf(b, "\nwhat helps: %s", inLine(f.NextStep))
	}
}

// writeCauses writes what an explanation rests on, each below what needs it.
func (x *Explanation) writeCauses(b *strings.Builder, indent string) {
	for i := range x.Causes {
		c, of := &x.Causes[i], ""
		if topic, ok := c.Facts.Get("topic").(string); ok {
			of = " (" + inLine(topic) + ")"
		}
		fmt.Fprintf(b, "\n%s%s %s%s: %s", indent, c.Kind, inLine(c.ID), of, c.Code)
		for _, f := range append([]health.Finding{c.Finding}, c.Also...) {
			fmt.Fprintf(b, "\n%s  %s", indent, inLine(f.Summary))
		}
		c.writeCauses(b, indent+"  ")
	}
}

// inLine replaces control characters, such as line ends, by blanks.
func inLine(s string) string { return strings.Join(strings.FieldsFunc(s, unicode.IsControl), " ") }
