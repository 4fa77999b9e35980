package admin

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/internal/registry"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// place is where a message is in the queue, as outbox.Info does not report it.
type place struct {
	at      time.Time // when it can be claimed; zero: it does not wait
	parked  bool      // its topic is paused
	retryAt time.Time // when the last failed attempt asked for the next
	changed time.Time // when it last went wrong
	join    *join.ID  // whose wait it is
	awaits  *string   // the signal for which the flow was parked, "" for a time alone
	suspect int64     // above 0: it came back from an expired lease, and so many may be claimed with it
	// behind is the message that goes first of those with the ordering key; nil: itself, or it
	// has none.
	behind *outbox.MessageID
}

func (e *explainer) place(ctx context.Context, id outbox.Position) (p place, err error) {
	err = e.db.Read(ctx, engine.Each(op.ExplainPlace{ID: int64(id)}, func(at *op.ExplainPosition, _ error) error {
		p = placeOf(at) // what cannot be read is not known
		return nil
	}))
	return p, err
}

func placeOf(at *op.ExplainPosition) place {
	return place{
		at: worker.Value(at.At).UTC(), parked: at.Aside, retryAt: worker.Value(at.NextAttemptAt).UTC(), changed: worker.Value(at.UpdatedAt).UTC(),
		join: (*join.ID)(at.JoinID), awaits: at.Awaits, suspect: at.Suspect, behind: (*outbox.MessageID)(at.Behind),
	}
}

// maxReads bounds how often a message is read that moves while it is read.
const maxReads = 3

// message explains the message with an id.
func (e *explainer) message(ctx context.Context, id outbox.MessageID) (*Explanation, error) {
	return e.explainMessage(ctx, func() (*outbox.Info, error) { return e.outbox.Get(ctx, id) })
}

// messageAt explains the message at a position.
func (e *explainer) messageAt(ctx context.Context, id outbox.Position) (*Explanation, error) {
	return e.explainMessage(ctx, func() (*outbox.Info, error) { return e.outbox.GetByPosition(ctx, id) })
}

// explainMessage reads a message and its place until the two agree.
func (e *explainer) explainMessage(ctx context.Context, get func() (*outbox.Info, error)) (*Explanation, error) {
	for n := 1; ; n++ {
		m, err := get()
		if err != nil {
			return nil, err
		}
		p, err := e.place(ctx, m.Position)
		if err != nil {
			return nil, err
		}
		if agree := m.Status == outbox.Ready && p.at.Equal(m.NextAttemptAt) || m.Status != outbox.Ready && p.at.IsZero(); agree || n == maxReads {
			return e.messageState(ctx, m, &p)
		}
	}
}

func (e *explainer) messageState(ctx context.Context, m *outbox.Info, p *place) (*Explanation, error) {
	x := &Explanation{Kind: Message, ID: m.ID.String(), Facts: e.messageFacts(m, p)}
	if err := e.addAttempts(ctx, &x.Facts, m); err != nil {
		return nil, err
	}
	switch m.Status {
	case outbox.InProgress:
		x.Finding = e.held(m, &x.Facts)
	case outbox.Done:
		x.Finding = blocker(codeDone, fmt.Sprintf("It was handled by %s at %s.", someone(m.ProcessedBy), e.when(m.ProcessedAt)), "")
	case outbox.Failed:
		x.Finding = blocker(codeFailed, fmt.Sprintf("It failed for good at %s, after %s%s", e.when(p.changed), engine.Several(int64(m.RetryCount)+1, "attempt"), stop(after(m.LastError))), "pawl retry "+m.ID.String())
	case outbox.Discarded:
		x.Finding = blocker(codeDiscarded, fmt.Sprintf("It was cancelled before it ran, or given up after it failed, at %s%s", e.when(p.changed), stop(after(m.LastError))), "")
	case outbox.Expired:
		x.Finding = blocker(codeExpired, fmt.Sprintf("It expired at %s, after %s%s", e.when(m.Expires), engine.Several(int64(m.RetryCount), "failed attempt"), stop(after(m.LastError))), "")
	default:
		return x, e.waits(ctx, x, m, p)
	}
	return x, nil
}

