package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/cmd/pawl/internal/input"
	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/job"
)

// jobsSyncCmd is "pawl jobs sync".
type jobsSyncCmd struct {
	File   string `arg:"" placeholder:"FILE" help:"JSON: an array of jobs, - for standard input."`
	Owner  string `required:"" placeholder:"NAME" help:"Whose jobs these are: those that NAME declared before and that FILE lacks are removed."`
	DryRun bool   `help:"Change nothing, and say what would be done."`

	migrateFlag
}

// Help is printed by --help.
func (*jobsSyncCmd) Help() string {
	return `Stores the jobs that a file declares and removes those of the same owner that it no
longer does. Jobs of nobody that it declares become the owner's; one of another owner is
an error.

    [{"name": "report", "schedule": "0 6 * * MON-FRI", "zone": "Europe/Berlin", "topic": "report", "payload": "{}"},
     {"name": "sync", "schedule": "@every 90s", "topic": "sync", "overlap": "skip", "spread": "10s"}]

A payload is a string, or any JSON; see "pawl enqueue --help".
Fields: name, schedule, zone, topic, payload or payload_base64, headers, queue, priority,
misfire (once, none, all), misfire_limit, overlap (allow, skip), spread.`
}

// declaredJob is a job of the file.
type declaredJob struct {
	job.Job
	Payload json.RawMessage `json:"payload"`
	Binary  []byte          `json:"payload_base64"`
	Spread  string          `json:"spread"`
}

// Run syncs the jobs of a file.
func (c *jobsSyncCmd) Run(ctx context.Context, a *app, g *options) error {
	jobs, err := c.read(a)
	if err != nil {
		return err
	}
	s, err := g.open(ctx, opening{make: true, migrate: c.Migrate})
	if err != nil {
		return err
	}
	done, err := s.pawl().Jobs.Sync(ctx, c.Owner, jobs, job.SyncOptions{DryRun: c.DryRun, Latest: true})
	if errors.Is(err, pawl.ErrInvalid) {
		err = fmt.Errorf("%s: %w", c.File, err)
	}
	if err := s.close(err); err != nil {
		return err
	}
	if g.JSON {
		return a.printJSON(done)
	}
	for _, part := range []struct {
		what  string
		names []string
	}{{"stored", done.Stored}, {"removed", done.Removed}, {"unchanged", done.Unchanged}} {
		what := part.what
		if c.DryRun && what != "unchanged" {
			what = "would be " + what
		}
		for _, name := range part.names {
			if _, err := fmt.Fprintln(a.stdout, terminal.Clean(name+"  "+what)); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxJobsFile is how much a file of jobs may have, in bytes.
const maxJobsFile = 16 << 20

// read reads the file.
func (c *jobsSyncCmd) read(a *app) ([]job.Job, error) {
	from, name, err := a.openInput(c.File)
	if err != nil {
		return nil, usage("%w", err)
	}
	defer from.Close()
	text, err := io.ReadAll(io.LimitReader(from, maxJobsFile+1))
	if err != nil {
		return nil, usage("%s: %w", name, err)
	}
	if len(text) > maxJobsFile {
		return nil, usage("%s: more than %d MiB", name, maxJobsFile>>20)
	}
	var declared []json.RawMessage
	if err := json.Unmarshal(text, &declared); err != nil || declared == nil {
		return nil, usage("%s: not a JSON array of jobs", name)
	}
	jobs := make([]job.Job, len(declared))
	for i, d := range declared {
		if jobs[i], err = declaredJobOf(d); err != nil {
			var is struct{ Name string }
			_ = json.Unmarshal(d, &is) // it may have none
			return nil, usage("%s: job %d, %q: %w", name, i+1, is.Name, err)
		}
	}
	return jobs, nil
}

// declaredJobOf reads a job of the file. Its payload is what that of "pawl enqueue" is.
func declaredJobOf(text []byte) (job.Job, error) {
	var d declaredJob
	err := input.Decode(text, &d)
	if err != nil {
		return d.Job, err
	}
	if d.Job.Payload, err = input.Payload(d.Payload, d.Binary); err != nil {
		return d.Job, err
	}
	if d.Spread != "" {
		if d.Job.Spread, err = time.ParseDuration(d.Spread); err != nil {
			return d.Job, fmt.Errorf("spread: %w", err)
		}
	}
	return d.Job, nil
}
