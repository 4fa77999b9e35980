package main

import (
	"context"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/inspect"
)

// backlogCmd is "pawl backlog".
type backlogCmd struct{ outputFlag }

// Help is printed by --help.
func (*backlogCmd) Help() string {
	return `Counts messages that are not done: ready, scheduled, retrying (an attempt failed,
the next is planned), unhandled (put back: no live worker has a handler), paused,
in_flight (claimed) and failed. OLDEST is for how long
the first of those that are ready or paused has been due.

At most 10 000 messages are read for their topic; the others of their queue stand in a line
without one. A + says that there may be more of this state and queue than were counted.`
}

// amountJSON is an amount of messages as JSON.
type amountJSON struct {
	Store string `json:"store,omitempty"`
	inspect.Amount
}

// Run prints the backlog.
func (c *backlogCmd) Run(ctx context.Context, a *app, g *options) error {
	return backlogListing().listStores(ctx, a, g, c.outputFlag, func(s *store, key string) (all []amountJSON, err error) {
		b, err := inspect.ReadBacklog(ctx, s)
		for _, m := range b.Messages {
			all = append(all, amountJSON{key, m})
		}
		return all, err
	})
}

func backlogListing() *listing[amountJSON] {
	return &listing[amountJSON]{
		none: "no messages",
		id:   func(m *amountJSON) string { return m.Queue + " " + m.Topic + " " + m.State },
		columns: []column[amountJSON]{
			{head: "STORE", cell: func(m *amountJSON) string { return m.Store }, optional: true},
			{head: "QUEUE", cell: func(m *amountJSON) string { return m.Queue }},
			{head: "TOPIC", cell: func(m *amountJSON) string { return m.Topic }},
			{head: "STATE", cell: func(m *amountJSON) string { return m.State }},
			{head: "COUNT", cell: (*amountJSON).count},
			{head: "OLDEST", cell: (*amountJSON).oldest},
		},
	}
}

// count is how many there are, with a + where there may be more.
func (m *amountJSON) count() string {
	if m.More {
		return number(m.Count) + "+"
	}
	return number(m.Count)
}

// oldest is for how long the oldest has waited, in seconds.
func (m *amountJSON) oldest() string {
	if m.State != "ready" && m.State != "paused" && m.State != "unhandled" || m.Topic == "" {
		return ""
	}
	return engine.Exact(m.Oldest.Round(time.Second))
}
