package ui

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bravellian/pawl/internal/engine"
)

// firstLine is the beginning of a text.
func firstLine(s string) string {
	s, _, more := strings.Cut(s, "\n")
	if len(s) > maxLine {
		s, more = strings.ToValidUTF8(s[:maxLine], ""), true
	}
	if more {
		s += " …"
	}
	return s
}

// readable is a payload as people read it: JSON in lines, other text as it is, bytes in hexadecimal.
func readable(payload []byte) string {
	cut := ""
	if len(payload) > maxShown {
		payload, cut = payload[:maxShown], "\n… "+plural(int64(len(payload)-maxShown), "byte")+" more"
	}
	var b bytes.Buffer
	switch {
	case cut == "" && json.Indent(&b, payload, "", "  ") == nil:
		return b.String()
	case utf8.Valid(payload), cut != "" && utf8.Valid(bytes.TrimRightFunc(payload, func(r rune) bool { return r == utf8.RuneError })):
		return strings.ToValidUTF8(string(payload), "") + cut
	}
	return hex.Dump(payload) + cut
}

// cursor is a place in a list as one value: the parameter after of the next page.
func cursor(parts ...string) string { return url.Values{"at": parts}.Encode() }

func number64(n int64) string { return strconv.FormatInt(n, 10) }

// everything is the limit of a change that is meant for all that its filter selects.
const everything = "all"

// params reads a form, or the query of an address. Its error is what is wrong first: it has to be looked at before
// anything is done with what was read.
type params struct {
	url.Values
	err error
}

func (v *visit) params() *params { return &params{Values: v.query} }

func (f *params) wrong(name, format string, args ...any) {
	f.err = cmp.Or(f.err, engine.Invalid(name, format, args...))
}

// single returns a value that may be given once.
func (f *params) single(name string) string {
	if len(f.Values[name]) > 1 {
		f.wrong(name, "given twice")
	}
	return f.Get(name)
}

// whole reads a whole number; 0 if it is not given.
func (f *params) whole(name string) int {
	n, err := strconv.Atoi(cmp.Or(f.single(name), "0"))
	if err != nil {
		f.wrong(name, "no whole number")
	}
	return n
}

// number reads a whole number that is at least 1; 0 if it is not given.
func (f *params) number(name string) int {
	n := f.whole(name)
	if n < 1 && f.Get(name) != "" {
		f.wrong(name, "no whole number of at least 1")
	}
	return n
}

// limit reads how many a change is for at most; 0 is all of them, which has to be asked for.
func (f *params) limit() int {
	switch f.single("limit") {
	case "":
		f.wrong("limit", "missing: how many at most, or %q", everything)
	case everything:
		return 0
	}
	return f.number("limit")
}

// required is in place of what a duration is otherwise, if it has to be given.
const required time.Duration = -1

// duration reads a duration that is not negative; it is otherwise if it is not given.
func (f *params) duration(name string, otherwise time.Duration) (d time.Duration) {
	d, err := otherwise, error(nil)
	if text := f.Get(name); text != "" {
		d, err = time.ParseDuration(text)
	}
	if err != nil || d < 0 {
		f.wrong(name, "no duration, such as 90s, 10m or 24h")
	}
	return d
}

// due reads the time after a duration from now.
func (f *params) due() time.Time { return time.Now().Add(f.duration("in", required)) }

// place reads the two parts of the cursor of a page; none if it is not given.
func (f *params) place() []string {
	q, err := url.ParseQuery(f.Get("after"))
	parts := q["at"]
	if f.Get("after") != "" && (err != nil || len(parts) != 2) {
		f.wrong("after", "none of a list's")
		return nil
	}
	return parts
}

// oneOf reads a word that is one of those that a filter offers, or none.
func oneOf[S ~string](f *params, name string, options []string) S {
	word := f.Get(name)
	if word != "" && !slices.Contains(options, word) {
		f.wrong(name, "not one of %q", options)
	}
	return S(word)
}

// idOf reads an id, or none.
func idOf[ID any](f *params, name string, parse func(string) (ID, error)) (id ID) {
	if text := f.Get(name); text != "" {
		var err error
		id, err = parsed(parse, text)
		f.err = cmp.Or(f.err, err)
	}
	return id
}

// parsed reads an id; one that is none is the caller's mistake.
func parsed[ID any](parse func(string) (ID, error), text string) (ID, error) {
	id, err := parse(text)
	if err != nil {
		err = engine.Invalid("id", "none of pawl's")
	}
	return id, err
}

// names are words of a type as they are written.
func names[S ~string](words ...S) (all []string) {
	for _, word := range words {
		all = append(all, string(word))
	}
	return all
}

// alike reports whether a value is what a filter names, if it names any.
func alike[T comparable](filter, value T) bool { return filter == *new(T) || filter == value }

// fold is a value of a JSON text as it is written, behind its key; with its parts if it is an object or array.
type fold struct {
	Text  string
	Parts []fold
	Open  bool
}

const (
	foldBytes = 32 << 10 // larger texts are not folded,
	foldParts = 1000     // nor those of more values,
	foldDepth = 20       // nor deeper ones
	openDepth = 2        // above which folds are open,
	openBytes = 200      // and so are smaller ones
)

// folded returns the folds of a JSON object or array; nil of any other text, and of one that has too much.
func folded(body []byte) *fold {
	var lines bytes.Buffer
	if len(body) > foldBytes || !utf8.Valid(body) || json.Indent(&lines, bytes.TrimSpace(body), "", "") != nil {
		return nil
	}
	f := folder{lines: strings.Split(lines.String(), "\n")}
	root := f.value(0)
	if f.parts > foldParts || f.deepest > foldDepth || len(root.Parts) == 0 {
		return nil
	}
	return &root
}

// folder reads a JSON text in lines, of which each has a value, or where one with parts begins or ends.
type folder struct {
	lines   []string // that are left
	bytes   int      // that were read
	parts   int
	deepest int
}

func (f *folder) line() string {
	line := strings.TrimSuffix(f.lines[0], ",")
	f.lines, f.bytes = f.lines[1:], f.bytes+len(line)
	return line
}

func (f *folder) value(depth int) fold {
	from := f.bytes
	one := fold{Text: f.line()}
	f.parts, f.deepest = f.parts+1, max(f.deepest, depth)
	end, nested := map[byte]byte{'{': '}', '[': ']'}[one.Text[len(one.Text)-1]]
	if !nested {
		return one
	}
	for f.lines[0][0] != end {
		one.Parts = append(one.Parts, f.value(depth+1))
	}
	part := map[byte]string{'}': "member", ']': "item"}[end]
	one.Text += plural(int64(len(one.Parts)), part) + f.line()
	one.Open = depth < openDepth || f.bytes-from < openBytes
	return one
}

// document is a long text that is closed until somebody opens it. JSON has folds, and behind them the text as it is.
func document(body []byte) *text {
	t := &text{Body: readable(body), Hidden: true, Label: "Show " + plural(int64(len(body)), "byte"), Fold: folded(body)}
	if t.Fold != nil {
		t.Body = string(body)
	}
	return t
}
