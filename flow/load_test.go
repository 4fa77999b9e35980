package flow_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// D-775: attempts at one flow and its parts are often read by one statement: each gets every step and
// signal once, in order, and shares nothing that another one changes.
func TestLoadedTogether(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		r := open(t, e)
		suspended := make(chan struct{}, 1)
		fl := flow.New("checkout", func(f *flow.Run, _ int) (int, error) {
			n, err := flow.Step(f, "first", func(context.Context) (int, error) { return 1, nil })
			if err == nil {
				_, err = flow.Step(f, "second", func(context.Context) (int, error) { return 2, nil })
			}
			if err == nil {
				_, err = flow.Wait[int](f, "never")
				suspended <- struct{}{}
			}
			return n, err
		})
		fl.Handle(r.Pawl)
		id, err := fl.Start(t.Context(), r.Pawl, 1)
		check(t, err)
		signal := flow.NewSignal[int]("approval")
		for n := range 2 {
			check(t, signal.Send(t.Context(), r.Pawl, id, n))
		}
		r.work()
		<-suspended
		info, err := r.Outbox.Get(t.Context(), id)
		check(t, err)
		all, err := r.Flows().LoadTogether(t.Context(), int64(info.Position), 3)
		check(t, err)
		for i, rows := range all {
			var names []string
			for _, row := range rows {
				names = append(names, row.Name)
			}
			if got := len(rows); got != 4 || names[0] != "first" || names[1] != "second" || string(rows[2].Result) != "0" || string(rows[3].Result) != "1" {
				t.Errorf("attempt %d has %d rows: %q", i, got, names)
			}
		}
	})
}

// D-762: steps that are stored together with one whose attempt has lost its lease are stored, and only that one
// is not.
func TestStaleAmongOthers(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		r := open(t, e)
		for range 3 {
			_, err := r.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "t"})
			check(t, err)
		}
		owner := outbox.NewOwnerToken()
		all, err := r.Outbox.WorkQueue("").Claim(t.Context(), owner, time.Minute, 3)
		check(t, err)
		owners, ids := []outbox.OwnerToken{owner, outbox.NewOwnerToken(), owner}, []outbox.Position{all[0].Position, all[1].Position, all[2].Position}
		if held := r.Flows().KeepTogether(t.Context(), owners, ids); !slices.Equal(held, []bool{true, false, true}) {
			t.Errorf("stored are %v", held)
		}
	})
}
