package inspect

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/activity"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
)

const (
	hour = 60 // minutes
	// minutesFor is up to which length of time minutes are read; of a longer one, hours and the
	// minutes of the hours that were not added up yet.
	minutesFor = 6 * hour
	maxSince   = 30 * 24 * hour
	// steps is in how many parts a time is divided, at most.
	steps = 60
)

// Activity is what workers, and programs that claim themselves, did in a time.
type Activity struct {
	// From is when the time begins, and Known from when on workers have counted: what they did
	// before it is not known. Zero: nothing was ever counted.
	From  time.Time `json:"from"`
	Known time.Time `json:"known_from,omitzero"`
	// Step is how long each of a topic's steps is.
	Step time.Duration `json:"step"`
	// Topics are those with numbers, by name and queue.
	Topics []TopicActivity `json:"topics"`
	steps  int
	// More is true if there are more messages of Enqueued that wait than were counted.
	More bool `json:"more,omitempty"`
}

// TopicActivity is what was done with the messages of a topic. How long messages waited and attempts took
// is known of workers alone.
type TopicActivity struct {
	Queue string `json:"queue"` // this and Topic are empty: of all topics beyond the first 200
	Topic string `json:"topic"`
	activity.Totals
	// Enqueued is how many messages were enqueued: those that ended, and those that wait or
	// run. One that failed and was redriven is enqueued again. Messages that were cancelled are
	// not among them.
	Enqueued int64 `json:"enqueued"`
	// Steps are the parts of the time, oldest first; the last one is under way.
	Steps []ActivityStep `json:"steps"`
}

// ActivityStep has the numbers of a step.
type ActivityStep struct {
	At time.Time `json:"at"` // when it begins
	activity.Totals
	Enqueued int64 `json:"enqueued"`
}

// ActivityQuery selects what ReadActivity returns.
type ActivityQuery struct {
	Since time.Duration // a minute to 30 days; 0: an hour
	Until time.Time     // when the time ends, by the database's clock; zero or later than now: now
	Queue string        // "": all
	Topic string        // "": all
}

// ReadActivity returns what workers did in a time that ends now, or before, by topic. Its cost grows with the number of
// topics and workers, and not with that of messages; of those that wait it reads the newest 10 000.
func ReadActivity(ctx context.Context, db engine.DB, q ActivityQuery) (Activity, error) {
	var clock op.Clock
	var extent op.ActivitySpan
	if err := engine.ReadAll(ctx, db, engine.One(op.ClockNow{}, &clock), engine.One(op.ActivityExtent{}, &extent)); err != nil {
		return Activity{}, err
	}
	calls, list, err := ListActivity(q, clock.Now, &extent)
	if err == nil {
		err = engine.ReadAll(ctx, db, calls...)
	}
	if err != nil {
		return Activity{}, err
	}
	return list(), nil
}

// ListActivity returns the calls that read what ReadActivity returns, for callers that read more in the same round
// trip and know the database's time and of which minutes there is activity, and a function that returns it once
// they were answered.
func ListActivity(q ActivityQuery, now time.Time, extent *op.ActivitySpan) ([]*engine.Call, func() Activity, error) {
	if err := engine.CheckOption("since", q.Since, time.Minute, maxSince*time.Minute); err != nil {
		return nil, nil, err
	}
	if !q.Until.IsZero() && q.Until.Before(now) {
		now = q.Until.Add(-time.Second) // a full minute ends before the next one
	}
	r := newActivityReader(now, cmp.Or(q.Since, time.Hour), extent)
	parts := r.parts(extent)
	rows, amounts := make([][]op.Activity, len(parts)), []op.ActivityAmount(nil)
	waiting := op.ActivityWaiting{From: r.from, Queue: worker.Optional(q.Queue), Topic: worker.Optional(q.Topic), Runs: backlogRuns, Messages: backlogMessages}
	calls := []*engine.Call{engine.List(waiting, &amounts)}
	for i, part := range parts {
		part.Queue, part.Topic, part.Most = waiting.Queue, waiting.Topic, activity.MaxRows
		calls = append(calls, engine.List(part, &rows[i]))
	}
	return calls, func() Activity {
		for i := range rows {
			for k := range rows[i] {
				if n, err := activity.Of(&rows[i][k]); err == nil { // what cannot be read is left out
					r.add(&rows[i][k], n)
				}
			}
		}
		for i := range amounts {
			a := &amounts[i]
			r.enqueued(r.topic(a.Queue, a.Topic), a.Minute, a.N)
			r.More = r.More || a.More
		}
		return r.result()
	}, nil
}

