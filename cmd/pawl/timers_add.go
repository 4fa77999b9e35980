package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/timer"
)

// timersAddCmd is "pawl timers add".
type timersAddCmd struct {
	Topic string `short:"t" required:"" placeholder:"TOPIC" help:"Topic of the message."`
	Due   ahead  `required:"" placeholder:"WHEN" help:"When it fires: at a time (2030-01-31T12:00:00Z), after a duration (10m), or now."`

	Key           string `short:"k" placeholder:"KEY" help:"Name of the timer: it replaces the one of the key that has not fired."`
	Data          string `short:"d" default:"-" placeholder:"TEXT" help:"Payload. Default: all of standard input, as - says, too."`
	Expires       ahead  `placeholder:"WHEN" help:"Do not begin to deliver the message from a time on, or after a duration from now (1h)."`
	CorrelationID string `placeholder:"TEXT" help:"Links messages for tracing."`
	messageFlags

	migrateFlag
}

// Help is printed by --help.
func (*timersAddCmd) Help() string {
	return `Prints the id of the timer, which the message will have, too.

Examples:

    pawl timers add --topic remind --due 30m --data '{"order":17}'
    pawl timers add --topic close --due 2030-01-31T12:00:00Z --key order-17 < order.json`
}

// Run stores a timer.
func (c *timersAddCmd) Run(ctx context.Context, a *app, g *options) error {
	tm, err := c.timer()
	if err != nil {
		return err
	}
	if _, err := g.target(ctx); err != nil {
		return err // before anyone types the payload
	}
	m := c.message(c.Topic, c.CorrelationID)
	if err := a.readPayload(&m, c.Data); err != nil {
		return err
	}
	tm.Payload = m.Payload
	s, err := g.open(ctx, opening{make: true, migrate: c.Migrate})
	if err != nil {
		return err
	}
	id, err := scheduleOnce(ctx, s.pawl().Timers, tm)
	if err := s.close(err); err != nil {
		return err
	}
	if err := a.printTimer(id, &tm, g.JSON); err != nil {
		return fmt.Errorf("the timer was stored, but: %w", err)
	}
	return nil
}

// timer is what the options say, without the payload.
func (c *timersAddCmd) timer() (timer.Timer, error) {
	m := c.message(c.Topic, c.CorrelationID)
	m.Due, m.Expires = c.Due.at, c.Expires.at
	if engine.Due(&m.Due) == nil { // as the database will say; the year 1 was not forgotten but given
		m.Due = time.Now()
	}
	err := m.Validate()
	if err == nil && c.Key != "" {
		err = engine.CheckText("key", c.Key, limits.TimerKey, true)
	}
	if err != nil {
		return timer.Timer{}, usage("%w", err)
	}
	return timer.Timer{
		Key: c.Key, Due: m.Due, Expires: m.Expires, Topic: m.Topic, CorrelationID: m.CorrelationID, Headers: m.Headers, Queue: m.Queue, Priority: m.Priority,
	}, nil
}

// scheduleOnce tries again where the outcome of a commit is unknown, with the id of
// the first attempt: no timer is stored twice (D-4).
func scheduleOnce(ctx context.Context, timers *timer.Timers, tm timer.Timer) (timer.ID, error) {
	for attempt := 1; ; attempt++ {
		id, err := timers.Schedule(ctx, tm)
		if !errors.Is(err, engine.ErrCommitUnknown) || attempt == 3 || ctx.Err() != nil {
			return id, err
		}
		tm.ID = id
	}
}

func (a *app) printTimer(id timer.ID, tm *timer.Timer, asJSON bool) error {
	if asJSON {
		return a.printJSON(struct {
			TimerID timer.ID  `json:"timer_id"`
			Key     string    `json:"key,omitempty"`
			Topic   string    `json:"topic"`
			Due     time.Time `json:"due"`
		}{id, tm.Key, tm.Topic, tm.Due.UTC()})
	}
	_, err := fmt.Fprintln(a.stdout, id)
	return err
}
