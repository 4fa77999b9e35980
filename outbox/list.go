package outbox

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
)

// ListOptions select messages: those that meet all of them. The zero value lists
// all.
type ListOptions struct {
	Status        Status            // "": any
	Topic         string            // "": any
	Queue         string            // "": any
	CorrelationID string            // "": any
	Error         string            // part of the last error, case-sensitive; "": any
	Fingerprint   string            // of the last error, as Failures reports it; "": any
	OlderThan     time.Duration     // created longer ago than this, by the database's clock; 0: any
	NewerThan     time.Duration     // created no longer ago than this; 0: any
	Headers       map[string]string // it has all of these, with exactly these values; others may be there too

	// NoPayload leaves Payload out: lists of large messages are read many times faster without.
	NoPayload bool

	flows bool // only those of flows

	failedSince, failedBefore time.Time // of Retrying: bounds of when the last attempt failed; zero: any

	After *Info // only messages that follow this one: its Position counts; nil: from the beginning
}

// listWindow is how many messages a statement of a list reads at most, but for the rest of
// the run that it ends in.
const listWindow = 10_000

// List returns messages, highest position first, which it reads while they are iterated over. Where
// few match it reads all messages of the state, 10 000 in each statement. An error is the last item:
// ErrInvalid for options that no message can meet. It may be called concurrently.
func (o *Outbox) List(ctx context.Context, opts ListOptions) iter.Seq2[Info, error] {
	return engine.Stream(func() func(int) ([]Info, bool, error) {
		l, err := o.list(&opts)
		return func(most int) ([]Info, bool, error) {
			if err != nil {
				return nil, false, err
			}
			found, err := l.some(ctx, listWindow, most)
			return found, l.before > 0, err
		}
	})
}

// ListSome is List of a part of the messages, for pages that are not to wait until all are read: it
// examines at most look messages of the state, from the highest position down, and returns at most
// most of them that match, none if none does. look is 10 000 at most, and if it is 0. Messages
// that are ready, scheduled or in progress are examined by the batches in which they lie, of
// which the last one may exceed look. next is where to go on, as
// ListOptions{After: &Info{Message: Message{Position: next}}}; it is 0 if there are no more
// messages, and may lead to none. ListSome returns ErrInvalid for options that no message can
// meet and for other values of look. It may be called concurrently.
func (o operator) ListSome(ctx context.Context, opts ListOptions, look, most int) (page []Info, next Position, err error) {
	if err := engine.CheckOption("look", look, 1, listWindow); err != nil {
		return nil, 0, err
	}
	l, err := o.list(&opts)
	if err != nil {
		return nil, 0, err
	}
	page, err = l.some(ctx, cmp.Or(look, listWindow), most)
	return page, Position(l.before), err
}

// ListFlows is ListSome of messages of flows alone.
func (o operator) ListFlows(ctx context.Context, opts ListOptions, most int) (page []Info, next Position, err error) {
	opts.flows = true
	return o.ListSome(ctx, opts, 0, most)
}

// list is a list as far as it has been read.
type list struct {
	listing
	o      *Outbox
	match  op.OutboxFilter
	before int64 // what is left is below this position; 0: nothing is
}

// list begins a list.
func (o *Outbox) list(opts *ListOptions) (*list, error) {
	match, err := opts.match()
	if err != nil {
		return nil, err
	}
	of, err := opts.listing()
	if err != nil {
		return nil, err
	}
	l := &list{listing: of, o: o, match: match, before: math.MaxInt64}
	if opts.After != nil {
		l.before = max(0, int64(opts.After.Position))
	}
	return l, nil
}

// some examines the next look messages, unless it finds most of them before that.
func (l *list) some(ctx context.Context, look, most int) ([]Info, error) {
	if l.before == 0 {
		return nil, nil
	}
	floor, _, err := engine.Get(ctx, l.o.db, l.floor(l.before, look))
	if err != nil {
		return nil, err
	}
	f := l.match
	f.Before, f.Floor, f.Most = l.before, floor.Floor, most
	found, err := l.o.infos(ctx, l.items(f))
	if err != nil {
		return nil, err
	}
	if l.before = floor.Floor; len(found) == most {
		l.before = int64(found[most-1].Position)
	}
	return found, nil
}

