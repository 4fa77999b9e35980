package explain

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/job"
)

// job explains why a job makes no run, and how its last one is.
func (l *look) job(ctx context.Context, name string) (*Explanation, error) {
	latest, err := l.Jobs.Runs(ctx, name, job.RunFilter{Limit: 1})
	if err != nil {
		return nil, err
	}
	j, err := l.Jobs.Get(ctx, name)
	if absent(err) && len(latest) > 0 {
		return l.removed(ctx, name, latest[0])
	}
	if err != nil {
		return nil, err
	}
	x := &Explanation{Kind: Job, ID: j.Name, Facts: l.jobFacts(j)}
	x.Hold = l.nextRun(j)
	if x.Reason != JobDisabled {
		x.Also = l.besides(j)
	}
	return x, l.lastRuns(ctx, x, j, latest)
}

func (l *look) removed(ctx context.Context, name string, last *job.Run) (*Explanation, error) {
	x := &Explanation{Kind: Job, ID: name, Hold: Hold{JobRemoved, "There is no job of this name any more, only the history of one.", "pawl jobs runs " + quoted(name)}}
	run, err := l.explainRun(ctx, last)
	x.Because = []*Explanation{run}
	return x, err
}

func (l *look) jobFacts(j *job.Info) (f Facts) {
	f.add("schedule", j.Schedule)
	f.add("zone", j.Zone)
	f.add("enabled", fmt.Sprint(j.Enabled))
	f.add("topic", j.Topic)
	f.add("queue", j.Queue)
	l.addTime(&f, "next_run", j.NextRun)
	if due := j.Due(); !due.Equal(j.NextRun) {
		l.addTime(&f, "due", due)
	}
	f.add("misfire", j.Misfire.String())
	f.add("overlap", j.Overlap.String())
	l.addTime(&f, "last_run", j.LastRunTime)
	if !j.LastRunID.IsZero() {
		f.add("last_status", j.LastRunStatus.String())
	}
	f.add("last_error", j.LastError)
	return f
}

// nextRun says when the job's next run is made, or why none is.
func (l *look) nextRun(j *job.Info) Hold {
	due, name := j.Due(), quoted(j.Name)
	switch {
	case !j.Enabled:
		return Hold{JobDisabled, fmt.Sprintf("It is disabled, last changed at %s.", l.when(j.UpdatedAt)), "pawl jobs enable " + name}
	case j.LastError != "":
		return Hold{JobBroken, "Its schedule cannot be followed" + stop(after(j.LastError)), "put the job again with a schedule and zone that this build knows"}
	case due.IsZero():
		return Hold{JobOver, "Its schedule has no more times.", "put the job again with another schedule"}
	case due.After(l.now):
		return Hold{JobNext, fmt.Sprintf("Its next run is made at %s%s.", l.when(due), l.spreadText(j)), "to have it run now: pawl jobs run " + name}
	case !l.crew.any():
		return l.noRuns(fmt.Sprintf("A run is due since %s. ", l.when(due)))
	}
	return Hold{Reason: JobDue, Sentence: fmt.Sprintf("A run is due since %s, and a scheduler makes it at any moment.", l.when(due)),
		Next: "if it stays like this: look at the schedulers of the workers"}
}

func (l *look) spreadText(j *job.Info) string {
	if due := j.Due(); !due.Equal(j.NextRun) {
		return fmt.Sprintf(", for %s, as its spread has it", l.when(j.NextRun))
	}
	return ""
}

func (l *look) noRuns(what string) Hold {
	return Hold{NoScheduler, what + "No live worker is there, and so no scheduler that makes runs.", "start a worker, of whatever queue"}
}

// besides is what will hold the next run, or its message.
func (l *look) besides(j *job.Info) (also []Hold) {
	if due := j.Due(); due.After(l.now) && !l.crew.any() {
		also = append(also, l.noRuns(""))
	}
	if j.Overlap == job.Skip && (j.LastRunStatus == job.Pending || j.LastRunStatus == job.Running) && !j.LastRunID.IsZero() {
		also = append(also, Hold{Reason: JobOverlap, Sentence: "Its last run is not over. Unless it ends before, the next one is skipped."})
	}
	also = append(also, l.pausedAt(j.Queue, j.Topic, false)...)
	if missing, is := l.unmanned(j.Queue, j.Topic); is {
		also = append(also, missing)
	}
	return also
}

