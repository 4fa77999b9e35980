package pawl_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// The rows of the table in docs/deploying.md: two builds of a program work on one database.

// build is a version of a program on a database.
func build(t *testing.T, d dbtest.Database, opts pawl.Options) *pawl.Pawl {
	t.Helper()
	opts.Logger = slog.New(slog.DiscardHandler)
	p, err := pawl.New(d, opts)
	must(t, err)
	return p
}

// seen collects what handlers saw.
type seen struct {
	mu  sync.Mutex
	all []string
}

func (s *seen) add(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, what)
}

// sorted returns what was seen, and forgets it.
func (s *seen) sorted() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.all
	s.all = nil
	slices.Sort(all)
	return all
}

// D-593: a handler of a renamed topic takes what waits under the old name, also of timers and of the
// older build beside it, and what the new build enqueues has the new name.
func TestDeployRenamedTopic(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		d := e.Open(t)
		was, now := pawl.NewTopic[parcel]("partner.sync"), pawl.NewTopic[parcel]("partner.push").Also("partner.sync")
		v1, v2 := build(t, d, pawl.Options{}), build(t, d, pawl.Options{StopWhenEmpty: true})
		_, err := was.Enqueue(t.Context(), v1, parcel{1}, pawl.EnqueueOptions{OrderingKey: "k"})
		must(t, err)
		_, err = was.Schedule(t.Context(), v1, timer.Timer{Due: time.Now().Add(-time.Second)}, parcel{2})
		must(t, err)
		_, err = now.Enqueue(t.Context(), v2, parcel{3}, pawl.EnqueueOptions{OrderingKey: "k"})
		must(t, err)
		var got seen
		now.Handle(v2, func(_ context.Context, d *pawl.Delivery[parcel]) error {
			got.add(d.Topic)
			return nil
		})
		must(t, v2.Run(t.Context()))
		if all := got.sorted(); !slices.Equal(all, []string{"partner.push", "partner.sync", "partner.sync"}) {
			t.Errorf("%q", all)
		}
	})
}

// D-592: what waits under a name that no build handles any more is moved to the new one.
func TestDeployRetopic(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		d := e.Open(t)
		was, now := pawl.NewTopic[parcel]("partner.sync"), pawl.NewTopic[parcel]("partner.push")
		v1, v2 := build(t, d, pawl.Options{}), build(t, d, pawl.Options{StopWhenEmpty: true})
		for n := range 3 {
			_, err := was.Enqueue(t.Context(), v1, parcel{n}, pawl.EnqueueOptions{OrderingKey: "k"})
			must(t, err)
		}
		_, err := now.Enqueue(t.Context(), v2, parcel{3}, pawl.EnqueueOptions{OrderingKey: "k"})
		must(t, err)
		done, err := v2.Outbox.Operator(access.Key{}).Retopic(t.Context(), acts.Retopic{From: was.Name(), Topic: now.Name()})
		must(t, err)
		if done.Moved != 3 {
			t.Errorf("%+v", done)
		}
		var got []int
		now.Handle(v2, func(_ context.Context, d *pawl.Delivery[parcel]) error {
			got = append(got, d.Body.Number) // one at a time: they have one key
			return nil
		})
		must(t, v2.Run(t.Context()))
		if !slices.Equal(got, []int{0, 1, 2, 3}) {
			t.Errorf("%v", got)
		}
	})
}

