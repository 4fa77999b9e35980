// Package explain tells why something has not run: a message, a timer, a job or one
// of its runs, a join, a message of the inbox. It reads a bounded number of rows,
// whatever the tables hold, and changes nothing.
package explain

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/pause"
	"github.com/bravellian/pawl/internal/registry"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// Kind is what an id names.
type Kind string

// What can be explained.
const (
	Message Kind = "message"
	Timer   Kind = "timer"
	Job     Kind = "job"
	Run     Kind = "run"
	Join    Kind = "join"
	Inbox   Kind = "inbox"
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{Message, Timer, Job, Run, Join, Inbox} }

// Explanation says why something has not run, or that it has.
type Explanation struct {
	Kind Kind   `json:"kind"`
	ID   string `json:"id"`
	Hold        // the first of what holds it
	// Also is what would hold it besides, if the first went away.
	Also []Hold `json:"also,omitempty"`
	// Facts are what is known of it, in an order for people.
	Facts Facts `json:"facts"`
	// Because explains what it depends on: a fired timer's message, the members that a
	// join waits for, a job's last run.
	Because []*Explanation `json:"because,omitempty"`
	// Others are things of other kinds that go by the same id.
	Others []*Explanation `json:"others,omitempty"`
}

// Hold is something that keeps something from running.
type Hold struct {
	Reason Reason `json:"reason"`
	// Sentence is for people: one or two sentences.
	Sentence string `json:"sentence"`
	// Next is what helps, "" if nothing needs to be done: a command, or an action in
	// words.
	Next string `json:"next,omitempty"`
}

// ErrNotFound says that nothing goes by an id, or that it was cleaned up.
var ErrNotFound = errors.New("nothing found to explain")

// Parts are the components of one database.
type Parts struct {
	DB      engine.DB
	Outbox  *outbox.Outbox
	Timers  *timer.Timers
	Jobs    *job.Jobs
	Joins   *join.Joins
	Inbox   *inbox.Inbox
	Pauses  *pause.Pauses
	Workers *registry.Registry
}

// Explainer explains what is in one database. It is safe for concurrent use.
type Explainer struct{ Parts }

// New returns an explainer.
func New(p Parts) *Explainer { return &Explainer{p} }

// Explain says why what id names has not run. An id is a message's UUID or position,
// a timer's id or key, a job's name, a run's id, a join's UUID or, for the inbox,
// source/message id. Where it names several things the others are in Others, unless
// the explanation has them in Because already: a run and its message are one. With
// kinds given it looks for those only. Errors: ErrNotFound; engine.ErrInvalid for an
// unknown kind.
func (e *Explainer) Explain(ctx context.Context, id string, kinds ...Kind) (*Explanation, error) {
	wanted, err := wantedKinds(kinds)
	if err != nil {
		return nil, err
	}
	l, err := e.look(ctx)
	if err != nil {
		return nil, err
	}
	var found []*Explanation
	for _, f := range []struct {
		kind Kind
		find func(context.Context, string) (*Explanation, error)
	}{{Run, l.findRun}, {Timer, l.findTimer}, {Message, l.findMessage}, {Join, l.findJoin}, {Job, l.findJob}, {Inbox, l.findInbox}} {
		if !wanted[f.kind] {
			continue
		}
		x, err := f.find(ctx, id)
		if err != nil && !absent(err) {
			return nil, err
		}
		if err == nil && !said(found, x) {
			found = append(found, x)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: no %s goes by %q: there never was one, or it was cleaned up after its retention period", ErrNotFound, strings.Replace(kindText(kinds), string(Inbox), "inbox message", 1), id)
	}
	found[0].Others = found[1:]
	return found[0], nil
}

func wantedKinds(kinds []Kind) (map[Kind]bool, error) {
	all := map[Kind]bool{}
	for _, k := range Kinds() {
		all[k] = len(kinds) == 0
	}
	for _, k := range kinds {
		if _, ok := all[k]; !ok {
			return nil, engine.Invalid("kind", "%q is none of %s", k, kindText(nil))
		}
		all[k] = true
	}
	return all, nil
}

// kindText is kinds as a list, all of them where none are given.
func kindText(kinds []Kind) string {
	if len(kinds) == 0 {
		kinds = Kinds()
	}
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = string(k)
	}
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// said reports whether x is among what was found before: a run and a timer that
// fired go by the ids of their messages.
func said(found []*Explanation, x *Explanation) bool {
	for _, f := range found {
		for _, b := range f.Because {
			if b.Kind == x.Kind && b.ID == x.ID {
				return true
			}
		}
	}
	return false
}

// absent tells that there is no such thing from what went wrong.
func absent(err error) bool {
	for _, answer := range []error{ErrNotFound, outbox.ErrNotFound, timer.ErrNotFound, job.ErrNotFound, join.ErrNotFound, inbox.ErrNotFound} {
		if errors.Is(err, answer) {
			return true
		}
	}
	return false
}

// look is one look at a database: what holds for everything explained in it.
type look struct {
	*Explainer
	now    time.Time // by the database's clock
	pauses []pause.Pause
	crew   crew
}

func (e *Explainer) look(ctx context.Context) (*look, error) {
	clock, _, err := engine.Get(ctx, e.DB, op.ClockNow{})
	if err != nil {
		return nil, err
	}
	l := &look{Explainer: e, now: clock.Now.UTC()}
	if l.pauses, err = e.Pauses.List(ctx); err != nil {
		return nil, err
	}
	l.crew, err = e.Workers.List(ctx)
	return l, err
}

// parseUUID reads an id that has to be a UUID in its usual form: "1" and the like
// are positions.
func parseUUID(id string) (uuid.UUID, error) {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return parsed, fmt.Errorf("%w: %q is no UUID", ErrNotFound, id)
	}
	return parsed, nil
}

