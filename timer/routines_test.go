package timer_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// shell is a program in another language: it calls routines and reads views.
type shell struct {
	*parts.Timers
	box *parts.Outbox
	t   *testing.T
	db  dbtest.Database
}

func openShell(t *testing.T) *shell {
	t.Helper()
	db := dbtest.OpenPostgres(t)
	box := parts.NewOutbox(db, worker.Options{})
	return &shell{Timers: parts.NewTimers(db, box, timer.Options{}, nil), box: box, t: t, db: db}
}

func (s *shell) sql(query string) string { return strings.ReplaceAll(query, "pawl.", s.db.Table("")) }

// call answers with what a routine does, as text.
func (s *shell) call(query string, args ...any) (answer string) {
	s.t.Helper()
	if err := s.db.SQL.QueryRowContext(s.t.Context(), s.sql("SELECT "+query+"::text"), args...).Scan(&answer); err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
	return answer
}

func (s *shell) is(want, query string, args ...any) {
	s.t.Helper()
	if got := s.call(query, args...); got != want {
		s.t.Fatalf("%s: %s, want %s", query, got, want)
	}
}

// status insists on a timer's state.
func (s *shell) status(id string, want timer.Status) *timer.Info {
	s.t.Helper()
	parsed, err := outbox.ParseMessageID(id)
	if err != nil {
		s.t.Fatal(err)
	}
	got, err := s.Get(s.t.Context(), parsed)
	if err != nil || got.Status != want {
		s.t.Fatalf("want it %v: %+v, %v", want, got, err)
	}
	return got
}

func (s *shell) fires(want int64) {
	s.t.Helper()
	if n, err := s.Sources[0].Dispatch(s.t.Context()); n != want || err != nil {
		s.t.Fatalf("%d fired, want %d: %v", n, want, err)
	}
}

// D-70, D-71: programs in other languages schedule with plain SQL, in a
// transaction of their own.
func TestRoutinesForOtherLanguages(t *testing.T) {
	t.Parallel()
	s := openShell(t)
	a := s.call(`pawl.timer_schedule('t', '{"n": "ü"}', now() - interval '1 minute', correlation_id => 'c', headers => '{"h": "v"}', queue => 'q', priority => 7)`)
	b := s.call(`pawl.timer_schedule('t', 'b', now() + interval '1 hour')`)
	c := s.call(`pawl.timer_schedule('t', 'c', now() + interval '1 hour')`)
	if got := s.status(a, timer.Scheduled); got.CorrelationID != "c" || got.Headers["h"] != "v" || got.Queue != "q" || got.Priority != 7 || got.Key != "" {
		t.Fatalf("stored %+v", got)
	}
	s.is("true", `pawl.timer_cancel($1)`, b)
	s.is("false", `pawl.timer_cancel($1)`, b)
	s.is("false", `pawl.timer_reschedule($1, now())`, b)
	s.is("true", `pawl.timer_reschedule($1, now() - interval '1 second')`, c)
	s.fires(2)
	for id, payload := range map[string]string{a: `{"n": "ü"}`, c: "c"} {
		got := s.status(id, timer.Fired)
		m, err := s.box.Get(t.Context(), got.ID)
		if err != nil || string(m.Payload) != payload {
			t.Fatalf("the message is %+v, %v", m, err)
		}
		s.is("false", `pawl.timer_cancel($1)`, id)
		s.is("false", `pawl.timer_reschedule($1, now())`, id)
	}
	s.status(b, timer.Cancelled)
	for _, routine := range []string{"timer_cancel($1)", "timer_reschedule($1, now())"} {
		s.is("false", "pawl."+routine, uuid.NewString())
	}
}

