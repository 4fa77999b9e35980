package ui

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
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

// hidden stands for a text that its reader may not read.
const hidden = "(not shown)"

// readsAll reports whether the visitor reads what programs wrote as they wrote it.
func (v *visit) readsAll() bool { return v.access.Details && v.s.opts.Redact == nil }

// private is what the visitor reads of a text that a program wrote of a message: a header, a
// correlation id, an error. The topic is empty where it is not known.
func (v *visit) private(topic, text string) string {
	switch {
	case text == "" || v.readsAll():
		return text
	case !v.access.Details:
		return hidden
	}
	return string(v.s.opts.Redact(topic, []byte(text)))
}

// headers are what the visitor reads of headers. Those of pawl's own are no secret.
func (v *visit) headers(topic string, headers map[string]string) map[string]string {
	shown := view.Headers(headers)
	for name, value := range shown {
		if name != job.HeaderJob && name != "traceparent" && value != view.Masked {
			shown[name] = v.private(topic, value)
		}
	}
	return shown
}

func (v *visit) redactMessage(m *outbox.Info) {
	m.Headers, m.CorrelationID, m.LastError = v.headers(m.Topic, m.Headers), v.private(m.Topic, m.CorrelationID), v.private(m.Topic, m.LastError)
}

func (v *visit) redactAttempts(topic string, attempts []acts.Attempt) {
	for i := range attempts {
		attempts[i].Error = v.private(topic, attempts[i].Error)
	}
}

func (v *visit) redactTimer(t *timer.Info) {
	t.Headers, t.CorrelationID, t.LastError = v.headers(t.Topic, t.Headers), v.private(t.Topic, t.CorrelationID), v.private(t.Topic, t.LastError)
}

// redactFacts hides errors, which are facts and in summaries: whole, or their first 300 characters.
func (v *visit) redactFacts(facts health.Facts, summed ...*health.Finding) {
	about, _ := facts.Get("topic").(string)
	hide := func(topic, text string) string {
		shown, begin := v.private(topic, text), []rune(text)
		begin = begin[:min(len(begin), explainedError)]
		for _, f := range summed {
			if text != "" {
				f.Summary = strings.ReplaceAll(strings.ReplaceAll(f.Summary, text, shown), string(begin), shown)
			}
		}
		return shown
	}
	for i := range facts {
		switch known := facts[i].Value.(type) {
		case string:
			when, failure, attempt := strings.Cut(known, ": ")
			if key := facts[i].Key; key == "error" || key == "last_error" {
				facts[i].Value = hide(about, known)
			} else if attempt && strings.HasPrefix(key, "attempt_") {
				facts[i].Value = when + ": " + v.private(about, failure)
			}
		case map[string]string:
			shown := map[string]string{}
			for topic, text := range known {
				shown[topic] = hide(topic, text)
			}
			facts[i].Value = shown
		}
	}
}

func (v *visit) redactExplanation(x *admin.Explanation) {
	summed := []*health.Finding{&x.Finding}
	for i := range x.Also {
		summed = append(summed, &x.Also[i])
	}
	v.redactFacts(x.Facts, summed...)
	for _, list := range [][]admin.Explanation{x.Causes, x.AlsoMatches} {
		for i := range list {
			v.redactExplanation(&list[i])
		}
	}
}

func (v *visit) redactReport(r health.Report) health.Report {
	if v.readsAll() {
		return r
	}
	r.Findings = slices.Clone(r.Findings)
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Facts = slices.Clone(f.Facts)
		v.redactFacts(f.Facts, f)
	}
	return r
}

func (v *visit) redactActivity(a *inspect.Activity) {
	if v.readsAll() {
		return
	}
	hide := func(topic string, errs map[string]int64) map[string]int64 {
		shown := map[string]int64{}
		for text, n := range errs {
			shown[v.private(topic, text)] += n
		}
		return shown
	}
	for i := range a.Topics {
		t := &a.Topics[i]
		t.Errors = hide(t.Topic, t.Errors)
		for k := range t.Steps {
			t.Steps[k].Errors = hide(t.Topic, t.Steps[k].Errors)
		}
	}
}

// searched reads a filter that finds by what only some visitors may read.
func (v *visit) searched(q *params, name string) string {
	if q.Get(name) != "" && !v.access.Details {
		q.wrong(name, "only who may read details finds by it")
	}
	return q.Get(name)
}
