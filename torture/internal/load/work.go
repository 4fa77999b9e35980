package load

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/torture/internal/history"
)

// errPlanned is what handlers return that are to fail.
var errPlanned = errors.New("planned failure")

// How long handlers run.
const (
	shortRun = 10 * time.Millisecond
	longRun  = Lease + Lease/2 // a claim is to be extended
)

// failing says how many attempts of a topic fail.
func failing(topic string) float64 {
	switch topic {
	case topicFlaky:
		return 0.4
	case topicMember, topicKeyed, topicUnique:
		return 0.05
	default:
		return 0
	}
}

// work runs handlers for every topic.
func (p *process) work(ctx context.Context) error {
	p.pawl.Observe(pawl.Observer{Attempted: p.settled})
	p.pawl.Use(p.tries)
	for _, topic := range []string{topicPlain, topicKeyed, topicFlaky, topicUnique, topicMember, topicOver, Limited} {
		p.handle(topic, p.ordinary)
	}
	p.handle(topicFollowUp, func(_ context.Context, m *outbox.Message, e history.Event) error {
		b, err := decode(m.Payload)
		p.ended(history.Event{Op: history.Wait, Name: b.Name, Message: e.Message}, history.OK)
		return err
	})
	p.handle(topicTimer, func(_ context.Context, m *outbox.Message, e history.Event) error {
		p.ended(history.Event{Op: history.Fire, Message: e.Message, Attempt: e.Attempt}, history.OK)
		return nil
	})
	p.handle(topicApprove, p.approve)
	p.flows.order.Handle(p.pawl)
	p.flows.ship.Handle(p.pawl)
	p.handle(topicJob, p.ran)
	p.handle(topicInbox, p.once)
	p.pawl.HandleInboxTx(topicQueued, func(ctx context.Context, tx pawl.Tx, m *inbox.Message) error {
		e := history.Event{Op: history.Inbox, Name: m.Key.Source, Message: m.Key.MessageID}
		p.ended(e, history.Began)
		err := p.effect(ctx, tx, e)
		o := history.Unknown // it is committed later
		if err != nil {
			o = history.Failed
		}
		p.ended(e, o)
		return err
	})
	return p.pawl.Run(ctx)
}

// settled writes what became of attempts in the database. What it may not have taken, since the
// lease was over, workers report as lost: no more is known of it than before.
func (p *process) settled(all []pawl.Attempt) {
	for _, a := range all {
		detail := map[pawl.Outcome]string{pawl.OutcomeAcked: history.Done, pawl.OutcomeFailed: history.GivenUp, pawl.OutcomeRetried: history.Retry}[a.Outcome]
		if a.Message != nil && detail != "" {
			p.ended(history.Event{Op: history.Settled, Message: a.Message.ID.String(), Topic: a.Message.Topic, Attempt: a.RetryCount + 1, Detail: detail}, history.OK)
		}
	}
}

// tries writes that a handler of pawl's begins: of a join's wait, which no program handles, of a flow, or of
// the inbox's queue, where the program's handler does not know the message. Some flows that are over are not settled.
func (p *process) tries(next outbox.Handler) outbox.Handler {
	return func(ctx context.Context, m *outbox.Message) error {
		isFlow := strings.HasPrefix(m.Topic, flow.TopicPrefix)
		if m.Topic == join.DefaultTopic || m.Topic == topicQueued || isFlow {
			ctx = context.WithValue(ctx, attemptBegan{}, history.Now())
			p.ended(history.Event{Op: history.Try, Message: m.ID.String(), Topic: m.Topic, Attempt: m.RetryCount + 1}, history.OK)
		}
		err := next(ctx, m)
		const often = 0.05
		if err == nil && isFlow && p.fails("end of "+m.ID.String(), m.RetryCount, often) {
			return errPlanned // it comes again, with nothing left to do
		}
		return err
	}
}

// handle registers a handler that writes when it begins and how it ends.
func (p *process) handle(topic string, do func(ctx context.Context, m *outbox.Message, e history.Event) error) {
	p.pawl.Handle(topic, func(ctx context.Context, m *outbox.Message) error {
		b, err := decode(m.Payload)
		if err != nil {
			return err
		}
		e := history.Event{
			Op: history.Handle, Message: m.ID.String(), Topic: topic, Key: m.OrderingKey, Place: b.Place, Attempt: m.RetryCount + 1,
		}
		p.ended(e, history.Began)
		if err := do(ctx, m, e); err != nil {
			p.ended(e, history.Failed)
			return err
		}
		p.ended(e, history.OK)
		return nil
	})
}

// ordinary is a handler that takes a while, and fails sometimes.
func (p *process) ordinary(ctx context.Context, m *outbox.Message, e history.Event) error {
	run := shortRun
	if p.fails(e.Message, -1, 0.002) {
		run = longRun
	}
	if !sleep(ctx, run) {
		return ctx.Err()
	}
	if p.fails(e.Message, e.Attempt, failing(m.Topic)) {
		return errPlanned
	}
	return nil
}

// ran writes a run of the job, with its nominal time.
func (p *process) ran(ctx context.Context, m *outbox.Message, e history.Event) error {
	run, err := p.pawl.Jobs.GetRun(ctx, m.ID)
	if err != nil {
		return err
	}
	p.ended(history.Event{Op: history.Run, Name: m.Headers[job.HeaderJob], Message: e.Message, Nominal: run.ScheduledAt.UnixNano(), Attempt: e.Attempt}, history.OK)
	return nil
}

// once has the effect of a message from outside.
func (p *process) once(ctx context.Context, m *outbox.Message, _ history.Event) error {
	b, err := decode(m.Payload)
	if err != nil {
		return err
	}
	e := history.Event{Op: history.Inbox, Name: b.Name, Message: b.ID}
	p.ended(e, history.Began)
	err = p.pawl.Inbox.Once(ctx, inbox.Key{Source: b.Name, MessageID: b.ID}, func(ctx context.Context, tx outbox.Tx) error {
		return p.effect(ctx, tx, e)
	})
	switch {
	case err == nil:
		p.ended(e, history.OK)
	case errors.Is(err, pawl.ErrCommitUnknown):
		p.ended(e, history.Unknown)
	default:
		p.ended(e, history.Failed)
	}
	return err
}

func (p *process) effect(ctx context.Context, tx pawl.Tx, e history.Event) error {
	return p.store.Exec(ctx, tx, `INSERT INTO {s}torture_effect (source, id, process) VALUES (?, ?, ?)`, e.Name, e.Message, p.Process)
}