// D-10, D-70: keys and ids of their own mean what they mean in Go, and the two
// meet.
func TestRoutinesKeysAndIDs(t *testing.T) {
	t.Parallel()
	s := openShell(t)
	first := s.call(`pawl.timer_schedule('t', 'x', now(), key => 'k')`)
	second, err := s.Schedule(t.Context(), timer.Timer{Topic: "t", Key: "k", Due: time.Now().Add(-time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	s.status(first, timer.Cancelled)
	third := s.call(`pawl.timer_schedule('t', 'x', now() - interval '1 second', key => 'k')`)
	s.status(second.String(), timer.Cancelled)
	if got, err := s.GetKey(t.Context(), "k"); err != nil || got.ID.String() != third {
		t.Fatalf("key k is %+v's, %v", got, err)
	}
	id := uuid.NewString()
	for _, key := range []string{"own", "own", "k"} {
		s.is(id, `pawl.timer_schedule('t', 'x', now() - interval '1 second', timer_id => $1, key => $2)`, id, key)
	}
	s.status(third, timer.Scheduled)
	s.is("true", `pawl.timer_cancel($1)`, id)
	s.is(id, `pawl.timer_schedule('t', 'x', now(), timer_id => $1)`, id)
	s.status(id, timer.Cancelled)
	made, err := s.Schedule(t.Context(), timer.Timer{Topic: "t", Due: time.Now().Add(-time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	s.is(made.String(), `pawl.timer_schedule('t', 'again', now() - interval '1 second', timer_id => $1)`, made.String())
	s.fires(2)
}

// D-8, D-71: a due time before 1970 is now.
func TestRoutinesDueBefore1970(t *testing.T) {
	t.Parallel()
	s := openShell(t)
	for _, due := range []string{"0001-01-01 UTC", "1969-12-31 23:59:59.999999 UTC", "4713-01-01 BC UTC"} {
		a := s.call(`pawl.timer_schedule('t', 'x', $1::text::timestamptz)`, due)
		b := s.call(`pawl.timer_schedule('t', 'x', now() + interval '1 hour')`)
		s.is("true", `pawl.timer_reschedule($1, $2::text::timestamptz)`, b, due)
		for _, id := range []string{a, b} {
			if got := s.status(id, timer.Scheduled); time.Since(got.Due) > time.Hour || !got.NextAttemptAt.Equal(got.Due) {
				t.Errorf("due %s is kept as %v, next attempt at %v", due, got.Due, got.NextAttemptAt)
			}
		}
		s.fires(2)
	}
}

// D-3: what a transaction that is rolled back has scheduled or cancelled, it has not.
func TestRoutinesInTransactions(t *testing.T) {
	t.Parallel()
	s := openShell(t)
	old := s.call(`pawl.timer_schedule('t', 'x', now() - interval '1 second', key => 'k')`)
	tx := s.db.Begin(t)
	if _, err := tx.ExecContext(t.Context(), s.sql(`SELECT pawl.timer_schedule('t', 'y', now(), key => 'k'), pawl.timer_cancel($1)`), old); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	s.fires(1)
	s.status(old, timer.Fired)
}

// D-2: mistakes are errors that say what is wrong, and leave nothing behind.
func TestRoutinesRefuse(t *testing.T) {
	t.Parallel()
	s := openShell(t)
	for args, want := range map[string]string{
		`'', 'x', now()`:                                      "topic",
		`' ', 'x', now()`:                                     "topic",
		`NULL, 'x', now()`:                                    "topic",
		`repeat('t', 256), 'x', now()`:                        "topic",
		`'t', NULL, now()`:                                    "payload",
		`'t', 'x', NULL`:                                      "due time",
		`'t', 'x', now(), key => repeat('k', 256)`:            "key",
		`'t', 'x', now(), key => ' '`:                         "key",
		`'t', 'x', now(), queue => ' '`:                       "queue",
		`'t', 'x', now(), queue => ''`:                        "queue",
		`'t', 'x', now(), queue => NULL`:                      "queue",
		`'t', 'x', now(), priority => 101`:                    "priority",
		`'t', 'x', now(), priority => NULL`:                   "priority",
		`'t', 'x', 'infinity'`:                                "due time",
		`'t', 'x', '-infinity'`:                               "due time",
		`'t', 'x', '10000-01-01'`:                             "due time",
		`'t', 'x', now(), correlation_id => repeat('c', 256)`: "correlation id",
	} {
		_, err := s.db.SQL.ExecContext(t.Context(), s.sql("SELECT pawl.timer_schedule("+args+")"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want it to name %q", args, err, want)
		}
	}
	id := s.call(`pawl.timer_schedule('t', 'x', now() - interval '1 second')`)
	for _, due := range []string{"NULL", "'infinity'"} {
		if _, err := s.db.SQL.ExecContext(t.Context(), s.sql(fmt.Sprintf("SELECT pawl.timer_reschedule('%s', %s)", id, due))); err == nil || !strings.Contains(err.Error(), "due time") {
			t.Errorf("rescheduled to %s: %v", due, err)
		}
	}
	s.fires(1)
	if _, err := s.GetKey(t.Context(), " "); !errors.Is(err, timer.ErrNotFound) {
		t.Error(err)
	}
}
