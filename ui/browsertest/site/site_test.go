// Package site_test tests the documentation's site in a real browser, as "make site" builds it.
package site_test

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/bravellian/pawl/ui/browsertest/internal/chromium"
)

const (
	root     = "../../.."
	public   = root + "/site/public"
	patience = 2 * time.Minute
)

// browser is that of all tests.
var browser *chromium.Browser

// TestMain builds the site, which takes seconds once its generator is compiled, and starts the
// browser. Without either the tests fail.
func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.list").Value.String() != "" { // nothing is run
		os.Exit(m.Run())
	}
	if out, err := exec.Command("make", "-C", root, "--no-print-directory", "site").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "site: make site: %v\n%s", err, out)
		os.Exit(1)
	}
	var err error
	if browser, err = chromium.Start(os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
	code := m.Run()
	if err := browser.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "site: closing the browser:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// tab is a tab of the browser at the site.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string

	mu         sync.Mutex
	complaints []string
}

// serve serves the site below a path, and lets its pages load nothing from elsewhere and run no
// script that stands in them.
func serve(t *testing.T) string {
	t.Helper()
	files := http.StripPrefix("/docs/of/pawl", http.FileServer(http.Dir(public)))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'")
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/docs/of/pawl/"
}

// open opens a tab, and fails the test if a page complains.
func open(t *testing.T, base string) *tab {
	t.Helper()
	ctx, end, err := browser.Tab()
	if err != nil {
		t.Fatal(err)
	}
	b := &tab{t: t, ctx: ctx, base: base}
	t.Cleanup(func() {
		end()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, c := range b.complaints {
			t.Errorf("a page complains: %s", c)
		}
	})
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.EmulateViewport(1280, 800))
	return b
}

func (b *tab) hear(event any) {
	complaint := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		complaint = e.ExceptionDetails.Text
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			complaint = fmt.Sprint(e.Args)
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError && !strings.HasSuffix(e.Entry.URL, "/favicon.ico") {
			complaint = e.Entry.Text + " " + e.Entry.URL
		}
	}
	if complaint != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.complaints = append(b.complaints, complaint)
	}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

func value[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits for a condition in the page.
func (b *tab) until(condition string) {
	b.t.Helper()
	for end := time.Now().Add(patience); !value[bool](b, "Boolean("+condition+")"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("never: %s; the page is %s", condition, value[string](b, "location.href + document.body.innerText.slice(0, 500)"))
		}
	}
}

// slash presses "/". The event is the page's own: the browser's protocol sends the character by
// itself, also where the page keeps the key from writing it.
func (b *tab) slash() {
	b.t.Helper()
	if value[bool](b, `document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "/", bubbles: true, cancelable: true}))`) {
		b.t.Error("the slash is written into the field")
	}
}

// D-241: the search finds what pages say without a server's help, below any path and in files, by
// keyboard alone.
func TestSearch(t *testing.T) {
	files, err := filepath.Abs(public)
	if err != nil {
		t.Fatal(err)
	}
	for name, base := range map[string]string{"server": serve(t), "files": "file://" + filepath.ToSlash(files) + "/"} {
		t.Run(name, func(t *testing.T) {
			b := open(t, base)
			b.do(chromedp.Navigate(b.base + "docs/delivery.html"))
			b.until(`!document.getElementById("search").hidden`)
			if value[bool](b, `window.pawlIndex !== undefined`) {
				t.Error("the index is loaded before somebody searches")
			}
			b.slash()
			b.until(`document.activeElement.id === "words"`)
			b.do(chromedp.KeyEvent("ordering key"))
			b.until(`document.getElementById("words").value === "ordering key"`)
			b.until(`document.querySelectorAll("#results a").length > 2`)
			b.until(`document.querySelector("#results b").innerText.includes("Ordering keys")`)
			b.until(`document.querySelector("#results mark") !== null`)
			b.do(chromedp.KeyEvent("\r"))
			b.until(`location.href.endsWith("/docs/delivery.html#ordering-keys")`)
			b.do(chromedp.Navigate(b.base + "docs/jobs.html"))
			b.until(`!document.getElementById("search").hidden`)
			b.slash()
			b.until(`document.activeElement.id === "words"`)
			b.do(chromedp.KeyEvent("zzzyyyxxx"))
			b.until(`document.getElementById("results").innerText.includes("Nothing found")`)
		})
	}
}