func (e *explainer) messageFacts(m *outbox.Info, p *place) (f health.Facts) {
	addNumber(&f, "position", int64(m.Position))
	add(&f, "topic", m.Topic)
	add(&f, "queue", m.Queue)
	addNumber(&f, "priority", int64(m.Priority))
	add(&f, "ordering_key", m.OrderingKey)
	add(&f, "unique_key", m.UniqueKey)
	e.addTime(&f, "unique_until", m.UniqueUntil)
	e.addTime(&f, "created", m.CreatedAt)
	e.addTime(&f, "due", m.Due)
	e.addTime(&f, "expires", m.Expires)
	addNumber(&f, "failed_attempts", int64(m.RetryCount))
	e.addTime(&f, "next_attempt", p.at)
	e.addTime(&f, "lease_until", m.LockedUntil)
	if (m.Owner != outbox.OwnerToken{}) {
		add(&f, "owner_token", m.Owner.String())
	}
	e.addTime(&f, "processed", m.ProcessedAt)
	add(&f, "worker", m.ProcessedBy)
	if m.Redrives > 0 {
		addNumber(&f, "redrives", int64(m.Redrives))
	}
	if p.parked {
		add(&f, "parked", "true")
	}
	if p.suspect > 0 {
		addNumber(&f, "suspects_at_once", p.suspect)
	}
	add(&f, "unreadable", m.Unreadable)
	add(&f, "last_error", m.LastError)
	return f
}

// addAttempts adds the attempts that failed, as far as they are kept.
func (e *explainer) addAttempts(ctx context.Context, f *health.Facts, m *outbox.Info) error {
	if m.RetryCount == 0 && m.LastError == "" {
		return nil
	}
	attempts, err := e.outbox.Operator(access.Key{}).Attempts(ctx, m.Position)
	for _, a := range attempts {
		text := e.when(a.EndedAt)
		if a.Worker != "" {
			text += " by " + a.Worker
		}
		add(f, fmt.Sprintf("attempt_%d", a.Number), text+after(a.Error))
	}
	return err
}

// held explains a message that is claimed.
func (e *explainer) held(m *outbox.Info, facts *health.Facts) health.Finding {
	who, by := "a program", ""
	var w *registry.Info
	if (m.Owner != outbox.OwnerToken{}) {
		who, w = e.owner(m.Owner)
		if w != nil {
			add(facts, "worker", w.Name)
			add(facts, "worker_id", w.ID.String())
			by = e.progress(facts, w, m.Position)
			if !w.Alive {
				by += fmt.Sprintf(" That worker was last heard of at %s.", e.when(w.Heartbeat))
			}
		} else {
			add(facts, "workers_of_queue", e.everyone.Serving(m.Queue).Names())
		}
	}
	if w != nil && w.Alive && slices.Contains(w.Overdue, int64(m.Position)) {
		return blocker(codeOverdue, fmt.Sprintf("Its handler has not returned long after its time-out, by %s: it ignores its context, and keeps its place among those that run at once.", who),
			"a handler passes its context on to all that it waits for; a restart of that worker ends it")
	}
	if m.LockedUntil.IsZero() || !m.LockedUntil.Before(e.now) {
		return blocker(codeLeased, fmt.Sprintf("It is held by %s, whose lease lasts until %s unless extended.%s", who, e.when(m.LockedUntil), by), "")
	}
	f := blocker(codeLeaseExpired, fmt.Sprintf("It was held by %s, whose lease ran out at %s.%s", who, e.when(m.LockedUntil), by), "")
	switch {
	case len(e.everyone.Alive().But(w)) > 0:
		f.Summary += " A live worker puts it back within seconds."
		return f
	case w != nil && w.Alive: // a worker that was killed counts as alive for a while
		f.Summary += fmt.Sprintf(" No other live worker is there to put it back; that one was last heard of at %s, and does so if it still runs.", e.when(w.Heartbeat))
	default:
		f.Summary += " No live worker is there to put it back."
	}
	f.NextStep = startWorker
	return f
}

