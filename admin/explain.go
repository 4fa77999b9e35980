package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/pause"
	"github.com/bravellian/pawl/internal/registry"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// Explanation says why something has not run, or how it ended.
type Explanation struct {
	Kind Kind   `json:"kind"`
	ID   string `json:"id"`
	// Finding is the first reason. Its codes are listed in docs/explain.md.
	health.Finding
	// Also are further reasons, which hold once those before them are gone.
	Also []health.Finding `json:"also,omitempty"`
	// Facts are what is known of it, in an order for people.
	Facts health.Facts `json:"facts"`
	// Causes explain what it depends on: a fired timer's message, the members that a
	// join waits for, a job's last run.
	Causes []Explanation `json:"causes,omitempty"`
	// AlsoMatches are things of other kinds that have the same id.
	AlsoMatches []Explanation `json:"also_matches,omitempty"`
}

// ErrNotFound is returned by Explain when nothing has the id, or it was cleaned up.
var ErrNotFound = errors.New("nothing found to explain")

// explainable are the kinds that Explain takes.
func explainable() []Kind { return []Kind{Message, Timer, Job, Run, Join, Inbox} }

// Explain returns why what id names has not run. An id is a message's UUID or position,
// a timer's id or key, a job's name, a run's id, a join's UUID or, for the inbox,
// source/message id. If it names several things, the others are in AlsoMatches, unless
// they are in Causes already: a run and its message are one. With kinds given it looks
// for those only. It reads a bounded number of rows regardless of the size of the
// tables and changes nothing. Errors: ErrNotFound; pawl.ErrInvalid for another kind.
func (a *Admin) Explain(ctx context.Context, id string, kinds ...Kind) (*Explanation, error) {
	for _, k := range kinds {
		if !slices.Contains(explainable(), k) {
			return nil, engine.Invalid("kind", "%q is none of %s", k, kindText(nil))
		}
	}
	if len(id) > limits.Explained {
		return nil, engine.TooLong("id", limits.Explained, "bytes")
	}
	e, err := a.explainer(ctx)
	if err != nil {
		return nil, err
	}
	var found []Explanation
	for _, f := range []struct {
		kind Kind
		find func(context.Context, string) (*Explanation, error)
	}{{Run, e.findRun}, {Timer, e.findTimer}, {Message, e.findMessage}, {Join, e.findJoin}, {Job, e.findJob}, {Inbox, e.findInbox}} {
		if len(kinds) > 0 && !slices.Contains(kinds, f.kind) {
			continue
		}
		x, err := f.find(ctx, id)
		if err != nil && !absent(err) {
			return nil, err
		}
		if err == nil && !isCause(found, x) {
			found = append(found, *x)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: no %s goes by %q: there never was one, or it was cleaned up after its retention period", ErrNotFound, strings.Replace(kindText(kinds), string(Inbox), "inbox message", 1), id)
	}
	found[0].AlsoMatches = found[1:]
	return &found[0], nil
}

// kindText returns kinds as a list, all of them if none are given.
func kindText(kinds []Kind) string {
	if len(kinds) == 0 {
		kinds = explainable()
	}
	words := engine.Mapped(kinds, func(k *Kind) string { return string(*k) })
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// isCause reports whether x is a cause of something that was found before: a run and a
// timer that fired have the ids of their messages.
func isCause(found []Explanation, x *Explanation) bool {
	for i := range found {
		for k := range found[i].Causes {
			if c := &found[i].Causes[k]; c.Kind == x.Kind && c.ID == x.ID {
				return true
			}
		}
	}
	return false
}

// absent reports whether err means that there is no such thing.
func absent(err error) bool {
	for _, answer := range []error{ErrNotFound, outbox.ErrNotFound, timer.ErrNotFound, job.ErrNotFound, join.ErrNotFound, inbox.ErrNotFound} {
		if errors.Is(err, answer) {
			return true
		}
	}
	return false
}

// explainer reads a database for one explanation.
type explainer struct {
	*Admin
	now      time.Time // by the database's clock
	pauses   []pause.Pause
	everyone inspect.Workers
}

func (a *Admin) explainer(ctx context.Context) (*explainer, error) {
	clock, _, err := engine.Get(ctx, a.db, op.ClockNow{})
	if err != nil {
		return nil, err
	}
	e := &explainer{Admin: a, now: clock.Now.UTC()}
	if e.pauses, err = a.pauses.List(ctx); err != nil {
		return nil, err
	}
	e.everyone, err = inspect.ListWorkers(ctx, a.db)
	return e, err
}

// parseUUID parses an id that must be a UUID in its usual form: "1" and the like are
// positions.
func parseUUID(id string) (uuid.UUID, error) {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return parsed, fmt.Errorf("%w: %q is no UUID", ErrNotFound, id)
	}
	return parsed, nil
}

// findRun finds a run by its id or by its message's position.
func (e *explainer) findRun(ctx context.Context, id string) (*Explanation, error) {
	if position, err := strconv.ParseInt(id, 10, 64); err == nil {
		m, err := e.outbox.GetByPosition(ctx, outbox.Position(position))
		if err != nil {
			return nil, err
		}
		return e.run(ctx, m.ID)
	}
	parsed, err := parseUUID(id)
	if err != nil {
		return nil, err
	}
	return e.run(ctx, job.RunID(parsed))
}

// findTimer finds a timer by its id or, if it has not fired, by its key.
func (e *explainer) findTimer(ctx context.Context, id string) (*Explanation, error) {
	if parsed, err := parseUUID(id); err == nil {
		t, err := e.timers.Get(ctx, timer.ID(parsed))
		if err == nil {
			return e.timer(ctx, t)
		}
		if !absent(err) {
			return nil, err
		}
	}
	if engine.CheckText("key", id, limits.TimerKey, true) != nil {
		return nil, timer.ErrNotFound
	}
	t, err := e.timers.GetKey(ctx, id)
	if err != nil {
		return nil, err
	}
	return e.timer(ctx, t)
}

// findMessage finds a message by its id or its position.
func (e *explainer) findMessage(ctx context.Context, id string) (*Explanation, error) {
	if position, err := strconv.ParseInt(id, 10, 64); err == nil {
		return e.messageAt(ctx, outbox.Position(position))
	}
	parsed, err := parseUUID(id)
	if err != nil {
		return nil, err
	}
	return e.message(ctx, outbox.MessageID(parsed))
}

func (e *explainer) findJoin(ctx context.Context, id string) (*Explanation, error) {
	parsed, err := parseUUID(id)
	if err != nil {
		return nil, err
	}
	return e.join(ctx, join.ID(parsed))
}

func (e *explainer) findJob(ctx context.Context, id string) (*Explanation, error) {
	if engine.CheckText("name", id, limits.JobName, true) != nil {
		return nil, job.ErrNotFound
	}
	return e.job(ctx, id)
}

// maxSlashes bounds how many ways source/id is split: both may contain slashes.
const maxSlashes = 16

// findInbox finds a message of the inbox. The source ends at the first slash that
// yields a message.
func (e *explainer) findInbox(ctx context.Context, id string) (*Explanation, error) {
	for at, slashes := 0, 0; slashes < maxSlashes; slashes++ {
		n := strings.IndexByte(id[at:], '/')
		if n < 0 {
			break
		}
		source, message := id[:at+n], id[at+n+1:]
		at += n + 1
		if engine.CheckText("source", source, limits.Source, true) != nil || engine.CheckText("message id", message, limits.MessageID, true) != nil {
			continue
		}
		m, err := e.inboxes.Get(ctx, inbox.Key{Source: source, MessageID: message})
		if err == nil {
			return e.inbox(ctx, m)
		}
		if !absent(err) {
			return nil, err
		}
	}
	return nil, inbox.ErrNotFound
}

// owner returns a claim's owner in words, and its worker if that is known.
func (e *explainer) owner(token outbox.OwnerToken) (who string, by *registry.Info) {
	if by = e.everyone.Holder(uuid.UUID(token)); by != nil {
		return "worker " + by.Name, by
	}
	if worker.TagIn(uuid.UUID(token)) != 0 {
		return fmt.Sprintf("a worker that is not in the list of workers any more (token %s)", token), nil
	}
	return fmt.Sprintf("a program that claims by itself (token %s)", token), nil
}
