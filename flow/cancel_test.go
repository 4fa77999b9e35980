package flow_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// D-778: a cancel from another process ends the step that runs, or the parts and flows that this one waits
// for, within a second; then effects are undone, and all end as discarded. What a step had done
// by then is stored, and what had not ended is observed as cancelled.
func TestCancelRunning(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		for name, ends := range map[string]func(r *rig, f *flow.Run, child *flow.Flow[int, int], begun chan struct{}) error{
			"step": func(_ *rig, f *flow.Run, _ *flow.Flow[int, int], begun chan struct{}) error {
				_, err := flow.Step(f, "long", func(ctx context.Context) (int, error) { return untilCancelled(ctx, begun) })
				return err
			},
			"step that ends all the same": func(r *rig, f *flow.Run, _ *flow.Flow[int, int], begun chan struct{}) error {
				_, err := flow.Step(f, "long", func(ctx context.Context) (int, error) { _, _ = untilCancelled(ctx, begun); return 1, nil })
				f.Undo("long", func(context.Context) error { r.did("undo long"); return nil })
				if err == nil {
					_, err = flow.Step(f, "next", func(context.Context) (int, error) { r.did("next"); return 1, nil })
				}
				return err
			},
			"transaction": func(_ *rig, f *flow.Run, _ *flow.Flow[int, int], begun chan struct{}) error {
				return flow.StepTx(f, "long", func(ctx context.Context, _ pawl.Tx) error { _, err := untilCancelled(ctx, begun); return err })
			},
			"parts": func(_ *rig, f *flow.Run, _ *flow.Flow[int, int], begun chan struct{}) error {
				_, err := flow.All(f, "parts", []int{1, 2}, func(ctx context.Context, _ int) (int, error) { return untilCancelled(ctx, begun) })
				return err
			},
			"call": func(_ *rig, f *flow.Run, child *flow.Flow[int, int], _ chan struct{}) error {
				_, err := flow.Call(f, "child", child, 1)
				return err
			},
		} {
			t.Run(name, func(t *testing.T) {
				r := open(t, e)
				if name == "transaction" && r.db.Engine() == "sqlite" {
					return // nobody can write the cancel while it runs
				}
				begun := make(chan struct{}, 10)
				child := flow.New("child", func(f *flow.Run, _ int) (int, error) {
					return flow.Step(f, "long", func(ctx context.Context) (int, error) { return untilCancelled(ctx, begun) })
				})
				child.Handle(r)
				fl := flow.New("parent", func(f *flow.Run, _ int) (int, error) {
					f.Undo("all", func(context.Context) error { r.did("undo"); return nil })
					return 1, ends(r, f, child, begun)
				}, atOnce(1))
				fl.Handle(r)
				var outcome atomic.Value // of the long step
				r.Internal(access.Key{}).Observe(&worker.Observer{Step: func(ctx context.Context, s worker.Step) (context.Context, func(string, error)) {
					return ctx, func(o string, _ error) {
						if s.Name == "long" {
							outcome.Store(o)
						}
					}
				}})
				r.work()
				id := start(t, r, fl, 1)
				<-begun
				if name == "parts" {
					<-begun
				}
				check(t, program(t, r.db).Flows().Cancel(t.Context(), id))
				if got := reason(t, r, fl, id); got != flow.ErrCancelled.Error() {
					t.Errorf("it ended: %s", got)
				}
				want := []string{"undo"}
				if name == "step that ends all the same" {
					want = []string{"undo long", "undo"}
				}
				r.want(want...)
				dbtest.Until(t, "all have ended", func() bool {
					for m, err := range r.Outbox.List(t.Context(), outbox.ListOptions{}) {
						if check(t, err); m.Status != outbox.Discarded {
							return false
						}
					}
					return true
				})
				switch got := outcome.Load(); {
				case name == "parts": // it has no such step
				case name == "step that ends all the same" && got != "done", name != "step that ends all the same" && got != "cancelled":
					t.Errorf("the step is observed as %v", got)
				}
				r.db.CheckPlaces(t)
			})
		}
	})
}

// untilCancelled returns when a step's context has ended.
func untilCancelled(ctx context.Context, begun chan struct{}) (int, error) {
	begun <- struct{}{}
	<-ctx.Done()
	return 0, ctx.Err()
}
