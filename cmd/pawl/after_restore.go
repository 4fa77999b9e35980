package main

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
)

// afterRestoreCmd is "pawl after-restore".
type afterRestoreCmd struct{}

// Help is printed by --help.
func (*afterRestoreCmd) Help() string {
	return `Run it once after a database was restored from a backup, whatever made that: a dump,
a snapshot, a copy of the file. A new generation begins: programs that run drop what
they remember of the database, ids and fencing tokens go on above everything that may
have been given out after the backup was made, leases are free, and nobody counts as
working until it shows itself. Messages stay as the backup has them.

Most restores and every failover of PostgreSQL are noticed without it, but not one
that puts back a copy of the whole server in place. Running it without need costs ids,
of which there are enough, and the leases that are held.

With --fleet and without --store it is about all stores.

Examples:

    pawl after-restore
    pawl --db postgres://app@db.example/shop after-restore`
}

// restoreResult is a database that counts as restored, as JSON.
type restoreResult struct {
	Store      string `json:"store,omitempty"`
	Database   string `json:"database"`
	Generation int64  `json:"generation"`
}

// Run begins a new generation.
func (c *afterRestoreCmd) Run(ctx context.Context, a *app, g *options) error {
	return g.eachStore(ctx, a, func(s *store, key string) error {
		generation, err := s.pawl().AfterRestore(ctx)
		if err != nil {
			return err
		}
		if g.JSON {
			return a.printJSON(restoreResult{key, s.name, generation})
		}
		_, err = fmt.Fprintln(a.stdout, terminal.Clean(fmt.Sprintf("%s counts as restored: generation %d begins", s.name, generation)))
		return err
	})
}
