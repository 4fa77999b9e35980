package ui_test

import (
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/ui"
)

var (
	filledIn = regexp.MustCompile(`<(?:input(?: type="hidden")?|textarea|select) name="([^"]*)"(?: type="text")?(?: value="([^"]*)")?[^>]*>(?:\n([^<]*)</textarea>|(?:<option[^>]*>[^<]*</option>)*?<option value="([^"]*)" selected>)?`)
	saves    = regexp.MustCompile(`(?s)<form class="action" method="post" action="[^"]*do/put-job">.*?</form>`)
)

// jobForm is the form of a job on a page, as a browser sends it.
func jobForm(t *testing.T, body string) url.Values {
	t.Helper()
	form := url.Values{}
	for _, m := range filledIn.FindAllStringSubmatch(saves.FindString(body), -1) {
		// A browser sends a text area with such line breaks, whichever the page has.
		form.Set(m[1], strings.NewReplacer("\r\n", "\r\n", "\n", "\r\n").Replace(html.UnescapeString(m[2]+m[3]+m[4])))
	}
	if !form.Has("schedule") {
		t.Fatalf("no form: %s", body)
	}
	return form
}

// olga returns a dashboard of olga's, who may do everything but what edit takes from her.
func (f *fixture) olga(o ui.Options, edit func(*ui.Access)) *httptest.Server {
	as := ui.Access{Name: "olga", Operator: true, Payloads: true}
	if edit != nil {
		edit(&as)
	}
	o.Authorize = func(*http.Request) (ui.Access, error) { return as, nil }
	return serve(f.t, ui.Of(f.Pawl), o)
}

// stored is a job without what the database adds.
func (f *fixture) stored(name string) (job.Job, bool) {
	f.t.Helper()
	j, err := f.Jobs.Get(f.ctx(), name)
	f.check(err)
	return j.Job, j.Enabled
}

// D-670: a job is created, edited and removed by forms that have the names and defaults of "pawl jobs put"; who did
// it is in the audit trail.
func TestJobIsCreatedEditedRemoved(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openOn(t, e)
		s := f.olga(ui.Options{}, nil)
		_, body, _ := get(t, s, "jobs")
		if !strings.Contains(body, `action="./job/edit"`) || !strings.Contains(body, "New job") {
			t.Errorf("no new job is offered: %s", body)
		}
		_, body, _ = get(t, s, "job/edit")
		form := jobForm(t, body)
		for name, want := range map[string]string{"zone": "UTC", "queue": "default", "priority": "0", "misfire": "once", "misfire-limit": "10", "overlap": "allow", "spread": "0s", "state": "enabled", "header": "", "data": ""} {
			if form.Get(name) != want {
				t.Errorf("%s is %q, want %q", name, form.Get(name), want)
			}
		}
		send := func(form url.Values, want string) {
			t.Helper()
			status, body, h := do(t, s, http.MethodPost, "do/put-job", form, nil)
			if status != http.StatusSeeOther || did(t, s, h) != want || !strings.HasPrefix(h.Get("Location"), "../job?") {
				t.Fatalf("%d, %q, to %s: %s", status, did(t, s, h), h.Get("Location"), body)
			}
		}
		for name, value := range map[string]string{
			"name": "report <1>", "schedule": "0 6 * * MON-FRI", "zone": "Europe/Berlin", "topic": "report", "queue": "slow", "priority": "-3", "misfire": "all", "misfire-limit": "7", "overlap": "skip", "spread": "90s",
			"header": "a=b\r\nc=d=e", "data": "{\r\n  \"n\": 1.10\r\n}\r\n", "reason": "because", "state": "disabled",
		} {
			form.Set(name, value)
		}
		send(form, "job stored")
		want := job.Job{
			Name: "report <1>", Schedule: "0 6 * * MON-FRI", Zone: "Europe/Berlin", Topic: "report", Queue: "slow", Priority: -3, Misfire: job.RunAll, MisfireLimit: 7, Overlap: job.Skip, Spread: 90 * time.Second,
			Headers: map[string]string{"a": "b", "c": "d=e"}, Payload: []byte("{\n  \"n\": 1.10\n}\n"),
		}
		if got, enabled := f.stored("report <1>"); !reflect.DeepEqual(got, want) || enabled {
			t.Errorf("%v %+v, want %+v", enabled, got, want)
		}

		_, body, _ = get(t, s, "job?name="+url.QueryEscape("report <1>"))
		if !strings.Contains(body, ">Edit</button>") || !strings.Contains(body, `action="./do/remove-job"`) {
			t.Error("the page of the job does not offer to edit or remove it")
		}
		_, body, _ = get(t, s, "job/edit?name="+url.QueryEscape("report <1>"))
		form = jobForm(t, body)
		send(form, "job stored")
		if got, enabled := f.stored("report <1>"); !reflect.DeepEqual(got, want) || enabled {
			t.Errorf("saved as it was: %v %+v, want %+v", enabled, got, want)
		}
		form.Set("state", "enabled")
		form.Set("overlap", "allow")
		send(form, "job stored")
		want.Overlap = job.Allow
		if got, enabled := f.stored("report <1>"); !reflect.DeepEqual(got, want) || !enabled {
			t.Errorf("edited: %v %+v, want %+v", enabled, got, want)
		}
		form.Set("state", "disabled")
		send(form, "job stored")
		if _, enabled := f.stored("report <1>"); enabled {
			t.Error("it is enabled")
		}

		status, _, h := do(t, s, http.MethodPost, "do/remove-job", url.Values{"name": {"report <1>"}, "back": {"job?name=x"}}, nil)
		if status != http.StatusSeeOther || did(t, s, h) != "job removed" || !strings.HasPrefix(h.Get("Location"), "../jobs?") {
			t.Errorf("%d, %q, to %s", status, did(t, s, h), h.Get("Location"))
		}
		entries, err := engine.Collect(audit.List(f.ctx(), f.Internal(access.Key{}).DB, audit.Options{Actor: "olga"}), 100)
		f.check(err)
		done := map[string]string{}
		for _, e := range entries {
			done[e.Action] += e.Target + ":" + e.Reason + " "
		}
		if len(done) != 4 || !strings.Contains(done["put"], "job report <1>:because") || done["remove"] == "" {
			t.Errorf("audited: %q", done)
		}
	})
}

