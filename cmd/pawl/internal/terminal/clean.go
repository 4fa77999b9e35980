// Package terminal prints for people: aligned, in one line that is kept up to
// date, and never letting text from a message steer the terminal.
package terminal

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean returns s with everything escaped that could steer a terminal: control
// characters, and those that reorder or hide text. Bytes that are not UTF-8
// become U+FFFD.
func Clean(s string) string { return clean(s, false) }

// CleanText is Clean for text of several lines: line ends and tabs stay.
func CleanText(s string) string { return clean(s, true) }

// CleanJSON does the same for encoded JSON, where such characters can only
// stand within strings, so that it stays the same JSON.
func CleanJSON(b []byte) []byte { return cleanJSON(b, false) }

// cleanLines is CleanJSON for values with line ends between them.
func cleanLines(b []byte) []byte { return cleanJSON(b, true) }

func cleanJSON(b []byte, lines bool) []byte {
	var out strings.Builder
	for _, r := range string(b) {
		switch {
		case !steers(r), lines && r == '\n':
			out.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return []byte(out.String())
}

// JSON returns a writer of encoded JSON to w, cleaned as CleanJSON does: each write is whole values.
func JSON(w io.Writer) io.Writer { return jsonWriter{w} }

type jsonWriter struct{ w io.Writer }

func (j jsonWriter) Write(p []byte) (int, error) {
	if _, err := j.w.Write(cleanLines(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

func clean(s string, lines bool) string {
	if strings.IndexFunc(s, steers) < 0 && utf8.ValidString(s) {
		return s
	}
	var out strings.Builder
	for _, r := range s {
		switch {
		case !steers(r), lines && (r == '\n' || r == '\t'):
			out.WriteRune(r)
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\t':
			out.WriteString(`\t`)
		case r == '\r':
			out.WriteString(`\r`)
		case r < 0x100:
			fmt.Fprintf(&out, `\x%02x`, r)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// steers reports control characters (C0, DEL, C1), format characters such as
// the bidirectional ones, and the separators that end lines.
func steers(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}
