package main

import (
	"context"
	"strings"

	"github.com/bravellian/pawl/internal/access"
)

// fleetLsCmd is "pawl fleet ls".
type fleetLsCmd struct{ outputFlag }

// Help is printed by --help.
func (*fleetLsCmd) Help() string {
	return `The stores are listed by key, and none is opened: see "pawl fleet status".

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
	return entryListing().printAll(a, g, c.outputFlag, list)
}

func entryListing() *listing[entry] {
	return &listing[entry]{
		none: "no stores",
		columns: []column[entry]{
			{head: "STORE", cell: func(e *entry) string { return e.Key }},
			{head: "ENGINE", cell: func(e *entry) string { return viewEntry(*e).Engine }},
			{head: "WHERE", cell: func(e *entry) string { return e.Where(access.Key{}) }},
			{head: "NOTE", cell: func(e *entry) string { return viewEntry(*e).note() }},
		},
		id:   func(e *entry) string { return e.Key },
		view: func(e *entry) any { return viewEntry(*e) },
	}
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
func (v entryView) note() string {
	var notes []string
	for _, n := range []struct{ what, value string }{{"schema ", v.Schema}, {"prefix ", v.Prefix}, {"", v.Error}} {
		if n.value != "" {
			notes = append(notes, n.what+n.value)
		}
	}
	return strings.Join(notes, ", ")
}

func viewEntry(e entry) entryView {
	v := entryView{Store: e.Key, Database: e.Where(access.Key{}), Schema: e.Schema, Prefix: e.Prefix}
	if e.err != nil {
		v.Error = e.err.Error()
		return v
	}
	v.Engine = e.at.Engine()
	return v
}
