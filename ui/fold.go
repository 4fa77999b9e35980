package ui

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

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
