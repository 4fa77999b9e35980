// Package throttle limits how many messages of a topic, each topic of a pattern, or a queue run at
// once, and how many begin in a time, over all processes of a database: claims obey it. Package admin is its public side.
package throttle

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/subject"
	"github.com/bravellian/pawl/internal/topics"
	"github.com/bravellian/pawl/internal/worker"
)

// Kind is the kind of what has a limit.
type Kind = subject.Kind

// What can have a limit.
const (
	Queue = subject.Queue // all topics of a queue together
	Topic = subject.Topic // a topic in all queues together
	Each  = subject.Each  // each topic of a pattern by itself, in all queues together
)

// Bounds are what a limit allows; at least one of Concurrency and Rate is not 0.
type Bounds struct {
	Concurrency int           // messages claimed at once; 0: any number
	Rate        int           // messages claimed in each Period; 0: any number
	Period      time.Duration // 0: a second
	Burst       int           // messages claimed at once, by the rate; 0: what the rate gives in a fifth of a second
}

// Limit is what has a limit, with its bounds.
type Limit struct {
	Kind Kind
	Name string
	Bounds
	Since  time.Time // when it was set so
	Actor  string    // who did
	Reason string
	// Declared is what the program declares whose handlers the limit is about, if an operator set another.
	Declared string
	Next     time.Time     // when the next message may be claimed, by the rate; zero or past: now
	Claimed  int64         // messages that count against Concurrency
	Waiting  int64         // messages of a topic that are due and that a claim has met
	Oldest   time.Duration // for how long the oldest of these has been due
}

// Holding is a limit that holds for a message.
type Holding struct {
	Kind Kind   // of what was limited
	Name string // of what was limited: a pattern for Each
	Bounds
	Next    time.Time
	Claimed int64 // messages of the topic or queue
}

// Limits are the limits of a database. They are safe for concurrent use.
type Limits struct {
	db   engine.DB
	log  *slog.Logger
	seen subject.Latest // what had a limit at the last Refresh
}

// New returns the limits of a database.
func New(db engine.DB, log *slog.Logger) *Limits {
	return &Limits{db: db, log: engine.Logger(log)}
}

// burstTime is how long a rate that has no burst of its own may be saved up: workers find out some
// milliseconds late that another message may begin, and catch up.
const burstTime = 200 * time.Millisecond

func (b *Bounds) defaults() {
	if b.Period == 0 {
		b.Period = time.Second
	}
	if b.Burst == 0 {
		b.Burst = max(1, int(int64(b.Rate)*int64(burstTime)/int64(b.Period)))
	}
}

// The bounds of bounds. Each claim counts the messages that are claimed under a concurrency. Times
// are microseconds in the database: a hundred for each message keep a rate exact to 1 %.
const (
	maxConcurrency = 10_000
	maxRate        = 1_000_000
	minGap         = 100 * time.Microsecond
	maxPeriod      = 24 * time.Hour
)

// check returns an error that names what is invalid of what is to have a limit.
func check(kind Kind, name string) error {
	if kind != Queue && kind != Topic && kind != Each {
		return engine.Invalid("kind", "neither queue, topic nor each")
	}
	err := engine.CheckText(string(kind), name, limits.PauseName, true)
	if _, pattern := topics.Pattern(name); err == nil && kind == Each && !pattern {
		return engine.Invalid(string(kind), "does not end in *")
	}
	return err
}

func (b *Bounds) validate() error {
	if b.Concurrency == 0 && b.Rate == 0 {
		return engine.Invalid("limit", "neither concurrency nor rate")
	}
	if b.Rate == 0 && (b.Period != 0 || b.Burst != 0) {
		return engine.Invalid("rate", "0, with a period or a burst")
	}
	err := cmp.Or(
		engine.CheckOption("concurrency", b.Concurrency, 1, maxConcurrency), engine.CheckOption("rate", b.Rate, 1, maxRate),
		engine.CheckOption("period", b.Period, minGap, maxPeriod), engine.CheckOption("burst", b.Burst, 1, maxRate),
	)
	if err == nil && time.Duration(b.Rate)*minGap > cmp.Or(b.Period, time.Second) {
		return engine.Invalid("rate", "more than one in %s", minGap)
	}
	return err
}

