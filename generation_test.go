package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// program is a running program: it enqueues into a queue that only it names, and
// handles what is in there.
type program struct {
	*pawl.Pawl
	t  testing.TB
	mu sync.Mutex
	// handled is how often each message was.
	handled map[outbox.MessageID]int
}

// lateQueue is a queue that no schema has from the start.
const lateQueue = "late"

func running(t testing.TB, db engine.DB) *program {
	t.Helper()
	p := &program{t: t, handled: map[outbox.MessageID]int{}}
	var err error
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	p.Pawl, err = pawl.New(db, pawl.Options{Logger: log, Queues: []string{outbox.DefaultQueue, lateQueue}, PollInterval: 50 * time.Millisecond, Lease: 2 * time.Second})
	p.check(err)
	p.Handle("t", func(_ context.Context, m *outbox.Message) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.handled[m.ID]++
		return nil
	})
	return p
}

// work runs the program until the test ends or stop is called.
func (p *program) work() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- p.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-over; err != nil {
			p.t.Error(err)
		}
	})
	p.t.Cleanup(stop)
	return stop
}

func (p *program) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// enqueue stores a message with an id of its own or one that pawl makes, of the late
// queue or the usual one, and fails the test unless that is acknowledged.
func (p *program) enqueue(own bool, queue string) outbox.MessageID {
	p.t.Helper()
	m := outbox.Message{Topic: "t", Queue: queue, Priority: 3}
	if own {
		m.ID = outbox.MessageID(uuid.New())
	}
	id, err := p.Outbox.Enqueue(p.t.Context(), m)
	p.check(err)
	return id
}

// some are messages of every kind.
func (p *program) some(n int) (ids []outbox.MessageID) {
	p.t.Helper()
	for i := range n {
		ids = append(ids, p.enqueue(i%2 == 0, lateQueue), p.enqueue(i%2 == 1, ""))
	}
	return ids
}

// wantHandled waits until all messages were handled.
func (p *program) wantHandled(what string, ids []outbox.MessageID) {
	p.t.Helper()
	var missing []string
	deadline := time.Now().Add(3 * time.Minute)
	for {
		missing = nil
		p.mu.Lock()
		for _, id := range ids {
			if p.handled[id] == 0 {
				missing = append(missing, id.String())
			}
		}
		p.mu.Unlock()
		if len(missing) == 0 {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("%s: %d of %d messages were not handled, %s among them", what, len(missing), len(ids), missing[0])
		}
		_, _ = p.Outbox.WorkQueue("").ReapExpired(p.t.Context()) // workers do so every ten seconds
		time.Sleep(5 * time.Millisecond)
	}
}

// token acquires and releases a lease and returns its fencing token.
func (p *program) token() int64 {
	p.t.Helper()
	l, err := p.Leases.Acquire(p.t.Context(), "books", lease.Options{Duration: time.Minute})
	p.check(err)
	defer l.Close(context.Background())
	return l.Token()
}

// wantToken fails the test unless the next token is greater than one before.
func (p *program) wantToken(after int64) int64 {
	p.t.Helper()
	token := p.token()
	if token <= after {
		p.t.Errorf("token %d after %d", token, after)
	}
	return token
}

// D-111: a schema that is dropped and made again under running programs: what they
// enqueue is handled, with ids of their own too, and tokens grow.
func TestSchemaMadeAgain(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		d := e.Open(t)
		worker, producer := running(t, d.DB), running(t, d.Another(t))
		worker.work()
		worker.wantHandled("before", producer.some(3))
		token, before := producer.token(), producer.Internal(access.Key{}).DB.Generation()
		dropAll(t, e, d)
		producer.check(d.Another(t).Migrate(t.Context()))
		ids := producer.some(20)
		if n := d.Count(t, "SELECT count(*) FROM "+d.Table("outbox_message")); n != len(ids) {
			t.Errorf("%d messages are stored, %d were acknowledged", n, len(ids))
		}
		worker.wantHandled("after", ids)
		producer.wantToken(token)
		producer.check(producer.Internal(access.Key{}).DB.Do(t.Context(), engine.Ask(op.GenerationCheck{})))
		if producer.Internal(access.Key{}).DB.Generation() == before {
			t.Error("the program did not notice")
		}
	})
}