// Waits returns how many messages of a topic in a queue did not end yet, and for how long the oldest of
// them has been there. It reads the newest messages, and so many at most.
func Waits(ctx context.Context, db engine.DB, queue, topic string, most int64) (n int64, more bool, oldest time.Duration, err error) {
	amounts, err := engine.Query(ctx, db, op.ActivityWaiting{Queue: &queue, Topic: &topic, Runs: most, Messages: most})
	for i := range amounts {
		a := &amounts[i]
		n, more, oldest = n+a.N, more || a.More, max(oldest, Age(a.Micros))
	}
	return n, more, oldest, err
}

// Sum returns the steps of all topics together, and how many of them are over before anybody counted.
func (a *Activity) Sum() (all []ActivityStep, unknown int) {
	all, unknown = a.noSteps(), a.steps
	for i := range a.Topics {
		for k := range a.Topics[i].Steps {
			s := &a.Topics[i].Steps[k]
			all[k].Add(&s.Totals)
			all[k].Enqueued += s.Enqueued
		}
	}
	if !a.Known.IsZero() {
		unknown = min(unknown, int(max(0, a.Known.Sub(a.From)/a.Step)))
	}
	return all, unknown
}

// noSteps returns the steps without numbers.
func (a *Activity) noSteps() []ActivityStep {
	all := make([]ActivityStep, a.steps)
	for i := range all {
		all[i].At = a.From.Add(time.Duration(i) * a.Step)
	}
	return all
}

// activityReader adds up rows.
type activityReader struct {
	Activity
	from, until, step int64 // minutes
	topics            map[[2]string]*TopicActivity
}

func newActivityReader(now time.Time, since time.Duration, extent *op.ActivitySpan) *activityReader {
	r := &activityReader{Activity: Activity{Topics: []TopicActivity{}}, topics: map[[2]string]*TopicActivity{}}
	r.until = now.Unix()/60 + 1
	minutes := max(1, int64(since/time.Minute))
	r.step = (minutes + steps - 1) / steps
	if minutes > minutesFor { // so that no hour belongs to two steps
		r.step = (r.step + hour - 1) / hour * hour
		r.until = (r.until + hour - 1) / hour * hour
	}
	r.from = r.until - (minutes+r.step-1)/r.step*r.step
	r.From, r.Step, r.steps = at(r.from), time.Duration(r.step)*time.Minute, int((r.until-r.from)/r.step)
	first := cmp.Or(extent.FirstHour, extent.FirstMinute)
	if extent.FirstMinute > 0 && extent.FirstMinute < first+hour { // the minutes of the first hour are there
		first = extent.FirstMinute
	}
	if first > 0 {
		r.Known = at(first)
	}
	return r
}

func at(minute int64) time.Time { return time.Unix(minute*60, 0).UTC() }

// parts returns what is to be read.
func (r *activityReader) parts(extent *op.ActivitySpan) []op.ActivityList {
	if r.step%hour != 0 || extent.LastHour == 0 {
		return []op.ActivityList{{Grain: 1, From: r.from, Until: r.until}}
	}
	// The last hour was perhaps not complete when it was added up.
	return []op.ActivityList{{Grain: hour, From: r.from, Until: extent.LastHour}, {Grain: 1, From: max(r.from, extent.LastHour), Until: r.until}}
}

func (r *activityReader) topic(queue, topic string) *TopicActivity {
	k := [2]string{topic, queue}
	t := r.topics[k]
	if t == nil {
		t = &TopicActivity{Queue: queue, Topic: topic, Steps: r.noSteps()}
		r.topics[k] = t
	}
	return t
}

func (r *activityReader) add(row *op.Activity, n *activity.Totals) {
	t := r.topic(row.Queue, row.Topic)
	t.Add(n)
	if s := r.stepAt(t, row.Minute); s != nil {
		s.Add(n)
	}
	for minute, n := range n.Created {
		r.enqueued(t, minute, n)
	}
}

// enqueued counts messages that were enqueued in a minute.
func (r *activityReader) enqueued(t *TopicActivity, minute, n int64) {
	if s := r.stepAt(t, minute); s != nil {
		t.Enqueued += n
		s.Enqueued += n
	}
}

func (r *activityReader) stepAt(t *TopicActivity, minute int64) *ActivityStep {
	if minute < r.from || minute >= r.until {
		return nil
	}
	return &t.Steps[(minute-r.from)/r.step]
}

func (r *activityReader) result() Activity {
	for _, k := range slices.SortedFunc(maps.Keys(r.topics), func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }) {
		r.Topics = append(r.Topics, *r.topics[k])
	}
	return r.Activity
}
