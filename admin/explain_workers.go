package admin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/pause"
	"github.com/bravellian/pawl/internal/registry"
	"github.com/google/uuid"
)

// workers are the processes that work on the database, and those that crashed.
type workers []registry.Info

// alive returns the workers that are alive and for which does returns true.
func (w workers) alive(does func(*registry.Info) bool) (some workers) {
	for i := range w {
		if w[i].Alive && does(&w[i]) {
			some = append(some, w[i])
		}
	}
	return some
}

func (w workers) serving(queue string) workers {
	return w.alive(func(one *registry.Info) bool { return slices.Contains(one.Queues, queue) })
}

func (w workers) handling(topic string) workers {
	return w.alive(func(one *registry.Info) bool { return one.Handles(topic) })
}

// any reports whether a worker is alive: each fires timers, makes runs of jobs and
// releases what others held.
func (w workers) any() bool { return len(w.alive(func(*registry.Info) bool { return true })) > 0 }

// anyBut reports whether a worker other than one, which may be nil, is alive.
func (w workers) anyBut(one *registry.Info) bool {
	return len(w.alive(func(other *registry.Info) bool { return one == nil || other.ID != one.ID })) > 0
}

// holder returns the worker that made an owner token, a live one if two match.
func (w workers) holder(token uuid.UUID) (by *registry.Info) {
	for i := range w {
		if w[i].Made(token) && (by == nil || w[i].Alive) {
			by = &w[i]
		}
	}
	return by
}

// maxNames bounds how many workers are named.
const maxNames = 5

func (w workers) names() string {
	var names []string
	for i := range w[:min(len(w), maxNames)] {
		names = append(names, w[i].Name)
	}
	if more := len(w) - maxNames; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// latest returns the worker of a queue with the latest heartbeat.
func (w workers) latest(queue string) (last *registry.Info) {
	for i := range w {
		if slices.Contains(w[i].Queues, queue) && (last == nil || w[i].Heartbeat.After(last.Heartbeat)) {
			last = &w[i]
		}
	}
	return last
}

// unlisted is said wherever workers are missing.
const (
	unlisted = "Programs that claim by themselves are not in the list of workers."
	// startWorker is the next step where any worker helps.
	startWorker = "start a worker, of whatever queue"
)

// noWorker returns what is missing if no live worker serves a queue or, in it, handles
// a topic.
func (e *explainer) noWorker(queue, topic string) (health.Finding, bool) {
	serving := e.everyone.serving(queue)
	if len(serving) == 0 {
		gone := ""
		if last := e.everyone.latest(queue); last != nil {
			gone = fmt.Sprintf(", %s was heard of last, %s", last.Name, e.when(last.Heartbeat))
		}
		return blocker(codeNoWorker, fmt.Sprintf("No live worker serves queue %q%s. %s", queue, gone, unlisted), fmt.Sprintf("start a worker that serves queue %q", queue)), true
	}
	if len(serving.handling(topic)) > 0 {
		return health.Finding{}, false
	}
	elsewhere := ""
	if others := e.everyone.handling(topic); len(others) > 0 {
		elsewhere = fmt.Sprintf("; %s would have one, but serves other queues", others.names())
	}
	return blocker(codeNoHandler, fmt.Sprintf("No live worker of queue %q has a handler for topic %q%s. %s", queue, topic, elsewhere, unlisted), fmt.Sprintf("start a worker that handles topic %q in queue %q", topic, queue)), true
}

// pausedAt returns the pauses of a queue and a topic. parked: the message is parked, so
// that a pause that is ending still blocks it.
func (e *explainer) pausedAt(queue, topic string, parked bool) (blockers []health.Finding) {
	for _, p := range e.pauses {
		if p.Kind == pause.Queue && p.Name == queue {
			blockers = append(blockers, blocker(codeQueuePaused, "Its queue is paused: "+e.pauseText(&p), fmt.Sprintf("pawl resume queue %s", quoted(queue))))
		}
	}
	for _, p := range e.pauses {
		switch {
		case p.Kind != pause.Topic || p.Name != topic:
		case !p.Ending:
			blockers = append(blockers, blocker(codeTopicPaused, "Its topic is paused: "+e.pauseText(&p), fmt.Sprintf("pawl resume topic %s", quoted(topic))))
		case parked:
			blockers = append(blockers, blocker(codeTopicResuming, "The pause of its topic ended, and it is being brought back to its queue, by whoever resumed or by the next worker.", fmt.Sprintf("pawl resume topic %s", quoted(topic))))
		}
	}
	return blockers
}

func (e *explainer) pauseText(p *pause.Pause) string {
	text := fmt.Sprintf("%q, by %s since %s", p.Name, p.Actor, e.when(p.Since))
	return text + after(p.Reason) + "."
}

// quoted returns s as one word of a shell's command line.
func quoted(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+,=", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 && s[0] != '-' {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
