package load

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/torture/internal/check"
	"github.com/bravellian/pawl/torture/internal/history"
	"github.com/bravellian/pawl/torture/internal/store"
)

// approved is the signal that flows wait for. Each has a number, and is sent once.
var approved = flow.NewSignal[int64]("approval")

// parcel is what the flow of a shipping is asked for.
type parcel struct {
	Order string `json:"order"` // the flow that asks
}

// flows are the flows of a round.
type flows struct {
	order *flow.Flow[check.Order, check.Receipt]
	ship  *flow.Flow[parcel, int]
}

func (p *process) newFlows(retry *outbox.RetryPolicy) *flows {
	settings := flow.Settings{Retry: retry}
	fs := &flows{}
	fs.ship = flow.New("ship", p.ship, settings)
	fs.order = flow.New(strings.TrimPrefix(history.FlowTopic, flow.TopicPrefix), func(f *flow.Run, o check.Order) (check.Receipt, error) { return p.order(f, fs, o) }, settings)
	return fs
}

// attemptBegan is the key of the time at which an attempt began, in its context.
type attemptBegan struct{}

// stepping is a step of which the history is written: what it is about and whether it ran just now.
type stepping struct {
	p   *process
	e   history.Event
	ran bool
}

func (p *process) step(f *flow.Run, of, name string) *stepping {
	began, _ := f.Context().Value(attemptBegan{}).(int64)
	return &stepping{p: p, e: history.Event{Op: history.Step, Message: of, Name: name, Nominal: began, Attempt: f.Message().RetryCount + 1}}
}

// begin is called by the step's function. It returns the error with which that is to fail, or nil.
func (s *stepping) begin() error {
	s.ran = true
	s.p.ended(s.e, history.Began)
	const often = 0.05
	if s.p.fails(s.e.Message+s.e.Name, s.e.Attempt, often) {
		return errPlanned
	}
	return nil
}

// end is called with what the step returned: without an error it is stored.
func (s *stepping) end(err error) error {
	switch {
	case !s.ran:
	case err == nil:
		s.p.ended(s.e, history.OK)
	default:
		s.p.ended(s.e, history.Unknown)
	}
	return err
}

// row returns what a step in a transaction does: it writes a row.
func (p *process) row(s *stepping) func(ctx context.Context, tx pawl.Tx) error {
	return func(ctx context.Context, tx pawl.Tx) error {
		planned := s.begin()
		return errors.Join(p.note(ctx, tx, s.e.Message, s.e.Name), planned)
	}
}

func (p *process) note(ctx context.Context, tx store.Execer, id, what string) error {
	return p.store.Exec(ctx, tx, `INSERT INTO {s}torture_flow (id, what, process) VALUES (?, ?, ?)`, id, what, p.Process)
}

// order is the function of the flow.
func (p *process) order(f *flow.Run, fs *flows, o check.Order) (r check.Receipt, err error) {
	id := f.ID().String()
	charge := p.step(f, id, "charge")
	r.Charge, err = flow.Step(f, "charge", func(context.Context) (string, error) { return id, charge.begin() })
	if charge.end(err) != nil {
		return r, err
	}
	undo := p.step(f, id, check.Undone)
	f.Undo("charge", func(ctx context.Context) error {
		if err := undo.begin(); err != nil {
			return undo.end(err)
		}
		return undo.end(p.note(ctx, p.store.SQL, id, check.Undone))
	})
	for n := range o.Waits {
		if n == 1 { // between two waits
			if err := p.book(f, id, &o); err != nil {
				return r, err
			}
		}
		got, err := p.await(f, n, &o)
		if err != nil {
			return r, err
		}
		r.Taken = append(r.Taken, got)
	}
	if o.Waits < 2 {
		if err := p.book(f, id, &o); err != nil {
			return r, err
		}
	}
	items := make([]int, o.Parts)
	for i := range items {
		items[i] = i
	}
	r.Parts, err = flow.All(f, "parts", items, func(ctx context.Context, n int) (int, error) { return p.part(ctx, f, n) })
	if err != nil {
		return r, err
	}
	if o.Ships {
		if r.Ship, err = flow.Call(f, check.Shipped, fs.ship, parcel{id}); err != nil {
			return r, err
		}
	}
	if o.Fails {
		return r, flow.Final(errPlanned)
	}
	f.OnDone(func(ctx context.Context, tx pawl.Tx) error { return p.over(ctx, tx, id) })
	return r, nil
}

