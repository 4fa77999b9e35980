package ui

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bravellian/pawl/internal/engine"
)

// maxLine is how much of an error a table shows.
const maxLine = 160

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

// maxShown is how much of a payload a page shows.
const maxShown = 64 << 10

// maxInRow is up to which size a row of a table has a whole result.
const maxInRow = 1 << 10

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

// fromCursor returns the two parts of the parameter after; none if it is not given.
func fromCursor(after string) ([]string, error) {
	q, err := url.ParseQuery(after)
	if parts := q["at"]; after == "" || err == nil && len(parts) == 2 {
		return parts, nil
	}
	return nil, engine.Invalid("after", "none of a list's")
}

// aSecond is a rate; none is left empty.
func aSecond(rate float64) cell {
	switch {
	case rate == 0:
		return cell{Number: true}
	case rate < 0.1:
		return cell{Number: true, Text: "< 0.1", order: rate}
	case rate < 10:
		return cell{Number: true, Text: strconv.FormatFloat(rate, 'f', 1, 64), order: rate}
	}
	return count(int64(rate + 0.5))
}

func number64(n int64) string { return strconv.FormatInt(n, 10) }

// byID is a change of what the id of a form names.
func byID[ID any](parse func(string) (ID, error), do func(context.Context, *store, ID, url.Values) (string, error)) change {
	return func(ctx context.Context, s *store, form url.Values) (string, error) {
		id, err := parsed(parse, form.Get("id"))
		if err != nil {
			return "", err
		}
		return do(ctx, s, id, form)
	}
}

// parsed reads an id; one that is none is the caller's mistake.
func parsed[ID any](parse func(string) (ID, error), text string) (ID, error) {
	id, err := parse(text)
	if err != nil {
		err = engine.Invalid("id", "none of pawl's")
	}
	return id, err
}

// everything is the limit of a change that is meant for all that its filter selects.
const everything = "all"

// whole reads a whole number of a form or query; 0 if it is not given.
func whole[N int | int64](values url.Values, name string) (N, error) {
	text, err := single(values, name)
	if text == "" || err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, strconv.IntSize)
	if err != nil {
		return 0, engine.Invalid(name, "no whole number")
	}
	return N(n), nil
}

// number reads a whole number that is at least 1; 0 if it is not given.
func number[N int | int64](values url.Values, name string) (N, error) {
	n, err := whole[N](values, name)
	if err == nil && n < 1 && values.Get(name) != "" {
		return 0, engine.Invalid(name, "no whole number of at least 1")
	}
	return n, err
}

// limit reads how many a change is for at most; 0 is all of them, which has to be asked for.
func limit(form url.Values) (int, error) {
	switch text, err := single(form, "limit"); {
	case err != nil:
		return 0, err
	case text == "":
		return 0, engine.Invalid("limit", "missing: how many at most, or %q", everything)
	case text == everything:
		return 0, nil
	}
	return number[int](form, "limit")
}

// single returns a value that may be given once.
func single(values url.Values, name string) (string, error) {
	if len(values[name]) > 1 {
		return "", engine.Invalid(name, "given twice")
	}
	return values.Get(name), nil
}

// dueIn is the time after a duration from now.
func dueIn(text string) (time.Time, error) {
	d, err := duration("in", text)
	return time.Now().Add(d), err
}

// duration reads a duration of the address; it is otherwise if that has none.
func (v *visit) duration(name string, otherwise time.Duration) (time.Duration, error) {
	text := v.query.Get(name)
	if text == "" {
		return otherwise, nil
	}
	return duration(name, text)
}

// duration reads a duration that is not negative.
func duration(field, text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, engine.Invalid(field, "no duration, such as 90s, 10m or 24h")
	}
	return d, nil
}

// fold is a value of a JSON text behind its key, with its parts if it is an object or array. The texts are those of
// the JSON as it is written, in its order.
type fold struct {
	Key, Text string
	Parts     []fold
	Open      bool
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
	if len(body) > foldBytes || !utf8.Valid(body) || !json.Valid(body) {
		return nil
	}
	f := folder{body: body, json: json.NewDecoder(bytes.NewReader(body))}
	root := f.value(0)
	if f.parts > foldParts || len(root.Parts) == 0 {
		return nil
	}
	return &root
}

// folder reads a valid JSON text.
type folder struct {
	body  []byte
	json  *json.Decoder
	parts int // that were read
}

// token reads a token, and returns how it is written.
func (f *folder) token() (json.Token, string) {
	from := f.json.InputOffset()
	token, _ := f.json.Token()
	return token, strings.Trim(string(f.body[from:f.json.InputOffset()]), " \t\r\n,:")
}

// value reads a value. It stops when there is too much.
func (f *folder) value(depth int) fold {
	from := f.json.InputOffset()
	token, text := f.token()
	f.parts++
	one := fold{Text: text}
	kind, nested := token.(json.Delim)
	if !nested {
		return one
	}
	if depth == foldDepth {
		f.parts = foldParts + 1
	}
	for f.parts <= foldParts && f.json.More() {
		key := ""
		if kind == '{' {
			_, key = f.token()
			key += ": "
		}
		part := f.value(depth + 1)
		part.Key = key
		one.Parts = append(one.Parts, part)
	}
	_, end := f.token()
	one.Open = depth < openDepth || f.json.InputOffset()-from < openBytes
	n := int64(len(one.Parts))
	switch {
	case n == 0:
		one.Text += end
	case kind == '{':
		one.Text = "{" + plural(n, "member") + "}"
	default:
		one.Text = "[" + plural(n, "item") + "]"
	}
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
