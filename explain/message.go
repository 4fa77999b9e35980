package explain

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/registry"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// place is what the outbox does not tell of a message.
type place struct {
	at      time.Time // it can be claimed from then on; zero: it does not wait
	aside   bool      // as of a paused topic
	retryAt time.Time // as the last failed attempt said
	changed time.Time // when it last went wrong
	join    *join.ID  // whose wait it is
	suspect int64     // above 0: it came back from an expired lease, and so many may be claimed with it
}

func (l *look) place(ctx context.Context, id outbox.WorkItemID) (p place, err error) {
	err = l.DB.Read(ctx, engine.Each(op.ExplainPlace{ID: int64(id)}, func(at *op.ExplainPosition, _ error) error {
		p = placeOf(at) // what cannot be read is not known
		return nil
	}))
	return p, err
}

func placeOf(at *op.ExplainPosition) place {
	return place{
		at: worker.Value(at.At).UTC(), aside: at.Aside, retryAt: worker.Value(at.NextAttemptAt).UTC(), changed: worker.Value(at.UpdatedAt).UTC(),
		join: (*join.ID)(at.JoinID), suspect: at.Suspect,
	}
}

// looks bounds how often a message is read that moves on while it is read.
const looks = 3

// message explains the message with an id.
func (l *look) message(ctx context.Context, id outbox.MessageID) (*Explanation, error) {
	return l.explainMessage(ctx, func() (*outbox.Info, error) { return l.Outbox.Find(ctx, id) })
}

// messageAt explains the message at a position.
func (l *look) messageAt(ctx context.Context, id outbox.WorkItemID) (*Explanation, error) {
	return l.explainMessage(ctx, func() (*outbox.Info, error) { return l.Outbox.Get(ctx, id) })
}

// explainMessage reads a message and its place until the two agree.
func (l *look) explainMessage(ctx context.Context, get func() (*outbox.Info, error)) (*Explanation, error) {
	for n := 1; ; n++ {
		m, err := get()
		if err != nil {
			return nil, err
		}
		p, err := l.place(ctx, m.WorkItemID)
		if err != nil {
			return nil, err
		}
		if agree := m.Status == outbox.Ready && p.at.Equal(m.NextAttemptAt) || m.Status != outbox.Ready && p.at.IsZero(); agree || n == looks {
			return l.judge(ctx, m, &p)
		}
	}
}

func (l *look) judge(ctx context.Context, m *outbox.Info, p *place) (*Explanation, error) {
	x := &Explanation{Kind: Message, ID: m.ID.String(), Facts: l.messageFacts(m, p)}
	switch m.Status {
	case outbox.InProgress:
		x.Hold = l.held(m, &x.Facts)
	case outbox.Done:
		x.Hold = Hold{Reason: Done, Sentence: fmt.Sprintf("It was handled by %s at %s.", someone(m.ProcessedBy), l.when(*m.ProcessedAt))}
	case outbox.Failed:
		x.Hold = Hold{Failed, fmt.Sprintf("It failed for good at %s, after %s%s", l.when(p.changed), several(int64(m.RetryCount)+1, "attempt"), stop(after(m.LastError))),
			"pawl retry " + m.ID.String()}
	case outbox.Discarded:
		x.Hold = Hold{Reason: Discarded, Sentence: fmt.Sprintf("It was cancelled before it ran, or given up after it failed, at %s%s", l.when(p.changed), stop(after(m.LastError)))}
	default:
		return x, l.waits(ctx, x, m, p)
	}
	return x, nil
}