// book writes the row of the order, and sleeps.
func (p *process) book(f *flow.Run, id string, o *check.Order) error {
	s := p.step(f, id, check.Booked)
	if err := s.end(flow.StepTx(f, check.Booked, p.row(s))); err != nil {
		return err
	}
	return f.Sleep("a while", time.Duration(o.Sleeps)*time.Millisecond)
}

// await takes a signal. Of the first it may give up, and ask again.
func (p *process) await(f *flow.Run, n int, o *check.Order) (int64, error) {
	if n == 0 && o.Within > 0 {
		got, err := flow.Wait[int64](f, "approval", flow.Within(time.Duration(o.Within)*time.Millisecond))
		if !errors.Is(err, flow.ErrTimeout) {
			return got, err
		}
	}
	return flow.Wait[int64](f, "approval")
}

// part is one of the fan-out.
func (p *process) part(ctx context.Context, f *flow.Run, n int) (int, error) {
	const often = 0.05
	if !sleep(ctx, shortRun/2) {
		return 0, ctx.Err()
	}
	if p.fails(f.Message().ID.String(), f.Message().RetryCount, often) {
		return 0, errPlanned
	}
	return 10 * n, nil
}

// over follows the flow: a row, and a message that has one, too.
func (p *process) over(ctx context.Context, tx pawl.Tx, id string) error {
	m, err := p.pawl.Outbox.EnqueueTx(ctx, tx, outbox.Message{Topic: topicOver, Payload: encode(body{Name: id})})
	if err != nil {
		return err
	}
	e := history.Event{Op: history.Enqueue, Message: m.String(), Topic: topicOver}
	p.ended(e, history.Began)
	err = errors.Join(
		p.note(ctx, tx, id, check.Over),
		p.store.Exec(ctx, tx, `INSERT INTO {s}torture_ledger (id, process) VALUES (?, ?)`, m.String(), p.Process))
	p.ended(e, history.Unknown) // it is committed later
	return err
}

// ship is the function of the flow that others call.
func (p *process) ship(f *flow.Run, in parcel) (int, error) {
	if err := f.Sleep("on its way", 20*time.Millisecond); err != nil {
		return 0, err
	}
	s := p.step(f, in.Order, check.Shipped)
	return check.Shipping, s.end(flow.StepTx(f, check.Shipped, p.row(s)))
}

// signal sends a signal in a transaction, unless it was sent before.
func (p *process) signal(ctx context.Context, tx *sql.Tx, id outbox.MessageID, n int64) error {
	result, err := tx.ExecContext(ctx, p.store.Text(`INSERT INTO {s}torture_signal (id, n, process) VALUES (?, ?, ?) {unless known}`), id.String(), n, p.Process)
	if err != nil {
		return err
	}
	if sent, err := result.RowsAffected(); err != nil || sent == 0 {
		return err
	}
	if p.Place.Postgres() && n%2 == 0 { // as programs in other languages do
		return p.store.Exec(ctx, tx, `SELECT {s}flow_send(?::uuid, 'approval', to_jsonb(?::bigint))`, id.String(), n)
	}
	return approved.SendTx(ctx, p.pawl, tx, id, n)
}

func signalled(id outbox.MessageID, n int64) history.Event {
	return history.Event{Op: history.Signal, Message: id.String(), Name: "approval", Place: n}
}

// sendAll sends signals in one transaction, in the order of the flows: two that send in another one would wait
// for each other.
func (p *process) sendAll(ctx context.Context, all []asked) error {
	ctx, cancel := attempt(ctx)
	defer cancel()
	slices.SortFunc(all, func(a, b asked) int {
		return cmp.Or(strings.Compare(a.id.String(), b.id.String()), cmp.Compare(a.n, b.n))
	})
	tx, err := p.store.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, s := range all {
		p.ended(signalled(s.id, s.n), history.Began)
	}
	outcome := history.OK
	for _, s := range all {
		err = errors.Join(err, p.signal(ctx, tx, s.id, s.n))
	}
	if err != nil {
		outcome = history.Failed
		_ = tx.Rollback()
	} else if err = tx.Commit(); err != nil {
		outcome = history.Unknown
	}
	for _, s := range all {
		p.ended(signalled(s.id, s.n), outcome)
	}
	return err
}

