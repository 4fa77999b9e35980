package flow

import (
	"context"
	"encoding/json"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/outbox"
)

// Info is a run with what is stored of it.
type Info struct {
	*outbox.Info
	Steps   []Event `json:"steps"`   // in the order in which they were stored
	Signals []Event `json:"signals"` // that no step took, in the order in which they came
	// Waits is what the run is parked for: a signal, or a time alone if its Name is empty; nil: it is not
	// parked for these. Until when: NextAttemptAt.
	Waits *Event `json:"waits,omitempty"`
}

// Event is a step, a signal, or a wait.
type Event struct {
	Name string `json:"name"`
	// State is that of a step: "done", "failed", "begun", "timed out"; "ending" of the one that says why the run
	// fails. Of others it is "".
	State string    `json:"state,omitempty"`
	At    time.Time `json:"at"`
	// Data is what a step returned, as the flow's codec has it, the text of its error, or a signal's payload.
	Data []byte `json:"data_base64,omitempty"`
}

// Get returns a run by its id. Error: outbox.ErrNotFound.
func (fs *Flows) Get(ctx context.Context, id outbox.MessageID) (*Info, error) {
	m, err := fs.outbox.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	l := loading{id: int64(m.Position)}
	if err := fs.loads.Do(ctx, &l); err != nil {
		return nil, err
	}
	steps, signals := l.split()
	i := &Info{Info: m, Steps: events(steps), Signals: events(signals)}
	for _, row := range l.rows {
		if row.Kind == op.FlowWait && m.Status == outbox.Ready && row.Retry == m.RetryCount && m.NextAttemptAt.After(row.CreatedAt) {
			i.Waits = &events([]op.FlowRow{row})[0]
		}
	}
	return i, nil
}

func events(rows []op.FlowRow) (all []Event) {
	for _, row := range rows {
		e := Event{Name: row.Name, At: row.CreatedAt.UTC(), Data: row.Result}
		if row.Kind >= op.FlowDone {
			e.State = op.FlowStates().Word(int64(row.Kind))
		}
		all = append(all, e)
	}
	return all
}

// Signal sends a signal whose payload is JSON already: for tools, where Signal.Send has no type. Errors are those of
// Signal.Send, and pawl.ErrInvalid for what is no JSON.
func (fs *Flows) Signal(ctx context.Context, id outbox.MessageID, name string, payload []byte) error {
	if !json.Valid(payload) {
		return engine.Invalid("payload", "not JSON")
	}
	return fs.send(ctx, nil, id, name, payload)
}

// Cancel makes a run undo what it has done (see Run.Undo) and end as discarded, with ErrCancelled as its
// reason. What waits ends at once; of a step that is running the context ends within a second, in whatever
// process. Parts of All and flows of Call that it waits for are cancelled too. A run that comes to no step any
// more completes. Errors: outbox.ErrNotFound, ErrOver.
func (fs *Flows) Cancel(ctx context.Context, id outbox.MessageID) error {
	return fs.send(ctx, nil, id, op.FlowCancel, nil)
}
