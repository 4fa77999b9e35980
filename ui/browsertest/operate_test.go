package browsertest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
	"github.com/bravellian/pawl/ui"
	"github.com/bravellian/pawl/ui/browsertest/internal/chromium"
)

// D-218: who is told of an error finds the message by the keyboard alone, reads why and what it says,
// and once the program is repaired makes it go again and sees it become done.
func TestRedrive(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := open(t, w.serve(ui.Options{Authorize: olga}))
		b.visit("messages")
		b.filterFailed()
		b.until("only such messages are listed", `[...document.querySelectorAll("#live tbody tr")].every(r => r.innerText.includes("refused"))`)
		b.click(element("#live tbody a"))
		b.shows("h1", w.failed.String())
		b.shows("#live", "refused "+canary)
		b.until("the page is there", element("details.text .json")) // of which its beginning may be shown before
		if value[bool](b, `document.querySelector("details.text .json").checkVisibility()`) {
			t.Error("the payload is shown before anybody asks for it")
		}
		b.click(element("details.text summary"))
		b.until("the payload is shown", `document.querySelector("details.text .json").checkVisibility() && document.querySelector("details.text .json").innerText.includes("the payload")`)

		w.repaired.Store(true)
		b.click(labelled("document", "button", "Redrive"))
		b.shows(".did", "1 message redriven")
		b.shows("dd .state", "running")
		value[int](b, "window.same = 1")
		close(w.proceed)
		b.shows("dd .state", "done")
		if !value[bool](b, "window.same === 1") {
			t.Error("the page was loaded anew")
		}
		if got := w.status(w.failed); got != outbox.Done {
			t.Errorf("the message is %s", got)
		}
	})
}

// filterFailed fills in the filter of the page of messages at the keyboard: failed ones whose error
// has a word in it.
func (b *tab) filterFailed() {
	b.t.Helper()
	value[int](b, `document.querySelector("form.filter [name=status]").focus(), 0`)
	b.write("fa") // chooses "failed"
	for range 4 { // past topic, queue and correlation id
		b.write(kb.Tab)
	}
	b.write("refused" + kb.Enter)
	b.until("the list is filtered", `location.search.includes("status=failed") && location.search.includes("error=refused")`)
}

// D-219: an operator keeps a topic from being worked on, and lets it go on, while workers run; who did
// it and why can be read.
func TestPauseTopic(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := open(t, w.serve(ui.Options{Authorize: olga}))
		in := "?store=" + w.store
		enqueue := func(topic string) outbox.MessageID {
			id, err := w.Outbox.Enqueue(w.ctx(), outbox.Message{Topic: topic})
			w.check(err)
			return id
		}
		b.visit("topics" + in)
		b.click(labelled(row("mail"), "summary", "Pause"))
		b.click(row("mail") + `.querySelector("[name=reason]")`)
		b.write("the provider is down")
		b.click(labelled(row("mail"), "button", "Pause"))
		b.shows(".did", "topic mail paused")
		b.until("the topic is paused", row("mail")+`.innerText.includes("by olga the provider is down")`)

		held := enqueue("mail")
		other := enqueue("report")
		dbtest.Until(t, "what came later is done", func() bool { return w.status(other) == outbox.Done })
		if got := w.status(held); got != outbox.Ready {
			t.Errorf("the message of the topic that is paused is %s", got)
		}
		dbtest.Until(t, "it is counted as paused", func() bool { return w.waits("mail", "paused") == 1 })
		b.visit("topics" + in)
		b.until("the page shows that one waits", row("mail")+".cells[5].innerText === '1'")

		b.click(labelled(row("mail"), "button", "Resume"))
		b.shows(".did", "topic mail resumed")
		dbtest.Until(t, "the message is done", func() bool { return w.status(held) == outbox.Done })
		b.until("the page shows that nothing waits", row("mail")+".cells[5].innerText === '0'")

		b.visit("audit" + in)
		b.until("it is audited", row("the provider is down")+`.innerText.includes("olga")`)
	})
}

// D-218: without scripts everything is there: what finds a message, and what makes it go again.
func TestWithoutScripts(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := open(t, w.serve(ui.Options{Authorize: olga}), chromium.NoScripts())
		b.visit("messages")
		b.filterFailed()
		b.click(element("#live tbody a"))
		b.shows("h1", w.failed.String())
		if !value[bool](b, `document.querySelector(".fresh").hidden && document.querySelector("#live time").textContent.endsWith("Z")`) {
			t.Error("the page has what only scripts can do, or hides in which zone its times are")
		}
		w.repaired.Store(true)
		close(w.proceed)
		b.click(labelled("document", "button", "Redrive"))
		b.shows(".did", "1 message redriven")
		dbtest.Until(t, "the message is done", func() bool { return w.status(w.failed) == outbox.Done })
	})
}

// D-630: rows are selected with a click, and with shift up to another one; how many they are is said, and no update takes
// them away before something is done to all.
func TestSelectRows(t *testing.T) {
	w := onSQLite(t)
	for range 5 {
		_, err := w.Timers.Schedule(w.ctx(), timer.Timer{Topic: "select", Due: time.Now().Add(time.Hour)})
		w.check(err)
	}
	b := open(t, w.serve(ui.Options{Authorize: olga}))
	b.visit("timers?topic=select")
	b.live()
	box := func(i int) string { return fmt.Sprintf("document.querySelectorAll('[name=row]')[%d]", i) }
	b.click(box(1))
	b.toldAgain(3)
	value[int](b, box(3)+`.dispatchEvent(new MouseEvent("click", {shiftKey: true, bubbles: true, cancelable: true})), 0`)
	b.until("three are selected", `document.querySelectorAll("[name=row]:checked").length === 3`)
	b.click(labelled("document", "summary", "With the 3 selected"))
	b.click(labelled(`document.querySelector("form[id^=select]")`, "button", "Cancel"))
	b.shows(".did", "3 rows: timer cancelled")
}
