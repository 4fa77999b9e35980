package metrics

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v2"
)

// The rules and the dashboard are checked by what their expressions are made of.
// Prometheus's own parser would say more, but brings 250 modules with it, of
// which nothing else here makes use.

// known are the labels of every series that there is, those that a scrape adds
// left out.
func known() map[string][]string {
	all := map[string][]string{}
	for _, c := range []*Collector{build(true, Options{}), build(false, Options{})} {
		for _, f := range c.catalogue.all {
			names := []string{f.name}
			if f.kind == "histogram" {
				names = []string{f.name + "_bucket", f.name + "_sum", f.name + "_count"}
			}
			for _, name := range names {
				all[name] = append(all[name], f.labels...)
				if strings.HasSuffix(name, "_bucket") {
					all[name] = append(all[name], "le")
				}
			}
		}
	}
	return all
}

// scraped are the labels that a scrape adds.
func scraped() []string { return []string{"job", "instance"} }

// The parts of an expression: strings, a metric with its matchers, and the labels
// that are grouped or matched by.
func parts() (text, series, matcher, grouping *regexp.Regexp) {
	return regexp.MustCompile(`"(?:[^"\\]|\\.)*"`), regexp.MustCompile(`\b(pawl_\w+)\s*(?:\{([^}]*)\})?`),
		regexp.MustCompile(`^\s*(\w+)\s*(?:=~|!~|!=|=)\s*""\s*$`), regexp.MustCompile(`\b(?:by|on|without|ignoring|group_left|group_right)\s*\(([^)]*)\)`)
}

// check returns what is wrong with an expression, and the labels that its series have.
func checkExpr(expr string) (wrong, labels []string) {
	text, series, matcher, grouping := parts()
	expr = text.ReplaceAllString(expr, `""`)
	if strings.Count(expr, "(") != strings.Count(expr, ")") || strings.Count(expr, "{") != strings.Count(expr, "}") {
		wrong = append(wrong, "unbalanced")
	}
	labels = scraped()
	all := known()
	found := series.FindAllStringSubmatch(expr, -1)
	if len(found) == 0 {
		wrong = append(wrong, "no metric")
	}
	for _, m := range found {
		own, exists := all[m[1]]
		if !exists {
			wrong = append(wrong, "unknown metric "+m[1])
		}
		own = append(scraped(), own...)
		labels = append(labels, own...)
		for one := range strings.SplitSeq(m[2], ",") {
			if strings.TrimSpace(one) == "" {
				continue
			}
			label := matcher.FindStringSubmatch(one)
			if label == nil || !slices.Contains(own, label[1]) {
				wrong = append(wrong, m[1]+" has no "+one)
			}
		}
	}
	for _, g := range grouping.FindAllStringSubmatch(expr, -1) {
		for label := range strings.SplitSeq(g[1], ",") {
			if !slices.Contains(labels, strings.TrimSpace(label)) {
				wrong = append(wrong, "no label "+label)
			}
		}
	}
	return wrong, labels
}

// The check itself finds what is wrong.
func TestExpressions(t *testing.T) {
	for expr, right := range map[string]bool{
		`pawl_store_up == 0`: true,
		`sum by (topic, le) (rate(pawl_queue_wait_seconds_bucket{topic=~"a{},b"}[5m]))`: true,
		`pawl_messages{state="ready", job=~"$job"} > 0`:                                 true,
		`pawl_store_upp == 0`:                       false,
		`pawl_queue_wait_seconds`:                   false,
		`pawl_store_up{topic="t"}`:                  false,
		`sum by (topic) (pawl_store_up)`:            false,
		`sum by (queue) (pawl_workers) == 0`:        false,
		`sum (pawl_workers`:                         false,
		`up == 0`:                                   false,
		`pawl_messages{state="ready", quue="a"}`:    false,
		`pawl_lease_held and on (leas) pawl_pauses`: false,
	} {
		if wrong, _ := checkExpr(expr); (len(wrong) == 0) != right {
			t.Errorf("%s: %v", expr, wrong)
		}
	}
}

// templated are the labels that a text shows.
func templated(text string) (labels []string) {
	for _, m := range regexp.MustCompile(`\$labels\.(\w+)|\{\{\s*(\w+)\s*\}\}`).FindAllStringSubmatch(text, -1) {
		labels = append(labels, m[1]+m[2])
	}
	return labels
}

func subset(t *testing.T, what string, labels, of []string) {
	t.Helper()
	for _, l := range labels {
		if !slices.Contains(of, l) {
			t.Errorf("%s: no label %s", what, l)
		}
	}
}

