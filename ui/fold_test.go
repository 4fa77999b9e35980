package ui_test

import (
	"context"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/ui"
)

var (
	folds = regexp.MustCompile(`<details class="fold"( open)?>`)
)

// shown is the page of a message with a payload, and its folds as text, if it has any.
func (f *fixture) shown(payload string) (body, tree string) {
	f.t.Helper()
	s := serve(f.t, ui.Of(f.Pawl), ui.Options{})
	id, err := f.Outbox.Enqueue(f.ctx(), outbox.Message{Topic: "t", Payload: []byte(payload)})
	f.check(err)
	_, body, _ = get(f.t, s, "messages/"+id.String())
	if folds.MatchString(body) {
		tree = part(f.t, body, `aria-label="JSON">`, "<details><summary>Raw text")
	}
	return body, tree
}

// D-674: JSON has folds that say what is written, in its order, with what is there twice and all digits of numbers; the
// first two levels and small values are open, and the raw text is behind them.
func TestJSONFolds(t *testing.T) {
	f := openEmpty(t)
	payload := "{\"z\": 1.10, \"a\":{\"n\":12345678901234567890.000 , \"a:b\":\"x, \\u00e9\",\"e\":[ ]},\r\n \"z\":[true,null,-0,{}], \"deep\":[[[\"" + strings.Repeat("long ", 60) + "\"]]]," +
		"\"" + strings.ReplaceAll(canary, `"`, "") + "\": \"" + strings.ReplaceAll(canary, `"`, "") + "\"}"
	body, tree := f.shown(payload)
	var got []string
	for _, line := range strings.Split(anyTag.ReplaceAllString(strings.NewReplacer("</summary>", "\n", "</div>", "\n").Replace(tree), ""), "\n") {
		if line = html.UnescapeString(strings.TrimSpace(line)); line != "" && len(got) < 12 {
			got = append(got, line)
		}
	}
	if want := []string{"{5 members}", `"z": 1.10`, `"a": {3 members}`, `"n": 12345678901234567890.000`, `"a:b": "x, \u00e9"`, `"e": []`, `"z": [4 items]`, "true", "null", "-0", "{}", `"deep": [1 item]`}; strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q,\nwant %q", got, want)
	}
	if all, open := len(folds.FindAllString(tree, -1)), strings.Count(tree, "fold\" open"); all != 6 || open != 4 {
		t.Errorf("%d folds, %d open: %s", all, open, tree)
	}
	if raw := part(t, body, "<details><summary>Raw text", "</details>"); !strings.Contains(html.UnescapeString(raw), payload) || strings.Contains(body, "<script>canary") {
		t.Errorf("raw: %s", raw)
	}
}

// D-674: what is no JSON object or array, or is too large, has too many values or is too deep, is plain text.
func TestWhatDoesNotFold(t *testing.T) {
	f := openEmpty(t)
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	many := func(n int) string { return "[0" + strings.Repeat(",0", n-1) + "]" }
	for _, payload := range []string{"", "text", `"text"`, "12", "{}", "[]", `{"a":1`, `{"a":1}{"b":2}`, "[\"\xff\"]", nested(22), many(1000), `["` + strings.Repeat("x", 33_000) + `"]`, "[" + strings.Repeat("[1],", 600) + "1]"} {
		if body, tree := f.shown(payload); tree != "" || !strings.Contains(body, `<pre class="text"`) {
			t.Errorf("%.40q: %s", payload, tree)
		}
	}
	for _, payload := range []string{nested(20), many(999), `["` + strings.Repeat("x", 32_000) + `"]`} {
		if _, tree := f.shown(payload); tree == "" {
			t.Errorf("%.40q does not fold", payload)
		}
	}
}

// D-674: payloads of jobs, metadata of joins and short results of steps fold as well.
func TestEverythingFolds(t *testing.T) {
	f := openEmpty(t)
	value := func(name string) string { return fmt.Sprintf(`{%q: [1.50]}`, name) }
	f.check(f.Jobs.Put(f.ctx(), job.Job{Name: "j", Topic: "t", Schedule: "@daily", Payload: []byte(value("of a job"))}))
	steps := []outbox.Message{{Topic: "step", Payload: []byte(value("of a step"))}, {Topic: "step", Payload: []byte(`["of a long step` + strings.Repeat("x", 1024) + `"]`)}}
	fan, err := f.Joins.FanOut(f.ctx(), join.Spec{Metadata: value("of a join")}, steps, join.Wait{})
	f.check(err)
	f.Handle("step", func(_ context.Context, m *outbox.Message) error { return m.SetResult(m.Payload) })
	ctx, stop := context.WithCancel(f.ctx())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	dbtest.Until(t, "the join completes", func() bool {
		j, err := f.Joins.Get(f.ctx(), fan.Join)
		return err == nil && j.Status == join.Completed
	})
	stop()
	f.check(<-ended)
	s := serve(t, ui.Of(f.Pawl), ui.Options{})
	for path, names := range map[string][]string{"job?name=j": {"of a job"}, "joins/" + fan.Join.String(): {"of a join", "of a step"}} {
		_, body, _ := get(t, s, path)
		for _, name := range names {
			if !strings.Contains(body, "<summary>&#34;"+name+"&#34;: [1 item]</summary><div>1.50</div>") {
				t.Errorf("%s does not fold: %s", name, body)
			}
		}
		if strings.Contains(body, "<div>&#34;of a long step") {
			t.Error("a long result folds in its row")
		}
	}
}
