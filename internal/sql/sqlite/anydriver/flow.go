package anydriver

import (
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// to is the message to which a signal is sent.
type to struct {
	ID        int64 // the position that the message's id carries
	MessageID [16]byte
}

type (
	// flowPut stores a step of a message that its owner holds.
	flowPut struct {
		engine.Changes
		op.FlowStep
	}
	// flowSignalled tests whether a flow has a signal that it did not take: of a name, or one that cancels it.
	flowSignalled struct {
		engine.Rows[existence]
		ID   int64
		Name string
	}
	flowWaitPut struct {
		engine.Changes
		ID    int64
		Name  string
		Retry int64
	}
	// flowSignalPut stores a signal for a message that has not ended.
	flowSignalPut struct {
		engine.Changes
		to
		Name    string
		Payload []byte
	}
	// flowStop asks for the end of the attempt that is made at a flow.
	flowStop struct {
		engine.Changes
		to
	}
	flowKnown struct {
		engine.Changes
		to
	}
	flowWake struct {
		engine.Changes
		to
		Name string
	}
	flowWaitOver      flowKnown
	flowReopen        byID
	flowReopenSignals byID
	flowPurgeStep     byRange
	flowPurgeSignal   byRange
	flowPurgeWait     byRange
)

func keepSteps(t *txn, o op.FlowKeep) (held int64, err error) {
	for _, s := range o.Steps {
		n, err := t.change(flowPut{FlowStep: s})
		if err != nil {
			return 0, err
		}
		held += n
	}
	return held, nil
}

// never is when a run becomes ready that nothing but a signal makes due: 9999-12-31, in microseconds.
const never = 253370764800000000

func parkFlows(t *txn, o op.FlowPark) (held int64, err error) {
	for _, p := range o.Parks {
		taken, err := take(t, p.Owner, p.ID, 1)
		if err != nil {
			return 0, err
		}
		if len(taken) == 0 {
			continue
		}
		held++
		if err := parkFlow(t, taken[0], &p); err != nil {
			return 0, err
		}
	}
	return held, nil
}

func parkFlow(t *txn, r run, p *op.FlowParked) error {
	_, signalled, err := one(t, flowSignalled{ID: p.ID, Name: p.Name})
	if err != nil {
		return err
	}
	r.At, r.Suspect = t.now, 0
	switch {
	case signalled:
		t.woke = true
		return toReady(t, r)
	case p.Delay != nil:
		r.At += p.Delay.Microseconds()
	default:
		r.At = never
	}
	return t.do(flowWaitPut{ID: p.ID, Name: p.Name, Retry: r.Retry}, outboxReadyInsert{run: r})
}

func putSignal(t *txn, o op.FlowPutSignal) (int64, error) {
	to := to{carried(o.MessageID), o.MessageID}
	n, err := t.change(flowSignalPut{to: to, Name: o.Name, Payload: o.Payload})
	if err == nil && n > 0 && o.Name == op.FlowCancel {
		err = t.do(flowStop{to: to})
	}
	if err != nil {
		return 0, err
	}
	if n == 0 {
		known, err := t.change(flowKnown{to: to})
		return 2 * known, err
	}
	woken, err := t.change(flowWake{to: to, Name: o.Name})
	if err != nil || woken == 0 {
		return 1, err
	}
	t.woke = true
	return 1, t.do(flowWaitOver{to: to})
}