// lastRuns adds the job's last run and, if there was none at the latest time, the
// record of that.
func (l *look) lastRuns(ctx context.Context, x *Explanation, j *job.Info, latest []*job.Run) error {
	if len(latest) > 0 && (latest[0].Status == job.Skipped || latest[0].Status == job.Missed) {
		record, err := l.explainRun(ctx, latest[0])
		if err != nil {
			return err
		}
		x.Because = append(x.Because, record)
	}
	if j.LastRunID.IsZero() {
		return nil
	}
	run, err := l.run(ctx, j.LastRunID)
	if absent(err) {
		return nil
	}
	if err == nil {
		x.Because = append(x.Because, run)
	}
	return err
}

// run explains the run with an id.
func (l *look) run(ctx context.Context, id job.RunID) (*Explanation, error) {
	r, err := l.Jobs.GetRun(ctx, id)
	if err != nil {
		return nil, err
	}
	return l.explainRun(ctx, r)
}

// explainRun explains a run and, as long as there is one, its message.
func (l *look) explainRun(ctx context.Context, r *job.Run) (*Explanation, error) {
	x := &Explanation{Kind: Run, ID: r.ID.String(), Facts: l.runFacts(r)}
	if r.Status != job.Skipped && r.Status != job.Missed {
		m, err := l.message(ctx, r.ID)
		if err != nil && !absent(err) {
			return nil, err
		}
		if err == nil {
			x.Because = []*Explanation{m}
		}
	}
	x.Hold = l.runHold(r)
	if len(x.Because) > 0 && (r.Status == job.Pending || r.Status == job.Running) {
		m := x.Because[0]
		x.Sentence, x.Next = x.Sentence+" "+m.Sentence, m.Next
	}
	return x, nil
}

func (l *look) runFacts(r *job.Run) (f Facts) {
	f.add("job", r.Job)
	f.add("status", r.Status.String())
	l.addTime(&f, "scheduled", r.Scheduled)
	if r.Triggered {
		f.add("triggered", "true")
	}
	l.addTime(&f, "created", r.CreatedAt)
	l.addTime(&f, "started", r.StartedAt)
	l.addTime(&f, "ended", r.EndedAt)
	f.number("failed_attempts", int64(r.Attempts))
	f.add("last_error", r.LastError)
	return f
}

func (l *look) runHold(r *job.Run) Hold {
	of := fmt.Sprintf("of job %q for %s", r.Job, l.when(r.Scheduled))
	switch r.Status {
	case job.Pending:
		return Hold{Reason: RunPending, Sentence: fmt.Sprintf("The run %s waits as a message.", of)}
	case job.Running:
		return Hold{Reason: RunRunning, Sentence: fmt.Sprintf("The run %s is under way.", of)}
	case job.Succeeded:
		return Hold{Reason: RunSucceeded, Sentence: fmt.Sprintf("The run %s succeeded at %s.", of, l.when(r.EndedAt))}
	case job.Failed:
		return Hold{RunFailed, fmt.Sprintf("The run %s failed for good at %s%s", of, l.when(r.EndedAt), stop(after(r.LastError))), "pawl retry " + r.ID.String()}
	case job.Cancelled:
		return Hold{Reason: RunCancelled, Sentence: fmt.Sprintf("The run %s was cancelled, or given up after it failed, at %s%s", of, l.when(r.EndedAt), stop(after(r.LastError)))}
	case job.Skipped:
		return Hold{RunSkipped, fmt.Sprintf("There was no run %s: an earlier one was not over, and the job says that it is skipped then.", of), "to have it run now: pawl jobs run " + quoted(r.Job)}
	case job.Missed:
		times := "that time"
		if r.Missed > 1 {
			times = fmt.Sprintf("%d times from then on", r.Missed)
		}
		return Hold{RunMissed, fmt.Sprintf("There was no run %s: no scheduler was running, and the job's misfire policy leaves out %s.", of, times), "to have it run now: pawl jobs run " + quoted(r.Job)}
	}
	return Hold{Reason: RunUnknown, Sentence: fmt.Sprintf("How the run %s ended is not known: its message is gone.", of)}
}
