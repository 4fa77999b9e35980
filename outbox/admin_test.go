package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// failing is a fixture with failed messages of several kinds: their keys are
// "topic/queue/error".
func failing(t *testing.T, e dbtest.Engine) (*fixture, map[string][]outbox.Position) {
	t.Helper()
	f := open(t, e)
	ids := map[string][]outbox.Position{}
	for _, topic := range []string{"a", "b"} {
		for _, queue := range []string{outbox.DefaultQueue, "other"} {
			for _, text := range []string{"no route to host", `50% of "it" isn't\n`, "", "NO ROUTE"} {
				key := topic + "/" + queue + "/" + text
				for range 2 {
					ids[key] = append(ids[key], f.enqueue(outbox.Message{Topic: topic, Queue: queue}))
				}
				owner := outbox.NewOwnerToken()
				msgs, err := f.WorkQueue(queue).Claim(f.ctx(), owner, lease, 2)
				if err != nil || len(msgs) != 2 {
					t.Fatal(len(msgs), err)
				}
				var cause error
				if text != "" {
					cause = errors.New(text)
				}
				f.touched(2)(f.WorkQueue("").Fail(f.ctx(), owner, cause, positions(msgs)...))
			}
		}
	}
	f.enqueueN(3) // which have not failed
	return f, ids
}

// age puts the time when messages failed back.
func (f *fixture) age(d time.Duration, ids ...outbox.Position) {
	f.t.Helper()
	for _, id := range ids {
		if _, err := f.db.SQL.ExecContext(f.ctx(), fmt.Sprintf("UPDATE %s SET updated_at = %s WHERE id = %d", f.db.Table("outbox_exception"), f.db.Earlier("updated_at", d), id)); err != nil {
			f.t.Fatal(err)
		}
	}
}

// D-26: every part of a filter selects, alone and together with others, and what
// is counted is what is changed.
func TestFailedFilters(t *testing.T) { dbtest.Each(t, testFailedFilters) }

func testFailedFilters(t *testing.T, e dbtest.Engine) {
	f, ids := failing(t, e)
	now := time.Now()
	for key, some := range ids {
		if strings.HasSuffix(key, "NO ROUTE") {
			f.age(2*time.Hour, some...)
		}
	}
	var all []outbox.Position
	for _, some := range ids {
		all = append(all, some...)
	}
	slices.Sort(all)
	matching := func(ok func(topic, queue, text string, old bool) bool) (n int64) {
		for key, some := range ids {
			part := strings.SplitN(key, "/", 3)
			if ok(part[0], part[1], part[2], part[2] == "NO ROUTE") {
				n += int64(len(some))
			}
		}
		return n
	}
	hourAgo := now.Add(-time.Hour)
	for name, c := range map[string]struct {
		filter outbox.FailedFilter
		want   int64
	}{
		"all":                {outbox.FailedFilter{}, 32},
		"topic":              {outbox.FailedFilter{Topic: "a"}, 16},
		"another topic":      {outbox.FailedFilter{Topic: "A"}, 0},
		"queue":              {outbox.FailedFilter{Queue: "other"}, 16},
		"another queue":      {outbox.FailedFilter{Queue: "nowhere"}, 0},
		"error":              {outbox.FailedFilter{Error: "route"}, 8},
		"error in capitals":  {outbox.FailedFilter{Error: "ROUTE"}, 8},
		"percent":            {outbox.FailedFilter{Error: "%"}, 8},
		"percent as pattern": {outbox.FailedFilter{Error: "no%host"}, 0},
		"underscore":         {outbox.FailedFilter{Error: "n_ route"}, 0},
		"quotes":             {outbox.FailedFilter{Error: `"it" isn't\n`}, 8},
		"since":              {outbox.FailedFilter{Since: hourAgo}, 24},
		"before":             {outbox.FailedFilter{Before: hourAgo}, 8},
		"between":            {outbox.FailedFilter{Since: now.Add(-3 * time.Hour), Before: hourAgo}, 8},
		"never":              {outbox.FailedFilter{Since: now.Add(time.Hour)}, 0},
		"ids":                {outbox.FailedFilter{IDs: all[:5]}, 5},
		"ids doubled":        {outbox.FailedFilter{IDs: append(slices.Clone(all[:5]), all[:3]...)}, 5},
		"ids unknown":        {outbox.FailedFilter{IDs: []outbox.Position{all[0], 0, -1, math.MaxInt64, all[len(all)-1] + 1}}, 1},
		"no ids":             {outbox.FailedFilter{IDs: []outbox.Position{}}, 0},
		"ids and topic":      {outbox.FailedFilter{IDs: ids["a/other/"], Topic: "a"}, 2},
		"ids and not topic":  {outbox.FailedFilter{IDs: ids["a/other/"], Topic: "b"}, 0},
		"all together":       {outbox.FailedFilter{IDs: all, Topic: "b", Queue: "other", Error: "isn't", Since: hourAgo, Before: now.Add(time.Hour), Limit: 10, Rate: 1000}, 2},
		"topic and queue": {outbox.FailedFilter{Topic: "b", Queue: "other"},
			matching(func(topic, queue, _ string, _ bool) bool { return topic == "b" && queue == "other" })},
		"topic and before": {outbox.FailedFilter{Topic: "b", Before: hourAgo}, matching(func(topic, _, _ string, old bool) bool { return topic == "b" && old })},
	} {
		got, err := f.CountFailed(f.ctx(), c.filter)
		if err != nil || got != c.want {
			t.Errorf("%s: counted %d, want %d: %v", name, got, c.want, err)
		}
	}
	left := int64(32)
	for _, filter := range []outbox.FailedFilter{{Topic: "a", Error: "%"}, {Queue: "other", Before: hourAgo}, {IDs: all[:7]}, {Since: hourAgo}, {}} {
		change := f.Redrive
		if filter.Queue != "" {
			change = f.Discard
		}
		want, err := f.CountFailed(f.ctx(), filter)
		if err != nil {
			t.Fatal(err)
		}
		f.touched(want)(change(f.ctx(), filter))
		f.touched(0)(change(f.ctx(), filter))
		left -= want
		if n, err := f.CountFailed(f.ctx(), outbox.FailedFilter{}); err != nil || n != left {
			t.Fatalf("%d are left, want %d: %v", n, left, err)
		}
	}
	if left != 0 {
		t.Fatalf("%d are left", left)
	}
	f.db.CheckPlaces(t)
}