// match is what the statements filter by beside the state.
func (f *ListOptions) match() (op.OutboxFilter, error) {
	if err := f.check(); err != nil {
		return op.OutboxFilter{}, err
	}
	headers, err := encodeHeaders(f.Headers)
	if err != nil {
		return op.OutboxFilter{}, engine.Invalid("headers", "%v", err)
	}
	return op.OutboxFilter{
		Topic: worker.Optional(f.Topic), Flows: f.flows, Queue: worker.Optional(f.Queue), CorrelationID: worker.Optional(f.CorrelationID), Error: worker.Optional(f.Error), Fingerprint: worker.Optional(f.Fingerprint),
		OlderThan: worker.Optional(f.OlderThan), NewerThan: worker.Optional(f.NewerThan), Headers: headers, Bare: f.NoPayload,
	}, nil
}

// check refuses what no message meets, or no engine takes.
func (f *ListOptions) check() error {
	if err := cmp.Or(
		engine.CheckText("topic", f.Topic, math.MaxInt, false), engine.CheckText("queue", f.Queue, math.MaxInt, false),
		engine.CheckText("correlation id", f.CorrelationID, math.MaxInt, false), engine.CheckText("error", f.Error, math.MaxInt, false),
		engine.CheckText("fingerprint", f.Fingerprint, math.MaxInt, false),
		engine.CheckOption("older than", f.OlderThan, 0, 0), engine.CheckOption("newer than", f.NewerThan, 0, 0),
	); err != nil {
		return err
	}
	if f.NewerThan > 0 && f.OlderThan >= f.NewerThan {
		return engine.Invalid("older than", "not less than newer than")
	}
	for _, name := range slices.Sorted(maps.Keys(f.Headers)) {
		if err := cmp.Or(engine.CheckText("header name", name, math.MaxInt, true), engine.CheckText("header value", f.Headers[name], math.MaxInt, false)); err != nil {
			return err
		}
	}
	return nil
}

type (
	items = engine.Answering[op.OutboxItem]
	floor = engine.Answering[op.OutboxFloor]
)

// listing describes how the messages of a state are listed: from the table that holds them.
type listing struct {
	items func(f op.OutboxFilter) items
	// floor is where the items end, 0 if all that are left are no more than look.
	floor func(before int64, look int) floor
}

func (f *ListOptions) listing() (listing, error) {
	switch f.Status {
	case "":
		return recent(nil), nil
	case Ready, Scheduled, Retrying:
		ready := op.OutboxListReady{Later: f.Status != Ready, Retrying: f.Status == Retrying, FailedSince: optionalTime(f.failedSince), FailedBefore: optionalTime(f.failedBefore)}
		return listing{
			func(o op.OutboxFilter) items { ready.OutboxFilter = o; return ready },
			func(before int64, look int) floor { return op.OutboxListReadyFloor{Before: before, Look: look} },
		}, nil
	case InProgress:
		return listing{
			func(o op.OutboxFilter) items { return op.OutboxListClaimed{OutboxFilter: o} },
			func(before int64, look int) floor { return op.OutboxListClaimedFloor{Before: before, Look: look} },
		}, nil
	}
	status, err := op.OutboxStatuses().Number("status", string(f.Status))
	if err != nil || f.Status == Done {
		return recent(&status), err
	}
	return listing{
		func(o op.OutboxFilter) items { return op.OutboxListDead{OutboxFilter: o, Status: status} },
		func(before int64, look int) floor {
			return op.OutboxListDeadFloor{Before: before, Look: look, Status: status}
		},
	}, nil
}

// recent returns the listing of all messages.
func recent(status *int) listing {
	return listing{
		func(o op.OutboxFilter) items { return op.OutboxListRecent{OutboxFilter: o, Status: status} },
		func(before int64, look int) floor { return op.OutboxListRecentFloor{Before: before, Look: look} },
	}
}