// findRun finds a run by its id or by its message's position.
func (l *look) findRun(ctx context.Context, id string) (*Explanation, error) {
	if position, err := strconv.ParseInt(id, 10, 64); err == nil {
		m, err := l.Outbox.Get(ctx, outbox.WorkItemID(position))
		if err != nil {
			return nil, err
		}
		return l.run(ctx, m.ID)
	}
	parsed, err := parseUUID(id)
	if err != nil {
		return nil, err
	}
	return l.run(ctx, job.RunID(parsed))
}

// findTimer finds a timer by its id or by its key, if it did not fire yet.
func (l *look) findTimer(ctx context.Context, id string) (*Explanation, error) {
	if parsed, err := parseUUID(id); err == nil {
		t, err := l.Timers.Get(ctx, timer.ID(parsed))
		if err == nil {
			return l.timer(ctx, t)
		}
		if !absent(err) {
			return nil, err
		}
	}
	if engine.CheckText("key", id, timer.MaxKey, true) != nil {
		return nil, timer.ErrNotFound
	}
	t, err := l.Timers.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	return l.timer(ctx, t)
}

// findMessage finds a message by its id or its position.
func (l *look) findMessage(ctx context.Context, id string) (*Explanation, error) {
	if position, err := strconv.ParseInt(id, 10, 64); err == nil {
		return l.messageAt(ctx, outbox.WorkItemID(position))
	}
	parsed, err := parseUUID(id)
	if err != nil {
		return nil, err
	}
	return l.message(ctx, outbox.MessageID(parsed))
}

func (l *look) findJoin(ctx context.Context, id string) (*Explanation, error) {
	parsed, err := parseUUID(id)
	if err != nil {
		return nil, err
	}
	return l.join(ctx, join.ID(parsed))
}

func (l *look) findJob(ctx context.Context, id string) (*Explanation, error) {
	if engine.CheckText("name", id, job.MaxName, true) != nil {
		return nil, job.ErrNotFound
	}
	return l.job(ctx, id)
}

// maxSlashes bounds how often source/id is looked for: both may hold slashes.
const maxSlashes = 16

// findInbox finds a message of the inbox. The source ends at the first slash at
// which there is such a message.
func (l *look) findInbox(ctx context.Context, id string) (*Explanation, error) {
	for at, slashes := 0, 0; slashes < maxSlashes; slashes++ {
		n := strings.IndexByte(id[at:], '/')
		if n < 0 {
			break
		}
		source, message := id[:at+n], id[at+n+1:]
		at += n + 1
		if engine.CheckText("source", source, inbox.MaxSource, true) != nil || engine.CheckText("message id", message, inbox.MaxMessageID, true) != nil {
			continue
		}
		m, err := l.Inbox.Get(ctx, source, message)
		if err == nil {
			return l.inbox(ctx, m)
		}
		if !absent(err) {
			return nil, err
		}
	}
	return nil, inbox.ErrNotFound
}

// owner is a claim's owner in words: its worker if that is known.
func (l *look) owner(token worker.OwnerToken) (who string, by *registry.Info) {
	if by = l.crew.maker(token); by != nil {
		return "worker " + by.Name, by
	}
	if token.Tag() != 0 {
		return fmt.Sprintf("a worker that is not in the list of workers any more (token %s)", token), nil
	}
	return fmt.Sprintf("a program that claims by itself (token %s)", token), nil
}