// dropAll drops everything that pawl has, as somebody would who wants to begin anew.
func dropAll(t *testing.T, e dbtest.Engine, d dbtest.Database) {
	t.Helper()
	if e.Name == "postgres" { // it may be a deadlock's victim
		dbtest.Until(t, "the schema is dropped", func() bool {
			_, err := d.SQL.ExecContext(t.Context(), "DROP SCHEMA "+strings.TrimSuffix(d.Table(""), ".")+" CASCADE")
			return err == nil
		})
		return
	}
	tx := d.Begin(t)
	defer tx.Rollback()
	exec := func(text string) {
		if _, err := tx.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	for _, kind := range []string{"view", "table"} {
		var names string
		row := tx.QueryRowContext(t.Context(), "SELECT coalesce(group_concat(name), '') FROM sqlite_schema WHERE type = ? AND name NOT LIKE 'sqlite_%'", kind)
		if err := row.Scan(&names); err != nil {
			t.Fatal(err)
		}
		for name := range strings.SplitSeq(names, ",") {
			exec("DROP " + kind + ` "` + name + `"`)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// squatter puts messages of another history where a program will put its next ones,
// as ids that were given out twice do.
type squatter struct {
	*program
	d dbtest.Database
}

func squatting(t *testing.T, e dbtest.Engine) *squatter {
	d := e.Open(t)
	return &squatter{running(t, d.DB), d}
}

// squat takes the positions after the one that the program was given last.
func (s *squatter) squat(tables ...string) {
	s.t.Helper()
	lo, err := s.Internal(access.Key{}).DB.ReserveIDs(s.t.Context(), nil, 1)
	s.check(err)
	for i := lo + 1; i <= lo+40; i++ {
		for _, table := range tables {
			var text string
			switch table {
			case "outbox_message":
				text = fmt.Sprintf("INSERT INTO %s (id, message_id, lane, topic, payload%s) VALUES (%d, %s, 1, 'squatter', ''%s)", s.d.Table("outbox_message"), s.column("created_at"), i, s.id(), s.value())
			case "timer":
				text = fmt.Sprintf("INSERT INTO %s (id, timer_id, lane, topic, payload, due_time, at%s) VALUES (%d, %s, 1, 'squatter', '', %s, %s%s)", s.d.Table("timer"), s.column("created_at"), i, s.id(), s.far(), s.far(), s.value())
			}
			if _, err := s.d.SQL.ExecContext(s.t.Context(), text); err != nil {
				s.t.Fatal(err)
			}
		}
	}
}

func (s *squatter) lite() bool { return s.Internal(access.Key{}).DB.Engine() == "sqlite" }

func (s *squatter) column(name string) string {
	if s.lite() {
		return ", " + name
	}
	return ""
}

func (s *squatter) value() string {
	if s.lite() {
		return ", 0"
	}
	return ""
}

func (s *squatter) far() string {
	if s.lite() {
		return "9000000000000000"
	}
	return "'9000-01-01'"
}

func (s *squatter) id() string {
	if s.lite() {
		return "randomblob(16)"
	}
	return "gen_random_uuid()"
}

// stored fails the test unless the message is there, in one place.
func (s *squatter) stored(what string, id outbox.MessageID) {
	s.t.Helper()
	if info, err := s.Outbox.Get(s.t.Context(), id); err != nil || info.Topic == "squatter" {
		s.t.Errorf("%s: acknowledged and not stored: %v", what, err)
	}
}

// D-111, D-10: a position that is another message's is never taken for a known id.
// In transactions of pawl's own nobody notices anything.
func TestPositionsThatAreTaken(t *testing.T) {
	for name, enqueue := range map[string]func(s *squatter){
		"enqueue":             func(s *squatter) { s.stored("made", s.enqueue(false, "")) },
		"enqueue with an id":  func(s *squatter) { s.stored("supplied", s.enqueue(true, "")) },
		"enqueue in a queue":  func(s *squatter) { s.stored("late", s.enqueue(false, lateQueue)) },
		"many":                func(s *squatter) { s.batch(false) },
		"many, some with ids": func(s *squatter) { s.batch(true) },
		"a timer": func(s *squatter) {
			id, err := s.Timers.Schedule(s.t.Context(), timer.Timer{Topic: "t", Due: time.Now().Add(time.Hour)})
			s.check(err)
			_, err = s.Timers.Get(s.t.Context(), id)
			s.check(err)
		},
		"a job's run": func(s *squatter) {
			s.check(s.Jobs.Put(s.t.Context(), job.Job{Name: "j", Topic: "t", Schedule: "@yearly"}))
			id, err := s.Jobs.Trigger(s.t.Context(), "j")
			s.check(err)
			s.stored("run", id)
		},
		"a fan-out": func(s *squatter) {
			fan, err := s.Joins.FanOut(s.t.Context(), join.Spec{}, []outbox.Message{{Topic: "t"}, {Topic: "t"}}, join.Wait{OnComplete: outbox.Message{Topic: "t"}})
			s.check(err)
			for _, id := range append(fan.Messages, fan.Wait) {
				s.stored("fan-out", id)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
				s := squatting(t, e)
				s.squat("outbox_message", "timer")
				enqueue(s)
				if n := s.d.Count(t, "SELECT count(*) FROM "+s.d.Table("outbox_message")+" WHERE topic = 'squatter'"); n != 40 {
					t.Errorf("%d of the 40 others are left", n)
				}
			})
		})
	}
}

func (s *squatter) batch(own bool) {
	s.t.Helper()
	msgs := make([]outbox.Message, 10)
	for i := range msgs {
		msgs[i] = outbox.Message{Topic: "t"}
		if own && i%3 == 0 {
			msgs[i].ID = outbox.MessageID(uuid.New())
		}
	}
	ids, err := s.Outbox.EnqueueBatch(s.t.Context(), msgs)
	s.check(err)
	for _, id := range ids {
		s.stored("of a batch", id)
	}
}

// D-10: of a batch whose messages are partly known the others are stored once.
func TestBatchThatIsPartlyKnown(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		s := squatting(t, e)
		known := s.enqueue(true, "")
		_, err := s.Outbox.EnqueueBatch(t.Context(), []outbox.Message{{Topic: "t"}, {ID: known, Topic: "t"}, {ID: outbox.MessageID(uuid.New()), Topic: "t"}})
		s.check(err)
		if n := s.d.Count(t, "SELECT count(*) FROM "+s.d.Table("outbox_message")); n != 3 {
			t.Errorf("%d messages, want 3", n)
		}
	})
}