func (l *look) messageFacts(m *outbox.Info, p *place) (f Facts) {
	f.number("position", int64(m.WorkItemID))
	f.add("topic", m.Topic)
	f.add("queue", m.Queue)
	f.number("priority", int64(m.Priority))
	l.addTime(&f, "created", m.CreatedAt)
	l.addTime(&f, "due", m.Due)
	f.number("failed_attempts", int64(m.RetryCount))
	l.addTime(&f, "next_attempt", p.at)
	if m.LockedUntil != nil {
		l.addTime(&f, "lease_until", *m.LockedUntil)
	}
	if m.OwnerToken != nil {
		f.add("owner_token", m.OwnerToken.String())
	}
	if m.ProcessedAt != nil {
		l.addTime(&f, "processed", *m.ProcessedAt)
		f.add("worker", m.ProcessedBy)
	}
	if m.Redrives > 0 {
		f.number("redrives", int64(m.Redrives))
	}
	if p.aside {
		f.add("laid_aside", "true")
	}
	if p.suspect > 0 {
		f.number("suspects_at_once", p.suspect)
	}
	f.add("unreadable", m.Unreadable)
	f.add("last_error", m.LastError)
	return f
}

// held explains a message under lease.
func (l *look) held(m *outbox.Info, f *Facts) Hold {
	who, by := "a program", ""
	var w *registry.Info
	if m.OwnerToken != nil {
		who, w = l.owner(*m.OwnerToken)
		if w != nil {
			f.add("worker", w.Name)
			f.add("worker_id", w.ID.String())
			if !w.Alive {
				by = fmt.Sprintf(" That worker was last heard of at %s.", l.when(w.Heartbeat))
			}
		} else {
			f.add("workers_of_queue", l.crew.serving(m.Queue).names())
		}
	}
	if m.LockedUntil == nil || !m.LockedUntil.Before(l.now) {
		return Hold{Reason: Leased, Sentence: fmt.Sprintf("It is held by %s, whose lease lasts until %s unless extended.%s", who, l.when(worker.Value(m.LockedUntil)), by)}
	}
	h := Hold{Reason: LeaseExpired, Sentence: fmt.Sprintf("It was held by %s, whose lease ran out at %s.%s", who, l.when(*m.LockedUntil), by)}
	switch {
	case l.crew.besides(w):
		h.Sentence += " A live worker puts it back within seconds."
		return h
	case w != nil && w.Alive: // as one is believed to be for a while that was killed
		h.Sentence += fmt.Sprintf(" No other live worker is there to put it back; that one was last heard of at %s, and does so if it still runs.", l.when(w.Heartbeat))
	default:
		h.Sentence += " No live worker is there to put it back."
	}
	h.Next = "start a worker, of whatever queue"
	return h
}

// waits explains a message that nobody has claimed.
func (l *look) waits(ctx context.Context, x *Explanation, m *outbox.Info, p *place) error {
	holds := l.pausedAt(m.Queue, m.Topic, p.aside)
	if p.aside && len(holds) == 0 { // the pauses were read before it came back
		holds = append(holds, Hold{Reason: TopicResuming, Sentence: "The pause of its topic ended, and it is being brought back to its queue."})
	}
	later, isLater := l.later(m, p)
	missing, isMissing := l.unmanned(m.Queue, m.Topic)
	// A worker without a handler puts it off again and again: that is not the reason.
	if missing.Reason == NoHandler && later.Reason == PutOff {
		later.Next = ""
		holds = append(holds, missing, later)
	} else {
		if isLater {
			holds = append(holds, later)
		}
		if isMissing {
			holds = append(holds, missing)
		}
	}
	if len(holds) == 0 && p.suspect > 0 {
		holds = append(holds, l.suspect(m, p))
	}
	if len(holds) == 0 {
		turn, err := l.turn(ctx, m, &x.Facts)
		if err != nil {
			return err
		}
		holds = append(holds, turn)
	}
	x.Hold, x.Also = holds[0], holds[1:]
	if p.join == nil {
		return nil
	}
	of, err := l.joinAlone(ctx, *p.join)
	if err == nil {
		x.Because = append(x.Because, of)
	} else if absent(err) {
		err = nil
	}
	return err
}

// never is the year to which waits of joins without a deadline are put off.
const never = 9999