// D-671: a form with a mistake is shown again with what was filled in and the error of Put, and nothing is stored; nor
// is anything by one for a new job of a name that there is, or one that was removed meanwhile.
func TestJobFormKeepsWhatIsFilledIn(t *testing.T) {
	f := openEmpty(t)
	s := f.olga(ui.Options{}, nil)
	f.check(f.Jobs.Put(f.ctx(), job.Job{Name: "known", Topic: "known", Schedule: "@daily"}))
	right := url.Values{"name": {"new"}, "schedule": {"@daily"}, "topic": {"t"}, "data": {"kept <&>\r\n"}, "header": {"h=kept"}}
	for name, one := range map[string]struct{ value, want string }{
		"name": {"", "name: "}, "topic": {"", "topic: "}, "schedule": {"1 2 3", "schedule: "}, "zone": {"Nowhere/Else", "zone: "}, "misfire": {"some", "misfire policy: "}, "misfire-limit": {"1001", "misfire limit: not within 1 … 1000"},
		"overlap": {"none", "overlap policy: "}, "spread": {"25h", "spread: not within 0 … 24h"}, "priority": {"101", "priority: not within -100 to 100"}, "queue": {strings.Repeat("q", 300), "queue: "}, "header": {"none", "NAME=VALUE"}, "data": {strings.Repeat("x", 1<<19), ""},
	} {
		form := maps.Clone(right)
		form.Set(name, one.value)
		if name == "data" {
			form.Set("topic", "")
		}
		status, body, _ := do(t, s, http.MethodPost, "do/put-job", form, nil)
		if found := part(t, body, `<p class="error" role="alert">`, "</p>"); status != http.StatusBadRequest || !strings.Contains(html.UnescapeString(found), one.want) {
			t.Errorf("%s: %d %s", name, status, found)
		}
		if again := jobForm(t, body); again.Get(name) != one.value && name != "misfire" && name != "overlap" || name != "data" && again.Get("data") != form.Get("data") || name != "header" && again.Get("header") != "h=kept" {
			t.Errorf("%s: the form has %v", name, again)
		}
	}
	never := maps.Clone(right)
	never.Set("schedule", "0 0 31 2 *")
	known := maps.Clone(right)
	known.Set("name", "known")
	gone := maps.Clone(right)
	gone.Set("edit", "yes")
	wordy := maps.Clone(right)
	wordy.Set("priority", "high")
	for want, form := range map[string]url.Values{"priority: ": wordy, "schedule: ": never, "there is a job of this name": known, "job not found": gone} {
		if status, body, _ := do(t, s, http.MethodPost, "do/put-job", form, nil); status < 400 || status > 499 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", want, status, body)
		}
	}
	all, err := engine.Collect(f.Jobs.List(f.ctx(), job.ListOptions{}), 10)
	if f.check(err); len(all) != 1 || all[0].Topic != "known" {
		t.Errorf("stored: %+v", all)
	}
}