// D-111: in a caller's transaction a position that is another's is an error that says
// so, and nothing is stored; the repeated transaction succeeds. With ids of one's own
// there is no error.
func TestPositionsThatAreTakenInACallersTransaction(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		s := squatting(t, e)
		s.squat("outbox_message") // but not where the first of two goes: that is taken back
		_, err := s.d.SQL.ExecContext(t.Context(), "DELETE FROM "+s.d.Table("outbox_message")+" WHERE id = (SELECT min(id) FROM "+s.d.Table("outbox_message")+")")
		s.check(err)
		for attempt := 1; ; attempt++ {
			tx := s.d.Begin(t)
			ids, err := s.Outbox.EnqueueBatchTx(t.Context(), tx, []outbox.Message{{Topic: "t"}, {Topic: "t"}})
			if err == nil {
				s.check(tx.Commit())
				s.stored("made", ids[0])
				s.stored("made", ids[1])
				break
			}
			if !errors.Is(err, engine.ErrPosition) || attempt > 3 {
				t.Fatalf("attempt %d: %v", attempt, err)
			}
			_ = tx.Commit() // somebody who does not look at errors: SQLite lets him
			if n := s.d.Count(t, "SELECT count(*) FROM "+s.d.Table("outbox_message")+" WHERE topic = 't'"); n != 0 {
				t.Fatalf("%d messages were stored in spite of the error", n)
			}
		}
		s.squat("outbox_message")
		tx := s.d.Begin(t)
		own := outbox.MessageID(uuid.New())
		id, err := s.Outbox.EnqueueTx(t.Context(), tx, outbox.Message{ID: own, Topic: "t"})
		s.check(err)
		s.check(tx.Commit())
		s.stored("supplied", id)
	})
}

// D-4, D-111: an id that was made for a transaction that was rolled back may be
// enqueued again, also where its position is another's by now.
func TestMadeIDWhosePositionIsTaken(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		s := squatting(t, e)
		tx := s.d.Begin(t)
		id, err := s.Outbox.EnqueueTx(t.Context(), tx, outbox.Message{Topic: "t"})
		s.check(err)
		s.check(tx.Rollback())
		text := fmt.Sprintf("INSERT INTO %s (id, message_id, lane, topic, payload%s) VALUES (%d, %s, 1, 'squatter', ''%s)", s.d.Table("outbox_message"), s.column("created_at"), id.Position(), s.id(), s.value())
		_, err = s.d.SQL.ExecContext(t.Context(), text)
		s.check(err)
		for range 2 {
			again, err := s.Outbox.Enqueue(t.Context(), outbox.Message{ID: id, Topic: "t"})
			s.check(err)
			s.stored("made before", again)
		}
		if n := s.d.Count(t, "SELECT count(*) FROM "+s.d.Table("outbox_message")+" WHERE topic = 't'"); n != 1 {
			t.Errorf("%d messages of one id", n)
		}
	})
}

