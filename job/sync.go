package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/declare"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/lease"
)

// ErrOwned is returned by Sync for a job that belongs to another owner.
var ErrOwned = errors.New("job belongs to another owner")

// headerOwner names the owner of a job in the messages of its runs: who declared it by Sync.
const headerOwner = "pawl-job-owner"

// SyncOptions adjust Sync. The zero value is right for most programs.
type SyncOptions struct {
	// DryRun changes nothing: the result is what would have been done.
	DryRun bool
	// Version is the program's, such as "v1.10.2" or the time of its commit; "": its executable and what
	// it declares are one. Versions are compared part by part, numbers as numbers.
	Version string
	// Latest means that what is declared is the newest, whatever was declared before: for files that
	// people keep, and to roll back.
	Latest bool
}

// Synced is what Sync did: names of jobs, in order.
type Synced struct {
	Stored    []string `json:"stored"`    // new or changed
	Unchanged []string `json:"unchanged"` // as they were
	Removed   []string `json:"removed"`   // with their pending runs
	// Superseded says which newer version of the program declared other jobs: then nothing is changed.
	Superseded string `json:"superseded,omitempty"`
}

// syncLease is how long a process that stalls keeps others from syncing: longer than a
// transaction may take, so that none ends after its lease.
const syncLease = 2 * time.Minute

// Sync stores the jobs that a program declares, as Put does, and removes those that it declared
// before under this owner, a name of 1–200 characters, and no longer does. Up to 50 changes are one
// transaction. Processes that do it at once take turns. What a newer version of the program declared
// stays: an older one that restarts changes nothing, and Synced.Superseded says so. Newer is the one that
// SyncOptions.Version says or, where programs name none, the one that declared first after the others; see
// Forget. Jobs stored by Put have no owner: Sync takes over those that it
// declares, and leaves others alone; storing a job by Put takes it from its owner.
//
// Errors: pawl.ErrInvalid for a job that Put would refuse, or a name given twice; ErrOwned for a
// job of another owner: nothing was changed then. After other errors call it again.
func (j *Jobs) Sync(ctx context.Context, owner string, jobs []Job, opts SyncOptions) (Synced, error) {
	if err := engine.CheckText("owner", owner, limits.JobOwner, true); err != nil {
		return Synced{}, err
	}
	jobs, err := declared(jobs)
	if err != nil {
		return Synced{}, err
	}
	if err := engine.CheckText("version", opts.Version, limits.JobOwner, false); err != nil {
		return Synced{}, err
	}
	if opts.DryRun {
		plan, err := j.compare(ctx, owner, jobs, &opts)
		return plan.done, err
	}
	l, err := j.leases.AcquireWait(ctx, "pawl.jobs.sync/"+owner, lease.Options{Duration: syncLease})
	if err != nil {
		return Synced{}, err
	}
	done, err := j.sync(ctx, owner, jobs, &opts, l)
	return done, errors.Join(err, l.Close(ctx))
}

// declared are valid jobs by name.
func declared(jobs []Job) ([]Job, error) {
	if err := engine.CheckDistinct("jobs", jobs, func(j *Job) string { return j.Name }); err != nil {
		return nil, err
	}
	jobs = slices.Clone(jobs)
	slices.SortFunc(jobs, func(a, b Job) int { return cmp.Compare(a.Name, b.Name) })
	for i := range jobs {
		if err := jobs[i].check(); err != nil {
			return nil, fmt.Errorf("job %q: %w", jobs[i].Name, err)
		}
	}
	return jobs, nil
}

// syncPlan is what a Sync has to do.
type syncPlan struct {
	done Synced
	put  []*storing // those to be stored
	// record has the calls that record the program's version.
	record []*engine.Call
}

// compare compares what is declared with what is stored.
func (j *Jobs) compare(ctx context.Context, owner string, jobs []Job, opts *SyncOptions) (plan syncPlan, err error) {
	plan.done = Synced{Stored: []string{}, Unchanged: []string{}, Removed: []string{}}
	plan.done.Superseded, plan.record, err = declare.Check(ctx, j.db, declaredAs(owner), fmt.Sprintf("%+v", jobs), declare.Options{Version: opts.Version, Latest: opts.Latest})
	if err != nil || plan.done.Superseded != "" {
		return plan, err
	}
	now, err := j.now(ctx)
	if err != nil {
		return plan, err
	}
	stored, err := j.all(ctx)
	if err != nil {
		return plan, err
	}
	for i := range jobs {
		s, err := j.storing(&jobs[i], owner, now)
		if err != nil {
			return plan, fmt.Errorf("job %q: %w", jobs[i].Name, err)
		}
		have, known := stored[jobs[i].Name]
		delete(stored, jobs[i].Name)
		switch {
		case known && have.owner != "" && have.owner != owner:
			return plan, fmt.Errorf("%w: %q of %q", ErrOwned, jobs[i].Name, have.owner)
		case known && have.same(s):
			plan.done.Unchanged = append(plan.done.Unchanged, jobs[i].Name)
		default:
			plan.done.Stored = append(plan.done.Stored, jobs[i].Name)
			plan.put = append(plan.put, s)
		}
	}
	for name, have := range stored {
		if have.owner == owner {
			plan.done.Removed = append(plan.done.Removed, name)
		}
	}
	slices.Sort(plan.done.Removed)
	return plan, nil
}