// D-593: a body that one build cannot decode is a failed attempt there, tried again by the other; fields
// that were added are read by both.
func TestDeployPayloadType(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		d := e.Open(t)
		type weighed struct {
			Number int `json:"number"`
			Grams  int `json:"grams"`
		}
		type money struct{ Number struct{ Value int } }
		v1, v2, v3 := build(t, d, pawl.Options{StopWhenEmpty: true}), build(t, d, pawl.Options{StopWhenEmpty: true}), build(t, d, pawl.Options{
			StopWhenEmpty: true, Retry: &outbox.RetryPolicy{MaxAttempts: 2, Delay: func(int) time.Duration { return time.Hour }},
		})
		was, added, other := pawl.NewTopic[parcel]("parcel"), pawl.NewTopic[weighed]("parcel"), pawl.NewTopic[money]("parcel")
		var got seen
		was.Handle(v1, func(_ context.Context, d *pawl.Delivery[parcel]) error {
			got.add(fmt.Sprint("v1 ", d.Body))
			return nil
		})
		added.Handle(v2, func(_ context.Context, d *pawl.Delivery[weighed]) error {
			got.add(fmt.Sprint("v2 ", d.Body))
			return nil
		})
		other.Handle(v3, func(context.Context, *pawl.Delivery[money]) error {
			got.add("v3")
			return nil
		})
		_, err := was.Enqueue(t.Context(), v1, parcel{1})
		must(t, err)
		must(t, v2.Run(t.Context()))
		_, err = added.Enqueue(t.Context(), v2, weighed{2, 5})
		must(t, err)
		must(t, v1.Run(t.Context()))
		if all := got.sorted(); !slices.Equal(all, []string{"v1 {2}", "v2 {1 0}"}) {
			t.Errorf("%q", all)
		}
		_, err = was.Enqueue(t.Context(), v1, parcel{3})
		must(t, err)
		must(t, v3.Run(t.Context())) // an attempt fails; the next is later
		info := waiting(t, v1)
		if !strings.Contains(info.LastError, "decode payload") || info.RetryCount != 1 {
			t.Fatalf("%+v", info)
		}
		now(t, v1, info)
		must(t, v1.Run(t.Context()))
		if all := got.sorted(); !slices.Equal(all, []string{"v1 {3}"}) {
			t.Errorf("%q", all)
		}
	})
}

// waiting returns the one message that is neither done nor failed.
func waiting(t *testing.T, p *pawl.Pawl) outbox.Info {
	t.Helper()
	for i, err := range p.Outbox.List(t.Context(), outbox.ListOptions{}) {
		must(t, err)
		if i.Status != outbox.Done && i.Status != outbox.Failed {
			return i
		}
	}
	t.Fatal("nothing waits")
	return outbox.Info{}
}

// now makes a message due.
func now(t *testing.T, p *pawl.Pawl, i outbox.Info) {
	t.Helper()
	_, err := p.Outbox.Reschedule(t.Context(), time.Time{}, i.Position)
	must(t, err)
}

// D-593: a codec that reads what the former one wrote serves both builds.
func TestDeployCodec(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		d := e.Open(t)
		both := pawl.CodecOf(func(b any) ([]byte, error) { return fmt.Appendf(nil, "p%d", b.(parcel).Number), nil }, func(text []byte, body any) error {
			if text[0] == '{' { // the former one's
				return json.Unmarshal(text, body)
			}
			_, err := fmt.Sscanf(string(text), "p%d", &body.(*parcel).Number)
			return err
		})
		v1, v2 := build(t, d, pawl.Options{}), build(t, d, pawl.Options{StopWhenEmpty: true})
		was, is := pawl.NewTopic[parcel]("parcel"), pawl.NewTopic[parcel]("parcel", pawl.TopicOptions{Codec: both})
		_, err := was.Enqueue(t.Context(), v1, parcel{1})
		must(t, err)
		_, err = is.Enqueue(t.Context(), v2, parcel{2})
		must(t, err)
		var got seen
		is.Handle(v2, func(_ context.Context, d *pawl.Delivery[parcel]) error {
			got.add(fmt.Sprint(d.Body.Number))
			return nil
		})
		must(t, v2.Run(t.Context()))
		if all := got.sorted(); !slices.Equal(all, []string{"1", "2"}) {
			t.Errorf("%q", all)
		}
	})
}