// D-71, D-111: a timer whose position another message took while it waited fires.
func TestTimerWhosePositionIsTaken(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		s := squatting(t, e)
		var ids []outbox.MessageID
		for range 3 {
			id, err := s.Timers.Schedule(t.Context(), timer.Timer{Topic: "t", Due: time.Now().Add(-time.Hour), Payload: []byte("kept")})
			s.check(err)
			ids = append(ids, id)
		}
		text := fmt.Sprintf("INSERT INTO %s (id, message_id, lane, topic, payload%s) VALUES (%d, %s, 1, 'squatter', ''%s)", s.d.Table("outbox_message"), s.column("created_at"), ids[1].Position(), s.id(), s.value())
		_, err := s.d.SQL.ExecContext(t.Context(), text)
		s.check(err)
		s.check(s.Internal(access.Key{}).DB.Do(t.Context(), engine.Ask(op.TimerDispatch{Most: 100})))
		for _, id := range ids {
			s.stored("timer", id)
			if info, err := s.Outbox.Get(t.Context(), id); err == nil && string(info.Payload) != "kept" {
				t.Errorf("its payload is %q", info.Payload)
			}
		}
	})
}

// D-111: messages in a lane that the database lost are seen, found again as soon as
// somebody works on their queue, and delivered.
func TestLostQueueIsFoundAgain(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		d := e.Open(t)
		p := running(t, d.DB)
		p.enqueue(false, lateQueue)
		_, err := d.SQL.ExecContext(t.Context(), "DELETE FROM "+d.Table("outbox_lane")+" WHERE queue = '"+lateQueue+"'")
		p.check(err)
		id := p.enqueue(true, lateQueue) // the program believes that the lane is known
		info, err := p.Outbox.Get(t.Context(), id)
		p.check(err)
		if info.Queue != "" || info.Priority != 0 {
			t.Errorf("a message of an unknown queue has queue %q and priority %d", info.Queue, info.Priority)
		}
		if all, err := engine.Collect(p.Outbox.List(t.Context(), outbox.ListOptions{}), 100); err != nil || len(all) != 2 {
			t.Errorf("%d of 2 messages are listed: %v", len(all), err)
		}
		if n := d.Count(t, "SELECT count(*) FROM "+d.Table("outbox")); n != 2 {
			t.Errorf("the view has %d of 2 messages", n)
		}
		p.work()
		p.wantHandled("lost", []outbox.MessageID{id})
	})
}

// D-111, D-60: after a restore ids and tokens go on above everything that was given
// out, leases are free, and running programs notice.
func TestAfterRestore(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		d := e.Open(t)
		p, other := running(t, d.DB), running(t, d.Another(t))
		before := p.enqueue(false, "")
		other.enqueue(false, "")
		held, err := p.Leases.Acquire(t.Context(), "books", lease.Options{Duration: time.Hour})
		p.check(err)
		defer held.Close(context.Background())
		seen := other.Internal(access.Key{}).DB.Generation()
		first, err := p.AfterRestore(t.Context())
		p.check(err)
		_, err = p.AfterRestore(t.Context())
		p.check(err)
		// A queue of the generation before is made known again.
		p.enqueue(false, lateQueue)
		_, err = d.SQL.ExecContext(t.Context(), "DELETE FROM "+d.Table("outbox_lane")+" WHERE queue = '"+lateQueue+"'")
		p.check(err)
		second, err := p.AfterRestore(t.Context())
		p.check(err)
		p.enqueue(false, lateQueue)
		if n := d.Count(t, "SELECT count(*) FROM "+d.Table("outbox_lane")+" WHERE queue = '"+lateQueue+"'"); n != 1 {
			t.Error("a queue is not made known again in a new generation")
		}
		if first < 1 || second <= first {
			t.Errorf("generations %d and %d", first, second)
		}
		if token := other.wantToken(held.Token()); token>>12 != second {
			t.Errorf("token %d does not carry generation %d", token, second)
		}
		after := p.enqueue(false, "")
		if gap := int64(after.Position() - before.Position()); gap < 1<<32 {
			t.Errorf("position %d is only %d above %d", after.Position(), gap, before.Position())
		}
		p.check(other.Internal(access.Key{}).DB.Do(t.Context(), engine.Ask(op.GenerationCheck{})))
		if other.Internal(access.Key{}).DB.Generation() == seen {
			t.Error("another program did not notice")
		}
		if at := other.enqueue(false, "").Position(); at < after.Position()-1<<13 {
			t.Errorf("another program goes on at %d", at)
		}
		tx := d.Begin(t)
		defer tx.Rollback()
		if err := held.Guard(t.Context(), tx); !errors.Is(err, lease.ErrLost) {
			t.Errorf("the guard of a lease from before: %v", err)
		}
	})
}
