package ui

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
)

// unsaved is why a form is shown again, with what was filled in: nothing was changed.
type unsaved struct {
	form  *screen
	cause error // nil: a preview was asked for
}

// Error says what is wrong.
func (u *unsaved) Error() string {
	if u.cause == nil {
		return "a preview changes nothing"
	}
	return u.cause.Error()
}

// Unwrap returns the cause.
func (u *unsaved) Unwrap() error { return u.cause }

// editJob is the form of a new job, or of the one that the address names.
func editJob(v *visit) (*screen, error) {
	if !v.access.Operator {
		return &screen{Title: "Job", Still: true, Blocks: []block{{Note: readOnly}}}, nil
	}
	s, err := v.one()
	if err != nil {
		return nil, err
	}
	name := v.query.Get("name")
	if name == "" {
		fresh := &job.Info{Job: job.Job{Zone: "UTC", Queue: outbox.DefaultQueue, Misfire: job.RunOnce, MisfireLimit: 10, Overlap: job.Allow}, Enabled: true}
		return v.jobForm(s, nil, formOf(fresh), nil), nil
	}
	j, err := s.Jobs.Get(v.Context(), name)
	if err != nil {
		return nil, err
	}
	return v.jobForm(s, j, formOf(j), nil), nil
}

// formOf is a job as its form has it, by the names of the options of "pawl jobs put".
func formOf(j *job.Info) url.Values {
	form := url.Values{"header": {headerLines(j.Headers)}, "data": {string(j.Payload)}}
	for name, value := range map[string]string{
		"name": j.Name, "schedule": j.Schedule, "zone": j.Zone, "topic": j.Topic, "queue": j.Queue, "priority": strconv.Itoa(j.Priority), "spread": j.Spread.String(),
		"misfire": string(j.Misfire), "misfire-limit": strconv.Itoa(j.MisfireLimit), "overlap": string(j.Overlap), "state": enabledWord(j.Enabled),
	} {
		form.Set(name, value)
	}
	return form
}

func enabledWord(enabled bool) string {
	return map[bool]string{true: "enabled", false: "disabled"}[enabled]
}

// headerLines are headers as a form has them, without the values of credentials.
func headerLines(headers map[string]string) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		lines = append(lines, name+"="+view.Headers(headers)[name])
	}
	return strings.Join(lines, "\n")
}

// writes reports whether the visitor fills in the payload of a job and its headers: those of a stored job (nil: of
// a new one) that a form cannot show him as they are stay.
func (v *visit) writes(j *job.Info) (payload, headers bool) {
	if j == nil {
		return v.access.Payloads, v.access.Details
	}
	whole, odd := v.s.opts.Redact == nil, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }
	payload = v.access.Payloads && whole && len(j.Payload) <= maxShown && utf8.Valid(j.Payload) && !strings.ContainsFunc(string(j.Payload), odd)
	headers = v.access.Details && whole
	for name, value := range j.Headers {
		headers = headers && !strings.ContainsFunc(name+value, unicode.IsControl) && !strings.Contains(name, "=")
	}
	return payload, headers
}

// unix has the line breaks of a text area, and of a text that is compared with it.
var unix = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// jobOf is the job that a form says. It has the stored one's payload and headers where they are not filled in, and
// the errors of Put.
func (v *visit) jobOf(form url.Values, stored *job.Info) (j job.Job, err error) {
	if stored != nil {
		j = stored.Job
	}
	j.Name, j.Schedule, j.Zone, j.Topic, j.Queue = form.Get("name"), form.Get("schedule"), form.Get("zone"), form.Get("topic"), form.Get("queue")
	j.Misfire, j.Overlap = job.Misfire(form.Get("misfire")), job.Overlap(form.Get("overlap"))
	payload, headers := v.writes(stored)
	if data := unix.Replace(form.Get("data")); payload && form.Has("data") && data != unix.Replace(string(j.Payload)) {
		j.Payload = []byte(data)
	}
	if headers && form.Has("header") {
		if j.Headers, err = headersOf(form.Get("header"), j.Headers); err != nil {
			return j, err
		}
	}
	if j.Priority, err = whole(form, "priority"); err != nil {
		return j, err
	}
	if j.MisfireLimit, err = whole(form, "misfire-limit"); err != nil {
		return j, err
	}
	j.Spread = 0
	if text := form.Get("spread"); text != "" {
		if j.Spread, err = duration("spread", text); err != nil {
			return j, err
		}
	}
	if err = j.Validate(); err == nil {
		_, _, err = job.Explain(j.Schedule, j.Zone, v.now, 1) // it may never fire
	}
	return j, err
}