// Alerts name metrics and labels that there are, and say what to do.
func TestAlerts(t *testing.T) {
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	text, err := os.ReadFile("../deploy/prometheus/pawl-alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, &file); err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile("../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	runbooks := map[string]bool{}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			wrong, labels := checkExpr(r.Expr)
			if len(wrong) > 0 {
				t.Errorf("%s: %v", r.Alert, wrong)
			}
			subset(t, r.Alert, templated(r.Annotations["summary"]+r.Annotations["description"]), labels)
			if r.Annotations["summary"] == "" || r.Annotations["description"] == "" || r.Labels["severity"] == "" {
				t.Errorf("%s says too little", r.Alert)
			}
			_, anchor, ok := strings.Cut(r.Annotations["runbook_url"], "/docs/operating.md#")
			if !ok || runbooks[anchor] {
				t.Errorf("%s has no runbook of its own: %q", r.Alert, r.Annotations["runbook_url"])
			}
			runbooks[anchor] = true
			if heading := "#### " + strings.ToUpper(anchor[:1]) + strings.ReplaceAll(anchor[1:], "-", " ") + "\n"; !strings.Contains(string(guide), heading) {
				t.Errorf("docs/operating.md has no %q", heading)
			}
		}
	}
	if len(runbooks) < 10 {
		t.Errorf("there are %d alerts", len(runbooks))
	}
}

// D-751: the query that scales workers names metrics and labels that there are.
func TestScalingQuery(t *testing.T) {
	page, err := os.ReadFile("../docs/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	queries := regexp.MustCompile(`(?m)^ +query: (.+)$`).FindAllStringSubmatch(string(page), -1)
	if len(queries) == 0 {
		t.Error("no query is found")
	}
	for _, q := range queries {
		if wrong, _ := checkExpr(q[1]); len(wrong) > 0 {
			t.Errorf("%s: %v", q[1], wrong)
		}
	}
}

// panel is a part of a dashboard.
type panel struct {
	ID      int
	Type    string
	Title   string
	GridPos struct{ H, W, X, Y int }
	Targets []struct{ Expr, LegendFormat, RefID string }
}

// The dashboard names metrics and labels that there are, and shows every metric.
func TestDashboard(t *testing.T) {
	var board struct {
		Title, UID    string
		SchemaVersion int
		Panels        []panel
		Templating    struct {
			List []struct{ Name, Type, Definition string }
		}
	}
	text, err := os.ReadFile("../deploy/grafana/pawl.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	if board.Title == "" || board.UID == "" || board.SchemaVersion == 0 {
		t.Error("the dashboard has no title, uid or version")
	}
	ids, cells := map[int]bool{}, map[[2]int]int{}
	for _, p := range board.Panels {
		if ids[p.ID] {
			t.Errorf("two panels are number %d", p.ID)
		}
		ids[p.ID] = true
		checkPanel(t, &p, cells)
	}
	var variables []string
	for _, v := range board.Templating.List {
		variables = append(variables, v.Name)
		if m := regexp.MustCompile(`^label_values\((.+), (\w+)\)$`).FindStringSubmatch(v.Definition); m != nil {
			wrong, labels := checkExpr(m[1])
			if len(wrong) > 0 {
				t.Errorf("variable %s: %v", v.Name, wrong)
			}
			subset(t, "variable "+v.Name, m[2:], labels)
		} else if v.Type != "datasource" {
			t.Errorf("variable %s is %q", v.Name, v.Definition)
		}
	}
	for _, m := range regexp.MustCompile(`\$\{?(\w+)\}?`).FindAllStringSubmatch(string(text), -1) {
		if !slices.Contains(variables, m[1]) && m[1] != "__rate_interval" && m[1] != "__all" {
			t.Errorf("there is no variable %s", m[1])
		}
	}
	for _, f := range build(true, Options{}).catalogue.all {
		if !strings.Contains(string(text), f.name) {
			t.Errorf("no panel shows %s", f.name)
		}
	}
}

// checkPanel checks one panel, and that it covers no other.
func checkPanel(t *testing.T, p *panel, cells map[[2]int]int) {
	t.Helper()
	for x := range p.GridPos.W {
		for y := range p.GridPos.H {
			at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
			if other, taken := cells[at]; taken || at[0] >= 24 {
				t.Errorf("panel %q is where panel %d is, or outside", p.Title, other)
				return
			}
			cells[at] = p.ID
		}
	}
	if p.Type == "row" {
		return
	}
	if len(p.Targets) == 0 {
		t.Errorf("panel %q shows nothing", p.Title)
	}
	for _, target := range p.Targets {
		wrong, labels := checkExpr(target.Expr)
		if len(wrong) > 0 {
			t.Errorf("panel %q: %v", p.Title, wrong)
		}
		subset(t, p.Title, templated(target.LegendFormat), labels)
	}
}
