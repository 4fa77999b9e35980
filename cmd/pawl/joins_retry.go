package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/join"
)

// joinsRetryCmd is "pawl joins retry".
type joinsRetryCmd struct {
	IDs []string `arg:"" name:"id" help:"Ids of failed joins."`
}

// Help is printed by --help.
func (*joinsRetryCmd) Help() string {
	return `The failed steps of a failed join are due at once and have all their attempts
again, those that succeeded do not run again, and what waits for the join waits
for its next end: then its message is sent, also if one was sent at the first. A
deadline that has passed no longer holds.

"pawl retry" makes messages ready without their joins: a join that has failed
stays failed. Retried here it counts what became of such messages since.

What became of each join is said. One that has not failed stays as it is, which is no
failure; one that is not found, or has no step left that can run, is.

Example:

    pawl joins ls --status failed
    pawl joins retry 0198c9a0-5d7e-7a41-9c3f-000000000001`
}

// Run redrives joins.
func (c *joinsRetryCmd) Run(ctx context.Context, a *app, g *options) error {
	var missing, lost []string
	err := g.eachJoin(ctx, c.IDs, func(_ *store, joins *join.Joins, id join.ID) error {
		done, err := joins.Redrive(ctx, id)
		switch {
		case errors.Is(err, join.ErrNotFound):
			missing = append(missing, id.String())
			return nil
		case errors.Is(err, join.ErrStepsLost):
			lost = append(lost, id.String())
			return nil
		case err != nil && !errors.Is(err, join.ErrNotFailed):
			return err
		}
		j, getErr := joins.Get(ctx, id)
		if getErr != nil {
			return getErr
		}
		return a.printRedriven(j, err == nil, done, g.JSON)
	})
	if err == nil && len(missing) > 0 {
		err = forgotten(fmt.Errorf("%w: %s", join.ErrNotFound, strings.Join(missing, ", ")))
	}
	if err == nil && len(lost) > 0 {
		err = fmt.Errorf("%w, so nothing was changed: %s", join.ErrStepsLost, strings.Join(lost, ", "))
	}
	return err
}

func (a *app) printRedriven(j *join.Info, redriven bool, done join.Redriven, asJSON bool) error {
	if asJSON {
		return a.printJSON(struct {
			JoinID join.ID `json:"join_id"`
			Now    bool    `json:"redriven"` // by this command
			Status string  `json:"status"`
			join.Redriven
		}{j.ID, redriven, string(j.Status), done})
	}
	text := "has not failed: " + string(j.Status)
	if redriven {
		text = fmt.Sprintf("retried %s, %s", engine.Several(int64(done.Steps), "step"), engine.Several(int64(done.Waits), "wait"))
		if done.StepsLost > 0 {
			text += fmt.Sprintf("; %s cannot run again", engine.Several(int64(done.StepsLost), "failed step"))
		}
		if done.WaitsLost > 0 {
			text += fmt.Sprintf("; %s deleted, what they would send is not sent", engine.Several(int64(done.WaitsLost), "wait"))
		}
	}
	_, err := fmt.Fprintf(a.stdout, "%s  %s\n", j.ID, text)
	return err
}
