package anydriver

import (
	"cmp"
	"math/rand/v2"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

type (
	// limitFind reads a limit, how many messages are counted under its concurrency, and in how many rows.
	limitFind struct {
		engine.Rows[bounds]
		Kind, Name string
	}
	bounds struct {
		Concurrency, Rate                 *int64
		Period, Burst, NextAt, Held, Rows int64
	}
	// limitFindPattern gives a topic a row of its own under the limit for each topic of the longest
	// pattern that it begins as.
	limitFindPattern struct {
		engine.Changes
		Topic string
	}
	// limitBy records what a program declares of a limit that not it, the actor, set.
	limitBy struct {
		engine.Changes
		Kind, Name, Actor string
		Declared          *string
	}
	// limitTopics reads which topics, and patterns, have limits.
	limitTopics struct{ engine.Rows[named] }
	named       struct{ Kind, Name string }
	// limitPatterns reads the patterns whose limits bound the concurrency.
	limitPatterns struct{ engine.Rows[named] }
	// limitDropTopics deletes the rows of a pattern's topics, but for those of longer patterns: they
	// get others, with the pattern's new bounds.
	limitDropTopics struct {
		engine.Changes
		Pattern string
	}
	// limitDropPattern deletes the rows of the topics of a limit.
	limitDropPattern limitDropTopics
	limitPurgeClaims struct{ engine.Changes }
	limitPurgeTopics struct{ engine.Changes }
	limitPurgeLanes  struct{ engine.Changes }
	// limitLive reads what is claimed.
	limitLive struct {
		engine.Rows[position]
		Kind, Name string
	}
	// limitForget deletes what is or was claimed.
	limitForget byKind
	// limitHold counts the messages of a claim against a limit, in one row.
	limitHold struct {
		engine.Changes
		Kind, Name string
		IDs        []int64
	}
	// limitHoldClaimed counts what is claimed already.
	limitHoldClaimed byKind
	limitHoldNone    byKind
	// limitAsk records which lanes of a queue wait for a place that other queues take as well, so that
	// these leave it to them. Room is what a claim had left for more in the end: one that has nothing
	// left waits for none.
	limitAsk struct {
		engine.Changes
		Queue string
		Room  int64
	}
	// limitUnask records that a lane waits for no place: it has left one to another queue, and two
	// could go on leaving them to each other.
	limitUnask struct {
		engine.Changes
		Lane int64
	}
	// limitAhead reports whether the oldest message of another queue, which asked for a place a short
	// while ago or while the rate allowed none, comes before that of a lane, which is due since At: by
	// age, what is due since before Late, then by priority and age.
	limitAhead struct {
		engine.Rows[existence]
		Queue, Topic             string
		Lane, Priority, At, Late int64
	}
	// limitWaits reports whether messages of a topic are due in lanes of its limit, of whichever queue.
	limitWaits struct {
		engine.Rows[existence]
		Topic string
	}
	// limitAdvance sets when the next message may be claimed.
	limitAdvance struct {
		engine.Changes
		Kind, Name string
		NextAt     int64
	}
	// outboxLimitLane registers the lane of a topic's limit.
	outboxLimitLane struct {
		engine.Changes
		ID       int64
		Queue    string
		Priority int64
		Topic    string
	}
	// outboxRunTopics reads the topics of messages.
	outboxRunTopics struct {
		engine.Rows[topical]
		Lo, End int64
	}
	topical struct {
		ID    int64
		Topic string
	}
	// outboxUnderLimit reports whether a limit holds for a topic in a queue.
	outboxUnderLimit struct {
		engine.Rows[existence]
		Queue, Topic string
	}
)

func putLimit(t *txn, o op.LimitPut) (int64, error) {
	t.woke = true
	n, err := t.changeAudited(o.Note, "limit", o)
	if err == nil && n > 0 && o.Kind == "each" {
		err = t.do(limitDropTopics{Pattern: o.Name})
	}
	if err == nil && o.Concurrency != nil {
		err = t.do(limitHoldClaimed{Kind: o.Kind, Name: o.Name})
	}
	return n, err
}

// declareLimit sets or removes a limit in the name of a program, unless somebody else set it.
func declareLimit(t *txn, o op.LimitDeclare) (int64, error) {
	by := op.Note{Actor: "declared by " + o.Owner}
	if n, err := t.change(limitBy{Kind: o.Kind, Name: o.Name, Actor: by.Actor, Declared: o.Declared}); err != nil || n > 0 {
		return -1, err
	}
	if o.Concurrency == nil && o.Rate == nil {
		return removeLimit(t, op.LimitRemove{Kind: o.Kind, Name: o.Name, Note: by})
	}
	return putLimit(t, op.LimitPut{Kind: o.Kind, Name: o.Name, Concurrency: o.Concurrency, Rate: o.Rate, Period: o.Period, Burst: o.Burst, Reason: &o.Reason, Note: by})
}

func removeLimit(t *txn, o op.LimitRemove) (int64, error) {
	t.woke = true
	n, err := t.changeAudited(o.Note, "unlimit", o)
	if err != nil || n == 0 {
		return n, err
	}
	if o.Kind == "each" {
		if err := t.do(limitDropPattern{Pattern: o.Name}); err != nil {
			return 0, err
		}
	}
	if err := t.do(limitHoldNone{Kind: o.Kind, Name: o.Name}); err != nil {
		return 0, err
	}
	patterns, err := rows(t, limitPatterns{}) // under whose limits its topics may be now
	for _, p := range patterns {
		if err := t.do(limitHoldClaimed{Kind: p.Kind, Name: p.Name}); err != nil {
			return 0, err
		}
	}
	return n, err
}

// purgeLimits deletes what a limit for each topic of a pattern left where it is not in use: rows of
// topics under which nothing is claimed and whose rate is saved up, and lanes of topics that have no
// row, if nothing is in them nor comes back to them. Every claim that obeys limits reads the lanes
// of its queue, so there must be no more of them than are in use.
func purgeLimits(t *txn) error {
	return t.do(limitPurgeClaims{}, limitPurgeTopics{}, limitPurgeLanes{})
}

// limitOf is the limit of a topic or queue while messages are claimed.
type limitOf struct {
	kind, name string
	bounds
	found bool
}

// uncounted is how many rows of claims are counted without a thought of places that are free again.
// Of more all are checked by one claim in as many as there are rows, so that each claim pays for one in the long run.
const uncounted = 100

// room returns the limit and how many messages of it may be claimed, at most so many.
func room(t *txn, kind, name string, most int64) (limitOf, int64, error) {
	l := limitOf{kind: kind, name: name}
	var err error
	find := limitFind{Kind: kind, Name: name}
	if l.bounds, l.found, err = one(t, find); err == nil && !l.found && kind == "topic" {
		if n, e := t.change(limitFindPattern{Topic: name}); e != nil || n > 0 {
			l.bounds, l.found, err = one(t, find)
			err = cmp.Or(e, err)
		}
	}
	if err != nil || !l.found {
		return l, most, err
	}
	if l.Concurrency != nil {
		if l.Held+most > *l.Concurrency || l.Rows > uncounted && rand.Int64N(l.Rows) == 0 { // what is no longer claimed takes the place of others
			if l.Held, err = l.recount(t); err != nil {
				return l, 0, err
			}
		}
		most = min(most, *l.Concurrency-l.Held)
	}
	if l.Rate != nil {
		if saved := t.now - l.from(t.now); saved < 0 {
			most = 0
		} else {
			most = min(most, 1+saved**l.Rate/l.Period)
		}
	}
	return l, max(most, 0), nil
}

// recount forgets what is no longer claimed, and returns how many messages are.
func (l *limitOf) recount(t *txn) (int64, error) {
	var live []int64
	err := each(t, limitLive{Kind: l.kind, Name: l.name}, func(m *position) error { live = append(live, m.ID); return nil })
	if err != nil {
		return 0, err
	}
	return int64(len(live)), t.do(limitForget{Kind: l.kind, Name: l.name}, limitHold{Kind: l.kind, Name: l.name, IDs: live})
}

// from returns when the first of the messages could have begun that may begin now: as many are saved
// up as the burst. A time further ahead than a burst takes is one of a clock that was set back.
func (l *limitOf) from(now int64) int64 {
	if l.NextAt > now + (l.Burst+1)*l.Period / *l.Rate {
		return now
	}
	return max(l.NextAt, now - (l.Burst-1)*l.Period / *l.Rate)
}

// use counts n claimed messages, those of runs.
func (l *limitOf) use(t *txn, runs []run, n int64) error {
	if l.Concurrency != nil && n > 0 {
		ids := make([]int64, 0, n)
		for _, r := range runs {
			for id := r.Lo; id < r.end(); id++ {
				ids = append(ids, id)
			}
		}
		if err := t.do(limitHold{Kind: l.kind, Name: l.name, IDs: ids}); err != nil {
			return err
		}
	}
	if l.Rate == nil || n == 0 {
		return nil
	}
	l.NextAt = l.from(t.now) + (n*l.Period+*l.Rate-1) / *l.Rate
	return t.do(limitAdvance{Kind: l.kind, Name: l.name, NextAt: l.NextAt})
}
