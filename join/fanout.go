package join

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/queue"
	"github.com/bravellian/pawl/outbox"
)

// Fan is the result of FanOut.
type Fan struct {
	Join     ID                 // zero if there were no messages
	Messages []outbox.MessageID // in the order they were given
	Wait     outbox.MessageID   // zero if there was nothing to wait for
}

// FanOut starts a join, enqueues messages, attaches them and waits for them, in
// one transaction. Spec.ExpectedSteps 0 means all of the messages. A zero wait
// is left out. With a Spec.ID of your own it can be repeated: join, messages and
// wait get ids that derive from it, unless they bring some, and known ones are
// not added again. An id that two messages have, or a message and the wait, is refused.
// With pawl.ErrCommitUnknown what it returns is valid too.
//
// Without messages nothing is left to wait for: the wait's OnComplete is sent at
// once, and there is no join.
func (j *Joins) FanOut(ctx context.Context, s Spec, messages []outbox.Message, w Wait) (Fan, error) {
	return j.FanOutTx(ctx, engine.OwnTx{}, s, messages, w)
}

// FanOutTx is FanOut in the caller's transaction, at any isolation level.
func (j *Joins) FanOutTx(ctx context.Context, tx any, s Spec, messages []outbox.Message, w Wait) (Fan, error) {
	own, err := engine.TxFor(ctx, j.db, tx, "FanOutTx")
	if err != nil {
		return Fan{}, err
	}
	if w, err = w.filled(ctx, own); err != nil {
		return Fan{}, err
	}
	var fan Fan
	err = engine.Repeat(ctx, own, func() error {
		fan, err = j.fanOutOnce(ctx, own, s, messages, w)
		return err
	})
	return fan, err
}

func (j *Joins) fanOutOnce(ctx context.Context, tx outbox.Tx, s Spec, messages []outbox.Message, w Wait) (Fan, error) {
	if len(messages) == 0 {
		return Fan{}, j.complete(ctx, tx, s, w)
	}
	if s.ExpectedSteps == 0 {
		s.ExpectedSteps = len(messages)
	}
	named := s.ID != ID{}
	wr, err := j.prepareStart(ctx, tx, &s)
	if err != nil {
		return Fan{}, err
	}
	messages = slices.Clone(messages)
	if named {
		nameMessages(s.ID, messages, &w)
	}
	if err := checkSteps(messages, &w); err != nil {
		return Fan{}, err
	}
	fan, attach, err := j.prepareFan(ctx, tx, wr, s.ID, messages, w)
	if err != nil {
		return Fan{}, err
	}
	if err := wr.write(ctx, tx); errors.Is(err, engine.ErrCommitUnknown) {
		return fan, err
	} else if err != nil {
		return Fan{}, err
	}
	j.logStarted(ctx, &s)
	if _, looked := attach.Operation.(op.JoinAttach); looked {
		return fan, attached(attach, s.ID, fan.Messages)
	}
	return fan, nil
}

// prepareFan has the steps of a join and its wait enqueued, and attached.
func (j *Joins) prepareFan(ctx context.Context, tx outbox.Tx, wr *writes, id ID, messages []outbox.Message, w Wait) (Fan, *engine.Call, error) {
	n := len(messages)
	var wait []outbox.Message
	if !w.isZero() {
		m, err := j.waitMessage(id, w)
		if err != nil {
			return Fan{}, nil, err
		}
		wait = append(wait, m)
	}
	// Where one of a batch has an id of the caller's, all of it go elsewhere if their positions are taken.
	apart := len(wait) > 0 && identified(wait) && !identified(messages)
	together := wait
	if apart {
		together = nil
	}
	b, err := j.outbox.Prepare(ctx, tx, messages, together...)
	if err != nil {
		return Fan{}, nil, err
	}
	wr.enqueue(b)
	fan := Fan{Join: id, Messages: b.IDs()[:n]}
	attach := attachNew(id, messages, b)
	wr.calls = append(wr.calls, attach)
	switch {
	case apart:
		fan.Wait = wait[0].ID
		err = j.addWait(ctx, tx, wr, id, wait[0])
	case len(wait) > 0:
		fan.Wait = b.IDs()[n]
		wr.calls = append(wr.calls, noteWait(id, b, n))
	}
	return fan, attach, err
}

// complete sends what a wait sends when its join completes, which has no steps.
func (j *Joins) complete(ctx context.Context, tx outbox.Tx, s Spec, w Wait) error {
	if s.ExpectedSteps != 0 {
		return engine.Invalid("messages", "none")
	}
	s.ExpectedSteps = 1
	if err := s.validate(); err != nil {
		return err
	}
	if s.ID != (ID{}) {
		nameMessages(s.ID, nil, &w)
	}
	if _, err := j.waitMessage(s.ID, w); err != nil || w.OnComplete.Topic == "" {
		return err
	}
	next := w.OnComplete
	if !w.ID.IsZero() {
		next.ID = derive(w.ID, followUp)
	}
	b, err := j.outbox.Prepare(ctx, tx, []outbox.Message{next})
	if err != nil {
		return err
	}
	wr := &writes{j: j}
	wr.enqueue(b)
	return wr.write(ctx, tx)
}

// nameMessages sets the ids of the parts of a join that can be repeated.
func nameMessages(id ID, messages []outbox.Message, w *Wait) {
	for i := range messages {
		if messages[i].ID.IsZero() {
			messages[i].ID = derive(id, fmt.Sprintf("step/%d", i))
		}
	}
	if w.ID.IsZero() {
		w.ID = derive(id, "wait")
	}
}

// checkSteps refuses what would never end: a message that is two steps counts as one, and one that is
// the wait would wait for itself.
func checkSteps(messages []outbox.Message, w *Wait) error {
	if !w.ID.IsZero() {
		if i := slices.IndexFunc(messages, func(m outbox.Message) bool { return m.ID == w.ID }); i >= 0 {
			return engine.Invalid("wait", "its id %s is that of step %d", w.ID, i)
		}
	}
	return engine.CheckDistinct("steps", messages, func(m *outbox.Message) outbox.MessageID { return m.ID })
}

// attachNew attaches messages that the same transaction enqueues. Those with a
// supplied id may have been there before, in any state, so each is looked at.
func attachNew(id ID, messages []outbox.Message, b queue.Batch[outbox.MessageID]) *engine.Call {
	n := len(messages)
	mids := b.IDs()[:n]
	if identified(messages) {
		return attachCall(id, mids)
	}
	members := make([]op.JoinNewMember, n)
	for i, at := range b.Positions()[:n] {
		members[i] = op.JoinNewMember{ID: at, MessageID: mids[i]}
	}
	return engine.Ask(op.JoinAttachNew{JoinID: id, Members: members})
}

// identified reports whether a message has an id of the caller's.
func identified(messages []outbox.Message) bool {
	return slices.ContainsFunc(messages, func(m outbox.Message) bool { return !m.ID.IsZero() })
}
