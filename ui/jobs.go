package ui

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
)

func (v *visit) jobs(ctx context.Context, s *store) ([]block, error) {
	p, err := v.listJobs(ctx, s)
	t := tableOf("No jobs.", []string{"State", "Job", "Schedule", "Zone", "Topic", "Next run", "Last run", "Ended as", ""}, p.rows, func(j *job.Info) []cell {
		spoken, _, _ := job.Explain(j.Schedule, j.Zone, v.now, 1)
		return []cell{
			pick(true, state(view.JobState(j)), "name", j.Name), link(j.Name, v.hrefIn(s.key, "job", "name", j.Name)), words(strings.TrimSpace(j.Schedule + ": " + spoken)), words(j.Zone), words(j.Topic),
			at(j.NextRunAt), at(j.LastRunAt), state(string(j.LastRunStatus)), {Actions: jobActions(s, j, "")},
		}
	})
	t.selectable(s, offer("run-job enable-job disable-job remove-job")...)
	return []block{{Actions: offer("new-job", "store", s.key), Table: lead(v, s, t, p)}}, err
}

func (v *visit) listJobs(ctx context.Context, s *store) (pageOf[job.Info], error) {
	after := &job.Info{Job: job.Job{Name: v.query.Get("after")}} // "": from the first one on
	p, err := sift(nil, s.Jobs.List(ctx, job.ListOptions{After: after}), nil, func(j *job.Info) string { return j.Name })
	return p.each(func(j *job.Info) { j.Headers = v.headers(j.Topic, j.Headers) }), err
}

func jobActions(s *store, j *job.Info, more string) []action {
	can := map[bool]string{true: "disable-job ", false: "enable-job "}[j.Enabled]
	return offer("run-job "+can+more, "store", s.key, "name", j.Name)
}

func oneJob(v *visit, s *store) (*screen, error) {
	j, err := s.Jobs.Get(v.Context(), v.query.Get("name"))
	if err != nil {
		return nil, err
	}
	runs, unread := v.runs(s, j.Name)
	found, err := v.explain(s, j.Name, "job")
	if err = cmp.Or(unread, err); err != nil {
		return nil, err
	}
	times, _ := v.nextTimes(j.Schedule, j.Zone)
	return &screen{Title: "Job " + j.Name, Blocks: []block{
		{Findings: explained(found), Actions: jobActions(s, j, "edit-job remove-job")},
		{Heading: "What it is", Facts: facts("State", state(view.JobState(j)), "Schedule", j.Schedule, "Zone", j.Zone, "Topic", j.Topic, "Queue", j.Queue, "Priority", strconv.Itoa(j.Priority),
			"Misfire", string(j.Misfire), "Misfire limit", j.MisfireLimit, "Overlap", string(j.Overlap), "Spread", j.Spread, "Owner", j.Owner, "Last error", j.LastError, "Cannot be read", j.Unreadable)},
		times,
		{Heading: "Last runs", Chart: runStrip(runs), Table: v.runTable(s, runs)},
		v.payload(j.Topic, j.Payload),
	}}, nil
}

// nextTimes shows a schedule in words, and its next times.
func (v *visit) nextTimes(schedule, zone string) (block, error) {
	spoken, next, err := job.Explain(schedule, zone, v.now, 5)
	t := tableOf("Never.", []string{"When", "In " + cmp.Or(zone, "UTC")}, next, func(t *time.Time) []cell { return []cell{at(*t), words(t.Format("Mon 2006-01-02 15:04:05 MST"))} })
	return block{Heading: "Next times", Note: spoken, Table: t}, err
}

func (v *visit) runs(s *store, name string) ([]job.Run, error) {
	runs, err := engine.Collect(s.Jobs.Runs(v.Context(), name, job.RunsOptions{}), pageSize)
	if err != nil || v.readsAll() {
		return runs, err
	}
	topic := "" // of a job that was deleted
	if j, err := s.Jobs.Get(v.Context(), name); err == nil {
		topic = j.Topic
	}
	for i := range runs {
		runs[i].LastError = v.private(topic, runs[i].LastError)
	}
	return runs, nil
}

// runStrip draws the last runs, the newest to the right: how long they took, and how they ended.
func runStrip(runs []job.Run) *chart {
	var all []bar
	for _, r := range slices.Backward(runs[:min(len(runs), stripRuns)]) {
		took := time.Duration(0)
		if !r.EndedAt.IsZero() && !r.StartedAt.IsZero() {
			took = r.EndedAt.Sub(r.StartedAt)
		}
		all = append(all, barOf(string(r.Status), r.ScheduledAt.UTC().Format("2006-01-02 15:04:05Z"), took))
	}
	if len(all) == 0 {
		return nil
	}
	return bars("How long the last runs took", all, legend{"out", "succeeded ✓"}, legend{"bad", "failed or missed ■"}, legend{"plain", "other ○"})
}

