package fingerprint

import (
	_ "embed"
	"strings"
	"testing"
	"unicode/utf8"
)

//go:embed testdata/texts.txt
var texts string

// D-590: errors of Go, drivers, HTTP and SMTP are grouped as a person groups them.
func TestGroups(t *testing.T) {
	of, n := map[string]string{}, 0 // the first text of each group
	_, paragraphs, _ := strings.Cut(texts, "\n\n")
	for group := range strings.SplitSeq(strings.TrimSpace(paragraphs), "\n\n") {
		lines := strings.Split(group, "\n")
		print := Of(lines[0])
		if other, ok := of[print]; ok {
			t.Errorf("%q and %q have the same fingerprint, %q", other, lines[0], print)
		}
		of[print] = lines[0]
		for _, line := range lines {
			if n++; Of(line) != print {
				t.Errorf("%q\n has %q,\n%q\n has %q", line, Of(line), lines[0], print)
			}
		}
	}
	if n < 200 {
		t.Errorf("only %d texts", n)
	}
}

// D-590: a person can read a fingerprint.
func TestReadable(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "",
		"  order\t17:\n\tno ": "order #: no",
		"dial tcp [::1]:5432: connect: connection refused":       "dial tcp #: connect: connection refused",
		`Get "https://a.example/17": EOF`:                        `Get "…": EOF`,
		"HTTP/1.1 502 Bad Gateway":                               "HTTP/# 502 Bad Gateway",
		`{"error":"rate limited","id":"9fceb02d"}`:               `{"error":"rate limited","id":"#"}`,
		"bad \xff byte 17":                                       "bad byte #",
		`a "quote that never ends, 17`:                           `a "quote that never ends, #`,
		"5 apples (3 red":                                        "# apples (# red",
		`body "` + strings.Repeat("x17 ", 1000):                  `body "…`,
		"[mail] (a (b) c) {d]":                                   "[…] (…) {d]",
		"worker12 in pkg/outbox.go:17: topic mail.order.paid":    "worker# in pkg/outbox.go:#: topic mail.order.paid",
		"FATAL SQLSTATE 57P01 at 2026-01-02 03:04:05.678 +01:00": "FATAL SQLSTATE 57P01 at # # #",
	} {
		if got := Of(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}

// D-590: a fingerprint is short, and that of the text that is kept.
func FuzzOf(f *testing.F) {
	for line := range strings.Lines(texts) {
		f.Add(line)
	}
	for _, s := range []string{"(", "[(", `"`, "'", `\`, "#-", "://", "1.", "“", "é ", "a1", "::", "@"} {
		f.Add(strings.Repeat(s, 3000/len(s)))
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Of(text)
		if utf8.RuneCountInString(got) > Most || utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q", got)
		}
		if len(text) > maxRead && Of(text[:maxRead]) != got {
			t.Errorf("%q of what is kept is another one", Of(text[:maxRead]))
		}
	})
}

func BenchmarkOf(b *testing.B) {
	for name, text := range map[string]string{
		"usual": `Post "http://127.0.0.1:9100/api": dial tcp 127.0.0.1:9100: connect: connection refused`,
		"worst": strings.Repeat("([{<'", 1000), "long": strings.Repeat("order 17 ", 1000),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Of(text)
			}
		})
	}
}
