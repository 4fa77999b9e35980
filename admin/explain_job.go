package admin

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/job"
)

// job explains when a job makes its next run, or why not, and how its last run is.
func (e *explainer) job(ctx context.Context, name string) (*Explanation, error) {
	latest, err := engine.Collect(e.jobs.Runs(ctx, name, job.RunsOptions{}), 1)
	if err != nil {
		return nil, err
	}
	j, err := e.jobs.Get(ctx, name)
	if absent(err) && len(latest) > 0 {
		return e.removed(ctx, name, &latest[0])
	}
	if err != nil {
		return nil, err
	}
	x := &Explanation{Kind: Job, ID: j.Name, Facts: e.jobFacts(j)}
	x.Finding = e.nextRun(j)
	if x.Code != codeJobDisabled {
		x.Also = e.laterBlockers(j)
	}
	return x, e.lastRuns(ctx, x, j, latest)
}

func (e *explainer) removed(ctx context.Context, name string, last *job.Run) (*Explanation, error) {
	x := &Explanation{Kind: Job, ID: name, Finding: blocker(codeJobRemoved, "There is no job of this name any more, only the history of one.", "pawl jobs runs "+engine.Quoted(name))}
	run, err := e.explainRun(ctx, last)
	if err != nil {
		return nil, err
	}
	x.Causes = []Explanation{*run}
	return x, nil
}

func (e *explainer) jobFacts(j *job.Info) (f health.Facts) {
	add(&f, "schedule", j.Schedule)
	add(&f, "zone", j.Zone)
	add(&f, "enabled", fmt.Sprint(j.Enabled))
	add(&f, "topic", j.Topic)
	add(&f, "queue", j.Queue)
	e.addTime(&f, "next_run", j.NextRunAt)
	if due := j.Due(); !due.Equal(j.NextRunAt) {
		e.addTime(&f, "due", due)
	}
	add(&f, "misfire", string(j.Misfire))
	add(&f, "overlap", string(j.Overlap))
	e.addTime(&f, "last_run", j.LastRunAt)
	if !j.LastRunID.IsZero() {
		add(&f, "last_status", string(j.LastRunStatus))
	}
	add(&f, "last_error", j.LastError)
	return f
}

// nextRun returns when the job's next run is made, or why none is.
func (e *explainer) nextRun(j *job.Info) health.Finding {
	due, name := j.Due(), engine.Quoted(j.Name)
	switch {
	case !j.Enabled:
		return blocker(codeJobDisabled, fmt.Sprintf("It is disabled, last changed at %s.", e.when(j.UpdatedAt)), "pawl jobs enable "+name)
	case j.LastError != "":
		return blocker(codeJobBroken, "Its schedule cannot be followed"+stop(after(j.LastError)), "put the job again with a schedule and zone that this build knows")
	case due.IsZero():
		return blocker(codeJobOver, "Its schedule has no more times.", "put the job again with another schedule")
	case due.After(e.now):
		return blocker(codeJobNext, fmt.Sprintf("Its next run is made at %s%s.", e.when(due), e.spreadText(j)), "to have it run now: pawl jobs run "+name)
	case len(e.everyone.Alive()) == 0:
		return e.noRuns(fmt.Sprintf("A run is due since %s. ", e.when(due)))
	}
	return blocker(codeJobDue, fmt.Sprintf("A run is due since %s, and a scheduler makes it at any moment.", e.when(due)), "if it stays like this: look at the schedulers of the workers")
}

func (e *explainer) spreadText(j *job.Info) string {
	if due := j.Due(); !due.Equal(j.NextRunAt) {
		return fmt.Sprintf(", for %s, as its spread has it", e.when(j.NextRunAt))
	}
	return ""
}

func (e *explainer) noRuns(what string) health.Finding {
	return blocker(codeNoScheduler, what+"No live worker is there, and so no scheduler that makes runs.", startWorker)
}

// laterBlockers returns what will keep the next run, or its message, from running.
func (e *explainer) laterBlockers(j *job.Info) (also []health.Finding) {
	if due := j.Due(); due.After(e.now) && len(e.everyone.Alive()) == 0 {
		also = append(also, e.noRuns(""))
	}
	if j.Overlap == job.Skip && (j.LastRunStatus == job.Pending || j.LastRunStatus == job.Running) && !j.LastRunID.IsZero() {
		also = append(also, blocker(codeJobOverlap, "Its last run is not over. Unless it ends before, the next one is skipped.", ""))
	}
	also = append(also, e.pausedAt(j.Queue, j.Topic, false)...)
	if missing, is := e.noWorker(j.Queue, j.Topic); is {
		also = append(also, missing)
	}
	return also
}