func TestMendBadArguments(t *testing.T) { dbtest.Each(t, testMendBadArguments) }

func testMendBadArguments(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for field, filters := range map[string][]outbox.FailedFilter{
		"rate":  {{Rate: -1}},
		"limit": {{Limit: -1}},
		"topic": {{Topic: "a\x00b"}, {Topic: "\xff"}, {Topic: strings.Repeat("ä", limits.Topic+1)}},
		"queue": {{Queue: "a\x00b"}, {Queue: strings.Repeat("ä", limits.Queue+1)}},
		"error": {{Error: "a\x00b"}, {Error: "\xff"}},
	} {
		for _, filter := range filters {
			for _, do := range []func(context.Context, outbox.FailedFilter) (int64, error){f.Redrive, f.Discard, f.CountFailed} {
				f.refused(field)(do(f.ctx(), filter))
			}
		}
	}
	for _, reason := range []string{"a\x00b", "\xff", strings.Repeat("ä", limits.Reason+1)} {
		f.refused("reason")(f.Cancel(f.ctx(), reason, 1))
	}
	for _, due := range []time.Time{time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(math.MaxInt64, 0)} {
		f.refused("due time")(f.Reschedule(f.ctx(), due, 1))
	}
}

// fail leaves n failed messages.
func (f *fixture) fail(n int) []outbox.Position {
	f.t.Helper()
	f.enqueueBatch(n)
	var all []outbox.Position
	for len(all) < n {
		owner, msgs := f.claim(1000)
		f.touched(int64(len(msgs)))(f.WorkQueue("").Fail(f.ctx(), owner, errors.New("no"), positions(msgs)...))
		all = append(all, positions(msgs)...)
	}
	slices.Sort(all)
	return all
}

// D-26: the oldest come first, and no more than asked for.
func TestFailedLimits(t *testing.T) { dbtest.Each(t, testFailedLimits) }

