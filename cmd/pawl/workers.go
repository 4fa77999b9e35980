package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/internal/registry"
)

// workersCmd is "pawl workers".
type workersCmd struct {
	All bool `help:"Also those that were not heard of lately: they crashed."`
}

// Help is printed by --help.
func (*workersCmd) Help() string {
	return `Processes that run pawl's workers list themselves, and show every 10 s that they
are alive. One that was killed is listed as alive for up to 30 s more, and with
--all as gone for a day. A process that works on a fleet is
listed where it had something to do within a day.`
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
	var all []workerView
	err := g.eachStore(ctx, a, func(s *store, key string) error {
		list, err := registry.New(s, silent()).List(ctx)
		for i := range list {
			if list[i].Alive || c.All {
				all = append(all, viewWorker(key, &list[i]))
			}
		}
		return err
	})
	if g.JSON {
		return errors.Join(printAll(a, all, func(v workerView) workerView { return v }), err)
	}
	if len(all) == 0 {
		if err == nil {
			fmt.Fprintln(a.stderr, "no workers")
		}
		return err
	}
	return errors.Join(c.print(a, g, all), err)
}

func (c *workersCmd) print(a *app, g *options, all []workerView) error {
	t := newStoreTable(g, "WORKER", "PID", "HOST", "STATE", "HEARD OF", "BUSY", "QUEUES", "TOPICS", "SINCE", "VERSION")
	for i := range all {
		w := &all[i]
		state := "alive"
		switch {
		case !w.Alive:
			state = "gone"
		case w.Shared:
			state = "taking turns"
		}
		t.row(w.Store, w.Name, strconv.FormatInt(w.PID, 10), w.Host, state, stamp(w.Heartbeat), fmt.Sprintf("%d/%d", w.InFlight, w.Concurrency),
			strings.Join(w.Queues, " "), strings.Join(w.Topics, " "), stamp(w.Started), w.Version)
	}
	return t.Write(a.stdout, terminal.Width(a.stdout))
}
