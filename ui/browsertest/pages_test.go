package browsertest_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/bravellian/pawl/ui"
	"github.com/bravellian/pawl/ui/browsertest/internal/chromium"
)

// finding is what axe-core finds: a rule that a page breaks, and where.
type finding struct {
	ID, Impact, Help string
	Nodes            []struct{ HTML, FailureSummary string }
}

// paths are all pages that the navigation leads to, and those about one thing.
func (b *tab) paths(w *world) []string {
	b.t.Helper()
	b.visit("")
	var paths []string
	for _, to := range value[[]string](b, `[...document.querySelectorAll("nav[aria-label=Pages] a")].map(a => a.href)`) {
		paths = append(paths, strings.TrimPrefix(to, b.base))
	}
	if len(paths) < 12 {
		b.t.Errorf("the navigation has %v", paths)
	}
	in := ""
	if w.store != "" {
		in = "?store=" + w.store
		paths = append(paths, in, "topics"+in)
	}
	for _, id := range []string{w.failed.String(), w.done.String(), w.waiting.String()} {
		paths = append(paths, "messages/"+id+in)
	}
	b.visit("failed" + in) // a group of failures, for who may read errors
	if kind := value[string](b, `(document.querySelector("#live tbody td:nth-child(2) a") || {href: ""}).href`); kind != "" {
		paths = append(paths, strings.TrimPrefix(kind, b.base))
	}
	for _, topic := range []string{bad, paused, long} {
		paths = append(paths, "topic?"+url.Values{"name": {topic}, "store": {w.store}}.Encode())
	}
	in = "?" + url.Values{"name": {nightly}, "store": {w.store}}.Encode()
	paths = append(paths, "job"+in, "job/edit"+in, "job/edit?store="+w.store)
	return append(paths, "queue?name=default&store="+w.store, "find?q=nothing", "joins/"+w.join.String()+"?store="+w.store)
}

// D-218: no page runs what somebody wrote, breaks its own policy, throws or complains, also when it is
// brought up to date; on a phone and in the dark none is wider than the screen, and none is hard to
// read or to use for those who need a screen reader, a keyboard or contrast.
func TestPages(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := open(t, w.serve(ui.Options{Authorize: olga}))
		for _, path := range b.paths(w) {
			b.visit(path)
			if !strings.HasPrefix(path, "failed") && !strings.HasPrefix(path, "find") && !strings.HasPrefix(path, "job/edit") { // which reads much, and is not kept up to date
				b.live()
			}
			if value[bool](b, `document.querySelector("[role=alert]") !== null`) {
				b.t.Errorf("%s: %s", path, value[string](b, `document.querySelector("[role=alert]").innerText`))
			}
			b.fits(path)
			// What is shown once somebody opens it has to be as good.
			value[int](b, `document.querySelectorAll("details").forEach(d => d.open = true), 0`)
			b.fits(path + ", opened")
			b.examine(path)
			b.complain()
		}
	})
}

// fits fails if a page is wider than the screen: on a phone in the dark, and on a desk.
func (b *tab) fits(path string) {
	b.t.Helper()
	for _, screen := range []struct {
		name          string
		width, height int64
	}{{"phone", 390, 800}, {"desk", 1280, 800}} {
		b.do(chromedp.EmulateViewport(screen.width, screen.height), chromium.Dark(screen.name == "phone"))
		if wide := value[[]int](b, `[document.documentElement.scrollWidth, document.documentElement.clientWidth]`); wide[0] > wide[1] {
			b.t.Errorf("%s is %d wide on a %s of %d: %v", path, wide[0], screen.name, wide[1], value[[]string](b, `[...document.body.querySelectorAll("*")]
				.filter(e => !e.closest(".scroll table") && e.getBoundingClientRect().right > document.documentElement.clientWidth).map(e => e.outerHTML.slice(0, 120))`))
		}
	}
}

// examine fails if axe-core finds something serious: of everything by day, and of colours in the dark.
func (b *tab) examine(path string) {
	b.t.Helper()
	if _, err := evaluated[int](b, axe+";0"); err != nil {
		b.t.Fatal(err)
	}
	for _, mode := range []struct {
		dark bool
		run  string
	}{{false, `axe.run({resultTypes: ["violations"]})`}, {true, `axe.run({resultTypes: ["violations"], runOnly: ["color-contrast"]})`}} {
		b.do(chromium.Dark(mode.dark))
		for _, f := range value[[]finding](b, mode.run+`.then(r => r.violations.map(v => ({ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.slice(0, 3).map(n => ({HTML: n.html, FailureSummary: n.failureSummary}))})))`) {
			if f.Impact == "serious" || f.Impact == "critical" {
				b.t.Errorf("%s, dark %v: %s %s: %s %+v", path, mode.dark, f.Impact, f.ID, f.Help, f.Nodes)
			}
		}
	}
}

// D-218: a page that is not there, and one about a change that could not be made, say so once instead
// of asking for themselves again and again.
func TestNothingThere(t *testing.T) {
	w := onSQLite(t)
	b := open(t, w.serve(ui.Options{Authorize: olga}))
	said := func(text string) {
		t.Helper()
		b.shows("[role=alert]", text)
		if value[bool](b, `document.querySelector("[hx-get], .fresh:not([hidden])") !== null`) {
			t.Errorf("%s is brought up to date", value[string](b, "location.href"))
		}
	}
	b.expect("status of 404")
	b.visit("messages/999999999")
	said("not found")
	b.visit("messages/" + w.waiting.String())
	b.click(labelled("document", "summary", "Change due time"))
	b.click(element("[name=in]"))
	value[int](b, element("[name=in]")+".select(), 0")
	b.write("soon" + kb.Enter)
	b.expect("status of 400")
	said("no duration")
}

// D-219: who may only look finds nothing to change anything with, and no payload if not allowed.
func TestOnlookers(t *testing.T) {
	w := onSQLite(t)
	for name, o := range map[string]ui.Options{
		"read-only": {ReadOnly: true, Authorize: olga},
		"viewer":    {Authorize: func(*http.Request) (ui.Access, error) { return ui.Access{Name: "vera"}, nil }},
	} {
		b := open(t, w.serve(o))
		for _, path := range b.paths(w) {
			b.visit(path)
			const harmless = `["Filter", "Show", "Updates", "Close"]`
			if found := value[[]string](b, `[...document.querySelectorAll("form[method=post], input[type=submit], details.confirm, button:not(.copy)")]
				.filter(e => e.tagName !== "BUTTON" || e.closest("#live") || !`+harmless+`.includes(e.textContent)).map(e => e.outerHTML)`); len(found) > 0 {
				t.Errorf("%s: %s has %v", name, path, found)
			}
		}
		b.visit("messages/" + w.done.String())
		if seen := value[bool](b, `document.body.textContent.includes("secret")`); seen != (name == "read-only") {
			t.Errorf("%s: the payload is in the page: %v", name, seen)
		}
	}
}