// finding is what axe-core finds: a rule that a page breaks, and where.
type finding struct {
	ID, Impact, Help string
	Nodes            []struct{ HTML string }
}

// examined are pages of which one or the other has whatever pages are made of; axe-core takes half a
// second for each.
var examined = []string{
	"index.html", "docs/operating.html", "docs/dashboard.html", "docs/cli.html", "docs/sql.html", "docs/glossary.html", "docs/layout.html", "bench/readme.html",
	"docs/decisions/index.html", "docs/decisions/0026-dashboard.html",
}

// D-241: no page is wider than the screen, on a desk and on a phone, or complains; none is hard to
// read or to use for those who need contrast, a keyboard or a screen reader, by day and in the dark.
func TestPages(t *testing.T) {
	axe, err := os.ReadFile("../testdata/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, serve(t))
	b.do(chromedp.Navigate(b.base + "index.html"))
	pages := value[[]string](b, `[...document.querySelectorAll("nav a")].map(a => a.href)`)
	if len(pages) < 30 {
		t.Fatalf("the navigation has %v", pages)
	}
	for _, page := range append(pages, b.base+"docs/decisions/0026-dashboard.html") {
		b.do(chromedp.Navigate(page))
		for _, width := range []int64{390, 1280} {
			b.do(chromedp.EmulateViewport(width, 800))
			if wide := value[int64](b, `document.documentElement.scrollWidth`); wide > width {
				t.Errorf("%s is %d wide on a screen of %d: %v", page, wide, width, value[[]string](b, `[...document.body.querySelectorAll("*")]
					.filter(e => !e.closest(".scroll table, pre") && e.getBoundingClientRect().right > document.documentElement.clientWidth).map(e => e.outerHTML.slice(0, 120))`))
			}
		}
		if !slices.ContainsFunc(examined, func(p string) bool { return page == b.base+p }) {
			continue
		}
		value[int](b, string(axe)+";0")
		for _, mode := range []struct {
			dark bool
			run  string
		}{{false, `{resultTypes: ["violations"]}`}, {true, `{resultTypes: ["violations"], runOnly: ["color-contrast"]}`}} {
			b.do(chromium.Dark(mode.dark))
			for _, f := range value[[]finding](b, `axe.run(`+mode.run+`).then(r => r.violations.map(v => ({ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.slice(0, 3).map(n => ({HTML: n.html}))})))`) {
				if f.Impact == "serious" || f.Impact == "critical" {
					t.Errorf("%s, dark %v: %s %s: %s %.400v", page, mode.dark, f.Impact, f.ID, f.Help, f.Nodes)
				}
			}
		}
	}
}

// D-241: who chooses the dark keeps it from page to page, whatever the system prefers; without
// scripts pages and their navigation are there all the same.
func TestTheme(t *testing.T) {
	b := open(t, serve(t))
	b.do(chromium.Dark(false), chromedp.Navigate(b.base+"index.html"))
	const background = `getComputedStyle(document.body).backgroundColor`
	light := value[string](b, background)
	value[int](b, `document.getElementById("theme").click(), 0`)
	dark := value[string](b, background)
	b.do(chromedp.Navigate(b.base + "docs/delivery.html"))
	if next := value[string](b, background); dark == light || next != dark {
		t.Errorf("light is %s, dark %s, the next page %s", light, dark, next)
	}
	b.do(chromium.NoScripts(), chromedp.EmulateViewport(390, 800), chromedp.Navigate(b.base+"docs/delivery.html"))
	if !value[bool](b, `document.querySelector("nav a").getBoundingClientRect().height > 0 && document.getElementById("search").hidden`) {
		t.Error("without scripts there is no navigation, or a search that does nothing")
	}
}