func testFailedLimits(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.fail(20)
	f.touched(7)(f.CountFailed(f.ctx(), outbox.FailedFilter{Limit: 7}))
	f.touched(7)(f.Redrive(f.ctx(), outbox.FailedFilter{Limit: 7}))
	for i, id := range ids {
		f.status(id, []outbox.Status{outbox.Ready, outbox.Failed}[min(i/7, 1)])
	}
	f.touched(3)(f.Discard(f.ctx(), outbox.FailedFilter{Limit: 3, IDs: ids}))
	f.touched(10)(f.Redrive(f.ctx(), outbox.FailedFilter{Limit: 100}))
	f.counts(outbox.Counts{Ready: 17, Discarded: 3})
}

// More than one transaction takes.
func TestFailedMany(t *testing.T) { dbtest.Each(t, testFailedMany) }

func testFailedMany(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	const n = 2300
	ids := f.fail(n)
	f.touched(n)(f.CountFailed(f.ctx(), outbox.FailedFilter{}))
	f.touched(2100)(f.CountFailed(f.ctx(), outbox.FailedFilter{Limit: 2100}))
	f.touched(1200)(f.Redrive(f.ctx(), outbox.FailedFilter{IDs: ids[:1200]}))
	f.touched(n - 1200)(f.Discard(f.ctx(), outbox.FailedFilter{}))
	f.counts(outbox.Counts{Ready: 1200, Discarded: n - 1200})
	f.db.CheckPlaces(t)
}

// Two who redrive the same share it out.
func TestRedriveConcurrently(t *testing.T) { dbtest.Each(t, testRedriveConcurrently) }

func testRedriveConcurrently(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	const n = 1200
	f.fail(n)
	other := parts.NewOutbox(f.db.Another(t), worker.Options{})
	var sums [3]int64
	var busy sync.WaitGroup
	for i, change := range []func(context.Context, outbox.FailedFilter) (int64, error){f.Redrive, changed(other.Redrive), changed(other.Discard)} {
		busy.Go(func() {
			var err error
			if sums[i], err = change(f.ctx(), outbox.FailedFilter{}); err != nil {
				t.Error(err)
			}
		})
	}
	busy.Wait()
	if sums[0]+sums[1]+sums[2] != n {
		t.Fatalf("they changed %v of %d", sums, n)
	}
	f.counts(outbox.Counts{Ready: sums[0] + sums[1], Discarded: sums[2]})
	f.db.CheckPlaces(t)
}

// every leaves one message in every state, and a retrying one; the first two can be
// taken back.
func (f *fixture) every() (ready, scheduled, retrying, held, done, failed, discarded outbox.Position) {
	f.t.Helper()
	ids := f.enqueueN(5)
	owner, _ := f.claimExactly(5)
	f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, ids[0]))
	f.touched(2)(f.WorkQueue("").Fail(f.ctx(), owner, errors.New("e"), ids[1], ids[2]))
	f.touched(1)(f.Discard(f.ctx(), outbox.FailedFilter{IDs: ids[2:3]}))
	f.touched(1)(f.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(time.Hour, errors.New("busy")), ids[3]))
	ready = f.enqueue(outbox.Message{})
	scheduled = f.enqueue(outbox.Message{Due: time.Now().Add(time.Hour)})
	return ready, scheduled, ids[3], ids[4], ids[0], ids[1], ids[2]
}

// What waits can be taken back, whatever for; nothing else can.
func TestCancel(t *testing.T) { dbtest.Each(t, testCancel) }

func testCancel(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ready, scheduled, retrying, held, done, failed, discarded := f.every()
	f.touched(0)(f.Cancel(f.ctx(), "why"))
	f.touched(0)(f.Cancel(f.ctx(), "why", held, done, failed, discarded, 0, -1, math.MaxInt64))
	f.counts(outbox.Counts{Ready: 1, Scheduled: 1, Retrying: 1, InProgress: 1, Done: 1, Failed: 1, Discarded: 1})
	f.touched(3)(f.Cancel(f.ctx(), "not needed", ready, held, scheduled, retrying, done, failed, discarded, ready))
	f.counts(outbox.Counts{InProgress: 1, Done: 1, Failed: 1, Discarded: 4})
	for id, retries := range map[outbox.Position]int{ready: 0, scheduled: 0, retrying: 1} {
		if got := f.status(id, outbox.Discarded); got.LastError != "not needed" || got.RetryCount != retries {
			t.Errorf("cancelled message is %+v", got)
		}
	}
	if got := f.get(discarded); got.LastError != "e" {
		t.Errorf("discarded message is %+v", got)
	}
	f.touched(0)(f.Cancel(f.ctx(), "again", ready, scheduled, retrying))
	f.touched(1)(f.Redrive(f.ctx(), outbox.FailedFilter{})) // not what was cancelled
	f.status(failed, outbox.Ready)
	f.db.CheckPlaces(t)
}

