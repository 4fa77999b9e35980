package main

import (
	"cmp"
	"context"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/outbox"
)

// failuresCmd is "pawl failures".
type failuresCmd struct {
	outputFlag
	Topic said `short:"t" placeholder:"TOPIC" help:"Only messages of a topic."`
	Queue said `short:"q" placeholder:"NAME" help:"Only messages in a queue."`
	Since ago  `placeholder:"WHEN" help:"Only messages that failed since a time (2026-11-22T10:00:00Z), or within a duration (2h)."`
}

// Help is printed by --help.
func (*failuresCmd) Help() string {
	return `Groups failed messages by topic and by the kind of their last error: its text with # for
numbers, times, ids, addresses and paths, and … for what stands in quotes or brackets. All
failed messages are counted. --output=id prints the kinds alone.

Examples:

    pawl failures
    pawl failures --topic mail --since 2h
    pawl ls --failed --topic mail --fingerprint 'dial tcp #: i/o timeout'
    pawl retry --all --topic mail --fingerprint 'dial tcp #: i/o timeout'`
}

// failureJSON is a kind of failures as JSON.
type failureJSON struct {
	Store string `json:"store,omitempty"`
	acts.Failure
}

// Run prints the kinds of failures.
func (c *failuresCmd) Run(ctx context.Context, a *app, g *options) error {
	return failureListing().listStores(ctx, a, g, c.outputFlag, func(s *store, key string) (all []failureJSON, err error) {
		groups, err := s.pawl().Outbox.Operator(access.Key{}).Failures(ctx, outbox.FailedFilter{Topic: string(c.Topic), Queue: string(c.Queue), Since: c.Since.at})
		for _, f := range groups {
			all = append(all, failureJSON{key, f})
		}
		return all, err
	})
}

func failureListing() *listing[failureJSON] {
	return &listing[failureJSON]{
		none: "nothing has failed",
		id:   func(f *failureJSON) string { return f.Fingerprint },
		columns: []column[failureJSON]{
			{head: "STORE", cell: func(f *failureJSON) string { return f.Store }, optional: true},
			{head: "TOPIC", cell: func(f *failureJSON) string { return f.Topic }},
			{head: "COUNT", cell: func(f *failureJSON) string { return number(f.Count) }},
			{head: "FIRST", cell: func(f *failureJSON) string { return stamp(f.FirstAt) }},
			{head: "LAST", cell: func(f *failureJSON) string { return stamp(f.LastAt) }},
			{head: "EXAMPLE", cell: func(f *failureJSON) string { return number(int64(f.Position)) }},
			{head: "ERROR", cell: (*failureJSON).kind},
		},
	}
}

// kind is the error of the messages in words.
func (f *failureJSON) kind() string {
	if f.Others {
		return "(of other kinds)"
	}
	return cmp.Or(f.Fingerprint, "(no error)")
}
