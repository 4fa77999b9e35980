package metrics_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/metrics"
	"github.com/bravellian/pawl/outbox"
)

// D-784: steps of flows are counted by flow and outcome: those of the function, parts, and what undoes.
func TestFlowSteps(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, stopWhenEmpty(), metrics.Options{})
		soon := flow.StepOptions{Retry: &outbox.RetryPolicy{MaxAttempts: 2, Delay: func(int) time.Duration { return 0 }}}
		failing := func(context.Context) (int, error) { return 0, errors.New("no") }
		fl := flow.New("checkout", func(r *flow.Run, _ int) (int, error) {
			if _, err := flow.Step(r, "charge", func(context.Context) (int, error) { return 1, nil }); err != nil {
				return 0, err
			}
			r.Undo("charge", func(context.Context) error { return nil })
			if _, err := flow.Wait[int](r, "approval", flow.Within(time.Millisecond)); err != nil && !errors.Is(err, flow.ErrTimeout) {
				return 0, err
			}
			return flow.Step(r, "book", failing, soon)
		})
		fan := flow.New("fan", func(r *flow.Run, _ int) ([]int, error) {
			return flow.All(r, "parts", []int{1, 2, 3}, func(_ context.Context, n int) (int, error) {
				if n == 3 {
					return 0, flow.Final(errors.New("no"))
				}
				return n, nil
			})
		})
		fl.Handle(f.Pawl)
		fan.Handle(f.Pawl)
		_, err := fl.Start(t.Context(), f.Pawl, 1)
		check(t, err)
		_, err = fan.Start(t.Context(), f.Pawl, 1)
		check(t, err)
		f.drain()
		f.gather().has(t, series{
			`pawl_flow_steps_total{outcome="done",topic="flow.checkout"}`:      2, // and what undoes it
			`pawl_flow_steps_total{outcome="retried",topic="flow.checkout"}`:   1,
			`pawl_flow_steps_total{outcome="failed",topic="flow.checkout"}`:    1,
			`pawl_flow_steps_total{outcome="timed out",topic="flow.checkout"}`: 1,
			`pawl_flow_steps_total{outcome="done",topic="flow.fan"}`:           2,
			`pawl_flow_steps_total{outcome="failed",topic="flow.fan"}`:         1,
		})
	})
}