// progress says how far its handler is with a message, if that says so.
func (e *explainer) progress(facts *health.Facts, w *registry.Info, position outbox.Position) string {
	i := slices.IndexFunc(w.Progress, func(p worker.Progress) bool { return p.Position == int64(position) })
	if i < 0 {
		return ""
	}
	p := &w.Progress[i]
	done := strconv.FormatFloat(100*p.Done, 'f', 0, 64) + " %"
	add(facts, "progress", done)
	add(facts, "progress_note", p.Note)
	e.addTime(facts, "progress_at", p.At)
	if p.Note != "" {
		done += ", " + p.Note
	}
	return fmt.Sprintf(" Its handler is at %s.", done)
}

// due explains a message that a live worker may claim now.
func (e *explainer) due(ctx context.Context, m *outbox.Info, p *place, facts *health.Facts) ([]health.Finding, error) {
	if p.suspect > 0 {
		return []health.Finding{e.suspect(m, p)}, nil
	}
	if blockers, err := e.limited(ctx, m); err != nil || len(blockers) > 0 {
		return blockers, err
	}
	queued, err := e.queued(ctx, m, facts)
	return []health.Finding{queued}, err
}

// waits explains a message that nobody has claimed.
func (e *explainer) waits(ctx context.Context, x *Explanation, m *outbox.Info, p *place) error {
	blockers := e.pausedAt(m.Queue, m.Topic, p.parked)
	if p.parked && len(blockers) == 0 { // the pauses were read before it came back
		blockers = append(blockers, blocker(codeTopicResuming, "The pause of its topic ended, and it is being brought back to its queue.", ""))
	}
	if p.behind != nil {
		blockers = append(blockers, blocker(codeBehind, fmt.Sprintf("Message %s has the same ordering key and goes first; this one waits until it has ended.", p.behind), "pawl explain "+p.behind.String()))
	}
	later, isLater := e.later(m, p)
	missing, isMissing := e.noWorker(m.Queue, m.Topic)
	// A worker without a handler puts it off again and again: that is not the reason.
	if missing.Code == codeNoHandler && later.Code == codePutOff {
		later.NextStep = ""
		blockers = append(blockers, missing, later)
	} else {
		if isLater {
			blockers = append(blockers, later)
		}
		if isMissing {
			blockers = append(blockers, missing)
		}
	}
	if len(blockers) == 0 {
		var err error
		if blockers, err = e.due(ctx, m, p, &x.Facts); err != nil {
			return err
		}
	}
	x.Finding, x.Also = blockers[0], blockers[1:]
	if p.join == nil {
		return nil
	}
	of, err := e.joinAlone(ctx, *p.join)
	if err == nil {
		x.Causes = append(x.Causes, *of)
	} else if absent(err) {
		err = nil
	}
	return err
}

// never is the year in which waits of joins without a deadline are due.
const never = 9999

// later returns until when a message waits, and why.
func (e *explainer) later(m *outbox.Info, p *place) (health.Finding, bool) {
	if !p.at.After(e.now) {
		return health.Finding{}, false
	}
	runNow := fmt.Sprintf("to have it run now: pawl reschedule %s --due now", m.ID)
	switch {
	case m.RetryCount > 0 && p.retryAt.Equal(p.at):
		return blocker(codeRetry, fmt.Sprintf("It waits until %s for attempt %d: attempt %d failed%s", e.when(p.at), m.RetryCount+1, m.RetryCount, stop(after(m.LastError))), fmt.Sprintf("to have it run now: pawl retry %s", m.ID)), true
	case p.awaits != nil:
		return e.parked(m, p), true
	case p.join != nil && strings.HasPrefix(m.Topic, flow.TopicPrefix):
		return blocker(codeAwaitsJoin, fmt.Sprintf("The flow waits for messages that it began: it goes on when join %s is over.", p.join), ""), true
	case p.join != nil:
		f := blocker(codeAwaitsJoin, "It is the wait of a join: it becomes due when that is over.", "")
		if p.at.Year() < never {
			f.Summary = fmt.Sprintf("It is the wait of a join: it becomes due when that is over, or at %s.", e.when(p.at))
		}
		return f, true
	case p.at.Equal(m.Due):
		return blocker(codeScheduled, fmt.Sprintf("It was enqueued for later: it is due at %s.", e.when(p.at)), runNow), true
	}
	return blocker(codePutOff, fmt.Sprintf("It was put off until %s: by its handler, by an operator, or by a worker that has no handler for its topic.", e.when(p.at)), runNow), true
}

