package outbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// listed checks which messages a filter finds, highest position first.
func (f *fixture) listed(filter outbox.ListOptions, want ...outbox.Position) {
	f.t.Helper()
	found, err := engine.Collect(f.List(f.ctx(), filter), 100)
	if err != nil {
		f.t.Fatal(err)
	}
	var got []outbox.Position
	for _, i := range found {
		got = append(got, i.Position)
	}
	if !slices.Equal(got, want) {
		f.t.Errorf("%+v finds %v, want %v", filter, got, want)
	}
}

// at is a message at a position, for pages behind it.
func at(p outbox.Position) *outbox.Info {
	return &outbox.Info{Message: outbox.Message{Position: p}}
}

// D-221: a list without payloads is the same list otherwise, on pages of each state.
func TestListWithoutPayloads(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.scatter()
		for _, s := range []outbox.Status{"", outbox.Ready, outbox.Scheduled, outbox.InProgress, outbox.Done, outbox.Failed, outbox.Discarded} {
			with, err := engine.Collect(f.List(f.ctx(), outbox.ListOptions{Status: s}), 100)
			if err != nil {
				t.Fatal(err)
			}
			without, err := engine.Collect(f.List(f.ctx(), outbox.ListOptions{Status: s, NoPayload: true}), 100)
			if err != nil {
				t.Fatal(err)
			}
			if has := func(m outbox.Info) bool { return len(m.Payload) > 0 }; slices.ContainsFunc(with, has) == (s == outbox.Scheduled) {
				t.Fatalf("%v: payloads of %+v", s, with)
			}
			for i := range with {
				with[i].Payload = nil
			}
			if !reflect.DeepEqual(with, without) {
				t.Errorf("%v: %+v, want %+v", s, without, with)
			}
		}
	})
}

func TestList(t *testing.T) { dbtest.Each(t, testList) }

func testList(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.scatter()
	for _, s := range []outbox.Status{outbox.Ready, outbox.Scheduled, outbox.InProgress, outbox.Done, outbox.Failed, outbox.Discarded} {
		found, err := engine.Collect(f.List(f.ctx(), outbox.ListOptions{Status: s}), 100)
		if err != nil || len(found) != 1 {
			t.Fatalf("%v: found %d, %v", s, len(found), err)
		}
		if got := found[0].Status; got != s && !(s == outbox.Scheduled && got == outbox.Ready) {
			t.Fatalf("asked for %v, got %v", s, got)
		}
		f.listed(outbox.ListOptions{Status: s, Queue: "default", NewerThan: time.Hour}, found[0].Position)
		for _, none := range []outbox.ListOptions{
			{Topic: "nowhere"}, {Queue: "nowhere"}, {CorrelationID: "none"}, {Error: "none"}, {OlderThan: time.Hour}, {Headers: map[string]string{"none": ""}},
		} {
			none.Status = s
			f.listed(none)
		}
	}
	if all, err := engine.Collect(f.List(f.ctx(), outbox.ListOptions{}), 100); err != nil || len(all) != 6 {
		t.Fatalf("found %d, %v", len(all), err)
	}
}

func TestListPages(t *testing.T) { dbtest.Each(t, testListPages) }

