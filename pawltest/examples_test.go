package pawltest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/pawltest"
	"github.com/bravellian/pawl/postgres"
	"github.com/bravellian/pawl/timer"
)

// In these examples run(func(t testing.TB) {…}) stands for a test of yours:
// func TestX(t *testing.T) {…}.

// An order that nobody pays expires after an hour, which the test does not wait for.
func ExampleClock_Advance() {
	run(func(t testing.TB) {
		d := pawltest.New(t)
		d.Handle("order.expire", func(_ context.Context, m *outbox.Message) error {
			fmt.Printf("order %s has expired\n", m.Payload)
			return nil
		})
		if _, err := d.Timers.Schedule(t.Context(), timer.Timer{Topic: "order.expire", Key: "order/7", Payload: []byte("7"), Due: time.Now().Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
		d.AssertTimer(t, pawltest.Key("order/7"), pawltest.Due(time.Now().Add(time.Hour), time.Minute))

		d.MustDrain(t)
		fmt.Println("an hour later:")
		d.Clock.Advance(time.Hour)
		d.MustDrain(t)
		d.AssertNoTimer(t)
	})
	// Output:
	// an hour later:
	// order 7 has expired
	// PASS
}

// What a transaction has enqueued is seen before it commits, in it alone.
func ExampleIn() {
	run(func(t testing.TB) {
		d := pawltest.New(t)
		tx, err := d.SQL().BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Outbox.EnqueueTx(t.Context(), tx, outbox.Message{Topic: "mail"}); err != nil {
			t.Fatal(err)
		}
		d.AssertEnqueued(t, pawltest.In(tx), pawltest.Topic("mail"))
		d.AssertNotEnqueued(t)

		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		d.AssertNotEnqueued(t)
	})
	// Output: PASS
}

// A handler that fails leaves its message waiting for the next attempt. That is a
// result like any other, until MustDrain or Drained.Err is asked.
func ExampleDB_Drain() {
	run(func(t testing.TB) {
		d := pawltest.New(t)
		busy := true
		d.Handle("mail", func(context.Context, *outbox.Message) error {
			if busy {
				return outbox.RetryAfter(time.Minute, errors.New("mailbox busy"))
			}
			return nil
		})
		if _, err := d.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "mail"}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			r, err := d.Drain(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			fmt.Println("handled", len(r.Handled), "left", len(r.Left))
			for _, m := range r.Left {
				fmt.Println(m.Topic, m.LastError)
			}
			busy = false
			d.Clock.Advance(time.Minute)
		}
	})
	// Output:
	// handled 1 left 1
	// mail mailbox busy
	// handled 1 left 0
	// PASS
}

// A job runs at each of its times while time passes.
func ExampleDB_Pass() {
	run(func(t testing.TB) {
		d := pawltest.New(t)
		d.Clock.Set(time.Date(2031, time.May, 2, 12, 0, 0, 0, time.UTC)) // a Friday
		d.Handle("report", func(_ context.Context, m *outbox.Message) error {
			fmt.Println("report of", m.Due.Format("Monday, January 2"))
			return nil
		})
		if err := d.Jobs.Put(t.Context(), job.Job{Name: "report", Topic: "report", Schedule: "0 6 * * MON-FRI"}); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Pass(t.Context(), 4*24*time.Hour); err != nil {
			t.Fatal(err)
		}
	})
	// Output:
	// report of Monday, May 5
	// report of Tuesday, May 6
	// PASS
}

// On a server every test has schemas of its own, so tests may run side by side.
func ExamplePostgres() {
	run(func(t testing.TB) {
		d := pawltest.Postgres(t, os.Getenv("TEST_DATABASE_URL"))
		if _, err := postgres.Pool(d.DB()).Exec(t.Context(), "CREATE TABLE orders (number integer PRIMARY KEY)"); err != nil {
			t.Fatal(err)
		}
		d.MustDrain(t)
	})
}