// later says until when a message waits, and why.
func (l *look) later(m *outbox.Info, p *place) (Hold, bool) {
	if !p.at.After(l.now) {
		return Hold{}, false
	}
	runNow := fmt.Sprintf("to have it run now: pawl reschedule %s --now", m.ID)
	switch {
	case m.RetryCount > 0 && p.retryAt.Equal(p.at):
		return Hold{Retry, fmt.Sprintf("It waits until %s for attempt %d: attempt %d failed%s", l.when(p.at), m.RetryCount+1, m.RetryCount, stop(after(m.LastError))),
			runNow}, true
	case p.join != nil:
		h := Hold{Reason: AwaitsJoin, Sentence: "It is the wait of a join: it becomes due when that is over."}
		if p.at.Year() < never {
			h.Sentence = fmt.Sprintf("It is the wait of a join: it becomes due when that is over, or at %s.", l.when(p.at))
		}
		return h, true
	case p.at.Equal(m.Due):
		return Hold{Scheduled, fmt.Sprintf("It was enqueued for later: it is due at %s.", l.when(p.at)), runNow}, true
	}
	return Hold{PutOff, fmt.Sprintf("It was put off until %s: by its handler, by an operator, or by a worker that has no handler for its topic.", l.when(p.at)),
		runNow}, true
}

// suspect explains a message that came back from an expired lease.
func (l *look) suspect(m *outbox.Info, p *place) Hold {
	company := "together with others that are suspected too, at most " + several(p.suspect, "message")
	if p.suspect == 1 {
		company = "all by itself"
	}
	return Hold{Reason: Suspect, Sentence: fmt.Sprintf("It is due, but a worker that held it ended without settling it, and it may be the cause: the next worker that has nothing else in hand handles it, %s (%s).",
		company, l.crew.serving(m.Queue).handling(m.Topic).load())}
}

// lookAhead is how many runs are looked at to say what goes first.
const lookAhead = 1000

// turn explains a message that could be claimed at any moment.
func (l *look) turn(ctx context.Context, m *outbox.Info, f *Facts) (Hold, error) {
	line, _, err := engine.Get(ctx, l.DB, op.ExplainAhead{ID: int64(m.WorkItemID), Look: lookAhead})
	if err != nil {
		return Hold{}, err
	}
	able := l.crew.serving(m.Queue).handling(m.Topic)
	f.number("ahead", line.N)
	f.add("workers", able.names())
	if line.N == 0 {
		return Hold{Reason: Turn, Sentence: fmt.Sprintf("It is due and next in its queue: a worker takes it as soon as it has room (%s).", able.load())}, nil
	}
	l.addTime(f, "oldest_ahead", worker.Value(line.Oldest).UTC())
	atLeast := ""
	if line.More {
		atLeast = "at least "
	}
	return Hold{Turn, fmt.Sprintf("It is due and waits its turn: %s%s go first, by priority or because they were due before, the oldest since %s (%s).",
		atLeast, several(line.N, "message"), l.when(worker.Value(line.Oldest)), able.load()), "if the queue does not get shorter: more workers, or more concurrency"}, nil
}

// load is how busy workers are.
func (c crew) load() string {
	var held, most int64
	shared := len(c) > 0
	for i := range c {
		held, most, shared = held+c[i].InFlight, most+c[i].Concurrency, shared && c[i].Shared
	}
	text := fmt.Sprintf("%s for it, with %s at once, held %d when last heard of", several(int64(len(c)), "live worker"), several(most, "handler"), held)
	if shared {
		text += "; all take turns among many databases"
	}
	return text
}

func someone(name string) string {
	if name == "" {
		return "a program that gave no name"
	}
	return name
}

// stop ends a sentence.
func stop(s string) string {
	if s != "" && (s[len(s)-1] == '.' || s[len(s)-1] == '!') {
		return s
	}
	return s + "."
}