func testListPages(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.enqueueN(25)
	f.Outbox = parts.NewOutbox(&windowed{DB: f.db, size: 3}, worker.Options{}) // of which its one run is more
	var seen int
	var last *outbox.Info
	for {
		page, err := engine.Collect(f.List(f.ctx(), outbox.ListOptions{Status: outbox.Ready, After: last}), 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for i := range page {
			if last != nil && page[i].Position >= last.Position {
				t.Fatal("not in descending order")
			}
			last = &page[i]
			seen++
		}
	}
	if seen != 25 {
		t.Fatalf("paged through %d of 25", seen)
	}
}

func TestListFilters(t *testing.T) { dbtest.Each(t, testListFilters) }

func testListFilters(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	a := f.enqueue(outbox.Message{Queue: "mail", CorrelationID: "order-1", Headers: map[string]string{"tenant": "a", "kind": "x"}})
	b := f.enqueue(outbox.Message{Queue: "mail", CorrelationID: "order-2", Headers: map[string]string{"tenant": "b", "<é \"'>": "a.b$[0]\\"}})
	c := f.enqueue(outbox.Message{CorrelationID: "order-1", Due: time.Now().Add(time.Hour)})
	f.listed(outbox.ListOptions{Queue: "mail"}, b, a)
	f.listed(outbox.ListOptions{Queue: "default"}, c)
	f.listed(outbox.ListOptions{Queue: "mail", After: at(b)}, a)
	f.listed(outbox.ListOptions{CorrelationID: "order-1"}, c, a)
	f.listed(outbox.ListOptions{CorrelationID: "order"})
	f.listed(outbox.ListOptions{CorrelationID: "order-1", Status: outbox.Ready}, a)
	f.listed(outbox.ListOptions{CorrelationID: "order-1", Status: outbox.Scheduled}, c)
	f.listed(outbox.ListOptions{CorrelationID: "order-2", Queue: "mail"}, b)
	f.listed(outbox.ListOptions{CorrelationID: "order-2", Queue: "default"})
	f.listed(outbox.ListOptions{Headers: map[string]string{"tenant": "a"}}, a)
	f.listed(outbox.ListOptions{Headers: map[string]string{"tenant": "a", "kind": "x"}}, a)
	f.listed(outbox.ListOptions{Headers: map[string]string{"tenant": "b", "kind": "x"}})
	f.listed(outbox.ListOptions{Headers: map[string]string{"tenant": ""}})
	f.listed(outbox.ListOptions{Headers: map[string]string{"a": "tenant"}})
	f.listed(outbox.ListOptions{Headers: map[string]string{"<é \"'>": "a.b$[0]\\"}}, b)
}

func TestListError(t *testing.T) { dbtest.Each(t, testListError) }

func testListError(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.enqueueN(4)
	owner, _ := f.claimExactly(4)
	f.touched(2)(f.WorkQueue("").Fail(f.ctx(), owner, errors.New("dial tcp: 100% refused"), ids[0], ids[1]))
	f.touched(1)(f.WorkQueue("").Fail(f.ctx(), owner, errors.New("no such customer"), ids[2]))
	f.touched(1)(f.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(time.Hour, errors.New("connection refused")), ids[3]))
	f.touched(1)(f.Discard(f.ctx(), outbox.FailedFilter{IDs: ids[1:2]}))
	f.listed(outbox.ListOptions{Error: "refused"}, ids[3], ids[1], ids[0])
	f.listed(outbox.ListOptions{Error: "0% r", Status: outbox.Failed}, ids[0])
	f.listed(outbox.ListOptions{Error: "0_ r"})
	f.listed(outbox.ListOptions{Error: "Refused"})
	f.listed(outbox.ListOptions{Error: "customer", Status: outbox.Failed}, ids[2])
	f.listed(outbox.ListOptions{Error: "refused", Status: outbox.Discarded}, ids[1])
	f.listed(outbox.ListOptions{Error: "refused", Status: outbox.Retrying}, ids[3])
}

func TestListAge(t *testing.T) { dbtest.Each(t, testListAge) }

func testListAge(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.enqueueN(3)
	for i, id := range ids {
		ago := f.db.Earlier("created_at", 10*time.Duration(i)*time.Hour)
		f.exec(fmt.Sprintf("UPDATE %s SET created_at = %s WHERE id = %d", f.db.Table("outbox_message"), ago, id))
	}
	f.listed(outbox.ListOptions{OlderThan: 5 * time.Hour}, ids[2], ids[1])
	f.listed(outbox.ListOptions{NewerThan: 15 * time.Hour}, ids[1], ids[0])
	f.listed(outbox.ListOptions{OlderThan: 5 * time.Hour, NewerThan: 15 * time.Hour}, ids[1])
	f.listed(outbox.ListOptions{OlderThan: math.MaxInt64})
	f.listed(outbox.ListOptions{NewerThan: math.MaxInt64}, ids[2], ids[1], ids[0])
}

// D-2: headers that another program wrote are no match, and no error.
func TestListOddHeaders(t *testing.T) { dbtest.Each(t, testListOddHeaders) }

func testListOddHeaders(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	odd := []string{`NULL`, `''`, `'{"a":'`, `'a=b'`, `'["a","b"]'`, `'"a"'`, `'{"a":{"a":"b"}}'`, `'{"a":["b"]}'`, `'{"a":1e999999999}'`, `'{"a":"\u0000"}'`,
		`'{ "x" : 1, "\u0061" : "b" }'`}
	ids := f.enqueueN(len(odd))
	for i, text := range odd {
		f.exec(fmt.Sprintf("UPDATE %s SET headers = %s WHERE id = %d", f.db.Table("outbox_message"), text, ids[i]))
	}
	f.listed(outbox.ListOptions{Headers: map[string]string{"a": "b"}}, ids[len(ids)-1])
	f.listed(outbox.ListOptions{Headers: map[string]string{"a": `{"a":"b"}`}})
}

