package outbox

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
)

// ListOptions select messages: those that meet all of them. The zero value lists the
// newest 100.
type ListOptions struct {
	Status        Status            // "": any
	Topic         string            // "": any
	Queue         string            // "": any
	CorrelationID string            // "": any
	Error         string            // part of the last error, case-sensitive; "": any
	OlderThan     time.Duration     // created longer ago than this, by the database's clock; 0: any
	NewerThan     time.Duration     // created no longer ago than this; 0: any
	Headers       map[string]string // it has all of these, with exactly these values; others may be there too

	After *Info // the last message of the page before: its Position counts; nil: from the beginning
	Limit int   // default 100, at most 10 000
}

// listWindow is how many messages a statement of a list reads at most.
const listWindow = 10_000

// List returns messages, highest position first. Where few match it reads all messages
// of the state, 10 000 in each statement. It returns ErrInvalid for options that no
// message can meet.
func (o *Outbox) List(ctx context.Context, opts ListOptions) ([]Info, error) {
	match, err := opts.match()
	if err != nil {
		return nil, err
	}
	l, err := opts.listing()
	if err != nil {
		return nil, err
	}
	before := int64(math.MaxInt64)
	if opts.After != nil {
		before = int64(opts.After.Position)
	}
	limit := engine.ListLimit(opts.Limit)
	var all []Info
	for before > 0 && len(all) < limit {
		floor, err := o.listFloor(ctx, l, before)
		if err != nil {
			return nil, err
		}
		match.Before, match.Floor, match.Most = before, floor, limit-len(all)
		found, err := o.infos(ctx, l.list(match))
		if err != nil {
			return nil, err
		}
		all, before = append(all, found...), floor
	}
	return all, nil
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
		Topic: worker.Optional(f.Topic), Queue: worker.Optional(f.Queue), CorrelationID: worker.Optional(f.CorrelationID), Error: worker.Optional(f.Error),
		OlderThan: age(f.OlderThan), NewerThan: age(f.NewerThan), Headers: headers,
	}, nil
}

// check refuses what no message meets, or no engine takes.
func (f *ListOptions) check() error {
	for _, t := range []struct{ field, text string }{{"topic", f.Topic}, {"queue", f.Queue}, {"correlation id", f.CorrelationID}, {"error", f.Error}} {
		if err := engine.CheckText(t.field, t.text, math.MaxInt, false); err != nil {
			return err
		}
	}
	if err := engine.CheckOption("older than", f.OlderThan, 0, 0); err != nil {
		return err
	}
	if err := engine.CheckOption("newer than", f.NewerThan, 0, 0); err != nil {
		return err
	}
	if f.NewerThan > 0 && f.OlderThan >= f.NewerThan {
		return engine.Invalid("older than", "not less than newer than")
	}
	for _, name := range slices.Sorted(maps.Keys(f.Headers)) {
		if err := engine.CheckText("header name", name, math.MaxInt, true); err != nil {
			return err
		}
		if err := engine.CheckText("header value", f.Headers[name], math.MaxInt, false); err != nil {
			return err
		}
	}
	return nil
}

func age(d time.Duration) *time.Duration {
	if d == 0 {
		return nil
	}
	return &d
}

// listing describes how the messages of a state are listed: from the table that holds them.
type listing struct {
	list  func(f op.OutboxFilter) engine.Answering[op.OutboxItem]
	floor func(before int64) engine.Answering[op.OutboxFloor]
}

func (f *ListOptions) listing() (listing, error) {
	switch f.Status {
	case "":
		return recent(nil), nil
	case Ready, Scheduled:
		return listing{
			func(o op.OutboxFilter) engine.Answering[op.OutboxItem] {
				return op.OutboxListReady{OutboxFilter: o, Scheduled: f.Status == Scheduled}
			},
			func(before int64) engine.Answering[op.OutboxFloor] {
				return op.OutboxListReadyFloor{Before: before, Look: listWindow}
			},
		}, nil
	case InProgress:
		return listing{
			func(o op.OutboxFilter) engine.Answering[op.OutboxItem] { return op.OutboxListClaimed{OutboxFilter: o} },
			func(before int64) engine.Answering[op.OutboxFloor] {
				return op.OutboxListClaimedFloor{Before: before, Look: listWindow}
			},
		}, nil
	}
	status, err := op.OutboxStatuses().Number("status", string(f.Status))
	if err != nil || f.Status == Done {
		return recent(&status), err
	}
	return listing{
		func(o op.OutboxFilter) engine.Answering[op.OutboxItem] {
			return op.OutboxListDead{OutboxFilter: o, Status: status}
		},
		func(before int64) engine.Answering[op.OutboxFloor] {
			return op.OutboxListDeadFloor{Before: before, Look: listWindow, Status: status}
		},
	}, nil
}

// recent returns the listing of all messages.
func recent(status *int) listing {
	return listing{
		func(o op.OutboxFilter) engine.Answering[op.OutboxItem] {
			return op.OutboxListRecent{OutboxFilter: o, Status: status}
		},
		func(before int64) engine.Answering[op.OutboxFloor] {
			return op.OutboxListRecentFloor{Before: before, Look: listWindow}
		},
	}
}

// listFloor returns the position at which the next statement of a list ends, 0 for all that are
// left.
func (o *Outbox) listFloor(ctx context.Context, l listing, before int64) (int64, error) {
	row, _, err := engine.Get(ctx, o.db, l.floor(before))
	return row.Floor, err
}