func (v *visit) runTable(s *store, runs []job.Run) *table {
	return tableOf("It has not run yet.", []string{"State", "Scheduled", "Run", "Began", "Ended", "Attempts", "Last error"}, runs, func(r *job.Run) []cell {
		return []cell{state(string(r.Status)), at(r.ScheduledAt), v.messageLink(s, r.ID), at(r.StartedAt), at(r.EndedAt), count(int64(r.Attempts)), words(firstLine(r.LastError))}
	})
}

func runJob(a *act) (string, error) {
	id, err := a.Jobs.Trigger(a, a.Get("name"))
	return "run " + id.String() + " enqueued", err
}

// unsaved is why a form is shown again, with what was filled in: nothing was changed.
type unsaved struct {
	error
	form *screen
}

// errPreview is why a form was not saved in which nothing is wrong.
var errPreview = errors.New("a preview changes nothing")

// editJob is the form of a new job, or of the one that the address names.
func editJob(v *visit, s *store) (_ *screen, err error) {
	if !v.access.Operator {
		return &screen{Title: "Job", Still: true, Blocks: []block{{Note: readOnly}}}, nil
	}
	var j *job.Info
	if name := v.query.Get("name"); name != "" {
		if j, err = s.Jobs.Get(v.Context(), name); err != nil {
			return nil, err
		}
	}
	return v.jobForm(s, j, nil, nil), nil
}

// jobFields are the options of "pawl jobs put", whether the job is enabled, and why it is changed.
func jobFields(j *job.Info) []input {
	return []input{
		{Name: "name", Label: "Name", Value: j.Name}, {Name: "schedule", Label: "Schedule", Value: j.Schedule, Hint: "0 6 * * MON-FRI"}, {Name: "zone", Label: "Zone", Value: j.Zone, Hint: "UTC"},
		{Name: "topic", Label: "Topic", Value: j.Topic}, {Name: "queue", Label: "Queue", Value: j.Queue, Hint: outbox.DefaultQueue}, {Name: "priority", Label: "Priority", Value: strconv.Itoa(j.Priority)},
		{Name: "misfire", Label: "Misfire", Value: string(j.Misfire), Options: []string{string(job.RunOnce), string(job.RunNone), string(job.RunAll)}}, {Name: "misfire-limit", Label: "Misfire limit", Value: strconv.Itoa(j.MisfireLimit)},
		{Name: "overlap", Label: "Overlap", Value: string(j.Overlap), Options: []string{string(job.Allow), string(job.Skip)}}, {Name: "spread", Label: "Spread", Value: j.Spread.String()},
		{Name: "state", Label: "State", Value: map[bool]string{true: "enabled", false: "disabled"}[j.Enabled], Options: []string{"enabled", "disabled"}},
		{Name: "header", Label: "Headers", Type: "textarea", Value: headerLines(j.Headers), Hint: "NAME=VALUE"}, {Name: "data", Label: "Payload", Type: "textarea", Value: string(j.Payload)}, why(),
	}
}

// headerLines are headers as a form has them, without the values of credentials.
func headerLines(headers map[string]string) (lines string) {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		lines += name + "=" + view.Headers(headers)[name] + "\n"
	}
	return lines
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

// unix is the text of a text area, or one that is compared with it, with line feeds alone.
func unix(text string) string { return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text) }

// jobOf is the job that a form says. It has the stored one's payload and headers where they are not filled in, and
// the errors of Put.
func (v *visit) jobOf(form *params, stored *job.Info) (j job.Job, err error) {
	if stored != nil {
		j = stored.Job
	}
	j.Name, j.Schedule, j.Zone, j.Topic, j.Queue = form.Get("name"), form.Get("schedule"), form.Get("zone"), form.Get("topic"), form.Get("queue")
	j.Misfire, j.Overlap = job.Misfire(form.Get("misfire")), job.Overlap(form.Get("overlap"))
	payload, headers := v.writes(stored)
	if data := unix(form.Get("data")); payload && form.Has("data") && data != unix(string(j.Payload)) {
		j.Payload = []byte(data)
	}
	if headers && form.Has("header") {
		j.Headers = headersOf(form, j.Headers)
	}
	j.Priority, j.MisfireLimit, j.Spread = form.whole("priority"), form.whole("misfire-limit"), form.duration("spread", 0)
	if form.err != nil {
		return j, form.err
	}
	if err = j.Validate(); err == nil {
		_, _, err = job.Explain(j.Schedule, j.Zone, v.now, 1) // it may never fire
	}
	return j, err
}

