package main

import (
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// timersCmd is "pawl timers".
type timersCmd struct {
	Ls     timersLsCmd     `cmd:"" aliases:"list" help:"List timers, next to fire first."`
	Add    timersAddCmd    `cmd:"" help:"Have a message delivered later."`
	Cancel timersCancelCmd `cmd:"" help:"Take timers back that have not fired."`
}

// Help is printed by --help.
func (*timersCmd) Help() string {
	return `A timer becomes a message of its topic when it is due. Until then it can be taken
back. "pawl work" fires timers, and so do programs that run pawl.`
}

// parseTimer reads the id of a timer.
func parseTimer(id string) (timer.ID, error) {
	parsed, err := outbox.ParseMessageID(id)
	if err != nil {
		return parsed, usage("%q is not the id of a timer: want a UUID", id)
	}
	return parsed, nil
}
