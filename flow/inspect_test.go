package flow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// reads counts what is read of flows.
type reads struct {
	engine.DB
	flows int
}

func (r *reads) Read(ctx context.Context, c *engine.Call) error {
	if strings.HasPrefix(c.Name(), "flow/") {
		r.flows++
	}
	return r.DB.Read(ctx, c)
}

// D-780: a list of runs takes one more statement a page than one of messages, and reads no step.
func TestListReadsOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		r := open(t, e)
		fl := flow.New("nap", func(f *flow.Run, _ int) (int, error) {
			if _, err := flow.Step(f, "step", func(context.Context) (int, error) { return 1, nil }); err != nil {
				return 0, err
			}
			return 0, f.Sleep("night", time.Hour)
		})
		fl.Handle(r.Pawl)
		r.work()
		const runs = 5
		for n := range runs {
			_, err := fl.Start(t.Context(), r.Pawl, n)
			check(t, err)
		}
		dbtest.Until(t, "all sleep", func() bool {
			n, err := r.Outbox.Count(t.Context())
			check(t, err)
			return n.Scheduled == runs
		})
		db := &reads{DB: r.db.DB}
		flows, _ := flow.Connect(access.Key{}, db, r.Outbox, nil, r.Joins)
		n := 0
		for i, err := range flows.List(t.Context(), outbox.ListOptions{}) {
			check(t, err)
			if i.Waits == nil || i.Waits.State != "time" || i.Waits.Name != "" || len(i.Steps) > 0 {
				t.Errorf("run %d: %+v", n, i)
			}
			n++
		}
		if n != runs || db.flows != 1 {
			t.Errorf("%d runs in %d statements", n, db.flows)
		}
	})
}

// D-781: what stored steps say of a run can be read page by page, with the beginnings of what they returned, how often
// each ran, and signals that no step took.
func TestPage(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		r := open(t, e)
		fl := flow.New("checkout", func(f *flow.Run, _ int) (int, error) {
			for n := range 3 {
				_, err := flow.Step(f, fmt.Sprint("step ", n), func(context.Context) (string, error) {
					if n == 1 && f.Message().RetryCount < 2 {
						return "", errors.New("not yet")
					}
					return strings.Repeat("x", n*5000), nil
				}, flow.StepOptions{Retry: at(time.Millisecond)})
				if err != nil {
					return 0, err
				}
			}
			if _, err := flow.Wait[int](f, "taken"); err != nil {
				return 0, err
			}
			return flow.Wait[int](f, "never")
		})
		fl.Handle(r.Pawl)
		id, err := fl.Start(t.Context(), r.Pawl, 1)
		check(t, err)
		for _, name := range []string{"left", "taken", "left"} {
			check(t, flow.NewSignal[int](name).Send(t.Context(), r.Pawl, id, 7))
		}
		r.work()
		dbtest.Until(t, "it waits", func() bool {
			i, err := r.Flows().Get(t.Context(), id)
			check(t, err)
			return i.Waits != nil && i.Waits.Name == "never"
		})
		m, err := r.Outbox.Get(t.Context(), id)
		check(t, err)
		var steps []string
		for after, pages := 0, 0; pages == 0 || after > 0; pages++ {
			i, next, err := r.Flows().Page(t.Context(), access.Key{}, m, after, 2)
			check(t, err)
			if len(i.Steps) > 2 || pages > 1 || len(i.Signals) != 2 || i.Signals[0].Name != "left" || i.Waits == nil || i.Waits.Name != "never" {
				t.Fatalf("page %d: %+v", pages, i)
			}
			for _, s := range i.Steps {
				steps = append(steps, fmt.Sprintf("%s %s %d: %d of %d", s.Name, s.State, s.Attempts, len(s.Data), s.Bytes))
			}
			after = next
		}
		if want := []string{"step 0 done 1: 2 of 2", "step 1 done 3: 4096 of 5002", "step 2 done 1: 4096 of 10002", "taken done 1: 1 of 1"}; !slices.Equal(steps, want) {
			t.Errorf("%q\nwant %q", steps, want)
		}
		whole, err := r.Flows().Get(t.Context(), id)
		check(t, err)
		if len(whole.Steps) != 4 || len(whole.Steps[2].Data) != 10002 {
			t.Errorf("whole: %+v", whole.Steps)
		}
	})
}

// at is a policy of attempts that far apart.
func at(d time.Duration) *outbox.RetryPolicy {
	return &outbox.RetryPolicy{MaxAttempts: 10, Delay: func(int) time.Duration { return d }}
}
