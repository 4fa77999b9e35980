package browsertest_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/ui"
	"github.com/bravellian/pawl/ui/browsertest/internal/chromium"
)

// D-218: an open page is brought up to date unless somebody stopped that, and again when it is
// wanted.
func TestStopUpdates(t *testing.T) {
	w := onSQLite(t)
	b := open(t, w.serve(ui.Options{Authorize: olga}))
	b.visit("messages?topic=news")
	b.live()
	updates := element("button.updates")
	b.click(updates)
	b.until("updates are off", updates+`.getAttribute("aria-pressed") === "false"`)
	_, err := w.Outbox.Enqueue(w.ctx(), outbox.Message{Topic: "news"})
	w.check(err)
	b.toldAgain(3)
	if value[bool](b, row("news")+" !== undefined") {
		t.Error("the page is brought up to date although that is off")
	}
	b.click(updates)
	b.until("the message is shown", row("news"))
}

// D-451: an open page holds no connection, of which a browser has six for all its tabs, and a hidden one asks
// for nothing until it is visible again.
func TestOpenPagesHoldNothing(t *testing.T) {
	w := onSQLite(t)
	s := w.serve(ui.Options{Authorize: olga})
	b := open(t, s)
	b.visit("topics")
	b.live()
	value[int](b, `Object.defineProperty(document, "hidden", {configurable: true, get: () => true}), 0`)
	b.until("no update is under way", `document.querySelector(".htmx-request") === null`)
	dbtest.Until(t, "no request is held", func() bool { return w.updates.open.Load() == 0 })
	before := w.updates.asked.Load()
	b.toldAgain(3)
	if n := w.updates.asked.Load() - before; n > 0 {
		t.Errorf("a hidden page asked %d times", n)
	}
	_, err := w.Outbox.Enqueue(w.ctx(), outbox.Message{Topic: "news"})
	w.check(err)
	value[int](b, `delete document.hidden, 0`)
	b.until("the new topic is shown", row("news"))
}

// D-218: what somebody has opened stays open: the page is brought up to date once it is closed.
func TestOpenStaysOpen(t *testing.T) {
	w := onSQLite(t)
	b := open(t, w.serve(ui.Options{Authorize: olga}))
	b.visit("topics")
	b.live()
	summary := labelled(row("mail"), "summary", "Pause")
	b.click(summary)
	b.until("the form is open", row("mail")+`.querySelector("details").open`)
	_, err := w.Outbox.Enqueue(w.ctx(), outbox.Message{Topic: "news"})
	w.check(err)
	b.toldAgain(3)
	if !value[bool](b, row("mail")+`.querySelector("details").open`) {
		t.Error("what was open is closed by an update")
	}
	b.click(summary)
	b.until("the new topic is shown", row("news"))
}

// D-218: an update takes nothing away from below the mouse while its button is down, nor from who goes
// through a page by keyboard.
func TestNothingLost(t *testing.T) {
	w := onSQLite(t)
	b := open(t, w.serve(ui.Options{Authorize: olga}))
	b.visit("topics")
	b.live()
	w.updates.close() // an update is under way already when the button goes down
	dbtest.Until(t, "an update is under way", func() bool { return w.updates.held.Load() > 0 })
	release := b.press(labelled(row("mail"), "summary", "Pause"))
	w.updates.release()
	b.toldAgain(3)
	release()
	b.until("the form is open", row("mail")+`.querySelector("details").open`)

	b.visit("messages")
	b.live()
	value[int](b, `document.querySelector("#live [name=row]").focus(), 0`)
	b.write(kb.Tab) // to the first link of the table
	const first = `document.activeElement === document.querySelector("#live tbody a")`
	b.until("the first link has the focus", first)
	b.toldAgain(3)
	if !value[bool](b, first) {
		t.Error("an update takes the focus away")
	}
}

// D-622: a time says how long ago it was, and when in the zone of who reads it, also after an update.
func TestTimes(t *testing.T) {
	w := onSQLite(t)
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	w.check(err)
	b := open(t, w.serve(ui.Options{Authorize: olga}), chromium.Zone("Asia/Tokyo"))
	b.visit("messages/" + w.done.String())
	ago := regexp.MustCompile(`^\d+ (sec|min)\.? ago$`)
	for _, when := range []string{"loaded", "brought up to date"} {
		text, title := value[string](b, element("#live time")+".textContent"), value[string](b, element("#live time")+".title")
		if !ago.MatchString(text) {
			t.Errorf("%s: it is %q, want how long ago", when, text)
		}
		at, err := time.Parse(time.RFC3339, value[string](b, element("#live time")+".dateTime"))
		w.check(err)
		if local := at.In(tokyo); !strings.HasPrefix(title, local.Format("2 ")) || !strings.HasSuffix(title, local.Format(" 2006, 15:04:05")) {
			t.Errorf("%s: the title is %q, want %v", when, title, local)
		}
		b.live()
	}
}

// D-627: a page says when it was brought up to date, and shows that it is stale once it was not for long.
func TestStaleIsShown(t *testing.T) {
	w := onSQLite(t)
	b := open(t, w.serve(ui.Options{Authorize: olga}))
	b.visit("topics")
	b.live()
	const stale = `document.body.classList.contains("stale")`
	if value[bool](b, stale+` || document.querySelector(".fresh").hidden || document.querySelector(".fresh time").textContent === ""`) {
		t.Error("a page that is up to date does not say so")
	}
	w.updates.close()
	value[int](b, `window.real = Date.now, Date.now = () => window.real() + 60000, 0`) // a minute goes by
	b.until("the page is stale", stale)
	w.updates.release()
	value[int](b, `Date.now = window.real, 0`)
	b.until("the page is up to date", "!"+stale)
}

// D-218: a table that somebody has scrolled sideways stays there when the page is brought up to date.
func TestScrolledStays(t *testing.T) {
	w := onSQLite(t)
	b := open(t, w.serve(ui.Options{Authorize: olga}))
	b.do(chromedp.EmulateViewport(500, 800))
	b.visit("topics")
	b.live()
	const place = `document.querySelector("#live .scroll").scrollLeft`
	if got := value[int](b, place+" = 40, "+place); got != 40 {
		t.Fatalf("the table is scrolled to %d", got)
	}
	_, err := w.Outbox.Enqueue(w.ctx(), outbox.Message{Topic: "news"})
	w.check(err)
	b.until("the new topic is shown", row("news"))
	if got := value[int](b, place); got != 40 {
		t.Errorf("after an update it is at %d", got)
	}
}
