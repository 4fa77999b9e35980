package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/join"
)

// joinsCmd is "pawl joins".
type joinsCmd struct {
	Ls     joinsLsCmd     `cmd:"" aliases:"list" help:"List joins, newest first."`
	Show   joinsShowCmd   `cmd:"" help:"Show a join with its members."`
	Cancel joinsCancelCmd `cmd:"" help:"End pending joins; what waits for them is not sent."`
	Retry  joinsRetryCmd  `cmd:"" help:"Make the failed steps of failed joins ready again; what waits for them waits again."`
}

// Help is printed by --help.
func (*joinsCmd) Help() string {
	return `A join completes when several messages are done; what waits for it is sent then.
Programs start joins; these commands show, cancel and retry them.`
}

// parseJoin reads the id of a join.
func parseJoin(id string) (join.ID, error) {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return parsed, usage("%q is not the id of a join: want a UUID", id)
	}
	return parsed, nil
}

// steps is a join's progress: how many of the expected steps are completed, and
// how many failed. On a terminal a bar comes first.
func steps(w io.Writer, j *join.Info) string {
	text := fmt.Sprintf("%d/%d", j.CompletedSteps, j.ExpectedSteps)
	if j.FailedSteps > 0 {
		text += fmt.Sprintf("  %d failed", j.FailedSteps)
	}
	if terminal.Is(w) {
		text = bar(j, barWidth) + " " + text
	}
	return text
}

const barWidth = 10

// bar draws progress: completed, failed and missing steps. Whatever there is of
// failed or missing ones can be seen, however small its share.
func bar(j *join.Info, width int) string {
	share := func(steps int) int {
		if steps <= 0 {
			return 0
		}
		return max(1, steps*width/max(j.ExpectedSteps, 1))
	}
	failed := share(j.FailedSteps)
	missing := min(share(j.ExpectedSteps-j.CompletedSteps-j.FailedSteps), width-failed)
	return strings.Repeat("█", width-failed-missing) + strings.Repeat("x", failed) + strings.Repeat("·", missing)
}

// deadlineText is a deadline and, while it matters, whether it has passed.
func deadlineText(j *join.Info, now time.Time) string {
	switch {
	case j.Deadline.IsZero():
		return ""
	case j.Status == join.Pending && j.Deadline.Before(now):
		return stamp(j.Deadline) + ", passed: it fails when a worker next checks"
	}
	return stamp(j.Deadline)
}

// eachJoin does something with joins one after another.
func (g *options) eachJoin(ctx context.Context, ids []string, do func(*store, *join.Joins, join.ID) error) error {
	return eachID(ctx, g, ids, parseJoin, func(s *store, id join.ID) error { return do(s, s.pawl().Joins, id) })
}

// eachID does something with what has ids, one after another, in one opening of the
// database. All ids are read before the first is touched.
func eachID[ID any](ctx context.Context, g *options, ids []string, parse func(string) (ID, error), do func(*store, ID) error) error {
	parsed := make([]ID, len(ids))
	for i, id := range ids {
		var err error
		if parsed[i], err = parse(id); err != nil {
			return err
		}
	}
	s, err := g.open(ctx, opening{})
	if err != nil {
		return err
	}
	for _, id := range parsed {
		if err := do(s, id); err != nil {
			return s.close(err)
		}
	}
	return s.close(nil)
}
