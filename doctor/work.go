package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/inbox"
)

const (
	// overdue is for how long something may lie that any worker sees to at once.
	overdue = 5 * time.Minute
	// look bounds how many rows a check looks at.
	look = 1000
	// sample is how many messages and runs are looked at on either end.
	sample = 200
	// mentioned is how many of the things found a finding names.
	mentioned = 3
)

const startWorkers = "Run workers, and see what their logs say: pawl work, or the program's Run."

// claims looks for claimed messages whose worker is gone and which nobody puts back.
func (e *examination) claims(ctx context.Context) ([]Finding, error) {
	var runs, messages int64
	var since *time.Time
	err := e.db.Read(ctx, &engine.Call{Op: "doctor/claims", Args: []any{overdue, look}, Each: func(r engine.Row) error { return r.Scan(&runs, &messages, &since) }})
	switch {
	case err != nil:
		return nil, err
	case runs == 0:
		return one("claims", engine.OK, fmt.Sprintf("no message is claimed whose lease has been over for %v", overdue), ""), nil
	}
	return one("claims", engine.Warning, fmt.Sprintf("%d messages are claimed although their leases are over, the first for %s, and nobody puts them back", messages, e.ago(since)), startWorkers), nil
}

// overdue looks for timers and jobs that nobody fires.
func (e *examination) overdue(ctx context.Context) ([]Finding, error) {
	var found []Finding
	err := e.db.Read(ctx, &engine.Call{Op: "doctor/overdue", Args: []any{overdue, look}, Reset: func() { found = nil }, Each: func(r engine.Row) error {
		var kind string
		var n int64
		var since *time.Time
		if err := r.Scan(&kind, &n, &since); err != nil || n == 0 {
			return err
		}
		found = append(found, one("schedule", engine.Warning, fmt.Sprintf("%s %s overdue, the oldest since %s", atLeast(n), kind, e.ago(since)), startWorkers)...)
		return nil
	}})
	if err == nil && found == nil {
		found = one("schedule", engine.OK, fmt.Sprintf("no timer or job is overdue by more than %v", overdue), "")
	}
	return found, err
}

func atLeast(n int64) string {
	if n >= look {
		return fmt.Sprintf("%d or more", n)
	}
	return fmt.Sprint(n)
}

// ago is how long ago the database's time was.
func (e *examination) ago(t *time.Time) string {
	if t == nil {
		return "?"
	}
	return e.opts.Now().Sub(*t).Round(time.Second).String()
}

// inbox looks for messages that are stuck.
func (e *examination) inbox(ctx context.Context) ([]Finding, error) {
	stuck, err := inbox.New(e.db, inbox.Options{}).Stuck(ctx)
	switch {
	case err != nil:
		return nil, err
	case len(stuck) == 0:
		return one("inbox", engine.OK, fmt.Sprintf("nothing is being processed that was not heard of for %v", inbox.StuckAfter), ""), nil
	}
	var keys []string
	for _, m := range stuck[:min(len(stuck), mentioned)] {
		keys = append(keys, fmt.Sprintf("%q", m.Key.String()))
	}
	evidence := fmt.Sprintf("%d messages are being processed and were not heard of for %v: %s", len(stuck), inbox.StuckAfter, listed(keys, len(stuck)))
	return one("inbox", engine.Warning, evidence, "They were begun and not ended: have their senders deliver them again, or look at one with: pawl inbox show SOURCE ID"), nil
}

// listed is the first of many.
func listed(some []string, n int) string {
	text := strings.Join(some, ", ")
	if n > len(some) {
		text += ", …"
	}
	return text
}

// leases looks for leases whose holders went without a word.
func (e *examination) leases(ctx context.Context) ([]Finding, error) {
	var n int64
	var name *string
	var last *time.Time
	err := e.db.Read(ctx, &engine.Call{Op: "doctor/leases", Args: []any{look}, Each: func(r engine.Row) error { return r.Scan(&n, &name, &last) }})
	switch {
	case err != nil:
		return nil, err
	case n == 0:
		return one("leases", engine.OK, "every lease is held or was given back", ""), nil
	}
	return one("leases", engine.Note, fmt.Sprintf("%d leases ran out without being given back, the last %s ago, %q among them: their holders crashed or lost the database", n, e.ago(last), *name),
		"Nothing: the next who asks gets them."), nil
}

// places looks at a sample of messages and runs: every message is in exactly one
// place, and every run is of messages (docs/layout.md).
func (e *examination) places(ctx context.Context) ([]Finding, error) {
	var lost, doubled, empty []string
	err := e.db.Read(ctx, &engine.Call{Op: "doctor/messages", Args: []any{sample, mentioned}, Reset: func() { lost, doubled = nil, nil }, Each: func(r engine.Row) error {
		var id, places int64
		err := r.Scan(&id, &places)
		if places == 0 {
			lost = append(lost, fmt.Sprint(id))
		} else {
			doubled = append(doubled, fmt.Sprint(id))
		}
		return err
	}})
	if err != nil {
		return nil, err
	}
	err = e.db.Read(ctx, &engine.Call{Op: "doctor/runs", Args: []any{sample, look, mentioned}, Reset: func() { empty = nil }, Each: func(r engine.Row) error {
		var lo, missing int64
		err := r.Scan(&lo, &missing)
		empty = append(empty, fmt.Sprintf("%d of run %d", missing, lo))
		return err
	}})
	if err != nil {
		return nil, err
	}
	const report = "The tables were changed by hand, or this is a fault of pawl: please report it, and compare with a backup."
	var found []Finding
	for _, f := range []struct {
		what string
		ids  []string
	}{
		{"messages in no place, which will never be delivered: ids ", lost},
		{"messages in several places, which may be delivered again: ids ", doubled},
		{"runs without their messages: ", empty},
	} {
		if len(f.ids) > 0 {
			found = append(found, one("places", engine.Problem, f.what+strings.Join(f.ids, ", ")+" (in a sample)", report)...)
		}
	}
	if found == nil {
		found = one("places", engine.OK, fmt.Sprintf("the %d newest and oldest messages and runs are where they belong", sample), "")
	}
	return found, nil
}
