package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/blob"
	"github.com/bravellian/pawl/internal/codec"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/pawltest"
)

// summary is a result of steps.
type summary struct{ Rows int }

// resultsOf starts a join of a step for each of some sources, and returns what its follow-up reads of them. A step
// sets a summary, or, if its source is "none", nothing, or, if that is "bad", fails.
func resultsOf(t *testing.T, p *pawl.Pawl, sources []string, c ...pawl.Codec) (all []string) {
	t.Helper()
	step, done := pawl.NewTopic[string]("step"), pawl.NewTopic[string]("done")
	var steps []outbox.Message
	for _, source := range sources {
		steps = append(steps, step.With(source))
	}
	_, err := p.Joins.FanOut(t.Context(), join.Spec{}, steps, join.Wait{OnComplete: done.With("all"), AllowFailures: true})
	must(t, err)
	step.Handle(p, func(ctx context.Context, d *pawl.Delivery[string]) error {
		switch d.Body {
		case "none":
			return nil
		case "bad":
			return outbox.Permanent(errors.New("bad"))
		}
		return pawl.SetResult(ctx, d.Message, summary{len(d.Body)}, c...)
	})
	done.Handle(p, func(ctx context.Context, d *pawl.Delivery[string]) error {
		for s, err := range pawl.Results[summary](ctx, p, d.Message, c...) {
			if err != nil {
				all = append(all, err.Error())
				break
			}
			all = append(all, fmt.Sprintf("%s %s %d", d.Body, s.Status, s.Value.Rows))
			if what, hidden := codec.Describe(s.Result); s.Result != nil && (hidden != (len(c) > 0) || hidden && strings.Contains(string(s.Result), "Rows")) {
				t.Errorf("%q is stored, %s", s.Result, what)
			}
		}
		return nil
	})
	must(t, p.Run(t.Context()))
	slices.Sort(all)
	return all
}

// D-705: a follow-up reads what became of each step, and the typed results of those that set one; also sealed.
func TestResults(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		for what, c := range map[string][]pawl.Codec{"plain": nil, "sealed": {pawl.Sealed(nil, pawltest.Keys())}} {
			want := []string{"all completed 0", "all completed 6", "all completed 9", "all failed 0"}
			if got := resultsOf(t, drained(t, e.Open(t)), []string{"orders", "customers", "none", "bad"}, c...); !slices.Equal(got, want) {
				t.Errorf("%s: %q", what, got)
			}
		}
	})
}