// D-593: a topic that only one build handles waits for it, without an attempt counted.
func TestDeployHandlerRemoved(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		d := e.Open(t)
		v1, v2 := build(t, d, pawl.Options{StopWhenEmpty: true}), build(t, d, pawl.Options{StopWhenEmpty: true})
		topic := pawl.NewTopic[parcel]("parcel")
		var got seen
		topic.Handle(v1, func(context.Context, *pawl.Delivery[parcel]) error {
			got.add("v1")
			return nil
		})
		v2.Handle("another", func(context.Context, *outbox.Message) error { return nil })
		_, err := topic.Enqueue(t.Context(), v1, parcel{1})
		must(t, err)
		must(t, v2.Run(t.Context()))
		info := waiting(t, v2)
		if info.RetryCount != 0 {
			t.Fatalf("%+v", info)
		}
		now(t, v2, info)
		must(t, v1.Run(t.Context()))
		if all := got.sorted(); len(all) != 1 {
			t.Errorf("%q", all)
		}
	})
}

// D-593: a queue that only one build serves waits for it; what waits in one that none serves any more is
// moved.
func TestDeployQueues(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		d := e.Open(t)
		was, is := pawl.NewTopic[parcel]("parcel", pawl.TopicOptions{Queue: "gone"}), pawl.NewTopic[parcel]("parcel", pawl.TopicOptions{Queue: "hooks"})
		v1 := build(t, d, pawl.Options{Queues: []string{"default", "gone"}, StopWhenEmpty: true})
		v2 := build(t, d, pawl.Options{Queues: []string{"default", "hooks"}, StopWhenEmpty: true})
		var got seen
		for name, p := range map[string]*pawl.Pawl{"v1": v1, "v2": v2} {
			is.Handle(p, func(_ context.Context, d *pawl.Delivery[parcel]) error {
				got.add(fmt.Sprint(name, " ", d.Body.Number))
				return nil
			})
		}
		_, err := is.Enqueue(t.Context(), v2, parcel{1})
		must(t, err)
		must(t, v1.Run(t.Context()))
		_, err = was.Enqueue(t.Context(), v1, parcel{2})
		must(t, err)
		must(t, v2.Run(t.Context()))
		if all := got.sorted(); !slices.Equal(all, []string{"v2 1"}) {
			t.Errorf("%q", all)
		}
		_, err = v2.Outbox.Operator(access.Key{}).Retopic(t.Context(), acts.Retopic{From: "parcel", Queue: "hooks"})
		must(t, err)
		must(t, v2.Run(t.Context()))
		if all := got.sorted(); !slices.Equal(all, []string{"v2 2"}) {
			t.Errorf("%q", all)
		}
	})
}

// D-593, D-594: jobs are those of the newer build, also after the older one restarts, and those of the
// older one after a roll-back.
func TestDeployJobs(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		d := e.Open(t)
		v1, v2 := build(t, d, pawl.Options{}), build(t, d, pawl.Options{})
		sync := func(p *pawl.Pawl, want string, jobs ...job.Job) {
			t.Helper()
			_, err := p.Jobs.Sync(t.Context(), "shop", jobs, job.SyncOptions{})
			must(t, err)
			var names []string
			for i, err := range p.Jobs.List(t.Context(), job.ListOptions{}) {
				must(t, err)
				names = append(names, i.Name+" "+i.Schedule)
			}
			if got := strings.Join(names, ", "); got != want {
				t.Errorf("%s, not %s", got, want)
			}
		}
		old := []job.Job{{Name: "nightly", Topic: "t", Schedule: "0 2 * * *"}, {Name: "report", Topic: "t", Schedule: "0 6 * * *"}}
		sync(v1, "nightly 0 2 * * *, report 0 6 * * *", old...)
		newer := "report 0 7 * * *, weekly 0 2 * * MON"
		sync(v2, newer, job.Job{Name: "weekly", Topic: "t", Schedule: "0 2 * * MON"}, job.Job{Name: "report", Topic: "t", Schedule: "0 7 * * *"})
		sync(v1, newer, old...) // a process of v1 restarts
		_, err := v1.Jobs.Forget(t.Context(), "shop")
		must(t, err)
		sync(v1, "nightly 0 2 * * *, report 0 6 * * *", old...) // v2 was rolled back
	})
}

