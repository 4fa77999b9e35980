package anydriver

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bravellian/pawl/internal/engine"
)

// Messages of a topic with a limit are claimed where a claim meets them, as long as the limit has room
// and none of the topic waits. The others are moved to a lane of that limit, so that each is met once
// and those behind them come through. From such lanes as many are claimed as the limit allows.

// limitedClaim is a claim while there are limits.
type limitedClaim struct {
	t *txn
	claimRequest
	ofQueue limitOf
	open    []queueLane // of no limit, in order of priority
	lanes   []queueLane // of limits
	yielded []int64     // those that left their places to other queues
	moved   moved
	grants  map[string]*grant // by topic
}

// grant is what a limit allows of a topic of which no messages wait in lanes.
type grant struct {
	limit limitOf
	room  int64
	runs  []run // claimed, and not counted yet
}

// moved says which topics' messages are moved to lanes of limits, unless there is room for them.
type moved struct {
	topics   []string
	prefixes []string // of limits for each topic of a pattern
}

func (m *moved) add(n *named) {
	if n.Kind == "each" {
		m.prefixes = append(m.prefixes, strings.TrimSuffix(n.Name, "*"))
	} else {
		m.topics = append(m.topics, n.Name)
	}
}

func (m *moved) none() bool { return len(m.topics)+len(m.prefixes) == 0 }

func (m *moved) has(topic string) bool {
	return slices.Contains(m.topics, topic) || slices.ContainsFunc(m.prefixes, func(prefix string) bool { return strings.HasPrefix(topic, prefix) })
}

func newLimitedClaim(t *txn, c claimRequest, lanes []queueLane) (*limitedClaim, error) {
	l := &limitedClaim{t: t, claimRequest: c, grants: map[string]*grant{}}
	var err error
	if l.ofQueue, l.most, err = room(t, "queue", c.queue, c.most); err != nil {
		return nil, err
	}
	err = each(t, limitTopics{}, func(n *named) error {
		l.moved.add(n)
		return nil
	})
	if c.apart != nil {
		l.moved.add(&named{"topic", *c.apart})
	}
	k := len(lanes)
	for k > 0 && lanes[k-1].Kind == int64(engine.Limited) {
		k--
	}
	l.open, l.lanes = lanes[:k], lanes[k:]
	return l, err
}