// headersOf reads lines NAME=VALUE. A value that is masked is the one that is known.
func headersOf(form *params, known map[string]string) map[string]string {
	headers := map[string]string{}
	for line := range strings.SplitSeq(unix(form.Get("header")), "\n") {
		name, value, is := strings.Cut(line, "=")
		switch before, had := known[name]; {
		case had && value == view.Masked:
			headers[name] = before
		case is:
			headers[name] = value
		case line != "":
			form.wrong("headers", "not a line NAME=VALUE each")
		}
	}
	return headers
}

// jobForm is the form of a job as it is stored (nil: of a new one), or as it was filled in, with the next times of its
// schedule and what is wrong.
func (v *visit) jobForm(s *store, stored *job.Info, filled url.Values, wrong error) *screen {
	j, fields := stored, []string{"store", s.key}
	sc, b := &screen{Title: "New job", Still: true}, block{Note: "A program that declares this job overwrites it when it starts."}
	if stored == nil {
		j = &job.Info{Job: job.Job{Zone: "UTC", Queue: outbox.DefaultQueue, Misfire: job.RunOnce, MisfireLimit: 10, Overlap: job.Allow}, Enabled: true}
	} else {
		sc.Title, fields = "Edit job "+j.Name, append(fields, "name", j.Name, "edit", "yes")
		if j.Owner != "" {
			b.Note = "The program " + j.Owner + " declares this job, and overwrites it when it starts."
		}
	}
	payload, headers := v.writes(stored)
	if stored != nil && !(payload && headers) {
		b.Note += " What you cannot read of its headers and payload here stays as it is."
	}
	if wrong != nil {
		b.Error = said(wrong)
	}
	inputs, schedule, zone := jobFields(j), j.Schedule, j.Zone
	if filled != nil {
		schedule, zone = filled.Get("schedule"), filled.Get("zone")
		for i := range inputs {
			inputs[i].Value = filled.Get(inputs[i].Name)
		}
	}
	inputs = slices.DeleteFunc(inputs, func(f input) bool {
		return f.Name == "name" && stored != nil || f.Name == "data" && !payload || f.Name == "header" && !headers
	})
	b.Actions = []action{{Do: "put-job", Label: "Save", Preview: true, Fields: fields, Inputs: inputs}}
	sc.Blocks = []block{b}
	if times, err := v.nextTimes(schedule, zone); err == nil {
		sc.Blocks = append(sc.Blocks, times)
	}
	return sc
}

// putJob stores a job, or shows what its form says.
func putJob(a *act) (string, error) {
	name, edit, preview := a.Get("name"), a.Has("edit"), a.Has("preview")
	stored, err := a.Jobs.Get(a, name)
	switch {
	case edit && err != nil:
		return "", err
	case !edit && err == nil:
		stored, err = nil, engine.Invalid("name", "there is a job of this name")
	case missing(err) != nil:
		err = nil
	}
	j, invalid := a.v.jobOf(a.params, stored)
	if err = cmp.Or(err, invalid); err == nil && !preview {
		err = a.storeJob(&j, stored != nil, a.Get("state") != "disabled")
	}
	if err != nil || preview {
		return "", &unsaved{cmp.Or(err, errPreview), a.v.jobForm(a.store, stored, a.Values, err)}
	}
	a.Set("back", "job"+queryOf(url.Values{}, "store", a.key, "name", name))
	return "job stored", nil
}

// storeJob stores a job and enables or disables it. One that is known is disabled before, so that its new schedule
// makes no run.
func (a *act) storeJob(j *job.Job, known, enabled bool) (err error) {
	if known && !enabled {
		err = a.Jobs.SetEnabled(a, j.Name, false)
	}
	if err == nil {
		err = a.Jobs.Put(a, *j)
	}
	if err == nil {
		err = a.Jobs.SetEnabled(a, j.Name, enabled)
	}
	return err
}

func removeJob(a *act) (string, error) {
	a.Set("back", "jobs"+queryOf(url.Values{}, "store", a.key))
	return "job removed", a.Jobs.Delete(a, a.Get("name"))
}