// approve is the handler that sees to it that every signal is sent in the end.
func (p *process) approve(ctx context.Context, m *outbox.Message, _ history.Event) error {
	b, err := decode(m.Payload)
	if err != nil {
		return err
	}
	id, err := outbox.ParseMessageID(b.Name)
	if err != nil {
		return err
	}
	if err = p.sendAll(ctx, []asked{{id, b.Place}}); gone(err) {
		return nil // it was cancelled, or taken away with this message
	}
	return err
}

// gone reports whether an error says that a flow is over, or not there: in Go or, where that was asked, in SQL.
func gone(err error) bool {
	return err != nil && (errors.Is(err, flow.ErrOver) || errors.Is(err, outbox.ErrNotFound) || strings.Contains(err.Error(), " is over") || strings.Contains(err.Error(), " not found"))
}

// asked is a signal that a flow waits for.
type asked struct {
	id outbox.MessageID
	n  int64
}

// flow begins flows. Their signals are sent with them, before they wait; by this process later; or by
// the handler of a message, which is due in a while.
func (r *producer) flow(ctx context.Context, tx *sql.Tx) (events []history.Event, err error) {
	var approvals []outbox.Message
	most := 6
	if r.Flows {
		most = 30
	}
	for range 1 + r.rand.IntN(most) {
		r.tokens++
		o := check.Order{Waits: r.rand.IntN(4), Parts: r.rand.IntN(4), Ships: r.chance(0.4), Sleeps: r.rand.IntN(300), Fails: r.chance(0.1)}
		if r.Flows && r.chance(0.8) { // a short one: there are to be many
			o.Waits, o.Parts, o.Ships, o.Sleeps = o.Waits/3, 0, false, 0
		}
		if r.chance(0.3) {
			o.Within = 1 + r.rand.IntN(1500)
		}
		var opts flow.Options
		starts := 1
		if r.chance(0.3) {
			opts.Key = fmt.Sprintf("%s/%d", r.Process, r.tokens)
			starts += r.rand.IntN(2) // the second begins nothing
		}
		var id outbox.MessageID
		for range starts {
			if id, err = r.flows.order.StartTx(ctx, r.pawl, tx, o, opts); err != nil {
				return events, err
			}
		}
		detail, err := json.Marshal(o)
		if err != nil {
			return events, err
		}
		events = append(events, history.Event{Op: history.Enqueue, Message: id.String(), Topic: history.FlowTopic, Detail: string(detail)})
		for n := int64(1); n <= int64(o.Waits); n++ {
			if r.chance(0.25) {
				events = append(events, signalled(id, n))
				if err := r.signal(ctx, tx, id, n); err != nil {
					return events, err
				}
				continue
			}
			m := r.message(topicApprove, body{Name: id.String(), Place: n})
			m.Due = time.Now().Add(r.between(0, 3*time.Second))
			approvals = append(approvals, m)
		}
	}
	if len(approvals) == 0 {
		return events, nil
	}
	more, err := r.enqueue(ctx, tx, approvals)
	for i := range more {
		b, _ := decode(approvals[i].Payload)
		more[i].Detail = b.Name
	}
	return append(events, more...), err
}

// steer sends signals to a flow that was begun, or cancels it.
func (r *producer) steer(ctx context.Context) {
	if len(r.begun) == 0 {
		return
	}
	most := min(len(r.begun), 1+r.rand.IntN(4))
	some := r.begun[len(r.begun)-most:]
	r.begun = r.begun[:len(r.begun)-most]
	if r.chance(0.2) {
		r.cancelFlow(ctx, some[0].id)
		return
	}
	_ = r.sendAll(ctx, some) // the handler of a message sends what this did not
}

func (r *producer) cancelFlow(ctx context.Context, id outbox.MessageID) {
	ctx, cancel := attempt(ctx)
	defer cancel()
	e := history.Event{Op: history.Signal, Message: id.String(), Name: history.Cancelling}
	r.ended(e, history.Began)
	switch err := r.pawl.Flows().Cancel(ctx, id); {
	case err == nil:
		r.ended(e, history.OK)
	case gone(err):
		r.ended(e, history.Failed)
	default:
		r.ended(e, history.Unknown)
	}
}