// syncChunk is how many jobs one transaction changes: SQL Server takes 2,100 parameters.
const syncChunk = 50

// sync does what compare finds, while the lease is held.
func (j *Jobs) sync(ctx context.Context, owner string, jobs []Job, opts *SyncOptions, l *lease.Lease) (Synced, error) {
	var plan syncPlan
	err := engine.Repeat(ctx, nil, func() (err error) {
		if plan, err = j.compare(ctx, owner, jobs, opts); err != nil {
			return err
		}
		for chunk := range slices.Chunk(plan.changes(ctx), syncChunk) {
			if err := j.doWhile(ctx, l, slices.Concat(chunk...)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Synced{}, err
	}
	if by := plan.done.Superseded; by != "" {
		j.log.WarnContext(ctx, "jobs not synced: a newer version of the program declared others", "owner", owner, "newer", by)
		return plan.done, nil
	}
	for _, s := range plan.put {
		s.template.Ran(ctx, nil)
	}
	if len(plan.put)+len(plan.done.Removed) > 0 {
		j.db.Notify(worker.ScheduleQueue)
	}
	j.log.InfoContext(ctx, "jobs synced", "owner", owner, "stored", len(plan.put), "removed", len(plan.done.Removed), "unchanged", len(plan.done.Unchanged))
	return plan.done, nil
}

// declaredAs is the name under which versions of an owner are recorded.
func declaredAs(owner string) string { return "jobs/" + owner }

// Forget has the next version of a program that syncs jobs of an owner, or declares limits as the program of
// this name (pawl.Options.Program), count as the newest, whichever it is: to roll a program back. It reports whether any version was
// known, and changes no job or limit.
func (j *Jobs) Forget(ctx context.Context, owner string) (bool, error) {
	if err := engine.CheckText("owner", owner, limits.JobOwner, true); err != nil {
		return false, err
	}
	jobs, theirs := engine.Ask(op.DeclaredForget{Owner: declaredAs(owner)}), engine.Ask(op.DeclaredForget{Owner: "limits/" + owner})
	err := j.db.Do(ctx, jobs, theirs)
	return jobs.N+theirs.N > 0, err
}

// doWhile runs calls unless the lease is lost.
func (j *Jobs) doWhile(ctx context.Context, l *lease.Lease, calls []*engine.Call) error {
	if err := l.Err(); err != nil {
		return err
	}
	return j.db.Do(ctx, calls...)
}

// changes are the calls that change each job.
func (p *syncPlan) changes(ctx context.Context) (all [][]*engine.Call) {
	if len(p.record) > 0 {
		all = append(all, p.record)
	}
	for _, s := range p.put {
		all = append(all, append(s.template.LaneCalls(), s.call(ctx)))
	}
	for _, name := range p.done.Removed {
		all = append(all, []*engine.Call{engine.Ask(op.JobDelete{Name: name, Note: audit.New(ctx, target(name)).Op()})})
	}
	return all
}

// storedJob is a job as it is stored, and whose it is.
type storedJob struct {
	op.Job
	owner string
}

// all reads every job by its name.
func (j *Jobs) all(ctx context.Context) (map[string]storedJob, error) {
	all := map[string]storedJob{}
	rows := engine.Pages(nil, func(after *op.Job, most int) ([]op.Job, error) {
		list := op.JobList{Most: most}
		if after != nil {
			list.After = after.Name
		}
		return engine.Query(ctx, j.db, list)
	})
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		all[row.Name] = storedJob{row, headersOf(row.Headers)[headerOwner]}
	}
	return all, nil
}

// same reports whether storing would change nothing.
func (have *storedJob) same(s *storing) bool {
	is, want := &have.JobSpec, &s.spec
	return is.Topic == want.Topic && string(is.Payload) == string(want.Payload) && maps.Equal(headersOf(is.Headers), headersOf(want.Headers)) &&
		is.Schedule == want.Schedule && is.Zone == want.Zone && is.Misfire == want.Misfire && is.MisfireLimit == want.MisfireLimit && is.Overlap == want.Overlap &&
		is.Spread == want.Spread && is.Shift == want.Shift && engine.LaneID(have.Queue, have.Priority, engine.Claimable) == s.template.Lane() && (!have.Enabled || have.NextTime != nil)
}