func TestCancelReasons(t *testing.T) { dbtest.Each(t, testCancelReasons) }

func testCancelReasons(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for given, want := range map[string]string{"": "cancelled", `isn't "needed" 日本`: `isn't "needed" 日本`, strings.Repeat("ä", limits.Reason): strings.Repeat("ä", limits.Reason)} {
		id := f.enqueue(outbox.Message{})
		f.touched(1)(f.Cancel(f.ctx(), given, id))
		if got := f.get(id).LastError; got != want {
			t.Errorf("cancelled because of %q, want %q", got, want)
		}
	}
}

// A message that failed before keeps its attempts.
func TestCancelRetrying(t *testing.T) { dbtest.Each(t, testCancelRetrying) }

func testCancelRetrying(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id := f.enqueue(outbox.Message{})
	for range 3 {
		owner, _ := f.claimExactly(1)
		f.touched(1)(f.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(0, errors.New("busy")), id))
	}
	f.touched(1)(f.Cancel(f.ctx(), "enough", id))
	if got := f.status(id, outbox.Discarded); got.RetryCount != 3 || got.LastError != "enough" {
		t.Fatalf("cancelled message is %+v", got)
	}
	f.claimExactly(0)
}

// What waits can be put to another time; nothing else can.
func TestReschedule(t *testing.T) { dbtest.Each(t, testReschedule) }

func testReschedule(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ready, scheduled, retrying, held, done, failed, discarded := f.every()
	later := time.Now().Add(24 * time.Hour).UTC().Truncate(time.Microsecond)
	f.touched(0)(f.Reschedule(f.ctx(), later))
	f.touched(0)(f.Reschedule(f.ctx(), later, held, done, failed, discarded, 0, -1, math.MaxInt64))
	f.touched(3)(f.Reschedule(f.ctx(), later, ready, held, scheduled, retrying, done, failed, discarded, ready))
	f.counts(outbox.Counts{Scheduled: 2, Retrying: 1, InProgress: 1, Done: 1, Failed: 1, Discarded: 1})
	for _, id := range []outbox.Position{ready, scheduled, retrying} {
		if got := f.status(id, outbox.Ready); !got.NextAttemptAt.Equal(later) {
			t.Errorf("message %d is due at %v, want %v", id, got.NextAttemptAt, later)
		}
	}
	if got := f.get(retrying); got.RetryCount != 1 || got.LastError != "busy" {
		t.Errorf("retrying message is %+v", got)
	}
	f.touched(2)(f.Reschedule(f.ctx(), time.Now().Add(-time.Hour), scheduled, retrying))
	owner, msgs := f.claim(2)
	if got := positions(msgs); !slices.Contains(got, scheduled) || !slices.Contains(got, retrying) {
		t.Fatalf("claimed %v", got)
	}
	f.touched(2)(f.WorkQueue("").Ack(f.ctx(), owner, scheduled, retrying))
	f.touched(1)(f.Reschedule(f.ctx(), time.Time{}, ready))
	f.claimExactly(1)
	f.db.CheckPlaces(t)
}

// Now is the database's now, and the ends of time are times.
func TestRescheduleBounds(t *testing.T) { dbtest.Each(t, testRescheduleBounds) }

