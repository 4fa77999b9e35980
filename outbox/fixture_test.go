package outbox_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// fixture is an outbox on a fresh database.
type fixture struct {
	*parts.Outbox
	t  *testing.T
	db dbtest.Database
}

func open(t *testing.T, e dbtest.Engine, opts ...worker.Options) *fixture {
	t.Helper()
	var o worker.Options
	if len(opts) > 0 {
		o = opts[0]
	}
	db := e.Open(t)
	return &fixture{Outbox: parts.NewOutbox(db, o), t: t, db: db}
}

const lease = time.Minute

func (f *fixture) ctx() context.Context { return f.t.Context() }

// enqueue stores one message and returns its position.
func (f *fixture) enqueue(m outbox.Message) outbox.Position {
	f.t.Helper()
	if m.Topic == "" {
		m.Topic = "t"
	}
	id, err := f.Enqueue(f.ctx(), m)
	if err != nil {
		f.t.Fatal(err)
	}
	return f.find(id).Position
}

// enqueueN stores n messages and returns their positions in order.
func (f *fixture) enqueueN(n int) []outbox.Position {
	f.t.Helper()
	msgs := make([]outbox.Message, n)
	for i := range msgs {
		msgs[i] = outbox.Message{Topic: "t", Payload: fmt.Append(nil, i)}
	}
	ids, err := f.EnqueueBatch(f.ctx(), msgs)
	if err != nil {
		f.t.Fatal(err)
	}
	items := make([]outbox.Position, n)
	for i, id := range ids {
		items[i] = f.find(id).Position
	}
	return items
}

func (f *fixture) find(id outbox.MessageID) *outbox.Info {
	f.t.Helper()
	info, err := f.Get(f.ctx(), id)
	if err != nil {
		f.t.Fatal(err)
	}
	return info
}

func (f *fixture) get(id outbox.Position) *outbox.Info {
	f.t.Helper()
	info, err := f.GetByPosition(f.ctx(), id)
	if err != nil {
		f.t.Fatal(err)
	}
	return info
}

func (f *fixture) status(id outbox.Position, want outbox.Status) *outbox.Info {
	f.t.Helper()
	info := f.get(id)
	if info.Status != want {
		f.t.Fatalf("message %d is %v, want %v", id, info.Status, want)
	}
	return info
}

// claim claims up to n messages under a fresh token.
func (f *fixture) claim(n int) (outbox.OwnerToken, []*outbox.Message) {
	f.t.Helper()
	owner := outbox.NewOwnerToken()
	msgs, err := f.WorkQueue("").Claim(f.ctx(), owner, lease, n)
	if err != nil {
		f.t.Fatal(err)
	}
	return owner, msgs
}

// claimExactly claims and insists on how many there are.
func (f *fixture) claimExactly(n int) (outbox.OwnerToken, []*outbox.Message) {
	f.t.Helper()
	owner, msgs := f.claim(max(n, 1))
	if len(msgs) != n {
		f.t.Fatalf("claimed %d messages, want %d", len(msgs), n)
	}
	return owner, msgs
}

func positions(msgs []*outbox.Message) []outbox.Position {
	ids := make([]outbox.Position, len(msgs))
	for i, m := range msgs {
		ids[i] = m.Position
	}
	return ids
}

// Redrive returns how many messages the fixture's outbox redrove.
func (f *fixture) Redrive(ctx context.Context, filter outbox.FailedFilter) (int64, error) {
	return changed(f.Outbox.Redrive)(ctx, filter)
}

// Discard returns how many messages the fixture's outbox discarded.
func (f *fixture) Discard(ctx context.Context, filter outbox.FailedFilter) (int64, error) {
	return changed(f.Outbox.Discard)(ctx, filter)
}

// changed is an act of which only the number of messages counts that it changed.
func changed(act func(context.Context, outbox.FailedFilter) (acts.Bulk, error)) func(context.Context, outbox.FailedFilter) (int64, error) {
	return func(ctx context.Context, f outbox.FailedFilter) (int64, error) {
		b, err := act(ctx, f)
		return b.Changed, err
	}
}

// touched insists on what a settling call reported.
func (f *fixture) touched(want int64) func(int64, error) {
	return func(n int64, err error) {
		f.t.Helper()
		if err != nil {
			f.t.Fatal(err)
		}
		if n != want {
			f.t.Fatalf("touched %d messages, want %d", n, want)
		}
	}
}

func (f *fixture) counts(want outbox.Counts) {
	f.t.Helper()
	got, err := f.Count(f.ctx())
	if err != nil {
		f.t.Fatal(err)
	}
	if got != want {
		f.t.Fatalf("counts are %+v, want %+v", got, want)
	}
}

// refused insists on an *engine.InvalidError that names the field, and on
// nothing having been stored.
func (f *fixture) refused(field string) func(any, error) {
	return func(_ any, err error) {
		f.t.Helper()
		var invalid *engine.InvalidError
		if !errors.As(err, &invalid) || !errors.Is(err, engine.ErrInvalid) {
			f.t.Fatalf("want an invalid %s, got %v", field, err)
		}
		if invalid.Field() != field || !strings.Contains(err.Error(), field) {
			f.t.Fatalf("the error names %q, want %q: %v", invalid.Field(), field, err)
		}
		f.counts(outbox.Counts{})
	}
}

// begin opens a caller's transaction.
func (f *fixture) begin() *sql.Tx { return f.db.Begin(f.t) }

// row reads one row through SQL.
func (f *fixture) row(query string, dest ...any) { f.t.Helper(); f.db.Row(f.t, query, dest...) }

// stored has the states that are stored, each at the place that is its number.
var stored = []outbox.Status{outbox.Ready, outbox.InProgress, outbox.Done, outbox.Failed, outbox.Discarded, outbox.Expired}