// D-593: the order of a key holds over two builds: the one does not begin what the other has not ended.
func TestDeployOrderingKeys(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		d := e.Open(t)
		v1, v2 := build(t, d, pawl.Options{}), build(t, d, pawl.Options{StopWhenEmpty: true})
		topic := pawl.NewTopic[parcel]("parcel")
		for n := range 2 {
			_, err := topic.Enqueue(t.Context(), v1, parcel{n}, pawl.EnqueueOptions{OrderingKey: "k"})
			must(t, err)
		}
		var got seen
		topic.Handle(v2, func(_ context.Context, d *pawl.Delivery[parcel]) error {
			got.add(fmt.Sprint(d.Body.Number))
			return nil
		})
		q, owner := v1.Outbox.WorkQueue(""), outbox.NewOwnerToken()
		held, err := q.Claim(t.Context(), owner, time.Minute, 5)
		if err != nil || len(held) != 1 {
			t.Fatal(held, err)
		}
		must(t, v2.Run(t.Context()))
		if all := got.sorted(); all != nil {
			t.Fatalf("%q beside the first", all)
		}
		_, err = q.Ack(t.Context(), owner, held[0].Position)
		must(t, err)
		must(t, v2.Run(t.Context()))
		if all := got.sorted(); !slices.Equal(all, []string{"1"}) {
			t.Errorf("%q", all)
		}
	})
}

// D-593, D-595: limits are those of the newer build, also after the older one restarts; one that no handler
// has any more ends; what an operator set holds until it is removed.
func TestDeployLimits(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		d := e.Open(t)
		run := func(want string, opts pawl.Options, limits map[string]*outbox.Limit) *pawl.Pawl {
			t.Helper()
			opts.StopWhenEmpty = true
			p := build(t, d, opts)
			for topic, l := range limits {
				p.Handle(topic, func(context.Context, *outbox.Message) error { return nil }, outbox.HandlerOptions{Limit: l})
			}
			must(t, p.Run(t.Context()))
			all, err := p.Admin.Limits(t.Context())
			must(t, err)
			var got []string
			for _, l := range all {
				got = append(got, fmt.Sprintf("%s %s %d %d by %s %s", l.Kind, l.Name, l.Concurrency, l.Rate, l.Actor, l.Declared))
			}
			if got := strings.Join(got, ", "); got != want {
				t.Errorf("%s, not %s", got, want)
			}
			return p
		}
		shop := pawl.Options{Program: "shop"}
		old := map[string]*outbox.Limit{"mail": {Rate: 5}, "call.*": {Concurrency: 1}}
		run("each call.* 1 0 by declared by shop , topic mail 0 5 by declared by shop ", shop, old)
		run("each call.* 1 0 by declared by shop , topic mail 0 5 by declared by shop ", pawl.Options{Program: "other"}, nil)
		newer := map[string]*outbox.Limit{"mail": {Rate: 50}}
		p := run("topic mail 0 50 by declared by shop ", shop, newer)
		run("topic mail 0 50 by declared by shop ", shop, old) // a process of the older build restarts
		_, err := p.Admin.SetLimit(admin.WithActor(t.Context(), "alice"), admin.Topic, "mail", outbox.Limit{Rate: 1}, "they are slow")
		must(t, err)
		run("topic mail 0 1 by alice 50 in 1s by shop", shop, newer)
		run("topic mail 0 1 by alice 60 in 1s by shop", shop, map[string]*outbox.Limit{"mail": {Rate: 60}})
		_, err = p.Admin.RemoveLimit(t.Context(), admin.Topic, "mail")
		must(t, err)
		run("topic mail 0 60 by declared by shop ", shop, map[string]*outbox.Limit{"mail": {Rate: 60}})
		run("", shop, nil) // no handler needs it
		bad := build(t, d, shop)
		bad.Handle("mail", func(context.Context, *outbox.Message) error { return nil }, outbox.HandlerOptions{Limit: &outbox.Limit{}})
		if err := bad.Run(t.Context()); !errors.Is(err, pawl.ErrInvalid) {
			t.Error(err)
		}
	})
}