// headersOf reads lines NAME=VALUE. A value that is masked is the one that is known.
func headersOf(lines string, known map[string]string) (map[string]string, error) {
	headers := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(unix.Replace(lines)), "\n") {
		name, value, is := strings.Cut(line, "=")
		if !is && line != "" {
			return nil, engine.Invalid("headers", "not a line NAME=VALUE each")
		}
		if before, had := known[name]; had && value == view.Masked {
			value = before
		}
		if is {
			headers[name] = value
		}
	}
	return headers, nil
}

// jobForm is the form of a job, with the next times of its schedule and what is wrong.
func (v *visit) jobForm(s *store, stored *job.Info, form url.Values, wrong error) *screen {
	sc := &screen{Title: "New job", Still: true}
	b := block{Note: "A program that declares this job overwrites it when it starts."}
	save := action{Do: "put-job", Label: "Save", Preview: true, Fields: []string{"store", s.key}}
	add := func(name, label, hint string, options ...string) {
		save.Inputs = append(save.Inputs, input{Name: name, Label: label, Value: form.Get(name), Hint: hint, Options: options})
	}
	if stored == nil {
		add("name", "Name", "")
	} else {
		sc.Title, save.Fields = "Edit job "+stored.Name, append(save.Fields, "name", stored.Name, "edit", "yes")
		if stored.Owner != "" {
			b.Note = "The program " + stored.Owner + " declares this job, and overwrites it when it starts."
		}
	}
	add("schedule", "Schedule", "0 6 * * MON-FRI")
	add("zone", "Zone", "UTC")
	add("topic", "Topic", "")
	add("queue", "Queue", outbox.DefaultQueue)
	add("priority", "Priority", "0")
	add("misfire", "Misfire", "", string(job.RunOnce), string(job.RunNone), string(job.RunAll))
	add("misfire-limit", "Misfire limit", "10")
	add("overlap", "Overlap", "", string(job.Allow), string(job.Skip))
	add("spread", "Spread", "0s")
	add("state", "State", "", enabledWord(true), enabledWord(false))
	payload, headers := v.writes(stored)
	if headers {
		save.Inputs = append(save.Inputs, input{Name: "header", Label: "Headers", Type: "textarea", Value: form.Get("header"), Hint: "NAME=VALUE"})
	}
	if payload {
		save.Inputs = append(save.Inputs, input{Name: "data", Label: "Payload", Type: "textarea", Value: form.Get("data")})
	}
	if !payload || !headers {
		b.Note += " What you cannot read of its headers and payload here stays as it is."
	}
	if wrong != nil {
		b.Error = said(wrong)
	}
	reason := why()
	reason.Value = form.Get("reason")
	save.Inputs = append(save.Inputs, reason)
	b.Actions = []action{save}
	sc.Blocks = []block{b}
	if times, err := v.nextTimes(form.Get("schedule"), form.Get("zone")); err == nil {
		sc.Blocks = append(sc.Blocks, times)
	}
	return sc
}

// putJob stores a job, or shows what its form says.
func (v *visit) putJob(ctx context.Context, s *store, form url.Values) (string, error) {
	name, preview := form.Get("name"), form.Has("preview")
	stored, err := s.Jobs.Get(ctx, name)
	switch {
	case form.Has("edit"):
	case err == nil:
		stored, err = nil, engine.Invalid("name", "there is a job of this name")
	case missing(err) != nil:
		stored, err = nil, nil
	}
	if form.Has("edit") && err != nil {
		return "", err
	}
	j, invalid := v.jobOf(form, stored)
	if err == nil {
		err = invalid
	}
	if err == nil && !preview {
		err = storeJob(ctx, s, &j, stored != nil, form.Get("state") != enabledWord(false))
	}
	if err != nil || preview {
		return "", &unsaved{v.jobForm(s, stored, form, err), err}
	}
	form.Set("back", "job"+queryOf(url.Values{}, "store", s.key, "name", name))
	return "job stored", nil
}

// storeJob stores a job and enables or disables it. One that is known is disabled before, so that its new schedule
// makes no run.
func storeJob(ctx context.Context, s *store, j *job.Job, known, enabled bool) (err error) {
	if known && !enabled {
		err = s.Jobs.SetEnabled(ctx, j.Name, false)
	}
	if err == nil {
		err = s.Jobs.Put(ctx, *j)
	}
	if err == nil {
		err = s.Jobs.SetEnabled(ctx, j.Name, enabled)
	}
	return err
}

func removeJob(ctx context.Context, s *store, form url.Values) (string, error) {
	form.Set("back", "jobs"+queryOf(url.Values{}, "store", s.key))
	return "job removed", s.Jobs.Delete(ctx, form.Get("name"))
}
