package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/timer"
)

// timersCancelCmd is "pawl timers cancel".
type timersCancelCmd struct {
	IDs []string `arg:"" optional:"" name:"id" help:"Ids of timers."`
	Key []string `short:"k" sep:"none" placeholder:"KEY" help:"The timer of a key, may be repeated."`
}

// Help is printed by --help.
func (*timersCancelCmd) Help() string {
	return `A cancelled timer never fires.

Every timer is a matter of its own, and what became of each is said. One that was
cancelled already is no failure; one that has fired, is being fired, or is not
found is. A key finds only a timer that may still fire: with --key one that was
cancelled already is not found.

Examples:

    pawl timers cancel 0198c9a0-5d7e-8a41-9c3f-000000000001
    pawl timers cancel --key order-17`
}

// Run cancels timers.
func (c *timersCancelCmd) Run(ctx context.Context, a *app, g *options) error {
	named, err := c.named()
	if err != nil {
		return err
	}
	s, err := g.open(ctx, opening{})
	if err != nil {
		return err
	}
	timers := s.pawl().Timers
	var missing, late []string
	for _, n := range named {
		done, now, err := n.cancel(ctx, timers)
		if errors.Is(err, timer.ErrNotFound) {
			missing = append(missing, n.missing())
			continue
		}
		if err == nil {
			err = a.printTaken(n, done, now, g.JSON)
		}
		if err != nil {
			return s.close(err)
		}
		if !done && now.Status != timer.Cancelled {
			late = append(late, n.String())
		}
	}
	if err := s.close(nil); err != nil {
		return err
	}
	return notTaken(missing, late)
}

// notTaken says which timers could not be cancelled.
func notTaken(missing, late []string) error {
	var unknown, fired error
	if len(missing) > 0 {
		unknown = fmt.Errorf("%w: %s", timer.ErrNotFound, strings.Join(missing, ", "))
	}
	if len(late) > 0 {
		fired = fmt.Errorf("too late to cancel: %s", strings.Join(late, ", "))
	}
	if unknown != nil && fired != nil {
		return fmt.Errorf("%w; %w", unknown, fired)
	}
	return errors.Join(unknown, fired)
}

// timerName is how a command line names a timer: by its id or its key.
type timerName struct {
	id  timer.ID
	key string
}

func (n timerName) String() string {
	if n.key != "" {
		return "key " + strconv.Quote(n.key)
	}
	return n.id.String()
}

// missing is the name, with what may have become of its timer.
func (n timerName) missing() string {
	if n.key != "" {
		return n.String() + " (or it is over)" // a key finds only those that may still fire
	}
	return n.String() + " (or it was cleaned up)"
}

func (c *timersCancelCmd) named() (named []timerName, err error) {
	for _, id := range c.IDs {
		parsed, err := parseTimer(id)
		if err != nil {
			return nil, err
		}
		named = append(named, timerName{id: parsed})
	}
	for _, key := range c.Key {
		if err := engine.CheckText("key", key, limits.TimerKey, true); err != nil {
			return nil, usage("%w", err)
		}
		named = append(named, timerName{key: key})
	}
	if len(named) == 0 {
		return nil, usage("want ids or --key")
	}
	return named, nil
}

// cancel reports whether it cancelled the timer and, if not, what it is now.
func (n timerName) cancel(ctx context.Context, timers *timer.Timers) (done bool, now *timer.Info, err error) {
	for {
		if n.key != "" {
			done, err = timers.CancelKey(ctx, n.key)
		} else {
			done, err = timers.Cancel(ctx, n.id)
		}
		if err != nil || done {
			return done, nil, err
		}
		if n.key != "" {
			now, err = timers.GetKey(ctx, n.key)
		} else {
			now, err = timers.Get(ctx, n.id)
		}
		if err != nil || now.Status != timer.Scheduled {
			return false, now, err
		}
		// Whoever was firing it put it back meanwhile.
	}
}

// printTaken says what became of a timer; now is nil if it was cancelled.
func (a *app) printTaken(n timerName, done bool, now *timer.Info, asJSON bool) error {
	status, text := timer.Cancelled, "cancelled"
	if !done {
		status = now.Status
		text = map[timer.Status]string{timer.Cancelled: "was cancelled already", timer.Fired: "has fired", timer.Failed: "has failed", timer.Claimed: "is being fired"}[status]
	}
	if !asJSON {
		_, err := fmt.Fprintln(a.stdout, terminal.Clean(fmt.Sprintf("%s  %s", n, text)))
		return err
	}
	v := struct {
		TimerID   *timer.ID `json:"timer_id,omitempty"`
		Key       string    `json:"key,omitempty"`
		Cancelled bool      `json:"cancelled"` // by this command
		Status    string    `json:"status"`
	}{Key: n.key, Cancelled: done, Status: string(status)}
	if n.key == "" {
		v.TimerID = &n.id
	}
	return a.printJSON(v)
}