// D-672: a preview shows the next five times of what is filled in, or what is wrong with it, and stores nothing.
func TestJobPreview(t *testing.T) {
	f := openEmpty(t)
	s := f.olga(ui.Options{}, nil)
	f.check(f.Jobs.Put(f.ctx(), job.Job{Name: "known", Topic: "known", Schedule: "@daily"}))
	before, err := f.Jobs.Get(f.ctx(), "known")
	f.check(err)
	form := url.Values{"name": {"known"}, "edit": {"yes"}, "schedule": {"30 2 1 1 *"}, "zone": {"Europe/Berlin"}, "topic": {"other"}, "state": {"disabled"}, "preview": {"yes"}}
	status, body, _ := do(t, s, http.MethodPost, "do/put-job", form, nil)
	if n := strings.Count(body, `-01-01T01:30:00Z"`); status != http.StatusOK || n != 5 || strings.Contains(body, `role="alert"`) || jobForm(t, body).Get("topic") != "other" {
		t.Errorf("%d, %d times: %s", status, n, body)
	}
	form.Set("topic", "")
	if status, body, _ = do(t, s, http.MethodPost, "do/put-job", form, nil); status != http.StatusBadRequest || !strings.Contains(part(t, body, `role="alert">`, "</p>"), "topic: ") || strings.Count(body, `-01-01T01:30:00Z"`) != 5 {
		t.Errorf("a mistake: %d %s", status, body)
	}
	after, err := f.Jobs.Get(f.ctx(), "known")
	if f.check(err); after.Topic != "known" || !after.Enabled || !after.UpdatedAt.Equal(before.UpdatedAt) {
		t.Errorf("stored: %+v", after)
	}
}

// D-673: who may not read a job's payload or headers edits it and changes neither, whatever is sent; nor are they
// changed where they are redacted, where a form cannot have them as they are, or by a value that is masked.
func TestJobKeepsWhatIsHidden(t *testing.T) {
	f := openEmpty(t)
	headers := map[string]string{"plain": "seen", "authorization": "hunter"}
	for name, one := range map[string]struct {
		options         ui.Options
		access          func(*ui.Access)
		payload         string
		data, header    bool // are in the form
		after, afterOne string
	}{
		"all":         {ui.Options{}, nil, "a\r\nb\n", true, true, "new", "new"},
		"no payloads": {ui.Options{}, func(a *ui.Access) { a.Payloads, a.Details = false, true }, "a\nb", false, true, "a\nb", "new"},
		"no details":  {ui.Options{}, func(a *ui.Access) { a.Payloads = false }, "a\nb", false, false, "a\nb", "seen"},
		"redacted":    {ui.Options{Redact: func(string, []byte) []byte { return []byte("less") }}, nil, "a\nb", false, false, "a\nb", "seen"},
		"binary":      {ui.Options{}, nil, "a\x00b", false, true, "a\x00b", "new"},
		"no text":     {ui.Options{}, nil, "a\xff", false, true, "a\xff", "new"},
		"large":       {ui.Options{}, nil, strings.Repeat("x", 70_000), false, true, strings.Repeat("x", 70_000), "new"},
	} {
		t.Run(name, func(t *testing.T) {
			f.check(f.Jobs.Put(f.ctx(), job.Job{Name: "kept", Topic: "t", Schedule: "@daily", Payload: []byte(one.payload), Headers: headers}))
			s := f.olga(one.options, one.access)
			_, body, _ := get(t, s, "job/edit?name=kept")
			form := jobForm(t, body)
			if form.Has("data") != one.data || form.Has("header") != one.header || strings.Contains(body, "hunter") {
				t.Errorf("the form has %v", form)
			}
			send := func() *job.Info {
				t.Helper()
				if status, body, _ := do(t, s, http.MethodPost, "do/put-job", form, nil); status != http.StatusSeeOther {
					t.Fatalf("%d %s", status, body)
				}
				j, err := f.Jobs.Get(f.ctx(), "kept")
				f.check(err)
				return j
			}
			form.Set("topic", "other")
			if j := send(); string(j.Payload) != one.payload || !maps.Equal(j.Headers, headers) || j.Topic != "other" {
				t.Errorf("only the topic was changed: %q %v", j.Payload, j.Headers)
			}
			form.Set("data", "new")
			form.Set("header", "plain=new\nauthorization=(masked)")
			if j := send(); string(j.Payload) != one.after || j.Headers["plain"] != one.afterOne || j.Headers["authorization"] != "hunter" {
				t.Errorf("%q %v", j.Payload, j.Headers)
			}
		})
	}
}

// D-670: a form says when a program declares the job, and which one if that is known; who may change nothing gets no
// form.
func TestJobFormSaysWhoDeclares(t *testing.T) {
	f := openEmpty(t)
	f.check2(f.Jobs.Sync(f.ctx(), "shop", []job.Job{{Name: "declared", Topic: "t", Schedule: "@daily", Payload: []byte(sesame)}}, job.SyncOptions{}))
	s := f.olga(ui.Options{}, nil)
	if _, body, _ := get(t, s, "job/edit?name=declared"); !strings.Contains(body, "The program shop declares this job, and overwrites it when it starts.") {
		t.Error(body)
	}
	if _, body, _ := get(t, s, "job/edit"); !strings.Contains(body, "A program that declares this job overwrites it when it starts.") {
		t.Error(body)
	}
	s = f.olga(ui.Options{ReadOnly: true}, nil)
	for _, path := range []string{"jobs", "job?name=declared", "job/edit", "job/edit?name=declared"} {
		if status, body, _ := get(t, s, path); status != http.StatusOK || strings.Contains(body, "job/edit\"") || strings.Contains(body, "do/") || path != "job?name=declared" && strings.Contains(body, sesame) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}
