package metrics

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
)

// rows are the table of docs/metrics.md, as it should be.
func rows() []string {
	single, many := build(false, Options{}), build(true, Options{})
	lone := map[string]bool{}
	for _, f := range single.catalogue.all {
		lone[f.name] = true
	}
	var all []string
	seen := map[string]bool{}
	row := func(f *family, only string) {
		seen[f.name] = true
		labels := "–"
		if len(f.labels) > 0 {
			labels = "`" + strings.Join(f.labels, "`, `") + "`"
		}
		all = append(all, fmt.Sprintf("| `%s` | %s | %s | %s%s |", f.name, f.kind, labels, f.help, only))
	}
	for _, f := range many.catalogue.all {
		only := ""
		if !lone[f.name] {
			only = " Fleets only."
		}
		row(f, only)
	}
	for _, f := range single.catalogue.all {
		if !seen[f.name] {
			row(f, " Single databases only.")
		}
	}
	return all
}

// docs/metrics.md says what there is, no less and no more.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	want := rows()
	for _, row := range want {
		if !strings.Contains(string(text), row+"\n") {
			t.Errorf("docs/metrics.md lacks this row:\n%s", row)
		}
	}
	if got := strings.Count(string(text), "\n| `pawl_"); got != len(want) {
		t.Errorf("docs/metrics.md has %d metrics, want %d", got, len(want))
	}
}

// Names, types, labels and help texts are as Prometheus wants them.
func TestLint(t *testing.T) {
	kinds := map[string]dto.MetricType{"counter": dto.MetricType_COUNTER, "gauge": dto.MetricType_GAUGE, "histogram": dto.MetricType_HISTOGRAM}
	var families []*dto.MetricFamily
	for _, f := range build(true, Options{}).catalogue.all {
		kind, known := kinds[f.kind]
		if !known {
			t.Errorf("%s is a %q", f.name, f.kind)
		}
		m := &dto.Metric{}
		for _, l := range f.labels {
			v := "x"
			m.Label = append(m.Label, &dto.LabelPair{Name: &l, Value: &v})
		}
		families = append(families, &dto.MetricFamily{Name: &f.name, Help: &f.help, Type: &kind, Metric: []*dto.Metric{m}})
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
	for _, c := range []*Collector{build(true, Options{}), build(false, Options{})} {
		if err := prometheus.NewPedanticRegistry().Register(c); err != nil {
			t.Error(err)
		}
		for _, f := range c.catalogue.all {
			if !strings.HasSuffix(f.help, ".") {
				t.Errorf("%s: the help text is no sentence: %q", f.name, f.help)
			}
		}
	}
}
