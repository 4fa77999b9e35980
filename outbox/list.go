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

// ListFilter selects messages: those that meet all of it. The zero value lists the
// newest 100.
type ListFilter struct {
	Status *Status  // nil: any
	Topic  string   // "": any
	Before Position // only positions below this one, for paging; 0: all
	Limit  int      // default 100, at most 10 000

	Queue         string            // "": any
	CorrelationID string            // "": any
	Error         string            // part of the last error, case-sensitive; "": any
	OlderThan     time.Duration     // created longer ago than this, by the database's clock; 0: any
	NewerThan     time.Duration     // created no longer ago than this; 0: any
	Headers       map[string]string // all of these with exactly these values, among others
}

// Page is a part of a list.
type Page struct {
	Messages []*Info  // highest position first
	Next     Position // the Before of the next page; 0: there are no more
}

const (
	defaultList = 100
	maxList     = 10_000
	listWindow  = 10_000 // how many messages a statement examines
	listWindows = 100    // how many statements a page takes
)

// List returns messages, highest position first. If few match it examines all messages of the
// state, 10 000 in each statement; ListPage stops earlier. It returns ErrInvalid for an invalid
// filter.
func (o *Outbox) List(ctx context.Context, f ListFilter) ([]*Info, error) {
	f.Limit = listLimit(f.Limit)
	var all []*Info
	for {
		p, err := o.ListPage(ctx, f)
		if err != nil {
			return nil, err
		}
		all = append(all, p.Messages...)
		f.Before, f.Limit = p.Next, f.Limit-len(p.Messages)
		if f.Limit == 0 || p.Next == 0 {
			return all, nil
		}
	}
}

// ListPage returns the messages that List does, but examines about a million messages of the state
// at most: a page may have fewer than Limit messages, or none, and not be the last one.
func (o *Outbox) ListPage(ctx context.Context, f ListFilter) (Page, error) {
	var p Page
	match, err := f.match()
	if err != nil {
		return p, err
	}
	limit, before := listLimit(f.Limit), int64(f.Before)
	if before <= 0 {
		before = math.MaxInt64
	}
	l := f.listing()
	for range listWindows {
		floor, err := o.listFloor(ctx, l, before)
		if err != nil {
			return Page{}, err
		}
		match.Before, match.Floor, match.Most = before, floor, limit-len(p.Messages)
		found, err := o.infos(ctx, l.list(match))
		if err != nil {
			return Page{}, err
		}
		p.Messages, p.Next, before = append(p.Messages, found...), Position(floor), floor
		if len(p.Messages) == limit {
			p.Next = p.Messages[limit-1].Position
			break
		}
		if floor == 0 {
			break
		}
	}
	return p, nil
}

func listLimit(n int) int {
	if n <= 0 {
		return defaultList
	}
	return min(n, maxList)
}

// match returns the conditions of the statements besides the state.
func (f *ListFilter) match() (op.OutboxFilter, error) {
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

// check returns an error for what no message meets, or no engine accepts.
func (f *ListFilter) check() error {
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

func (f *ListFilter) listing() listing {
	if f.Status == nil {
		return recent(nil)
	}
	status := int(*f.Status)
	switch *f.Status {
	case Ready, Scheduled:
		return listing{
			func(o op.OutboxFilter) engine.Answering[op.OutboxItem] {
				return op.OutboxListReady{OutboxFilter: o, Scheduled: *f.Status == Scheduled}
			},
			func(before int64) engine.Answering[op.OutboxFloor] {
				return op.OutboxListReadyFloor{Before: before, Look: listWindow}
			},
		}
	case InProgress:
		return listing{
			func(o op.OutboxFilter) engine.Answering[op.OutboxItem] { return op.OutboxListClaimed{OutboxFilter: o} },
			func(before int64) engine.Answering[op.OutboxFloor] {
				return op.OutboxListClaimedFloor{Before: before, Look: listWindow}
			},
		}
	case Failed, Discarded:
		return listing{
			func(o op.OutboxFilter) engine.Answering[op.OutboxItem] {
				return op.OutboxListDead{OutboxFilter: o, Status: status}
			},
			func(before int64) engine.Answering[op.OutboxFloor] {
				return op.OutboxListDeadFloor{Before: before, Look: listWindow, Status: status}
			},
		}
	default:
		return recent(&status)
	}
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