// claimWithin claims what limits allow: of half the messages of topics with limits first, then
// others, then of what room is left, so that neither keeps the other from being claimed unless its
// priority does.
func claimWithin(t *txn, c claimRequest, lanes []queueLane) error {
	l, err := newLimitedClaim(t, c, lanes)
	if err != nil {
		return err
	}
	for _, part := range []func() error{l.claimFirst, l.claimOpen, l.claimRest, l.ask} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// claimFirst claims of half the messages those in lanes of limits whose priority is not behind that of
// what else may be claimed, or whose oldest message has been due for longer than the claim says.
func (l *limitedClaim) claimFirst() error {
	top := int64(math.MaxInt64)
	for _, o := range l.open {
		head, err := pick(l.t, o.ID, 1)
		if err != nil {
			return err
		}
		if len(head) > 0 {
			top = o.Priority
			break
		}
	}
	behind := func(lane queueLane) bool { return lane.Priority > top && (lane.Head == nil || *lane.Head >= l.late()) }
	return l.claimLanes(slices.DeleteFunc(slices.Clone(l.lanes), behind), (l.most+rand.Int64N(2))/2)
}

// claimOpen claims messages of open lanes: those that no topic's limit holds for, or has room for.
func (l *limitedClaim) claimOpen() error {
	if err := lateFirst(l.t, l.open, l.wait); err != nil {
		return err
	}
	return besideGroups(l.t, &l.claimRequest, l.open, func(runs []run) error { return l.claimMet(new(queueLane), runs) }, func() error {
		for i := range l.open {
			if err := l.claimOthers(&l.open[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// claimRest claims from all lanes of limits.
func (l *limitedClaim) claimRest() error { return l.claimLanes(l.lanes, l.most) }

// ask records which lanes of limits wait for a place: none that left its place to another queue.
func (l *limitedClaim) ask() error {
	err := l.t.do(limitAsk{Queue: l.queue, Room: l.most})
	for _, lane := range l.yielded {
		if err == nil {
			err = l.t.do(limitUnask{Lane: lane})
		}
	}
	return err
}

// late returns when what has been due since before then goes first, whatever its priority.
func (l *limitedClaim) late() int64 {
	if l.wait == nil {
		return math.MinInt64
	}
	return l.t.now - l.wait.Microseconds()
}

// compare says which of two lanes goes first: by age what is late, then by priority and age.
func (l *limitedClaim) compare(a, b queueLane) int {
	key := func(lane queueLane) (punctual, priority, at int64) {
		if at = math.MaxInt64; lane.Head != nil {
			at = *lane.Head
		}
		if at < l.late() {
			return 0, 0, at
		}
		return 1, lane.Priority, at
	}
	ap, ar, at := key(a)
	bp, br, bt := key(b)
	return cmp.Or(cmp.Compare(ap, bp), cmp.Compare(ar, br), cmp.Compare(at, bt))
}

// yields reports whether the places of a topic's limit are left to another queue, whose workers it
// wakes: whoever frees a place would always take it again.
func (l *limitedClaim) yields(lane *queueLane) (bool, error) {
	if lane.Head == nil {
		return false, nil
	}
	_, ahead, err := one(l.t, limitAhead{Queue: l.queue, Topic: lane.Topic, Lane: lane.ID, Priority: lane.Priority, At: *lane.Head, Late: l.late()})
	if ahead {
		l.t.woke, l.yielded = true, append(l.yielded, lane.ID)
	}
	return ahead, err
}

// claimLanes claims messages from lanes of limits, at most so many.
func (l *limitedClaim) claimLanes(lanes []queueLane, most int64) error {
	slices.SortStableFunc(lanes, l.compare)
	for i := 0; i < len(lanes) && most > 0; i++ {
		n, err := l.claimLane(&lanes[i], most)
		if err != nil {
			return err
		}
		most -= n
	}
	return nil
}

// claimLane claims what the limit of a lane allows, and returns how many messages, none if the places
// are left to another queue.
func (l *limitedClaim) claimLane(lane *queueLane, most int64) (int64, error) {
	if ahead, err := l.yields(lane); err != nil || ahead {
		return 0, err
	}
	limit, n, err := room(l.t, "topic", lane.Topic, most)
	if err != nil || n <= 0 {
		return 0, err
	}
	runs, err := takeLane(l.t, lane.ID, n)
	if err != nil {
		return 0, err
	}
	return l.take(lane, runs, &limit)
}

// take puts runs under lease, and returns how many messages they have.
func (l *limitedClaim) take(lane *queueLane, runs []run, limit *limitOf) (int64, error) {
	n, err := lane.hold(l.t, l.claimRequest, runs)
	if err != nil {
		return 0, err
	}
	l.most -= n
	if err := limit.use(l.t, runs, n); err != nil {
		return 0, err
	}
	return n, l.ofQueue.use(l.t, runs, n)
}

// limitedSteps bounds how long a claim may take that meets many messages of topics with limits.
const limitedSteps = 20

// claimOthers claims messages of an open lane, and moves those of topics whose limits have no room to
// the lanes of these.
func (l *limitedClaim) claimOthers(lane *queueLane) error {
	for step := 0; step < limitedSteps && l.most > 0; step++ {
		runs, err := takeLane(l.t, lane.ID, l.most)
		if err != nil || len(runs) == 0 {
			return err
		}
		if err := l.claimMet(lane, runs); err != nil {
			return err
		}
	}
	return nil
}

// claimMet claims of runs that were removed from ready what limits allow, and moves the others to their lanes.
func (l *limitedClaim) claimMet(lane *queueLane, runs []run) error {
	kept, err := l.divert(lane, runs, true)
	if err != nil {
		return err
	}
	if _, err := l.take(lane, kept, &limitOf{}); err != nil {
		return err
	}
	return l.useGrants()
}

// granted reports whether the limit of the topic of an open lane's message has room for it, and takes
// the place.
func (l *limitedClaim) granted(lane *queueLane, topic string, message run) (bool, error) {
	g, err := l.grantOf(lane, topic)
	if err != nil || g.room <= 0 {
		return false, err
	}
	g.room--
	g.runs = append(g.runs, message)
	return true, nil
}

// grantOf returns the grant of a topic. It has no room while messages of the topic wait in a lane, of
// whichever queue: they come first. The lane of the limit is registered, by which other queues see
// that they share the limit.
func (l *limitedClaim) grantOf(beside *queueLane, topic string) (*grant, error) {
	if g := l.grants[topic]; g != nil {
		return g, nil
	}
	g := &grant{}
	l.grants[topic] = g
	_, wait, err := one(l.t, limitWaits{Topic: topic})
	if err != nil || wait || l.apart != nil && *l.apart == topic {
		return g, err
	}
	if g.limit, g.room, err = room(l.t, "topic", topic, l.most); err == nil && g.room > 0 {
		err = l.register(engine.LimitLaneID(l.queue, int(beside.Priority), topic), beside.Priority, topic)
	}
	return g, err
}

// useGrants counts what was claimed by grants.
func (l *limitedClaim) useGrants() error {
	for _, g := range l.grants {
		if err := g.limit.use(l.t, g.runs, int64(len(g.runs))); err != nil {
			return err
		}
		g.runs = nil
	}
	return nil
}

// divert moves messages of topics with limits to the lanes of these limits, as runs that are as long as can
// be, and returns the others. With grant those stay that a limit grants.
func (l *limitedClaim) divert(lane *queueLane, runs []run, grant bool) (kept []run, err error) {
	if l.moved.none() {
		return runs, nil
	}
	var away []run
	for _, r := range runs {
		messages, err := rows(l.t, outboxRunTopics{Lo: r.Lo, End: r.end()})
		if err != nil {
			return nil, err
		}
		for _, m := range messages {
			one := r
			one.Lo, one.N = m.ID, 1
			keep := !l.moved.has(m.Topic)
			if !keep && grant {
				if keep, err = l.granted(lane, m.Topic, one); err != nil {
					return nil, err
				}
			}
			if keep {
				kept = append(kept, one)
				continue
			}
			if one.Lane, err = l.laneOf(lane, m.Topic, r.At); err != nil {
				return nil, err
			}
			away = append(away, one)
		}
	}
	slices.SortFunc(away, func(a, b run) int { return cmp.Or(cmp.Compare(a.Lane, b.Lane), cmp.Compare(a.Lo, b.Lo)) })
	for _, r := range merge(away) {
		if err := toReady(l.t, r); err != nil {
			return nil, err
		}
	}
	return merge(kept), nil
}

// laneOf returns the lane of a topic's limit, beside another lane of the queue, for a message that is
// due since at.
func (l *limitedClaim) laneOf(beside *queueLane, topic string, at int64) (int64, error) {
	id := engine.LimitLaneID(l.queue, int(beside.Priority), topic)
	if slices.ContainsFunc(l.lanes, func(lane queueLane) bool { return lane.ID == id }) {
		return id, nil
	}
	l.lanes = append(l.lanes, queueLane{ID: id, Priority: beside.Priority, Kind: int64(engine.Limited), Topic: topic, Limited: true, Head: &at})
	return id, l.register(id, beside.Priority, topic)
}

// register makes the lane of a topic's limit known, unless it is.
func (l *limitedClaim) register(id, priority int64, topic string) error {
	return l.t.do(outboxLimitLane{ID: id, Queue: l.queue, Priority: priority, Topic: topic})
}

// takeSuspectsWithin is takeSuspects while there are limits.
func takeSuspectsWithin(t *txn, c claimRequest, lanes []queueLane) (int64, error) {
	l, err := newLimitedClaim(t, c, lanes)
	if err != nil || l.most <= 0 {
		return 0, err
	}
	for i := range l.open {
		if n, err := l.suspects(&l.open[i], &limitOf{}, l.most); err != nil || n > 0 {
			return n, err
		}
	}
	for i := range l.lanes {
		limit, most, err := room(t, "topic", l.lanes[i].Topic, l.most)
		if err == nil && most > 0 {
			most, err = l.suspects(&l.lanes[i], &limit, most)
		}
		if err != nil || most > 0 {
			return most, err
		}
	}
	return 0, nil
}

// suspects claims suspects of a lane, and returns how many.
func (l *limitedClaim) suspects(lane *queueLane, limit *limitOf, most int64) (int64, error) {
	for step := 0; step < limitedSteps; step++ {
		picked, total, err := pickSuspects(l.t, lane.ID, most)
		if err != nil || total == 0 {
			return 0, err
		}
		if lane.Kind == int64(engine.Claimable) {
			if picked, err = l.divert(lane, picked, false); err != nil {
				return 0, err
			}
		}
		if len(picked) > 0 {
			return l.take(lane, together(picked), limit)
		}
	}
	return 0, nil
}
