package pawltest_test

import (
	"cmp"
	"errors"
	"testing"
	"time"

	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/pawltest"
)

// D-773: sleeps and deadlines of flows pass with the test's clock, a clock that stands still among them.
func TestFlowsHaveTheClock(t *testing.T) {
	for _, still := range []bool{false, true} {
		p := pawltest.New(t)
		if still {
			p.Clock.Set(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
		}
		fl := flow.New("remind", func(f *flow.Run, _ int) (string, error) {
			if err := f.Sleep("a day", 24*time.Hour); err != nil {
				return "", err
			}
			_, err := flow.Wait[string](f, "answer", flow.Within(72*time.Hour))
			if errors.Is(err, flow.ErrTimeout) {
				return "nobody answered", nil
			}
			return "", err
		})
		fl.Handle(p)
		id, err := fl.Start(t.Context(), p, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"time", "answer", "answer", "nothing"} {
			if _, err := p.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
			i, err := p.Flows().Get(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			is := "nothing"
			if i.Waits != nil {
				is = cmp.Or(i.Waits.Name, "time")
			}
			if is != want {
				t.Fatalf("still %t: it waits for %s, not for %s", still, is, want)
			}
			p.Clock.Advance(36 * time.Hour)
		}
		if got, err := fl.Await(t.Context(), p, id); err != nil || got != "nobody answered" {
			t.Errorf("still %t: %q, %v", still, got, err)
		}
	}
}
