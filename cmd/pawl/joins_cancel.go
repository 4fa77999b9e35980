package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/join"
)

// joinsCancelCmd is "pawl joins cancel".
type joinsCancelCmd struct {
	IDs []string `arg:"" name:"id" help:"Ids of joins."`
}

// Help is printed by --help.
func (*joinsCancelCmd) Help() string {
	return `What waits for a cancelled join is not sent. Its members are not touched: they
are delivered as ever, and only no longer counted.

Every join is a matter of its own, and what became of each is said. A join that
was over already stays as it is, which is no failure; one that is not found is.

Example:

    pawl joins cancel 0198c9a0-5d7e-7a41-9c3f-000000000001`
}

// Run cancels joins.
func (c *joinsCancelCmd) Run(ctx context.Context, a *app, g *options) error {
	var missing []string
	err := g.eachJoin(ctx, c.IDs, func(s *store, joins *join.Joins, id join.ID) error {
		ended, status, err := cancelJoin(ctx, joins, id)
		switch {
		case errors.Is(err, join.ErrNotFound):
			missing = append(missing, id.String())
			return nil
		case err != nil:
			return err
		}
		return a.printCancelled(id, ended, status, g.JSON)
	})
	if err == nil && len(missing) > 0 {
		err = forgotten(fmt.Errorf("%w: %s", join.ErrNotFound, strings.Join(missing, ", ")))
	}
	return err
}

// cancelJoin reports whether it ended the join, and as what the join is over.
func cancelJoin(ctx context.Context, joins *join.Joins, id join.ID) (ended bool, status join.Status, err error) {
	if ended, err = joins.Cancel(ctx, id); err != nil || ended {
		return ended, join.Cancelled, err
	}
	j, err := joins.Get(ctx, id)
	if err != nil {
		return false, "", err
	}
	return false, j.Status, nil
}

func (a *app) printCancelled(id join.ID, ended bool, status join.Status, asJSON bool) error {
	if asJSON {
		return a.printJSON(struct {
			JoinID    join.ID `json:"join_id"`
			Cancelled bool    `json:"cancelled"` // by this command
			Status    string  `json:"status"`
		}{id, ended, string(status)})
	}
	text := "cancelled"
	if !ended {
		text = "was over already: " + string(status)
	}
	_, err := fmt.Fprintf(a.stdout, "%s  %s\n", id, text)
	return err
}
