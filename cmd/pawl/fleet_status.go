package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/target"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/outbox"
)

// fleetStatusCmd is "pawl fleet status".
type fleetStatusCmd struct {
	outputFlag
	Timeout time.Duration `default:"5s" placeholder:"DURATION" help:"How long a store may take to answer. Default: ${default}."`
}

// Help is printed by --help.
func (*fleetStatusCmd) Help() string {
	return `STATE is that of pawl's tables: ok, missing or old (see "pawl migrate"), new or
changed (made by another build), or unreachable. The exit code is 1 unless all
are ok.

Examples:

    pawl fleet status --fleet dir:tenants
    pawl fleet status --fleet list:stores.txt --timeout 1s --json`
}

// Run asks all stores.
func (c *fleetStatusCmd) Run(ctx context.Context, a *app, g *options) error {
	if err := g.requireFleet(); err != nil {
		return err
	}
	if c.Timeout <= 0 {
		return usage("--timeout: not above zero")
	}
	answers, err := askStores(ctx, g, func(e *entry) storeStatus { return c.ask(ctx, e) })
	if err != nil {
		return err
	}
	return c.print(a, g, answers)
}

// storeStatus is how a store is, also as JSON. Counts are there if it is well.
type storeStatus struct {
	Store    string `json:"store"`
	Database string `json:"database"`
	State    string `json:"state"`
	*storeCounts
	Error string `json:"error,omitempty"`
}

type storeCounts struct {
	Ready     int64 `json:"ready"`
	Scheduled int64 `json:"scheduled"`
	Retrying  int64 `json:"retrying"`
	Running   int64 `json:"running"`
	Failed    int64 `json:"failed"`
}

// ask asks one store.
func (c *fleetStatusCmd) ask(ctx context.Context, e *entry) storeStatus {
	n, err := c.count(ctx, e)
	status := storeStatus{Store: e.Key, Database: e.Where(access.Key{}), State: schemaState(err)}
	switch {
	case err == nil:
		status.storeCounts = &storeCounts{n.Ready, n.Scheduled, n.Retrying, n.InProgress, n.Failed}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, engine.ErrTimeout):
		status.Error = "no answer within " + engine.Exact(c.Timeout)
	default:
		status.Error = cause(err)
	}
	return status
}

func (c *fleetStatusCmd) count(ctx context.Context, e *entry) (n outbox.Counts, err error) {
	switch {
	case e.err != nil:
		return n, e.err
	case !e.at.Exists(): // opening would make it
		return n, target.ErrNoFile
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	db, err := e.at.Open(target.Options{Timeout: c.Timeout, Logger: silent(), Modest: true})
	if err != nil {
		return n, err
	}
	defer func() { _ = db.Close() }() // nothing was written
	if err := db.CheckSchema(ctx); err != nil {
		return n, err
	}
	return components(db, silent()).Outbox.Count(ctx)
}

// schemaState is what an error says of a store, in a word.
func schemaState(err error) string {
	if err == nil {
		return "ok"
	}
	for _, s := range []struct {
		class error
		word  string
	}{
		{engine.ErrSchemaMissing, "missing"}, {engine.ErrSchemaOld, "old"}, {engine.ErrSchemaNew, "new"}, {engine.ErrSchemaChanged, "changed"},
		{engine.ErrSchemaDistributed, "distributed"},
	} {
		if errors.Is(err, s.class) {
			return s.word
		}
	}
	return "unreachable"
}

// print prints how the stores are. What is bad is no error of the command's,
// and said already: it has the exit code alone.
func (c *fleetStatusCmd) print(a *app, g *options, list []storeStatus) error {
	bad := false
	for i := range list {
		bad = bad || list[i].State != "ok"
	}
	err := statusListing().printAll(a, g, c.outputFlag, list)
	if err == nil && !g.JSON && c.Output == formatTable {
		_, err = fmt.Fprintln(a.stderr, statusSummary(list))
	}
	if err == nil && bad {
		return &exitError{code: exitFailure}
	}
	return err
}

func statusListing() *listing[storeStatus] {
	count := func(head string, n func(*storeCounts) int64) column[storeStatus] {
		return column[storeStatus]{head: head, cell: func(s *storeStatus) string {
			if s.storeCounts == nil {
				return ""
			}
			return number(n(s.storeCounts))
		}}
	}
	return &listing[storeStatus]{
		id: func(s *storeStatus) string { return s.Store },
		columns: []column[storeStatus]{
			{head: "STORE", cell: func(s *storeStatus) string { return s.Store }},
			{head: "STATE", cell: func(s *storeStatus) string { return s.State }},
			count("READY", func(c *storeCounts) int64 { return c.Ready }),
			count("SCHEDULED", func(c *storeCounts) int64 { return c.Scheduled }),
			count("RETRYING", func(c *storeCounts) int64 { return c.Retrying }),
			count("RUNNING", func(c *storeCounts) int64 { return c.Running }),
			count("FAILED", func(c *storeCounts) int64 { return c.Failed }),
			{head: "NOTE", cell: func(s *storeStatus) string { return s.Error }},
		},
	}
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// statusSummary is a fleet in a line.
func statusSummary(list []storeStatus) string {
	var sum storeCounts
	in := map[string]int{}
	for i := range list {
		s := &list[i]
		in[s.State]++
		if n := s.storeCounts; n != nil {
			sum = storeCounts{sum.Ready + n.Ready, sum.Scheduled + n.Scheduled, sum.Retrying + n.Retrying, sum.Running + n.Running, sum.Failed + n.Failed}
		}
	}
	var states []string
	for _, state := range []string{"ok", "missing", "old", "new", "changed", "distributed", "unreachable"} {
		if in[state] > 0 {
			states = append(states, fmt.Sprintf("%d %s", in[state], state))
		}
	}
	return fmt.Sprintf("%s: %s; %d ready, %d scheduled, %d retrying, %d running, %d failed",
		engine.Several(len(list), "store"), strings.Join(states, ", "), sum.Ready, sum.Scheduled, sum.Retrying, sum.Running, sum.Failed)
}
