package flow

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// Info is a run with what is stored of it.
type Info struct {
	*outbox.Info
	Steps   []Event `json:"steps,omitempty"`   // in the order in which they were stored
	Signals []Event `json:"signals,omitempty"` // that no step took, in the order in which they came
	// Waits is what the run is parked for; nil: it is not parked. Until when: NextAttemptAt.
	Waits *Event `json:"waits,omitempty"`
}

// Event is a step, a signal, or a wait.
type Event struct {
	Name string `json:"name"`
	// State is that of a step: "done", "failed", "begun", "timed out"; "ending" of the one that says why the run
	// fails. Of a wait it is "signal", "time" or, for parts and other flows, "join", whose id is the Name. Of
	// a signal it is "".
	State    string    `json:"state,omitempty"`
	At       time.Time `json:"at"`
	Attempts int       `json:"attempts,omitempty"` // of a step that was done, or failed
	Bytes    int       `json:"bytes,omitempty"`    // of Data
	// Data is what a step returned, as the flow's codec has it, the text of its error, or a signal's payload.
	Data []byte `json:"data_base64,omitempty"`
}

// shownBytes is how much of a result the dashboard reads.
const shownBytes = 4 << 10

// Get returns a run by its id. Error: outbox.ErrNotFound.
func (fs *Flows) Get(ctx context.Context, id outbox.MessageID) (*Info, error) {
	m, err := fs.outbox.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	i := &Info{Info: m}
	_, err = fs.show(ctx, []*Info{i}, op.FlowShow{Most: 3 * maxSteps, Cut: limits.Result}) // each may be undone
	return i, err
}

// Page is for the dashboard: at most so many steps behind one with a number, 0: the first ones, with the beginnings
// of what they returned. next is the number behind which the next page begins, 0 if there is none.
func (fs *Flows) Page(ctx context.Context, _ access.Key, m *outbox.Info, after, most int) (i *Info, next int, err error) {
	i = &Info{Info: m}
	next, err = fs.show(ctx, []*Info{i}, op.FlowShow{From: after, Most: most + 2, Cut: shownBytes})
	return i, next, err
}

// List returns runs as outbox.Outbox.List returns messages, the newest first, with what they wait for but without
// steps and signals. An empty Topic means all flows; otherwise it is "flow." and a name.
func (fs *Flows) List(ctx context.Context, opts outbox.ListOptions) iter.Seq2[Info, error] {
	return engine.Stream(func() func(int) ([]Info, bool, error) {
		rest := opts
		return func(most int) (page []Info, more bool, err error) {
			found, next, err := fs.outbox.Operator(access.Key{}).ListFlows(ctx, rest, most)
			if err != nil {
				return nil, false, err
			}
			rest.After = &outbox.Info{Message: outbox.Message{Position: next}}
			for k := range found {
				if found[k].Headers[op.FlowPart] == "" {
					page = append(page, Info{Info: &found[k]})
				}
			}
			runs := make([]*Info, len(page))
			for k := range page {
				runs[k] = &page[k]
			}
			_, err = fs.show(ctx, runs, op.FlowShow{})
			return page, next != 0, err
		}
	})
}

// show reads by one statement what runs are parked for and, of one, its steps and signals. It returns the number
// of the last step if there are more.
func (fs *Flows) show(ctx context.Context, runs []*Info, read op.FlowShow) (next int, err error) {
	of := make(map[int64]*Info, len(runs))
	for _, i := range runs {
		of[int64(i.Position)] = i
		read.IDs = append(read.IDs, int64(i.Position))
	}
	if len(runs) == 0 {
		return 0, nil
	}
	rows, err := engine.Query(ctx, fs.db, read)
	if err != nil {
		return 0, err
	}
	slices.SortFunc(rows, func(a, b op.FlowShown) int { return inOrder(a.FlowRow, b.FlowRow) })
	retry, last := 0, 0
	for k := range rows {
		row := &rows[k]
		i := of[row.ID]
		e := Event{Name: row.Name, At: row.CreatedAt.UTC(), Bytes: row.Size, Data: row.Result}
		switch {
		case row.Kind == op.FlowSignal:
			i.Signals = append(i.Signals, e)
		case row.Kind == op.FlowWait:
			i.wait(row, e)
		case row.Nr == read.From: // the last one of the page before
			retry = row.Retry
		case len(i.Steps) == read.Most-2:
			next = last
		default:
			e.State = op.FlowStates().Word(int64(row.Kind))
			if row.Kind == op.FlowDone || row.Kind == op.FlowFailed {
				e.Attempts = max(row.Retry-retry, 0) + 1
			}
			last, retry = row.Nr, row.Retry
			i.Steps = append(i.Steps, e)
		}
	}
	return next, nil
}

// wait sets what a run is parked for, unless that is over.
func (i *Info) wait(row *op.FlowShown, e Event) {
	if i.Status != outbox.Ready || !i.NextAttemptAt.After(row.CreatedAt) || row.JoinID == nil && row.Retry != i.RetryCount {
		return
	}
	switch e.State = "signal"; {
	case row.JoinID != nil:
		e.State, e.Name = "join", join.ID(*row.JoinID).String()
	case row.Name == op.FlowCancel:
		e.State = "time"
	}
	i.Waits = &e
}

// Signal sends a signal whose payload is JSON already: for tools, where Signal.Send has no type. The audit trail
// has it. Errors are those of Signal.Send, and pawl.ErrInvalid for what is no JSON.
func (fs *Flows) Signal(ctx context.Context, id outbox.MessageID, name string, payload []byte) error {
	if !json.Valid(payload) {
		return engine.Invalid("payload", "not JSON")
	}
	if err := checkSignal(name); err != nil {
		return err
	}
	return fs.steer(ctx, audit.Signal, id, name, payload)
}

// Cancel makes a run undo what it has done (see Run.Undo) and end as discarded, with ErrCancelled as its
// reason. What waits ends at once; of a step that is running the context ends within a second, in whatever
// process. Parts of All and flows of Call that it waits for are cancelled too. A run that comes to no step any
// more completes. The audit trail has it. Errors: outbox.ErrNotFound, ErrOver.
func (fs *Flows) Cancel(ctx context.Context, id outbox.MessageID) error {
	return fs.steer(ctx, audit.Cancel, id, op.FlowCancel, nil)
}

// steer sends a signal for an operator, and records that.
func (fs *Flows) steer(ctx context.Context, action string, id outbox.MessageID, name string, payload []byte) error {
	if err := engine.CheckOutside(ctx, fs.db, nil, "SendTx"); err != nil {
		return err
	}
	note := audit.New(ctx, strings.TrimSpace("flow "+id.String()+" "+name)).Call(action, 1)
	return engine.Retry(ctx, func() error {
		return fs.db.InTx(ctx, func(ctx context.Context, tx outbox.Tx) error {
			if err := fs.send(ctx, tx, id, name, payload); err != nil {
				return err
			}
			return fs.db.DoTx(ctx, tx, note)
		})
	})
}
