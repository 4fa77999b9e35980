package pawl_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/canary"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/proxytest"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// confidant is a pawl that is given secrets.
type confidant struct {
	*pawl.Pawl
	*canary.Watch
	t  *testing.T
	db dbtest.Database
}

func confide(t *testing.T, db dbtest.Database, handle engine.DB, w *canary.Watch) *confidant {
	t.Helper()
	p, err := pawl.New(handle, pawl.Options{
		Logger: w.Logger(), MaxPayload: 1000, Grace: time.Second, Retry: &outbox.RetryPolicy{
			MaxAttempts: 2, Delay: func(int) time.Duration { return time.Millisecond },
		},
		Inbox: inbox.Options{Retry: &outbox.RetryPolicy{MaxAttempts: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &confidant{Pawl: p, Watch: w, t: t, db: db}
}

func (c *confidant) ctx() context.Context { return c.t.Context() }

func (c *confidant) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *confidant) payload(of string) []byte { return []byte(c.Plant(of + "'s payload")) }

func (c *confidant) headers(of string) map[string]string {
	return map[string]string{"authorization": "Bearer " + c.Plant(of+"'s header")}
}

func (c *confidant) message(topic string) outbox.Message {
	return outbox.Message{Topic: topic, Payload: c.payload(topic), Headers: c.headers(topic)}
}

func (c *confidant) enqueue(m outbox.Message) {
	c.t.Helper()
	_, err := c.Outbox.Enqueue(c.ctx(), m)
	c.must(err)
}

// until waits for so many lines of the log with a message.
func (c *confidant) until(message string, n int) {
	c.t.Helper()
	dbtest.Until(c.t, fmt.Sprintf("%d lines %q are logged", n, message), func() bool { return c.Count(c.t, message) >= n })
}

// picky quotes what it does not like, as programs' own decoders do.
type picky struct{}

func (*picky) UnmarshalJSON(text []byte) error { return fmt.Errorf("cannot read %s", text) }

func (*picky) UnmarshalText(text []byte) error { return fmt.Errorf("cannot read %s", text) }

// undecodable are payloads and handlers that do not fit them.
func undecodable(secret string) map[string]struct {
	payload  string
	register func(on pawl.Handlers, topic string)
} {
	type fit = struct {
		payload  string
		register func(on pawl.Handlers, topic string)
	}
	return map[string]fit{
		"a string for a number": {`{"a":"` + secret + `"}`, into[map[string]int]()},
		"a name for a number":   {`{"` + secret + `":1}`, into[map[int]int]()},
		"a value of a name":     {`{"` + secret + `":"x"}`, into[map[string]int]()},
		"a field":               {`{"A":{"` + secret + `":"` + secret + `"}}`, into[struct{ A map[string]struct{ B int } }]()},
		"no JSON":               {secret, into[any]()},
		"JSON that ends":        {`{"a":"` + secret, into[any]()},
		"a time":                {`"` + secret + `"`, into[time.Time]()},
		"a decoder":             {`"` + secret + `"`, into[picky]()},
		"a decoder of names":    {`{"` + secret + `":1}`, into[map[picky]int]()},
		"a number":              {`"` + secret + `"`, into[json.Number]()},
		"bytes":                 {`{"B":"` + secret + `="}`, into[struct{ B []byte }]()},
	}
}

// into returns what registers a handler of bodies of a type.
func into[T any]() func(on pawl.Handlers, topic string) {
	return func(on pawl.Handlers, topic string) {
		pawl.NewTopic[T](topic).Handle(on, func(context.Context, *pawl.Delivery[T]) error { return nil })
	}
}

// handle registers handlers of every fate. Their errors hold no secret: what they
// say is the program's, and is told.
func (c *confidant) handle() {
	for what, u := range undecodable(c.Plant("undecodable")) {
		u.register(c, what)
	}
	c.Handle("fine", func(context.Context, *outbox.Message) error { return nil })
	c.Handle("retried", func(_ context.Context, m *outbox.Message) error {
		if m.RetryCount == 0 {
			return errors.Join(errors.New("the first attempt"), errors.New("in two lines"))
		}
		return nil
	})
	c.Handle("fails", func(context.Context, *outbox.Message) error { return errors.New("always") })
	c.Handle("panics", func(_ context.Context, m *outbox.Message) error {
		return explode(string(m.Payload), m.Headers)
	})
	c.HandleInbox("came", func(context.Context, *inbox.Message) error { return nil })
	c.HandleInboxTx("came and failed", func(context.Context, outbox.Tx, *inbox.Message) error { return errors.New("no") })
	c.HandleInboxTx("came and panicked", func(_ context.Context, _ outbox.Tx, m *inbox.Message) error {
		return explode(string(m.Payload), m.Headers)
	})
}

// explode panics with secrets among the arguments that a stack shows.
//
//go:noinline
func explode(payload string, headers map[string]string) error {
	return []error{}[len(payload)+len(headers)]
}

// feed enqueues messages of every fate, from every component.
func (c *confidant) feed() {
	c.t.Helper()
	secret := c.Plant("undecodable")
	for what, u := range undecodable(secret) {
		c.enqueue(outbox.Message{Topic: what, Payload: []byte(u.payload), Headers: c.headers(what)})
	}
	for _, topic := range []string{"fine", "retried", "fails", "panics", "nobody's"} {
		c.enqueue(c.message(topic))
	}
	_, err := c.Outbox.EnqueueBatch(c.ctx(), []outbox.Message{c.message("fine"), c.message("fine")})
	c.must(err)
	// Waits that are none, and messages of the inbox that are none.
	join := c.Plant("a wait's payload")
	for _, payload := range []string{join, `{"JoinId":"` + join + `"}`, `{"JoinId":{"` + join + `":1}}`} {
		c.enqueue(outbox.Message{Topic: "join.wait", Payload: []byte(payload), Headers: c.headers("a wait")})
	}
	forged := c.message("came")
	forged.Queue, forged.Headers = "inbox", map[string]string{"pawl-inbox-hash": c.Plant("a forged hash")}
	c.enqueue(forged)
	for i, topic := range []string{"came", "came and failed", "came and panicked", "nobody's"} {
		m := inbox.Message{Key: inbox.Key{Source: "s", MessageID: fmt.Sprint(i), Hash: []byte(c.Plant("a hash"))[:8]}, Topic: topic,
			Payload: c.payload("inbox " + topic), Headers: c.headers("inbox " + topic)}
		_, err := c.Inbox.Enqueue(c.ctx(), m)
		c.must(err)
		m.Hash = []byte("another")
		_, err = c.Inbox.Enqueue(c.ctx(), m)
		c.Failed(c.t, "another hash", err)
	}
}

// live uses the other components, well.
func (c *confidant) live() {
	c.t.Helper()
	ctx := c.ctx()
	after := outbox.Message{Topic: "fine", Payload: c.payload("a join"), Headers: c.headers("a join")}
	_, err := c.Joins.FanOut(ctx, join.Spec{Metadata: c.Plant("metadata")}, []outbox.Message{c.message("fine"), c.message("fails")}, join.Wait{OnComplete: after, OnFail: after})
	c.must(err)
	id, err := c.Joins.Start(ctx, join.Spec{ExpectedSteps: 1, Metadata: c.Plant("metadata")})
	c.must(err)
	_, err = c.Joins.Cancel(ctx, id)
	c.must(err)

	tm := timer.Timer{Topic: "fine", Due: time.Now().Add(-time.Hour), Payload: c.payload("a timer"), Headers: c.headers("a timer")}
	_, err = c.Timers.ScheduleBatch(ctx, []timer.Timer{tm, tm})
	c.must(err)
	tm.Due, tm.Key = time.Now().Add(time.Hour), "k"
	later, err := c.Timers.Schedule(ctx, tm)
	c.must(err)
	_, err = c.Timers.Reschedule(ctx, later, tm.Due.Add(time.Hour))
	c.must(err)
	_, err = c.Timers.CancelKey(ctx, "k")
	c.must(err)
	later, err = c.Timers.Schedule(ctx, tm)
	c.must(err)
	_, err = c.Timers.Cancel(ctx, later)
	c.must(err)

	jb := job.Job{Name: "j", Topic: "panics", Schedule: "0 0 1 1 *", Payload: c.payload("a job"), Headers: c.headers("a job")}
	c.must(c.Jobs.Put(ctx, jb))
	_, err = c.Jobs.Trigger(ctx, "j")
	c.must(err)
	c.must(c.Jobs.SetEnabled(ctx, "j", false))
	c.must(c.Jobs.Put(ctx, job.Job{Name: "short-lived", Topic: "fine", Schedule: "@daily"}))
	c.must(c.Jobs.Delete(ctx, "short-lived"))

	l, err := c.Leases.Acquire(ctx, "l", lease.Options{})
	c.must(err)
	_, err = c.Leases.Acquire(ctx, "l", lease.Options{})
	c.Failed(c.t, "a held lease", err)
	c.must(l.Close(ctx))

	k := inbox.Key{Source: "direct", MessageID: "1", Hash: []byte(c.Plant("a hash"))[:8]}
	for range 2 {
		err := c.Inbox.Once(ctx, k, func(context.Context, outbox.Tx) error { return errors.New("no") })
		c.Failed(c.t, "once", err)
	}
	c.Failed(c.t, "a dead message", c.Inbox.Attempt(ctx, k, func(context.Context) error { return nil }))
	_, err = c.Inbox.Revive(ctx, k)
	c.must(err)
	for range 2 {
		c.must(c.Inbox.Attempt(ctx, k, func(context.Context) error { return nil }))
	}
}

// reject gives every component what it must refuse.
func (c *confidant) reject() {
	c.t.Helper()
	ctx := c.ctx()
	big := []byte(strings.Repeat(c.Plant("a large payload"), 100))
	long := strings.Repeat(c.Plant("a long header"), 2000)
	spoilt := c.Plant("a spoilt header") + "\xff\x00"
	for what, m := range map[string]outbox.Message{
		"a large payload": {Topic: "fine", Payload: big}, "long headers": {Topic: "fine", Headers: map[string]string{"h": long}},
		"a spoilt header": {Topic: "fine", Headers: map[string]string{"h": spoilt}},
	} {
		_, err := c.Outbox.Enqueue(ctx, m)
		c.Failed(c.t, what, err)
		_, err = c.Timers.Schedule(ctx, timer.Timer{Topic: m.Topic, Due: time.Now(), Payload: m.Payload, Headers: m.Headers})
		c.Failed(c.t, what+" of a timer", err)
		c.Failed(c.t, what+" of a job", c.Jobs.Put(ctx, job.Job{Name: "x", Topic: m.Topic, Schedule: "@daily", Payload: m.Payload, Headers: m.Headers}))
		_, err = c.Inbox.Enqueue(ctx, inbox.Message{Key: inbox.Key{Source: "s", MessageID: "x"}, Topic: m.Topic, Payload: m.Payload, Headers: m.Headers})
		c.Failed(c.t, what+" of the inbox", err)
		_, err = c.Joins.FanOut(ctx, join.Spec{}, []outbox.Message{{Topic: "fine"}}, join.Wait{OnComplete: m})
		c.Failed(c.t, what+" of a wait", err)
	}
	_, err := c.Joins.Start(ctx, join.Spec{ExpectedSteps: 1, Metadata: c.Plant("metadata") + "\x00"})
	c.Failed(c.t, "spoilt metadata", err)
}

// fail has every component's statements fail: what is the matter is for the caller
// to arrange.
func (c *confidant) fail(when string) {
	c.t.Helper()
	ctx := c.ctx()
	_, err := c.Outbox.Enqueue(ctx, c.message("fine"))
	c.Failed(c.t, "enqueue "+when, err)
	_, err = c.Outbox.EnqueueBatch(ctx, []outbox.Message{c.message("fine"), c.message("fails")})
	c.Failed(c.t, "a batch "+when, err)
	_, err = c.Inbox.Enqueue(ctx, inbox.Message{Key: inbox.Key{Source: "s", MessageID: when}, Topic: "came", Payload: c.payload("inbox came"), Headers: c.headers("inbox came")})
	c.Failed(c.t, "inbox "+when, err)
	_, err = c.Joins.FanOut(ctx, join.Spec{Metadata: c.Plant("metadata")}, []outbox.Message{c.message("fine")}, join.Wait{OnComplete: c.message("fine")})
	c.Failed(c.t, "join "+when, err)
}

// failAll is fail for what only fails with the whole database.
func (c *confidant) failAll(when string) {
	c.t.Helper()
	ctx := c.ctx()
	c.fail(when)
	_, err := c.Timers.Schedule(ctx, timer.Timer{Topic: "fine", Due: time.Now(), Payload: c.payload("a timer"), Headers: c.headers("a timer")})
	c.Failed(c.t, "timer "+when, err)
	err = c.Jobs.Put(ctx, job.Job{Name: when, Topic: "fine", Schedule: "@daily", Payload: c.payload("a job"), Headers: c.headers("a job")})
	c.Failed(c.t, "job "+when, err)
	_, err = c.Leases.Acquire(ctx, when, lease.Options{})
	c.Failed(c.t, "lease "+when, err)
	c.Failed(c.t, "migrate "+when, c.Migrate(ctx))
}

// forbid makes the database quote what is written into it where it can: PostgreSQL
// tells values that it cannot read, SQLite does not.
func (c *confidant) forbid() (allow func()) {
	table := c.db.Table("outbox_message")
	make := []string{`CREATE TRIGGER picky BEFORE INSERT ON ` + table + ` BEGIN SELECT json(NEW.payload), json(NEW.headers); END`}
	drop := `DROP TRIGGER picky`
	if c.db.Engine() == "postgres" {
		function := c.db.Table("picky")
		make = []string{
			`CREATE FUNCTION ` + function + `() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM convert_from(NEW.payload, 'UTF8')::int; RETURN NEW; END $$`,
			`CREATE TRIGGER picky BEFORE INSERT ON ` + table + ` FOR EACH ROW EXECUTE FUNCTION ` + function + `()`,
		}
		drop = `DROP TRIGGER picky ON ` + table
	}
	for _, query := range make {
		_, err := c.db.SQL.ExecContext(c.ctx(), query)
		c.must(err)
	}
	return func() {
		_, err := c.db.SQL.ExecContext(c.ctx(), drop)
		c.must(err)
	}
}

// transactions fail in the caller's hands too.
func (c *confidant) failTx(when string) {
	c.t.Helper()
	tx := c.db.Begin(c.t)
	defer tx.Rollback()
	_, err := c.Outbox.EnqueueTx(c.ctx(), tx, c.message("fine"))
	c.Failed(c.t, "enqueue in a transaction "+when, err)
	_, err = c.Outbox.EnqueueTx(c.ctx(), tx, c.message("fine"))
	if c.db.Engine() == "postgres" { // whose transaction has ended with the first failure
		c.Failed(c.t, "then "+when, err)
	}
}

// recounts checks that what was done is in the log, once each, at its level.
func (c *confidant) recounts() {
	c.t.Helper()
	times := map[string]int{}
	for _, line := range c.Lines(c.t) {
		times[fmt.Sprint(line["level"], " ", line["msg"])]++
	}
	for what, want := range map[string]int{
		"INFO timer scheduled": 2, "INFO timers scheduled": 1, "INFO timer rescheduled": 1, "INFO timer with a key cancelled": 1, "INFO timer cancelled": 1,
		"INFO timers fired": 1, "INFO job stored": 2, "INFO job triggered": 1, "INFO job switched on or off": 1, "INFO job deleted": 1,
		"INFO join started": 2, "INFO join cancelled": 1, "INFO join is over": 1, "DEBUG lease acquired": 1, "DEBUG lease released": 1,
		"INFO processing": 2, "DEBUG delivered again, done already": 1, "INFO dead message revived": 1, "ERROR message is dead": 1,
		"INFO reaped expired leases": 1, "INFO enqueued batch": 2, "WARN no handler for topic, putting its messages back": 2,
	} {
		if times[what] != want {
			c.t.Errorf("%q was logged %d times, want %d", what, times[what], want)
		}
	}
}

// stored reads what was kept of errors.
func (c *confidant) stored() {
	c.t.Helper()
	for _, status := range []outbox.Status{outbox.Failed, outbox.Ready, outbox.Scheduled} {
		all, err := engine.Collect(c.Outbox.List(c.ctx(), outbox.ListOptions{Status: status}), 100)
		c.must(err)
		for _, i := range all {
			c.Saw("last_error of "+i.Topic, i.LastError)
		}
	}
	seen, err := engine.Collect(c.Inbox.List(c.ctx(), inbox.ListOptions{}), 100)
	c.must(err)
	for _, i := range seen {
		c.Saw("last_error of the inbox", i.LastError)
	}
	for _, query := range []string{
		"SELECT last_error FROM " + c.db.Table("outbox_exception"), "SELECT last_error FROM " + c.db.Table("inbox"),
		"SELECT last_error FROM " + c.db.Table("timers"), "SELECT last_error FROM " + c.db.Table("jobs"),
	} {
		rows, err := c.db.SQL.QueryContext(c.ctx(), query)
		c.must(err)
		defer rows.Close()
		for rows.Next() {
			var text *string
			c.must(rows.Scan(&text))
			if text != nil {
				c.Saw(query, *text)
			}
		}
		c.must(rows.Err())
	}
}

// lose has the database go away, in the ways that an engine knows.
func (c *confidant) lose() {
	c.t.Helper()
	closed := c.db.Another(c.t)
	c.must(closed.Close())
	over := confide(c.t, c.db, closed, c.Watch)
	over.failAll("when closed")
	c.Failed(c.t, "run when closed", over.Run(c.ctx()))
	if c.db.Engine() != "postgres" {
		return
	}
	schema := strings.TrimSuffix(c.db.Table(""), ".")
	proxy := proxytest.New(c.t, testpg.URL(c.t))
	u, err := url.Parse(proxy.URL(testpg.URL(c.t)))
	c.must(err)
	u.User = url.UserPassword("postgres", c.Plant("the password"))
	behind, err := postgres.Open(testpg.With(u.String(), "pool_max_conns=4"), postgres.Options{Schema: schema, Logger: c.Logger()})
	c.must(err)
	defer func() { _ = behind.Close() }() // it is broken
	far := confide(c.t, c.db, behind, c.Watch)
	proxy.CutAfter("INSERT")
	_, err = far.Outbox.Enqueue(c.ctx(), c.message("fine"))
	c.Failed(c.t, "enqueue whose answer is cut", err)
	far.handle()
	ctx, cancel := context.WithCancel(c.ctx())
	ended := make(chan error, 1)
	go func() { ended <- far.Run(ctx) }()
	working := c.Count(c.t, "handler failed") + 1
	far.enqueue(c.message("fails"))
	c.until("handler failed", working)
	held, err := far.Leases.Acquire(c.ctx(), "lost", lease.Options{Duration: time.Second})
	c.must(err)
	dbtest.Until(c.t, "all loops run", func() bool { // one that still starts would give up
		return !slices.ContainsFunc(far.Internal(access.Key{}).Status(), func(v worker.LoopStatus) bool { return !v.Running })
	})
	proxy.Refuse(true)
	proxy.Cut()
	c.until("database unavailable, will retry", 1)
	c.until("lease lost", 1)
	far.failAll("when lost")
	waiting, stop := context.WithCancel(c.ctx())
	again := make(chan error, 1)
	go func() { again <- far.Run(waiting) }()
	c.until("waiting for the database to take connections", 1)
	stop()
	c.must(<-again)
	proxy.Refuse(false) // or the worker would try for seconds to settle
	cancel()
	c.must(<-ended)
	_ = held.Close(c.ctx()) // nobody hears
}

// OBX-102, OBX-106, OBX-125, D-5: every component logs what it did, once. And
// whatever becomes of messages, timers, jobs, joins and deliveries, and whatever the
// database does, no log line, returned error or last_error holds a payload, a
// header's value, metadata or a password.
func TestNothingSecretIsTold(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		db := e.Open(t)
		w := canary.New()
		c := confide(t, db, db.DB, w)
		c.handle()
		c.feed()
		c.live()
		c.reject()
		owner := outbox.NewOwnerToken() // a worker that dies
		if dead, err := c.Outbox.WorkQueue("").Claim(c.ctx(), owner, 20*time.Millisecond, 3); err != nil || len(dead) != 3 {
			t.Fatalf("claimed %d: %v", len(dead), err)
		}
		db.Pass(40 * time.Millisecond)

		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		c.until("reaped expired leases", 1)
		c.until("handler failed", len(undecodable(""))+9)
		c.until("join is over", 1)
		c.until("timers fired", 1)
		c.until("no handler for topic, putting its messages back", 2)
		cancel()
		c.must(<-ended)
		c.recounts()
		c.stored()

		allow := c.forbid()
		c.fail("that the database cannot read")
		c.failTx("that the database cannot read")
		allow()
		c.lose()
		w.Check(t)
	})
}
