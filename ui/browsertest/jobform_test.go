package browsertest_test

import (
	"net/url"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/bravellian/pawl/ui"
)

// D-670: a job is created in the page at the keyboard: with a mistake at first, a preview, then stored; and edited.
func TestJobForm(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := open(t, w.serve(ui.Options{Authorize: olga}))
		b.visit("jobs?store=" + w.store)
		b.click(labelled("document", "button", "New job"))
		b.shows("h1", "New job")
		fill := func(name, text string) {
			t.Helper()
			value[int](b, element("[name="+name+"]")+".select(), "+element("[name="+name+"]")+".focus(), 0")
			b.write(text)
		}
		fill("name", "made in the page"+canary)
		fill("schedule", "0 25 * * *")
		fill("topic", "report")
		fill("data", `{"n": 1.10}`)
		b.expect("status of 400")
		b.click(labelled("document", "button", "Preview"))
		b.shows("[role=alert]", "schedule: ")
		b.fits("a mistake in a job's form")
		b.examine("a mistake in a job's form")
		fill("schedule", "0 6 * * MON-FRI")
		b.click(labelled("document", "button", "Preview"))
		b.until("five times", `document.querySelectorAll("#live tbody time").length === 5 && document.querySelector("[role=alert]") === null`)
		b.fits("a preview")
		b.examine("a preview")
		fill("queue", "default"+kb.Enter)
		b.shows(".did", "job stored")
		b.shows("h1", "Job made in the page"+canary)
		b.click(element("details.text summary"))
		b.until("the payload is shown", `document.querySelector("details.text .json").checkVisibility()`)
		b.shows("details.text .json", `"n": 1.10`)
		b.click(labelled("document", "button", "Edit"))
		b.shows("h1", "Edit job made in the page")
		if value[string](b, element("[name=data]")+".value") != `{"n": 1.10}` {
			t.Error("the form does not have the payload")
		}
		j, err := w.Jobs.Get(w.ctx(), "made in the page"+canary)
		if w.check(err); string(j.Payload) != `{"n": 1.10}` || j.Schedule != "0 6 * * MON-FRI" {
			t.Errorf("%+v", j.Job)
		}
		b.complain()
	})
}

// D-675: a page whose folds are closed from sight is kept up to date, and a button copies the raw text.
func TestFoldsCopyAndUpdates(t *testing.T) {
	w := onSQLite(t)
	b := open(t, w.serve(ui.Options{Authorize: olga}))
	b.visit("job?" + url.Values{"name": {nightly}}.Encode())
	b.until("there are open folds", `document.querySelector("#live .fold[open]") !== null`)
	b.live()
	value[int](b, `window.copied = "", navigator.clipboard.writeText = function (text) { window.copied = text; return Promise.resolve(); }, 0`)
	b.click(element("details.text summary"))
	b.click(element("button.copy"))
	b.until("it was copied", `document.querySelector("button.copy").textContent === "Copied"`)
	if got := value[string](b, "window.copied"); got != string(deep()) {
		t.Errorf("copied: %s", got)
	}
	b.complain()
}
