package join

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// followUp is the part of a wait's name that its message has.
const followUp = "follow-up"

// handle handles a wait. Its effects are in one transaction with the wait's own ack, under the
// token of its claim; so after a crash at any point either none or all of them exist (D-34).
func (j *Joins) handle(ctx context.Context, m *outbox.Message) error {
	p, err := readWait(m.Payload)
	if err != nil {
		return unreadable(m, err)
	}
	info, err := j.Get(ctx, p.JoinID)
	if err == nil && info.overdue {
		if _, err = j.end(ctx, nil, p.JoinID, op.JoinEnd{JoinID: p.JoinID, Status: Failed.number()}); err == nil {
			info, err = j.Get(ctx, p.JoinID)
		}
	}
	switch {
	case errors.Is(err, ErrNotFound):
		return outbox.Permanent(err)
	case err != nil:
		return err
	case info.Status == Pending:
		return j.park(ctx, m, p.JoinID)
	case info.Status == Cancelled:
		return nil
	}
	return j.send(ctx, m, p, info)
}

// unreadable returns the error of an attempt at a wait that this program cannot read or whose
// message it may not send. Another version of the program may be able to, so it is
// tried as often as other messages are.
func unreadable(m *outbox.Message, err error) error {
	return worker.DefaultRetryPolicy().Limit(err, m.RetryCount)
}

// readWait reads a wait's payload. Errors do not quote it (D-5).
func readWait(payload []byte) (*waitPayload, error) {
	var p waitPayload
	if err := json.Unmarshal(payload, &p); err != nil {
		return nil, errors.New("the payload of a wait is not what it should be: JSON with a JoinId")
	}
	if p.JoinID == (ID{}) {
		return nil, errors.New("the payload of a wait has no JoinId")
	}
	return &p, nil
}

// Sends returns the topics of what a wait sends, by its payload: once its join completes, and once that fails.
func Sends(_ access.Key, payload []byte) (complete, fail string) {
	p, err := readWait(payload)
	if err != nil {
		return "", ""
	}
	return p.OnCompleteTopic, p.OnFailTopic
}

// park parks a wait until its join has ended (D-33): no attempt is counted, nothing polls, and
// the commit that counts the last step makes it due.
func (j *Joins) park(ctx context.Context, m *outbox.Message, id ID) error {
	if _, err := engine.Exec(ctx, j.db, nil, op.JoinPark{JoinID: id, Owner: m.Owner, ID: int64(m.Position)}); err != nil {
		return err
	}
	return worker.SettledAs(worker.OutcomeSnoozed) // it comes back
}

// send sends what a wait has to send. Its message's id derives from the wait's,
// so even a worker that lost its lease meanwhile adds nothing twice.
func (j *Joins) send(ctx context.Context, m *outbox.Message, p *waitPayload, info *Info) error {
	return engine.Repeat(ctx, nil, func() error { return j.sendOnce(ctx, m, p, info) })
}

func (j *Joins) sendOnce(ctx context.Context, m *outbox.Message, p *waitPayload, info *Info) error {
	strict := p.FailIfAnyStepFailed == nil || *p.FailIfAnyStepFailed
	failed := !info.complete() || strict && info.FailedSteps > 0
	next := decode(p.OnCompleteTopic, p.OnCompletePayload, p.OnCompleteMore)
	if failed {
		next = decode(p.OnFailTopic, p.OnFailPayload, p.OnFailMore)
	}
	w := &writes{j: j}
	if !failed && info.Status == Failed {
		w.calls = append(w.calls, engine.Ask(op.JoinForgive{JoinID: info.ID}))
	}
	if failed { // a plain message of another program is not known as a wait yet, and Redrive has to find it
		w.calls = append(w.calls, engine.Ask(op.JoinWait{JoinID: info.ID, ID: int64(m.Position), MessageID: m.ID}))
	}
	if next.Topic != "" {
		next.ID = derive(m.ID, followUp)
		next.Headers = withJoin(next.Headers, info.ID)
		b, err := j.outbox.Prepare(ctx, nil, []outbox.Message{next})
		if errors.Is(err, engine.ErrInvalid) {
			return unreadable(m, err)
		}
		if err != nil {
			return err
		}
		w.enqueue(b)
	}
	ack := j.outbox.AckCall(m)
	w.calls = append(w.calls, ack)
	if err := w.write(ctx, nil); err != nil {
		return err
	}
	if ack.N == 0 {
		return worker.SettledAs(worker.OutcomeLost)
	}
	j.log.InfoContext(ctx, "join is over", "join_id", info.ID.String(), "failed", failed, "completed_steps", info.CompletedSteps, "failed_steps", info.FailedSteps, "expected_steps", info.ExpectedSteps, "next_topic", next.Topic)
	return worker.ErrSettled
}
