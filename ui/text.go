package ui

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
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
func cursor(parts ...string) string {
	for i := range parts {
		parts[i] = url.QueryEscape(parts[i])
	}
	return strings.Join(parts, " ")
}

// fromCursor returns the two parts of the parameter after; none if it is not given.
func fromCursor(after string) (parts []string, err error) {
	if after == "" {
		return nil, nil
	}
	parts = strings.Split(after, " ")
	for i := range parts {
		if parts[i], err = url.QueryUnescape(parts[i]); err != nil {
			break
		}
	}
	if len(parts) != 2 || err != nil {
		return nil, engine.Invalid("after", "none of a list's")
	}
	return parts, nil
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