// D-705: a sealed result of another step, a result that is something else, and a message of no join are errors.
func TestResultsRefuse(t *testing.T) {
	d := dbtest.OpenSQLite(t)
	p, sealed := drained(t, d), pawl.Sealed(nil, pawltest.Keys())
	var read []error
	step, done := pawl.NewTopic[string]("step"), pawl.NewTopic[string]("done")
	steps := []outbox.Message{step.With("a"), step.With("b")}
	step.Handle(p, func(ctx context.Context, d *pawl.Delivery[string]) error {
		return pawl.SetResult(ctx, d.Message, d.Body, sealed)
	})
	done.Handle(p, func(ctx context.Context, d *pawl.Delivery[string]) error {
		for _, c := range []pawl.Codec{sealed, nil} {
			for _, err := range pawl.Results[string](ctx, p, d.Message, c) {
				if err != nil {
					read = append(read, err)
				}
			}
		}
		return nil
	})
	fan, err := p.Joins.FanOut(t.Context(), join.Spec{}, steps, join.Wait{})
	must(t, err)
	must(t, p.Run(t.Context()))
	_, err = d.SQL.ExecContext(t.Context(), "UPDATE "+d.Table("outbox_join_result")+" SET result = (SELECT max(result) FROM "+d.Table("outbox_join_result")+")")
	must(t, err)
	_, err = p.Joins.Wait(t.Context(), fan.Join, join.Wait{OnComplete: done.With("all")})
	must(t, err)
	must(t, p.Run(t.Context()))
	if len(read) != 2 || !errors.Is(read[0], pawl.ErrNotAuthentic) || !strings.HasPrefix(read[1].Error(), "result of message ") {
		t.Error(read)
	}
	for _, err := range pawl.Results[string](t.Context(), p, &outbox.Message{}) {
		if !errors.Is(err, join.ErrNotFound) {
			t.Error(err)
		}
	}
	for _, err := range pawl.Results[string](t.Context(), p, &outbox.Message{}, sealed, sealed) {
		if !errors.Is(err, pawl.ErrInvalid) {
			t.Error(err)
		}
	}
	for what, err := range map[string]error{
		"two codecs": pawl.SetResult(t.Context(), &outbox.Message{}, "x", sealed, sealed),
		"no JSON":    pawl.SetResult(t.Context(), &outbox.Message{}, make(chan int)),
		"no owner":   pawl.SetResult(t.Context(), &outbox.Message{}, "x"),
	} {
		if !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// D-705: the payload of a step is sealed for its message and topic, that of a follow-up for its topic.
func TestWithSealed(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		p, topic := drained(t, e.Open(t)), secretly("secret", pawltest.Keys())
		fan, err := p.Joins.FanOut(t.Context(), join.Spec{}, []outbox.Message{topic.With("plainly a"), topic.With("plainly b")}, join.Wait{OnComplete: topic.With("plainly c"), OnFail: topic.With("plainly d")})
		must(t, err)
		id, err := p.Joins.Start(t.Context(), join.Spec{ExpectedSteps: 1, Deadline: time.Unix(1, 0)})
		must(t, err)
		_, err = p.Joins.Wait(t.Context(), id, join.Wait{OnFail: topic.With("plainly e")})
		must(t, err)
		var got []outbox.MessageID
		for _, i := range listed(t, p) {
			if strings.Contains(string(i.Payload), "plainly") {
				t.Errorf("%s has %q", i.Topic, i.Payload)
			}
			if id := i.ID; strings.Contains(string(i.Payload), string(id[:])) {
				got = append(got, id)
			}
		}
		for _, id := range fan.Messages {
			if !slices.Contains(got, id) {
				t.Errorf("%s is not bound", id)
			}
		}
		if all := handled(t, p, topic); !slices.Equal(all, []string{"plainly a", "plainly b", "plainly c", "plainly e"}) {
			t.Errorf("%q", all)
		}
	})
}

// D-705: the blobs of steps and follow-ups are there if their transaction commits.
func TestWithOffloaded(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		d := e.Open(t)
		store := &blob.SQL{DB: d.SQL, Table: d.Table("pawl_blob")}
		must(t, store.Migrate(t.Context()))
		p, topic := drained(t, d), offloading("t", pawl.Offload(nil, store, 0))
		for _, commit := range []bool{false, true} {
			tx := d.Begin(t)
			_, err := p.Joins.FanOutTx(t.Context(), tx, join.Spec{}, []outbox.Message{topic.With("a")}, join.Wait{OnComplete: topic.With("b")})
			must(t, err)
			must(t, map[bool]func() error{false: tx.Rollback, true: tx.Commit}[commit]())
			if n := d.Count(t, "SELECT count(*) FROM "+store.Table); n != map[bool]int{true: 2}[commit] {
				t.Errorf("%d blobs, committed: %v", n, commit)
			}
		}
		if all := handled(t, p, topic); !slices.Equal(all, []string{"a", "b"}) {
			t.Errorf("%q", all)
		}
	})
}

// D-706: jobs of topics are one list for Sync, named for their topics unless they say otherwise.
func TestEvery(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		p := drained(t, e.Open(t))
		report := pawl.NewTopic[summary]("report", pawl.TopicOptions{Queue: "reports", Priority: 4})
		jobs := []job.Job{report.Every("0 2 * * *", "Europe/Berlin", summary{7}), report.Every("@hourly", "", summary{8}, job.Job{Name: "often", Queue: "q", Overlap: job.Skip})}
		done, err := p.Jobs.Sync(t.Context(), "shop", jobs, job.SyncOptions{})
		must(t, err)
		if !slices.Equal(done.Stored, []string{"often", "report"}) {
			t.Errorf("%+v", done)
		}
		for name, want := range map[string]string{"report": `0 2 * * * Europe/Berlin report reports 4 allow {"Rows":7}`, "often": `@hourly UTC report q 4 skip {"Rows":8}`} {
			j, err := p.Jobs.Get(t.Context(), name)
			must(t, err)
			if got := fmt.Sprint(j.Schedule, " ", j.Zone, " ", j.Topic, " ", j.Queue, " ", j.Priority, " ", j.Overlap, " ", string(j.Payload)); got != want {
				t.Errorf("%s is %s", name, got)
			}
		}
	})
}
