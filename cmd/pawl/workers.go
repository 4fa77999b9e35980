package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/internal/registry"
)

// workersCmd is "pawl workers".
type workersCmd struct {
	outputFlag
	All bool `help:"Also those without a recent heartbeat: they crashed."`
}

// Help is printed by --help.
func (*workersCmd) Help() string {
	return `Processes that run pawl's workers register themselves, with a heartbeat every
10 s. One that was killed is listed as alive for up to 30 s more, and with --all as
gone for a day. A process that works on a fleet is shared: it is listed in each
store in which it had something to do within a day.`
}

// workerJSON is a worker as JSON.
type workerJSON struct {
	Store string `json:"store,omitempty"`
	registry.Info
}

// Run lists workers.
func (c *workersCmd) Run(ctx context.Context, a *app, g *options) error {
	return workerListing().listStores(ctx, a, g, c.outputFlag, func(s *store, key string) (all []workerJSON, err error) {
		list, err := inspect.ListWorkers(ctx, s)
		for _, w := range list {
			if w.Alive || c.All {
				all = append(all, workerJSON{key, w})
			}
		}
		return all, err
	})
}

func workerListing() *listing[workerJSON] {
	return &listing[workerJSON]{
		none: "no workers",
		id:   func(w *workerJSON) string { return w.ID.String() },
		columns: []column[workerJSON]{
			{head: "STORE", cell: func(w *workerJSON) string { return w.Store }, optional: true},
			{head: "WORKER", cell: func(w *workerJSON) string { return w.Name }},
			{head: "PID", cell: func(w *workerJSON) string { return number(w.PID) }},
			{head: "HOST", cell: func(w *workerJSON) string { return w.Host }},
			{head: "STATE", cell: (*workerJSON).state},
			{head: "HEARTBEAT", cell: func(w *workerJSON) string { return stamp(w.Heartbeat) }},
			{head: "BUSY", cell: func(w *workerJSON) string { return fmt.Sprintf("%d/%d", w.InFlight, w.Concurrency) }},
			{head: "QUEUES", cell: func(w *workerJSON) string { return strings.Join(w.Queues, " ") }},
			{head: "TOPICS", cell: func(w *workerJSON) string { return strings.Join(w.Topics, " ") }},
			{head: "SINCE", cell: func(w *workerJSON) string { return stamp(w.Started) }},
			{head: "VERSION", cell: func(w *workerJSON) string { return w.Version }},
		},
	}
}

// state is a worker's state in words.
func (w *workerJSON) state() string {
	switch {
	case !w.Alive:
		return "gone"
	case w.Shared:
		return "shared"
	}
	return "alive"
}
