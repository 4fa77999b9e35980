package browsertest_test

import (
	"context"
	_ "embed" // for axe-core
	"fmt"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/ui/browsertest/internal/chromium"
)

//go:embed testdata/axe.min.js
var axe string

// watch is run before the scripts of every page. It reports what must not happen as an error on the
// console, where tabs listen, and counts how often a page was told to fetch itself, and how often it
// did.
const watch = `
window.canary = () => console.error("the canary was called");
document.addEventListener("securitypolicyviolation", e => console.error("policy: " + e.violatedDirective + " " + e.blockedURI + " " + e.sample));
window.told = window.updated = 0;
window.addEventListener("htmx:beforeRequest", () => window.told++, true);
window.addEventListener("htmx:afterSettle", () => window.updated++, true);
`

// tab is a tab of the browser at a dashboard.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string // the dashboard's root

	mu         sync.Mutex
	complaints []string
	expected   []string
	ignored    []string
}

// open opens a tab for the length of a test, which fails if a page complains.
func open(t *testing.T, s *httptest.Server, steps ...chromedp.Action[chromedp.Void]) *tab {
	t.Helper()
	ctx, end, err := browser.Tab()
	if err != nil {
		t.Fatal(err)
	}
	return opened(t, s.URL+below, ctx, end, steps...)
}

// opened is a tab that was opened at a dashboard.
func opened(t *testing.T, base string, ctx context.Context, end func(), steps ...chromedp.Action[chromedp.Void]) *tab {
	t.Helper()
	b := &tab{t: t, ctx: ctx, base: base}
	t.Cleanup(func() {
		end()
		b.complain()
	})
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	b.do(chromium.Before(watch))
	b.do(chromedp.EmulateViewport(1280, 800))
	b.do(steps...)
	return b
}

// hear collects what a page complains about: exceptions, errors on the console and in the log.
func (b *tab) hear(event any) {
	complaint := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		complaint = e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			complaint += " " + e.ExceptionDetails.Exception.Description
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			for _, a := range e.Args {
				complaint += string(a.Value) + a.Description + " "
			}
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			complaint = e.Entry.Text + " " + e.Entry.URL
		}
	}
	if complaint == "" {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = append(b.complaints, complaint)
}

// expect allows one complaint that has a text in it.
func (b *tab) expect(text string) { b.expected = append(b.expected, text) }

// complain fails the test if there were complaints since the last time.
func (b *tab) complain() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
complaints:
	for _, c := range b.complaints {
		if slices.ContainsFunc(b.ignored, func(text string) bool { return strings.Contains(c, text) }) {
			continue
		}
		for i, text := range b.expected {
			if strings.Contains(c, text) {
				b.expected = append(b.expected[:i], b.expected[i+1:]...)
				continue complaints
			}
		}
		b.t.Errorf("a page complains: %s", c)
	}
	b.complaints = nil
}

// patience bounds a step in the browser.
const patience = 2 * time.Minute

// do runs steps in the tab.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// visit shows a page.
func (b *tab) visit(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.base + path))
}

// evaluated is the value of an expression in the page, or of the promise that it is.
func evaluated[T any](b *tab, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// value is the value of an expression in the page.
func value[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := evaluated[T](b, expression)
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits for a condition in the page, whichever page that is by then.
func (b *tab) until(what, condition string) {
	b.t.Helper()
	defer func() {
		if b.t.Failed() {
			text, _ := evaluated[string](b, "location.href + '\\n' + document.body.innerText")
			b.t.Logf("the page is %s", text)
		}
	}()
	dbtest.Until(b.t, what, func() bool {
		ok, err := evaluated[bool](b, "Boolean("+condition+")")
		return err == nil && ok
	})
}

// shows waits until a part of the page shows a text.
func (b *tab) shows(selector, text string) {
	b.t.Helper()
	b.until(selector+" shows "+text, element(selector)+".innerText.includes("+quoted(text)+")")
}

// live waits until the page has been brought up to date by the server.
func (b *tab) live() {
	b.t.Helper()
	b.until("the page is brought up to date", "window.updated > 0")
}

// toldAgain waits until the page has been told some times more to fetch itself.
func (b *tab) toldAgain(times int) {
	b.t.Helper()
	b.until("the page is told to fetch itself", fmt.Sprintf("window.told >= %d", value[int](b, "window.told")+times))
}

// click clicks into the middle of an element, of which the first line counts: what a user hits there may be something else.
func (b *tab) click(expression string) {
	b.t.Helper()
	b.press(expression)()
}

// press presses the mouse's button in the middle of an element. What it returns lets it go.
func (b *tab) press(expression string) (release func()) {
	b.t.Helper()
	b.until(expression+" is there", "document.readyState === 'complete' && "+expression) // before, it may still move
	at := value[[]float64](b, `(e => { e.scrollIntoView({block: "center", inline: "center"}); const r = e.getClientRects()[0]; return [r.x + r.width / 2, r.y + r.height / 2] })(`+expression+`)`)
	b.do(chromedp.MouseEvent(chromedp.MousePressed, at[0], at[1], chromedp.ButtonLeft, chromedp.ClickCount(1)))
	return func() {
		b.t.Helper()
		b.do(chromedp.MouseEvent(chromedp.MouseReleased, at[0], at[1], chromedp.ButtonLeft, chromedp.ClickCount(1)))
	}
}

// write writes at the keyboard, into what has the focus.
func (b *tab) write(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// element is the element of a selector, as an expression.
func element(selector string) string { return "document.querySelector(" + quoted(selector) + ")" }

// labelled is the element in a page, or in a part of it, that has a text of its own: a button, a
// link, a summary.
func labelled(in, selector, text string) string {
	return "[..." + in + ".querySelectorAll(" + quoted(selector) + ")].find(e => e.textContent.trim() === " + quoted(text) + ")"
}

// row is the row of a table that has a text in it.
func row(text string) string {
	return "[...document.querySelectorAll('#live tbody tr')].find(e => e.textContent.includes(" + quoted(text) + "))"
}

// quoted is a text as JavaScript writes it.
func quoted(s string) string { return strconv.Quote(s) }
