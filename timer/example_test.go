package timer_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sqlite"
	"github.com/bravellian/pawl/timer"
)

// shop opens a database in a directory of its own, for one example.
func shop(opts pawl.Options) (p *pawl.Pawl, db pawl.DB, end func()) {
	dir, err := os.MkdirTemp("", "timer")
	if err != nil {
		log.Fatal(err)
	}
	db, err = sqlite.Open(filepath.Join(dir, "shop.db"))
	if err != nil {
		log.Fatal(err)
	}
	opts.Logger = slog.New(slog.DiscardHandler)
	if p, err = pawl.New(db, opts); err == nil {
		err = p.Migrate(context.Background())
	}
	if err != nil {
		log.Fatal(err)
	}
	return p, db, func() {
		_ = p.Close()
		_ = os.RemoveAll(dir)
	}
}

// A reminder is scheduled, fires, and is handled by the handler of its topic.
func Example() {
	p, _, end := shop(pawl.Options{})
	defer end()
	type reminder struct {
		User  int
		Email string
		Text  string
	}
	send := pawl.NewTopic[reminder]("reminder.send")
	ctx, stop := context.WithCancel(context.Background())
	send.Handle(p, func(_ context.Context, d *pawl.Delivery[reminder]) error {
		fmt.Printf("to %s: %s\n", d.Body.Email, d.Body.Text)
		stop() // in a program this would be a signal to end
		return nil
	})

	body := reminder{User: 7, Email: "user@example.com", Text: "Don't forget your appointment!"}
	if _, err := send.Schedule(ctx, p, timer.Timer{Due: time.Now().Add(50 * time.Millisecond)}, body); err != nil {
		log.Fatal(err)
	}
	fmt.Println("stopped, error:", p.Run(ctx))
	// Output:
	// to user@example.com: Don't forget your appointment!
	// stopped, error: <nil>
}

// True means that the reminder will never be sent; false that it is too late.
func ExampleTimers_Cancel() {
	p, _, end := shop(pawl.Options{})
	defer end()
	ctx := context.Background()
	id, err := p.Timers.Schedule(ctx, timer.Timer{Topic: "reminder.send", Due: time.Now().Add(24 * time.Hour)})
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		cancelled, err := p.Timers.Cancel(ctx, id)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("cancelled:", cancelled)
	}
	// Output:
	// cancelled: true
	// cancelled: false
}

// An order expires half an hour after its last change, unless it is paid.
// Nobody has to remember the timer's id: the order's number is its key. All of
// it happens in the transactions in which the order changes.
func ExampleTimers_ScheduleTx() {
	p, db, end := shop(pawl.Options{})
	defer end()
	ctx := context.Background()
	change := func(what string, timers func(tx outbox.Tx) error) {
		tx, err := sqlite.SQL(db).BeginTx(ctx, nil)
		if err != nil {
			log.Fatal(err)
		}
		defer tx.Rollback()
		// Here the order is changed.
		if err := timers(tx); err != nil {
			log.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			log.Fatal(err)
		}
		switch t, err := p.Timers.GetKey(ctx, "order/7"); {
		case errors.Is(err, timer.ErrNotFound):
			fmt.Println(what+":", "no timer")
		case err != nil:
			log.Fatal(err)
		default:
			fmt.Println(what+":", t.Topic, "in", time.Until(t.Due).Round(time.Minute))
		}
	}
	expire := func(after time.Duration) func(outbox.Tx) error {
		return func(tx outbox.Tx) error {
			_, err := p.Timers.ScheduleTx(ctx, tx, timer.Timer{Topic: "order.expire", Key: "order/7", Due: time.Now().Add(after)})
			return err
		}
	}
	change("ordered", expire(30*time.Minute))
	change("changed", expire(45*time.Minute))
	change("paid", func(tx outbox.Tx) error {
		_, err := p.Timers.CancelKeyTx(ctx, tx, "order/7")
		return err
	})
	// Output:
	// ordered: order.expire in 30m0s
	// changed: order.expire in 45m0s
	// paid: no timer
}

// Weekly reminders of many users, spread over an hour, in one transaction.
func ExampleTimers_ScheduleBatch() {
	p, _, end := shop(pawl.Options{})
	defer end()
	ctx := context.Background()
	nine := time.Date(2126, time.May, 6, 9, 0, 0, 0, time.UTC)

	var reminders []timer.Timer
	for user := range 1000 {
		reminders = append(reminders, timer.Timer{
			Topic: "reminder.weekly", Payload: fmt.Appendf(nil, `{"user":%d}`, user),
			Due: nine.Add(time.Duration(user%60) * time.Minute), // not all at once
		})
	}
	ids, err := p.Timers.ScheduleBatch(ctx, reminders)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("scheduled", len(ids))
	for t, err := range p.Timers.List(ctx, timer.ListOptions{Topic: "reminder.weekly"}) {
		if err != nil {
			log.Fatal(err)
		}
		if t.Due.After(reminders[0].Due) { // the first that is due later
			fmt.Println(t.Due.Format(time.TimeOnly), string(t.Payload))
			break
		}
	}
	// Output:
	// scheduled 1000
	// 09:01:00 {"user":1}
}

// A program that fires timers itself claims those that are due, and says what
// became of them. Whoever else tries meanwhile does not get them.
func ExampleTimers_WorkQueue() {
	p, _, end := shop(pawl.Options{Timers: timer.Options{SelfDispatch: true}})
	defer end()
	ctx := context.Background()
	for i, valve := range []string{"open", "stuck"} {
		if _, err := p.Timers.Schedule(ctx, timer.Timer{Topic: "valve", Payload: []byte(valve), Due: time.Now().Add(time.Duration(i-9) * time.Second)}); err != nil {
			log.Fatal(err)
		}
	}
	turn := func(valve string) error {
		if valve == "stuck" {
			return errors.New("it does not move")
		}
		return nil
	}

	owner := outbox.NewOwnerToken() // fresh for every claim
	due, err := p.Timers.WorkQueue().Claim(ctx, owner, 30*time.Second, 20)
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range due {
		var held int64
		cause := turn(string(t.Payload))
		if cause == nil {
			held, err = p.Timers.WorkQueue().Ack(ctx, owner, t.ID)
		} else {
			held, err = p.Timers.WorkQueue().Abandon(ctx, owner, cause, t.ID) // again after 1 s, 2 s, 4 s …
		}
		if err != nil {
			log.Fatal(err)
		}
		now, err := p.Timers.Get(ctx, t.ID)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: held %d, %v, failed attempts: %d, %q\n", t.Payload, held, now.Status, now.RetryCount, now.LastError)
	}
	// Output:
	// open: held 1, fired, failed attempts: 0, ""
	// stuck: held 1, scheduled, failed attempts: 1, "it does not move"
}