func testRescheduleBounds(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.enqueueN(3)
	if e.Name == "sqlite" {
		f.db.Pass(-2 * time.Hour) // as if ours were ahead
	}
	for _, due := range []time.Time{time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(1970, 1, 1, 0, 0, 1, 0, time.UTC)} {
		f.touched(1)(f.Reschedule(f.ctx(), due, ids[0]))
		if got := f.get(ids[0]); !got.NextAttemptAt.Equal(due) {
			t.Errorf("it is due at %v, want %v", got.NextAttemptAt, due)
		}
	}
	for _, now := range append(beforeThe70s(), time.Time{}) { // D-8
		f.touched(2)(f.Reschedule(f.ctx(), time.Now().Add(24*time.Hour), ids[0], ids[2]))
		f.touched(1)(f.Reschedule(f.ctx(), now, ids[2]))
		if at := f.get(ids[2]).NextAttemptAt; at.Before(time.Now().Add(-24 * time.Hour)) {
			t.Fatalf("due at %v, not now", at)
		}
		owner, msgs := f.claim(10)
		if got := positions(msgs); !slices.Contains(got, ids[2]) {
			t.Fatalf("claimed %v, not %d, which is due now", got, ids[2])
		}
		f.touched(int64(len(msgs)))(f.Release(f.ctx(), owner, positions(msgs)...))
	}
}

// Workers that sleep for long hear of it.
func TestRescheduleWakes(t *testing.T) { dbtest.Each(t, testRescheduleWakes) }

func testRescheduleWakes(t *testing.T, e dbtest.Engine) {
	f := open(t, e, slow())
	got := make(chan outbox.Position, 10)
	f.handle("t", func(_ context.Context, m *outbox.Message) error { got <- m.Position; return nil })
	later := f.enqueue(outbox.Message{Due: time.Now().Add(time.Hour)})
	first := f.enqueue(outbox.Message{})
	f.start()
	if id := <-got; id != first {
		t.Fatalf("%d came first", id)
	}
	f.untilStatus(first, outbox.Done)
	admin := parts.NewOutbox(f.db.Another(t), worker.Options{})
	f.touched(1)(admin.Reschedule(f.ctx(), time.Time{}, later))
	select {
	case <-got:
	case <-time.After(2 * time.Minute):
		t.Fatal("the message that is due now was not picked up")
	}
}

// Messages are taken out of the middle of runs, which leaves everything else where
// it was: at each end, alone, next to each other.
func TestWithdrawFromRuns(t *testing.T) { dbtest.Each(t, testWithdrawFromRuns) }

func testWithdrawFromRuns(t *testing.T, e dbtest.Engine) {
	later := time.Now().Add(24 * time.Hour)
	for _, reschedule := range []bool{false, true} {
		f := open(t, e)
		gone := map[outbox.Position]bool{}
		var all []outbox.Position
		for _, some := range [][]int{{0}, {9}, {4}, {0, 9}, {3, 4, 5}, {0, 2, 4, 6, 8}, {9, 0, 5, 5}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}} {
			ids := f.enqueueN(10)
			all = append(all, ids...)
			var asked []outbox.Position
			distinct := map[int]bool{}
			for _, i := range some {
				asked, distinct[i], gone[ids[i]] = append(asked, ids[i]), true, true
			}
			if reschedule {
				f.touched(int64(len(distinct)))(f.Reschedule(f.ctx(), later, asked...))
			} else {
				f.touched(int64(len(distinct)))(f.Cancel(f.ctx(), "why", asked...))
			}
			f.db.CheckPlaces(t)
		}
		_, msgs := f.claimExactly(len(all) - len(gone))
		for _, m := range msgs {
			if gone[m.Position] || m.RetryCount != 0 {
				t.Errorf("claimed %+v", m)
			}
		}
		f.db.CheckPlaces(t)
	}
}

// Beside workers who claim and settle, every message ends once: handled, or
// cancelled, and the counts agree with what was said.
func TestWithdrawBesideClaims(t *testing.T) { dbtest.Each(t, testWithdrawBesideClaims) }