// windowed shrinks what each statement of a list reads, if size is not 0, and counts the
// statements.
type windowed struct {
	engine.DB
	size, floors int
}

func (w *windowed) Read(ctx context.Context, call *engine.Call) error {
	switch call.Name() {
	case "outbox/list_recent_floor", "outbox/list_ready_floor", "outbox/list_claimed_floor", "outbox/list_dead_floor":
		w.floors++
		if w.size == 0 {
			break
		}
		small := reflect.New(reflect.TypeOf(call.Operation)).Elem()
		small.Set(reflect.ValueOf(call.Operation))
		small.FieldByName("Look").SetInt(int64(w.size))
		call.Operation, _ = reflect.TypeAssert[engine.Operation](small)
	}
	return w.DB.Read(ctx, call)
}

// A list reads on, a bounded number of messages in each statement, until it is full.
func TestListWindows(t *testing.T) { dbtest.Each(t, testListWindows) }

func testListWindows(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	var ids []outbox.Position
	for i := range 12 {
		ids = append(ids, f.enqueue(outbox.Message{Queue: []string{"a", "b"}[i%2], CorrelationID: fmt.Sprint(i % 4)}))
	}
	w := &windowed{DB: f.db}
	f.Outbox = parts.NewOutbox(w, worker.Options{})
	all := func(status outbox.Status) {
		t.Helper()
		for _, size := range []int{1, 2, 5, 100} {
			w.size = size
			for _, s := range []outbox.Status{"", status} {
				w.floors = 0
				f.listed(outbox.ListOptions{Status: s, CorrelationID: "0"}, ids[8], ids[4], ids[0])
				if w.floors < 12/size || w.floors > 13 {
					t.Errorf("%d statements of %d messages", w.floors, size)
				}
				f.listed(outbox.ListOptions{Status: s, CorrelationID: "0", After: at(ids[8])}, ids[4], ids[0])
				f.listed(outbox.ListOptions{Status: s, Queue: "b", After: at(ids[5])}, ids[3], ids[1])
			}
		}
	}
	all(outbox.Ready)
	owner := outbox.NewOwnerToken()
	for _, queue := range []string{"a", "b"} {
		if msgs, err := f.WorkQueue(queue).Claim(f.ctx(), owner, lease, 100); err != nil || len(msgs) != 6 {
			t.Fatalf("claimed %d, %v", len(msgs), err)
		}
	}
	all(outbox.InProgress)
	f.touched(12)(f.WorkQueue("").Fail(f.ctx(), owner, errors.New("e"), ids...))
	all(outbox.Failed)
}

// A list reads on through as many statements as it takes, each of a bounded number of
// messages, and ends with the last message.
func TestListReadsOn(t *testing.T) { dbtest.Each(t, testListReadsOn) }

func testListReadsOn(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	first := f.enqueue(outbox.Message{CorrelationID: "c"})
	f.enqueueBatch(250)
	w := &windowed{DB: f.db, size: 1}
	f.Outbox = parts.NewOutbox(w, worker.Options{})
	f.listed(outbox.ListOptions{CorrelationID: "c"}, first)
	if w.floors < 251 || w.floors > 252 {
		t.Errorf("%d statements of one message for 251", w.floors)
	}
	w.floors = 0
	if all, err := engine.Collect(f.List(f.ctx(), outbox.ListOptions{}), 3); err != nil || len(all) != 3 || w.floors != 3 {
		t.Errorf("%d messages in %d statements, %v", len(all), w.floors, err)
	}
	f.listed(outbox.ListOptions{After: at(first)})
	f.listed(outbox.ListOptions{After: at(first + 1)}, first)
}

// D-221: a part of a list examines so many messages and no more, in one statement, and says where
// to go on until all were examined.
func TestListSome(t *testing.T) { dbtest.Each(t, testListSome) }

