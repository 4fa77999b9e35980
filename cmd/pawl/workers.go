package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bravellian/pawl/internal/registry"
)

// workersCmd is "pawl workers".
type workersCmd struct {
	All bool `help:"Also those without a recent heartbeat: they crashed."`
}

// Help is printed by --help.
func (*workersCmd) Help() string {
	return `Processes that run pawl's workers register themselves, with a heartbeat every
10 s. One that was killed is listed as alive for up to 30 s more, and with --all as
gone for a day. A process that works on a fleet is shared: it is listed in each
store in which it had something to do within a day.`
}

// workerView is a worker as JSON.
type workerView struct {
	Store       string    `json:"store,omitempty"`
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Host        string    `json:"host"`
	PID         int64     `json:"pid"`
	Version     string    `json:"version"`
	Started     time.Time `json:"started"`
	Heartbeat   time.Time `json:"heartbeat"`
	Queues      []string  `json:"queues"`
	Topics      []string  `json:"topics"`
	Concurrency int64     `json:"concurrency"`
	InFlight    int64     `json:"in_flight"`
	Shared      bool      `json:"shared"`
	Alive       bool      `json:"alive"`
}

func viewWorker(store string, i *registry.Info) workerView {
	return workerView{
		store, i.ID.String(), i.Name, i.Host, i.PID, i.Version, i.Started, i.Heartbeat, i.Queues, i.Topics, i.Concurrency, i.InFlight, i.Shared, i.Alive,
	}
}

// Run lists workers.
func (c *workersCmd) Run(ctx context.Context, a *app, g *options) error {
	return workerListing().listStores(ctx, a, g, func(s *store, key string) (all []workerView, err error) {
		list, err := registry.New(s, silent()).List(ctx)
		for i := range list {
			if list[i].Alive || c.All {
				all = append(all, viewWorker(key, &list[i]))
			}
		}
		return all, err
	})
}

func workerListing() *listing[workerView] {
	return &listing[workerView]{
		none: "no workers",
		columns: []column[workerView]{
			{head: "STORE", cell: func(w workerView) string { return w.Store }, optional: true},
			{head: "WORKER", cell: func(w workerView) string { return w.Name }},
			{head: "PID", cell: func(w workerView) string { return number(w.PID) }},
			{head: "HOST", cell: func(w workerView) string { return w.Host }},
			{head: "STATE", cell: workerView.state},
			{head: "HEARTBEAT", cell: func(w workerView) string { return stamp(w.Heartbeat) }},
			{head: "BUSY", cell: func(w workerView) string { return fmt.Sprintf("%d/%d", w.InFlight, w.Concurrency) }},
			{head: "QUEUES", cell: func(w workerView) string { return strings.Join(w.Queues, " ") }},
			{head: "TOPICS", cell: func(w workerView) string { return strings.Join(w.Topics, " ") }},
			{head: "SINCE", cell: func(w workerView) string { return stamp(w.Started) }},
			{head: "VERSION", cell: func(w workerView) string { return w.Version }},
		},
	}
}

// state is a worker's state in words.
func (w workerView) state() string {
	switch {
	case !w.Alive:
		return "gone"
	case w.Shared:
		return "shared"
	}
	return "alive"
}
