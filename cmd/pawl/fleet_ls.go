package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
)

// fleetLsCmd is "pawl fleet ls".
type fleetLsCmd struct{}

// Help is printed by --help.
func (*fleetLsCmd) Help() string {
	return `The stores are listed by key, and none is looked at: see "pawl fleet status".

Examples:

    pawl fleet ls --fleet dir:tenants
    pawl fleet ls --fleet list:stores.txt --json`
}

// Run lists stores.
func (c *fleetLsCmd) Run(ctx context.Context, a *app, g *options) error {
	if err := g.requireFleet(); err != nil {
		return err
	}
	f, err := g.openFleet()
	if err != nil {
		return err
	}
	list, err := entries(ctx, f)
	if err != nil {
		return err
	}
	if g.JSON {
		return printAll(a, list, viewEntry)
	}
	if len(list) == 0 {
		fmt.Fprintln(a.stderr, "no stores")
		return nil
	}
	var t terminal.Table
	t.Row("STORE", "ENGINE", "WHERE", "NOTE")
	for _, e := range list {
		v := viewEntry(e)
		t.Row(v.Store, v.Engine, v.Database, v.note())
	}
	return t.Write(a.stdout, terminal.Width(a.stdout))
}

// entryView is a store as JSON.
type entryView struct {
	Store    string `json:"store"`
	Engine   string `json:"engine,omitempty"`
	Database string `json:"database"`
	Schema   string `json:"schema,omitempty"`
	Prefix   string `json:"prefix,omitempty"`
	Error    string `json:"error,omitempty"`
}

// note is what else tells a store from others in the same database.
func (v *entryView) note() string {
	var notes []string
	for _, n := range []struct{ what, value string }{{"schema ", v.Schema}, {"prefix ", v.Prefix}, {"", v.Error}} {
		if n.value != "" {
			notes = append(notes, n.what+n.value)
		}
	}
	return strings.Join(notes, ", ")
}

func viewEntry(e entry) entryView {
	v := entryView{Store: e.Key, Database: e.Where(), Schema: e.Schema, Prefix: e.Prefix}
	if e.err != nil {
		v.Error = e.err.Error()
		return v
	}
	v.Engine = e.at.Engine()
	return v
}