func testListSome(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	var want []outbox.Position
	for i := range 20 {
		id := f.enqueue(outbox.Message{CorrelationID: fmt.Sprint(i % 5)})
		if i%5 == 0 {
			want = append([]outbox.Position{id}, want...)
		}
	}
	w := &windowed{DB: f.db}
	f.Outbox = parts.NewOutbox(w, worker.Options{})
	for _, status := range []outbox.Status{"", outbox.Ready} {
		for _, look := range []int{1, 3, 7, 20, 100} {
			w.size, w.floors = 0, 0
			opts, pages := outbox.ListOptions{Status: status, CorrelationID: "0"}, 0
			var got []outbox.Position
			for more := true; more; pages++ {
				page, next, err := f.Operator(access.Key{}).ListSome(f.ctx(), opts, look, 2)
				if err != nil || len(page) > min(2, look) || pages > 25 {
					t.Fatalf("%d messages in page %d of %d, %v", len(page), pages, look, err)
				}
				for i := range page {
					got = append(got, page[i].Position)
				}
				if more = next != 0; more && opts.After != nil && next >= opts.After.Position {
					t.Fatalf("from %d on to %d", opts.After.Position, next)
				}
				opts.After = at(next)
			}
			if !slices.Equal(got, want) || w.floors != pages || pages < 20/look {
				t.Errorf("%q, %d at a time: %v in %d pages and %d statements, want %v", status, look, got, pages, w.floors, want)
			}
		}
	}
	f.Outbox = parts.NewOutbox(f.db.DB, worker.Options{})
	if page, next, err := f.Operator(access.Key{}).ListSome(f.ctx(), outbox.ListOptions{CorrelationID: "0"}, 3, 100); err != nil || len(page) != 0 || next != want[0]+2 {
		t.Errorf("of three: %d, and on from %d, %v", len(page), next, err)
	}
	if page, next, err := f.Operator(access.Key{}).ListSome(f.ctx(), outbox.ListOptions{CorrelationID: "0"}, 0, 100); err != nil || len(page) != 4 || next != 0 {
		t.Errorf("of as many as there may be: %d, and on from %d, %v", len(page), next, err)
	}
	for _, look := range []int{-1, 10_001} {
		if _, _, err := f.Operator(access.Key{}).ListSome(f.ctx(), outbox.ListOptions{}, look, 1); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("%d: %v", look, err)
		}
	}
	if _, _, err := f.Operator(access.Key{}).ListSome(f.ctx(), outbox.ListOptions{Topic: "\xff"}, 0, 1); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("a topic that is none: %v", err)
	}
}

// Programs and scripts read a message as the command line prints it.
func TestInfoJSON(t *testing.T) { dbtest.Each(t, testInfoJSON) }

func testInfoJSON(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.scatter()
	all, err := engine.Collect(f.List(f.ctx(), outbox.ListOptions{}), 100)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		text, err := json.Marshal(&all[i])
		if err != nil {
			t.Fatal(err)
		}
		var back outbox.Info
		if err := json.Unmarshal(text, &back); err != nil || fmt.Sprintf("%+v", back) != fmt.Sprintf("%+v", all[i]) {
			t.Errorf("%s\nis read as %+v, %v\nwant       %+v", text, back, err, all[i])
		}
	}
	text, err := json.Marshal(outbox.Info{})
	if want := `{"message_id":"00000000-0000-0000-0000-000000000000","topic":"","queue":"","priority":0,"id":0,"retry_count":0,"status":""}`; err != nil || string(text) != want {
		t.Errorf("%s, %v\nwant %s", text, err, want)
	}
}

func TestListRefused(t *testing.T) { dbtest.Each(t, testListRefused) }

func testListRefused(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for field, filter := range map[string]outbox.ListOptions{
		"older than":     {OlderThan: -1},
		"newer than":     {NewerThan: -1},
		"header name":    {Headers: map[string]string{" ": "v"}},
		"header value":   {Headers: map[string]string{"n": "\x00"}},
		"topic":          {Topic: "\xff"},
		"queue":          {Queue: "\x00"},
		"correlation id": {CorrelationID: "\x00"},
		"error":          {Error: "\xff"},
		"status":         {Status: "in progress"},
	} {
		var refused *engine.InvalidError
		if _, err := engine.Collect(f.List(f.ctx(), filter), 100); !errors.As(err, &refused) || refused.Field() != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := engine.Collect(f.List(f.ctx(), outbox.ListOptions{OlderThan: time.Hour, NewerThan: time.Hour}), 100); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("no age at all: %v", err)
	}
}
