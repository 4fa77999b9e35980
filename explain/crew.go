package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bravellian/pawl/internal/pause"
	"github.com/bravellian/pawl/internal/registry"
	"github.com/bravellian/pawl/internal/worker"
)

// crew are the processes that work on the database, and those that crashed.
type crew []registry.Info

// alive are those that were heard of lately and do something.
func (c crew) alive(does func(*registry.Info) bool) (some crew) {
	for i := range c {
		if c[i].Alive && does(&c[i]) {
			some = append(some, c[i])
		}
	}
	return some
}

func (c crew) serving(queue string) crew {
	return c.alive(func(w *registry.Info) bool { return slices.Contains(w.Queues, queue) })
}

func (c crew) handling(topic string) crew {
	return c.alive(func(w *registry.Info) bool { return slices.Contains(w.Topics, topic) })
}

// any reports whether anybody is there: who lets timers fire, makes runs of jobs and
// brings back what others held.
func (c crew) any() bool { return len(c.alive(func(*registry.Info) bool { return true })) > 0 }

// besides reports whether anybody is there but one, who may be nil.
func (c crew) besides(one *registry.Info) bool {
	return len(c.alive(func(w *registry.Info) bool { return one == nil || w.ID != one.ID })) > 0
}

// maker is the worker whose token that is, a live one if two could be.
func (c crew) maker(token worker.OwnerToken) (by *registry.Info) {
	for i := range c {
		if c[i].Made(token) && (by == nil || c[i].Alive) {
			by = &c[i]
		}
	}
	return by
}

// maxNames bounds how many workers are named.
const maxNames = 5

func (c crew) names() string {
	var names []string
	for i := range c[:min(len(c), maxNames)] {
		names = append(names, c[i].Name)
	}
	if more := len(c) - maxNames; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// latest is the worker of a queue that was heard of last.
func (c crew) latest(queue string) (last *registry.Info) {
	for i := range c {
		if slices.Contains(c[i].Queues, queue) && (last == nil || c[i].Heartbeat.After(last.Heartbeat)) {
			last = &c[i]
		}
	}
	return last
}

// unlisted reminds of who is in no list.
const unlisted = "Programs that claim by themselves are not in the list of workers."

// unmanned says what workers are missing for a topic in a queue.
func (l *look) unmanned(queue, topic string) (Hold, bool) {
	serving := l.crew.serving(queue)
	if len(serving) == 0 {
		gone := ""
		if last := l.crew.latest(queue); last != nil {
			gone = fmt.Sprintf(", %s was heard of last, %s", last.Name, l.when(last.Heartbeat))
		}
		return Hold{NoWorker, fmt.Sprintf("No live worker serves queue %q%s. %s", queue, gone, unlisted),
			fmt.Sprintf("start a worker that serves queue %q", queue)}, true
	}
	if len(serving.handling(topic)) > 0 {
		return Hold{}, false
	}
	elsewhere := ""
	if others := l.crew.handling(topic); len(others) > 0 {
		elsewhere = fmt.Sprintf("; %s would have one, but serves other queues", others.names())
	}
	return Hold{NoHandler, fmt.Sprintf("No live worker of queue %q has a handler for topic %q%s. %s", queue, topic, elsewhere, unlisted),
		fmt.Sprintf("start a worker that handles topic %q in queue %q", topic, queue)}, true
}

// pausedAt says what is paused of a topic in a queue. aside: the message is laid
// aside, so that a pause that ended still holds it.
func (l *look) pausedAt(queue, topic string, aside bool) (holds []Hold) {
	for _, p := range l.pauses {
		if p.Kind == pause.Queue && p.Name == queue {
			holds = append(holds, Hold{QueuePaused, "Its queue is paused: " + l.pauseText(&p), fmt.Sprintf("pawl resume queue %s", quoted(queue))})
		}
	}
	for _, p := range l.pauses {
		switch {
		case p.Kind != pause.Topic || p.Name != topic:
		case !p.Ending:
			holds = append(holds, Hold{TopicPaused, "Its topic is paused: " + l.pauseText(&p), fmt.Sprintf("pawl resume topic %s", quoted(topic))})
		case aside:
			holds = append(holds, Hold{TopicResuming, "The pause of its topic ended, and it is being brought back to its queue, by whoever resumed or by the next worker.",
				fmt.Sprintf("pawl resume topic %s", quoted(topic))})
		}
	}
	return holds
}

func (l *look) pauseText(p *pause.Pause) string {
	text := fmt.Sprintf("%q, by %s since %s", p.Name, p.Actor, l.when(p.Since))
	return text + after(p.Reason) + "."
}

// quoted is a word of a command line as a shell takes it.
func quoted(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+,=", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 && s[0] != '-' {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
