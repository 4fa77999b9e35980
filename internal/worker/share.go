package worker

import "time"

// streak is the topic that all items had which were claimed last.
type streak[M any] struct {
	topic string
	n     int       // how many
	began time.Time // when the first of them was claimed
}

// add adds items of a claim, in their order.
func (s *streak[M]) add(items []Item[M]) {
	for i := range items {
		if items[i].Topic != s.topic {
			s.topic, s.n, s.began = items[i].Topic, 0, time.Now()
		}
		s.n++
	}
}

// slowAfter is how long a topic fills the handlers before others are searched for behind it: until
// then it is not known how fast they are, and a backlog of one topic is nothing unusual.
const slowAfter = time.Second

// apart returns the topic that fills the handlers, if one does: they run, slowly, and as many items
// of the topic as there are handlers were claimed one after the other. Items of others may wait
// behind it for as long as all that is before them takes.
func (l *Loop[M]) apart(n int) string {
	if n > 0 && l.streak.n >= l.cfg.Concurrency && time.Since(l.streak.began) >= slowAfter && l.inflight.slow() {
		return l.streak.topic
	}
	return ""
}
