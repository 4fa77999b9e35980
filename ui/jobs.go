package ui

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/job"
)

// stripRuns is how many of a job's last runs are shown as a strip.
const stripRuns = 20

// jobs lists jobs.
func jobs(v *visit) (*screen, error) {
	sc, err := listing(v, "Jobs", nil, v.listJobs, func(s *store, list []job.Info) *table {
		t := tableOf("No jobs.", []string{"State", "Job", "Schedule", "Zone", "Topic", "Next run", "Last run", "Ended as", ""}, list, func(j *job.Info) []cell {
			spoken, _, _ := job.Explain(j.Schedule, j.Zone, v.now, 1)
			return []cell{
				pick(state(view.JobState(j)), "name", j.Name), link(j.Name, v.hrefIn(s.key, "job", "name", j.Name)), words(strings.TrimSpace(j.Schedule + ": " + spoken)), words(j.Zone), words(j.Topic),
				at(j.NextRun), at(j.LastRunAt), state(string(j.LastRunStatus)), {Actions: jobActions(s, j)},
			}
		})
		return t.selectable(s, action{Do: "run-job", Label: "Run now"}, action{Do: "enable-job", Label: "Enable"}, action{Do: "disable-job", Label: "Disable", Inputs: []input{why()}, Confirm: disabled}, removes())
	})
	for i := range sc.Blocks {
		b := &sc.Blocks[i]
		b.Actions = []action{{Page: "job/edit", Label: "New job", Fields: []string{"store", cmp.Or(b.Store, v.key)}}}
	}
	return sc, err
}

// disabled is what becomes of a job that is disabled.
const disabled = "What is disabled has no more runs until it is enabled."

// listJobs reads the page that the address asks for.
func (v *visit) listJobs(ctx context.Context, s *store) (pageOf[job.Info], error) {
	var after *job.Info
	if name := v.query.Get("after"); name != "" {
		after = &job.Info{Job: job.Job{Name: name}}
	}
	p, err := sift(s.Jobs.List(ctx, job.ListOptions{After: after}), nil, func(j *job.Info) string { return j.Name })
	for i := range p.rows {
		p.rows[i].Headers = v.headers(p.rows[i].Topic, p.rows[i].Headers)
	}
	return p, err
}

func jobActions(s *store, j *job.Info) []action {
	fields := []string{"store", s.key, "name", j.Name}
	all := []action{{Do: "run-job", Label: "Run now", Fields: fields}}
	if j.Enabled {
		return append(all, action{Do: "disable-job", Label: "Disable", Fields: fields, Inputs: []input{why()}, Confirm: disabled})
	}
	return append(all, action{Do: "enable-job", Label: "Enable", Fields: fields})
}

// oneJob shows a job with its next times and its last runs.
func oneJob(v *visit) (*screen, error) {
	s, err := v.one()
	if err != nil {
		return nil, err
	}
	j, err := s.Jobs.Get(v.Context(), v.query.Get("name"))
	if err != nil {
		return nil, err
	}
	runs, err := v.runs(s, j.Name)
	if err != nil {
		return nil, err
	}
	found, err := s.Admin.Explain(v.Context(), j.Name, "job")
	if err != nil {
		return nil, err
	}
	v.redactExplanation(found)
	times, _ := v.nextTimes(j.Schedule, j.Zone)
	fields := []string{"store", s.key, "name", j.Name}
	return &screen{Title: "Job " + j.Name, Blocks: []block{
		{Findings: explained(found), Actions: append(jobActions(s, j), action{Page: "job/edit", Label: "Edit", Fields: fields}, removes(fields...))},
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

// removes removes jobs.
func removes(fields ...string) action {
	return action{Do: "remove-job", Label: "Remove", Fields: fields, Danger: true, Inputs: []input{why()}, Confirm: "What is removed has no more runs, and those that wait are removed. A run that is being worked on goes on, and the history of runs stays for a while."}
}

// runs reads the last runs of a job.
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
		one := bar{Class: "plain", Mark: "○", N: 1, Title: string(r.Status) + ", " + r.Scheduled.UTC().Format("2006-01-02 15:04:05Z")} // 1: so that it can be seen
		switch r.Status {
		case job.Succeeded:
			one.Class, one.Mark = "out", "✓"
		case job.Failed, job.Missed:
			one.Class, one.Mark = "bad", "■"
		}
		if !r.EndedAt.IsZero() && !r.StartedAt.IsZero() {
			took := r.EndedAt.Sub(r.StartedAt)
			one.N, one.Title = one.N+took.Milliseconds(), one.Title+", took "+short(took.Round(time.Millisecond))
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		return nil
	}
	return bars("How long the last runs took", all, legend{"out", "succeeded ✓"}, legend{"bad", "failed or missed ■"}, legend{"plain", "other ○"})
}

func (v *visit) runTable(s *store, runs []job.Run) *table {
	return tableOf("It has not run yet.", []string{"State", "Scheduled", "Run", "Began", "Ended", "Attempts", "Last error"}, runs, func(r *job.Run) []cell {
		name := words("")
		if !r.ID.IsZero() {
			name = cell{Text: r.ID.String(), Href: v.hrefIn(s.key, "messages/"+r.ID.String()), Mono: true}
		}
		return []cell{state(string(r.Status)), at(r.Scheduled), name, at(r.StartedAt), at(r.EndedAt), count(int64(r.Attempts)), words(firstLine(r.LastError))}
	})
}

func runJob(ctx context.Context, s *store, form url.Values) (string, error) {
	id, err := s.Jobs.Trigger(ctx, form.Get("name"))
	return "run " + id.String() + " enqueued", err
}

func enableJob(ctx context.Context, s *store, form url.Values) (string, error) {
	return "job enabled", s.Jobs.SetEnabled(ctx, form.Get("name"), true)
}

func disableJob(ctx context.Context, s *store, form url.Values) (string, error) {
	return "job disabled", s.Jobs.SetEnabled(ctx, form.Get("name"), false)
}
