package pawl_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/test/dbtest"
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
		done, err := v2.Outbox.Retopic(t.Context(), outbox.Retopic{From: was.Name(), Topic: now.Name()})
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