// lastRuns adds the job's last run and, if there was none at the latest time, the
// record of that.
func (e *explainer) lastRuns(ctx context.Context, x *Explanation, j *job.Info, latest []job.Run) error {
	if len(latest) > 0 && (latest[0].Status == job.Skipped || latest[0].Status == job.Missed) {
		record, err := e.explainRun(ctx, &latest[0])
		if err != nil {
			return err
		}
		x.Causes = append(x.Causes, *record)
	}
	if j.LastRunID.IsZero() {
		return nil
	}
	run, err := e.run(ctx, j.LastRunID)
	if absent(err) {
		return nil
	}
	if err == nil {
		x.Causes = append(x.Causes, *run)
	}
	return err
}

// run explains the run with an id.
func (e *explainer) run(ctx context.Context, id job.RunID) (*Explanation, error) {
	r, err := e.jobs.GetRun(ctx, id)
	if err != nil {
		return nil, err
	}
	return e.explainRun(ctx, r)
}

// explainRun explains a run and, as long as there is one, its message.
func (e *explainer) explainRun(ctx context.Context, r *job.Run) (*Explanation, error) {
	x := &Explanation{Kind: Run, ID: r.ID.String(), Facts: e.runFacts(r)}
	if r.Status != job.Skipped && r.Status != job.Missed {
		m, err := e.message(ctx, r.ID)
		if err != nil && !absent(err) {
			return nil, err
		}
		if err == nil {
			x.Causes = []Explanation{*m}
		}
	}
	x.Finding = e.runState(r)
	if len(x.Causes) > 0 && (r.Status == job.Pending || r.Status == job.Running) {
		x.Finding = blockedBy(x.Code, x.Summary, &x.Causes[0])
	}
	return x, nil
}

func (e *explainer) runFacts(r *job.Run) (f health.Facts) {
	add(&f, "job", r.Job)
	add(&f, "status", string(r.Status))
	e.addTime(&f, "scheduled", r.ScheduledAt)
	if r.Triggered {
		add(&f, "triggered", "true")
	}
	e.addTime(&f, "created", r.CreatedAt)
	e.addTime(&f, "started", r.StartedAt)
	e.addTime(&f, "ended", r.EndedAt)
	addNumber(&f, "failed_attempts", int64(r.Attempts))
	add(&f, "last_error", r.LastError)
	return f
}

func (e *explainer) runState(r *job.Run) health.Finding {
	of := fmt.Sprintf("of job %q for %s", r.Job, e.when(r.ScheduledAt))
	switch r.Status {
	case job.Pending:
		return blocker(codeRunPending, fmt.Sprintf("The run %s waits as a message.", of), "")
	case job.Running:
		return blocker(codeRunRunning, fmt.Sprintf("The run %s is under way.", of), "")
	case job.Succeeded:
		return blocker(codeRunSucceeded, fmt.Sprintf("The run %s succeeded at %s.", of, e.when(r.EndedAt)), "")
	case job.Failed:
		return blocker(codeRunFailed, fmt.Sprintf("The run %s failed for good at %s%s", of, e.when(r.EndedAt), stop(after(r.LastError))), "pawl retry "+r.ID.String())
	case job.Cancelled:
		return blocker(codeRunCancelled, fmt.Sprintf("The run %s was cancelled, or given up after it failed, at %s%s", of, e.when(r.EndedAt), stop(after(r.LastError))), "")
	case job.Skipped:
		return blocker(codeRunSkipped, fmt.Sprintf("There was no run %s: an earlier one was not over, and the job says that it is skipped then.", of), "to have it run now: pawl jobs run "+engine.Quoted(r.Job))
	case job.Missed:
		times := "that time"
		if r.Missed > 1 {
			times = fmt.Sprintf("%d times from then on", r.Missed)
		}
		return blocker(codeRunMissed, fmt.Sprintf("There was no run %s: no scheduler was running, and the job's misfire policy leaves out %s.", of, times), "to have it run now: pawl jobs run "+engine.Quoted(r.Job))
	}
	return blocker(codeRunUnknown, fmt.Sprintf("How the run %s ended is not known: its message is gone.", of), "")
}
