package admin

import (
	"fmt"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/pause"
)

// unlisted is said wherever workers are missing.
const (
	unlisted = "Programs that claim by themselves are not in the list of workers."
	// startWorker is the next step where any worker helps.
	startWorker = "start a worker, of whatever queue"
)

// noWorker returns what is missing if no live worker serves a queue or, in it, handles
// a topic.
func (e *explainer) noWorker(queue, topic string) (health.Finding, bool) {
	serving := e.everyone.Serving(queue)
	if len(serving) == 0 {
		gone := ""
		if last := e.everyone.Latest(queue); last != nil {
			gone = fmt.Sprintf(", %s was heard of last, %s", last.Name, e.when(last.Heartbeat))
		}
		return blocker(codeNoWorker, fmt.Sprintf("No live worker serves queue %q%s. %s", queue, gone, unlisted), fmt.Sprintf("start a worker that serves queue %q", queue)), true
	}
	if len(serving.Handling(topic)) > 0 {
		return health.Finding{}, false
	}
	elsewhere := ""
	if others := e.everyone.Handling(topic); len(others) > 0 {
		elsewhere = fmt.Sprintf("; %s would have one, but serves other queues", others.Names())
	}
	return blocker(codeNoHandler, fmt.Sprintf("No live worker of queue %q has a handler for topic %q%s. %s", queue, topic, elsewhere, unlisted), fmt.Sprintf("start a worker that handles topic %q in queue %q", topic, queue)), true
}

// pausedAt returns the pauses of a queue and a topic. parked: the message is parked, so
// that a pause that is ending still blocks it.
func (e *explainer) pausedAt(queue, topic string, parked bool) (blockers []health.Finding) {
	for _, p := range e.pauses {
		if p.Kind == pause.Queue && p.Name == queue {
			blockers = append(blockers, blocker(codeQueuePaused, "Its queue is paused: "+e.pauseText(&p), fmt.Sprintf("pawl resume queue %s", engine.Quoted(queue))))
		}
	}
	for _, p := range e.pauses {
		switch {
		case p.Kind != pause.Topic || p.Name != topic:
		case !p.Ending:
			blockers = append(blockers, blocker(codeTopicPaused, "Its topic is paused: "+e.pauseText(&p), fmt.Sprintf("pawl resume topic %s", engine.Quoted(topic))))
		case parked:
			blockers = append(blockers, blocker(codeTopicResuming, "The pause of its topic ended, and it is being brought back to its queue, by whoever resumed or by the next worker.", fmt.Sprintf("pawl resume topic %s", engine.Quoted(topic))))
		}
	}
	return blockers
}

func (e *explainer) pauseText(p *pause.Pause) string {
	text := fmt.Sprintf("%q, by %s since %s", p.Name, p.Actor, e.when(p.Since))
	return text + after(p.Reason) + "."
}