func testWithdrawBesideClaims(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	const n = 600
	f.enqueueBatch(n)
	list, err := engine.Collect(f.List(f.ctx(), outbox.ListOptions{Status: outbox.Ready}), n)
	if err != nil || len(list) != n {
		t.Fatal(len(list), err)
	}
	var ids []outbox.Position
	for _, info := range list {
		ids = append(ids, info.Position)
	}
	var mu sync.Mutex
	handled := map[outbox.Position]int{}
	var acked, cancelled int64
	var busy sync.WaitGroup
	for range 2 {
		w := parts.NewOutbox(f.db.Another(t), worker.Options{})
		busy.Go(func() {
			for empty := 0; empty < 3; {
				owner := outbox.NewOwnerToken()
				msgs, err := w.WorkQueue("").Claim(f.ctx(), owner, lease, 7)
				if err != nil {
					t.Error(err)
					return
				}
				if len(msgs) == 0 {
					empty++
					continue
				}
				got, err := w.WorkQueue("").Ack(f.ctx(), owner, positions(msgs)...)
				if err != nil || int(got) != len(msgs) {
					t.Errorf("acked %d of %d: %v", got, len(msgs), err)
				}
				mu.Lock()
				acked += got
				for _, m := range msgs {
					handled[m.Position]++
				}
				mu.Unlock()
			}
		})
	}
	for k := range 2 {
		w := parts.NewOutbox(f.db.Another(t), worker.Options{})
		busy.Go(func() {
			for part := range slices.Chunk(ids, 20) {
				got, err := w.Reschedule(f.ctx(), time.Time{}, part[k*5:k*5+10]...)
				if err != nil || got > 10 {
					t.Errorf("rescheduled %d: %v", got, err)
				}
				got, err = w.Cancel(f.ctx(), "why", part[k*5+5:k*5+10]...)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				cancelled += got
				mu.Unlock()
			}
		})
	}
	busy.Wait()
	f.db.CheckPlaces(t)
	left, err := f.Count(f.ctx())
	if err != nil || left.Done != acked || left.Discarded != cancelled || left.InProgress != 0 || left.Done+left.Discarded+left.Ready != n {
		t.Fatalf("%d acked and %d cancelled, and there are %+v: %v", acked, cancelled, left, err)
	}
	for id, times := range handled {
		if times != 1 {
			t.Errorf("message %d was handled %d times", id, times)
		}
	}
	dbtest.Until(t, "the rest can be claimed", func() bool {
		owner, msgs := f.claim(1000)
		f.touched(int64(len(msgs)))(f.WorkQueue("").Ack(f.ctx(), owner, positions(msgs)...))
		return left.Ready == 0 || len(msgs) == int(left.Ready)
	})
}

// D-26: what a filter chooses is found behind any number of failed messages that it
// does not choose, and nothing is looked at twice.
func TestFailedFarBehind(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		db := e.Open(t)
		o := parts.NewOutbox(db, worker.Options{})
		o.LookAt(7)
		msgs := make([]outbox.Message, 60)
		for i := range msgs {
			msgs[i].Topic = "many"
			if i%20 == 19 || i == 58 { // 19, 39, 58, 59
				msgs[i].Topic = "few"
			}
		}
		if _, err := o.EnqueueBatch(t.Context(), msgs); err != nil {
			t.Fatal(err)
		}
		owner := outbox.NewOwnerToken()
		claimed, err := o.WorkQueue("").Claim(t.Context(), owner, time.Minute, len(msgs))
		if err != nil || len(claimed) != len(msgs) {
			t.Fatal(len(claimed), err)
		}
		for _, m := range claimed {
			if _, err := o.WorkQueue("").Fail(t.Context(), owner, errors.New("no"), m.Position); err != nil {
				t.Fatal(err)
			}
		}
		does := func(want int64, do func(context.Context, outbox.FailedFilter) (int64, error), f outbox.FailedFilter) {
			t.Helper()
			if n, err := do(t.Context(), f); n != want || err != nil {
				t.Fatalf("%+v: %d, want %d: %v", f, n, want, err)
			}
		}
		does(60, o.CountFailed, outbox.FailedFilter{})
		does(4, o.CountFailed, outbox.FailedFilter{Topic: "few"})
		does(2, o.CountFailed, outbox.FailedFilter{Topic: "few", Limit: 2})
		redrive, discard := changed(o.Redrive), changed(o.Discard)
		does(0, redrive, outbox.FailedFilter{Topic: "none"})
		does(1, redrive, outbox.FailedFilter{Topic: "few", Limit: 1})
		does(3, discard, outbox.FailedFilter{Topic: "few"})
		does(0, redrive, outbox.FailedFilter{Topic: "few"})
		does(56, redrive, outbox.FailedFilter{})
		for action, want := range map[string][]int64{audit.Redrive: {56, 1}, audit.Discard: {3}} {
			entries, err := engine.Collect(audit.List(t.Context(), db, audit.Options{Action: action}), 100)
			var got []int64
			for _, e := range entries {
				got = append(got, e.Count)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("%s: %v, want %v: %v", action, got, want, err)
			}
		}
		db.CheckPlaces(t)
	})
}