// parked explains a flow that waits for a signal or a time.
func (e *explainer) parked(m *outbox.Info, p *place) health.Finding {
	until := ""
	if p.at.Year() < never {
		until = ", until " + e.when(p.at)
	}
	if *p.awaits == "" {
		return blocker(codeSleeps, "The flow sleeps"+until+".", "")
	}
	return blocker(codeAwaitsSignal, fmt.Sprintf("The flow waits for signal %q%s.", *p.awaits, until), fmt.Sprintf("to send it: pawl flows signal %s %s", m.ID, *p.awaits))
}

// suspect explains a message that came back from an expired lease.
func (e *explainer) suspect(m *outbox.Info, p *place) health.Finding {
	company := "together with others that are suspected too, at most " + engine.Several(p.suspect, "message")
	if p.suspect == 1 {
		company = "all by itself"
	}
	return blocker(codeSuspect, fmt.Sprintf("It is due, but a worker that held it ended without settling it, and it may be the cause: the next worker that has nothing else in hand handles it, %s (%s).",
		company, load(e.everyone.Serving(m.Queue).Handling(m.Topic))), "")
}

// maxAhead bounds how many runs are read to count the messages that go first.
const maxAhead = 1000

// queued explains a message that can be claimed at any moment.
func (e *explainer) queued(ctx context.Context, m *outbox.Info, f *health.Facts) (health.Finding, error) {
	line, _, err := engine.Get(ctx, e.db, op.ExplainAhead{ID: int64(m.Position), Look: maxAhead})
	if err != nil {
		return health.Finding{}, err
	}
	able := e.everyone.Serving(m.Queue).Handling(m.Topic)
	addNumber(f, "ahead", line.N)
	add(f, "workers", able.Names())
	if line.N == 0 {
		return blocker(codeQueued, fmt.Sprintf("It is due and next in its queue: a worker takes it as soon as it has room (%s).", load(able)), ""), nil
	}
	first := fmt.Sprintf("%s %s", engine.AtLeast(line.N, line.More), engine.Plural(line.N, "message"))
	if line.Oldest == nil { // of messages with keys no time is known
		return blocker(codeQueued, fmt.Sprintf("It is due and takes turns with the messages of other keys: %s of its own key go first (%s).", first, load(able)), "if they do not get fewer: more workers, or more concurrency"), nil
	}
	e.addTime(f, "oldest_ahead", line.Oldest.UTC())
	return blocker(codeQueued, fmt.Sprintf("It is due and waits its turn: %s go first, by priority or because they were due before, the oldest since %s (%s).",
		first, e.when(*line.Oldest), load(able)), "if the queue does not get shorter: more workers, or more concurrency"), nil
}

// load returns in words how busy workers are.
func load(w inspect.Workers) string {
	var held, most int64
	shared := len(w) > 0
	for i := range w {
		held, most, shared = held+w[i].InFlight, most+w[i].Concurrency, shared && w[i].Shared
	}
	text := fmt.Sprintf("%s for it, with %s at once, held %d when last heard of", engine.Several(int64(len(w)), "live worker"), engine.Several(most, "handler"), held)
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

// stop returns s with a full stop at its end.
func stop(s string) string {
	if s != "" && (s[len(s)-1] == '.' || s[len(s)-1] == '!') {
		return s
	}
	return s + "."
}