// Set limits a topic, each topic of a pattern, or a queue, in place of the limit that it has, and reports whether that changes
// anything. It holds for what is claimed from then on; what is claimed already goes on, and counts
// against the concurrency. reason is for people to read.
func (l *Limits) Set(ctx context.Context, kind Kind, name string, b Bounds, reason string) (bool, error) {
	if err := cmp.Or(check(kind, name), b.validate(), engine.CheckText("reason", reason, limits.Reason, false)); err != nil {
		return false, err
	}
	b.defaults()
	put := engine.Ask(op.LimitPut{
		Kind: string(kind), Name: name, Concurrency: worker.Optional(b.Concurrency), Rate: worker.Optional(b.Rate), Period: b.Period, Burst: b.Burst,
		Reason: worker.Optional(reason), Note: audit.New(audit.WithReason(ctx, reason), subject.Target(kind, name)).Op(),
	})
	changed, err := l.change(ctx, put, kind, name)
	if changed {
		l.log.InfoContext(ctx, "limited", "kind", string(kind), "name", name)
	}
	return changed, err
}

// Remove ends the limit of a topic, each topic of a pattern, or a queue, and reports whether there was one.
func (l *Limits) Remove(ctx context.Context, kind Kind, name string) (bool, error) {
	if err := check(kind, name); err != nil {
		return false, err
	}
	gone := engine.Ask(op.LimitRemove{Kind: string(kind), Name: name, Note: audit.New(ctx, subject.Target(kind, name)).Op()})
	changed, err := l.change(ctx, gone, kind, name)
	if changed {
		l.log.InfoContext(ctx, "no longer limited", "kind", string(kind), "name", name)
	}
	return changed, err
}

func (l *Limits) change(ctx context.Context, call *engine.Call, kind Kind, name string) (bool, error) {
	if err := l.db.Do(ctx, call); err != nil {
		return false, err
	}
	if kind == Queue {
		l.db.Notify(name)
	}
	return call.N > 0, l.Refresh(ctx)
}

// List returns the limits and how much of them is used, by kind and name.
func (l *Limits) List(ctx context.Context) ([]Limit, error) {
	rows, err := engine.Query(ctx, l.db, op.LimitList{})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	used, err := engine.Query(ctx, l.db, op.LimitUse{})
	if err != nil {
		return nil, err
	}
	return join(rows, used), nil
}

// Listing returns the calls that read what List returns, for callers that read more in the same
// round trip, and what returns it once they were answered.
func Listing() (calls []*engine.Call, list func() []Limit) {
	var rows []op.Limit
	var used []op.LimitUsed
	return []*engine.Call{engine.List(op.LimitList{}, &rows), engine.List(op.LimitUse{}, &used)}, func() []Limit { return join(rows, used) }
}

// join puts what is used beside the limits.
func join(rows []op.Limit, used []op.LimitUsed) []Limit {
	all := make([]Limit, 0, len(rows))
	for _, r := range rows {
		one := Limit{Kind: Kind(r.Kind), Name: r.Name, Since: r.At.UTC(), Next: worker.Value(r.NextAt).UTC(), Actor: r.Actor, Reason: worker.Value(r.Reason), Declared: worker.Value(r.Declared)}
		one.Concurrency = int(worker.Value(r.Concurrency))
		if r.Rate != nil {
			one.Rate, one.Period, one.Burst = int(*r.Rate), time.Duration(r.Micros)*time.Microsecond, int(r.Burst)
		}
		for _, u := range used {
			if u.Kind == r.Kind && u.Name == r.Name {
				one.Claimed, one.Waiting, one.Oldest = u.Claimed, u.Waiting, max(0, time.Duration(u.Micros)*time.Microsecond)
			}
		}
		all = append(all, one)
	}
	return all
}

// For returns the limits that hold for messages of a topic in a queue. There is none for a topic of a
// pattern under which nothing was claimed lately.
func (l *Limits) For(ctx context.Context, queue, topic string) (all []Holding, err error) {
	rows, err := engine.Query(ctx, l.db, op.LimitFor{Queue: queue, Topic: topic})
	for _, r := range rows {
		one := Holding{Kind: Kind(r.Kind), Name: r.Name, Next: worker.Value(r.NextAt).UTC(), Claimed: r.Claimed}
		if r.Pattern != "" {
			one.Kind, one.Name = Each, r.Pattern
		}
		one.Concurrency, one.Rate, one.Period = int(worker.Value(r.Concurrency)), int(worker.Value(r.Rate)), time.Duration(r.Micros)*time.Microsecond
		all = append(all, one)
	}
	return all, err
}

// Refresh reads what has limits, for Of.
func (l *Limits) Refresh(ctx context.Context) error {
	return l.seen.Read(func() (now *subject.Set, err error) {
		rows, err := engine.Query(ctx, l.db, op.LimitList{})
		for _, r := range rows {
			now = now.Add(Kind(r.Kind), r.Name)
		}
		return now, err
	})
}

// Of reports whether messages of a topic in a queue had a limit at the last Refresh.
func (l *Limits) Of(queue, topic string) bool {
	now := l.seen.Set()
	return now.HasQueue(queue) || now.HasTopic(topic)
}
