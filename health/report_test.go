package health_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/bravellian/pawl/health"
)

func all() []health.Finding {
	return []health.Finding{
		{Code: "database", Summary: "answered"},
		{Code: "failed", Level: health.Note, Summary: "3 messages", NextStep: "pawl ls --failed"},
		{Code: "paused", Level: health.Warning, Summary: "queue q\nand\x1br"},
		{Code: "waiting/queue/q", Level: health.Problem, Summary: "12 are due", Facts: health.Facts{{Key: "due", Value: 12.0}, {Key: "a\"b", Value: true}, {Key: "in", Value: "q"}}},
	}
}

// D-110: a report is as bad as its worst finding, and unhealthy only by a problem.
func TestReportLevel(t *testing.T) {
	for n, want := range []health.Level{health.OK, health.OK, health.Note, health.Warning, health.Problem} {
		r := health.NewReport(all()[:n])
		if r.Level != want || r.Healthy() != (want < health.Problem) {
			t.Errorf("of %d findings: %s, healthy %v, want %s", n, r.Level, r.Healthy(), want)
		}
	}
	r := health.NewReport(all())
	if f := r.Find("paused"); f == nil || f.Level != health.Warning || r.Find("paus") != nil {
		t.Errorf("found %v", f)
	}
}

func TestReportPrints(t *testing.T) {
	const want = `[+]database ok: answered
[i]failed note: 3 messages -> pawl ls --failed
[!]paused warning: queue q and r
[-]waiting/queue/q problem: 12 are due`
	if got := fmt.Sprint(health.NewReport(all())); got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
	if got := health.Level(7).String(); got != "level 7" {
		t.Error(got)
	}
}

// What is written as JSON is read again, facts in their order.
func TestReportAsJSON(t *testing.T) {
	want := health.NewReport(all())
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	const last = `{"code":"waiting/queue/q","level":"problem","summary":"12 are due","facts":{"due":12,"a\"b":true,"in":"q"}}]}`
	if n := len(text) - len(last); n < 0 || string(text[n:]) != last {
		t.Errorf("%s", text)
	}
	var got health.Report
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, error %v", got, err)
	}
	for _, broken := range []string{`{"level":"bad"}`, `{"findings":[{"facts":[1]}]}`, `{"findings":[{"facts":"x"}]}`} {
		if err := json.Unmarshal([]byte(broken), &got); err == nil {
			t.Errorf("%s is read", broken)
		}
	}
	if _, err := json.Marshal(health.Facts{{Key: "x", Value: func() {}}}); err == nil {
		t.Error("a function is written")
	}
	facts := health.Facts{{Key: "x"}}
	if err := json.Unmarshal([]byte("null"), &facts); err != nil || facts != nil {
		t.Error(facts, err)
	}
}
