// Package demo is a program that uses pawl: an order service, a night of ETL runs and checkouts that are approved.
// Workers, which are processes of their own, deliver the messages; some of them are
// killed on the way. At the end the database is asked what became of every message.
// "pawl demo" runs it.
//
// Package shop shows an outbox: rows and messages are written in one transaction.
// Package etl shows joins: messages that run side by side, and one that follows when
// the last of them is done. Package checkout shows flows: steps that survive crashes,
// and wait without a worker. Package scene has what they need: a handler whose effect
// happens once, however often its message is delivered.
package demo

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/examples/demo/checkout"
	"github.com/bravellian/pawl/examples/demo/etl"
	"github.com/bravellian/pawl/examples/demo/shop"
)

// Options say how to run the demo.
type Options struct {
	DB     string       // postgres:// URL; empty: SQLite in a temporary directory
	Orders []shop.Order // what customers order
	Runs   int          // ETL runs
	// Checkouts are flows.
	Checkouts int
	Workers   int  // processes
	Keep      bool // keep the database
	// Command starts a worker when this program is run with these arguments, and with
	// EnvDB and EnvSchema in its environment. A worker calls Work.
	Command []string
	Board   Board
	// Beside is called with what is about to be played, once the database is there. What it returns is
	// called with the outcome while the workers still run; Run goes on when that returns.
	Beside func(p *pawl.Pawl) (after func(ctx context.Context, v *Verdict), err error)
	// OnOpen gets a function that removes the temporary files, for a program that exits
	// before Run returns.
	OnOpen func(cleanUp func())
}

// Board shows what happens.
type Board interface {
	// Say reports an event.
	Say(format string, args ...any)
	// Show replaces the text that says how far the work is; "" removes it.
	Show(text string)
}

// Run runs the demo and returns what the database says afterwards.
func Run(ctx context.Context, o Options) (v *Verdict, err error) {
	at, err := newLocation(o.DB)
	if err != nil {
		return nil, err
	}
	if o.OnOpen != nil && !o.Keep {
		o.OnOpen(func() { _ = at.removeFiles() })
	}
	db, err := open(at.DB, at.Schema)
	if err != nil {
		return nil, errors.Join(err, at.removeFiles())
	}
	defer func() {
		if o.Keep {
			o.Board.Say("kept: %s", at)
		} else {
			err = errors.Join(err, at.remove(db))
		}
		err = errors.Join(err, db.close())
	}()
	if err := db.createTables(ctx); err != nil {
		return nil, err
	}
	// This process only enqueues: it does not call Run.
	quiet := slog.New(slog.DiscardHandler)
	producer, err := pawl.New(db.pawl, pawl.Options{Logger: quiet})
	if err != nil {
		return nil, err
	}
	r := &run{Options: o, db: db, producer: producer, workers: newWorkers(at, o.Command)}
	if o.Beside != nil {
		if r.after, err = o.Beside(producer); err != nil {
			return nil, err
		}
	}
	return r.perform(ctx)
}

// stopTimeout is how long workers have to finish what they are at.
const stopTimeout = 10 * time.Second

// perform runs the scenes one after another with the same workers. Each is judged
// before the next one begins, while only its messages are in the database.
func (r *run) perform(ctx context.Context) (*Verdict, error) {
	defer r.Board.Show("")
	defer r.workers.stop(stopTimeout)
	for range r.Workers {
		w, err := r.workers.start()
		if err != nil {
			return nil, err
		}
		r.Board.Say("worker %d started", w.pid())
	}
	var v Verdict
	err := r.play(ctx, &shop.Scene{DB: r.db.own, Outbox: r.producer.Outbox, Orders: r.Orders})
	if err == nil {
		v.Shop, err = shop.Judge(ctx, r.db.own)
	}
	if err == nil {
		err = r.play(ctx, &etl.Scene{DB: r.db.own, Joins: r.producer.Joins, Runs: r.Runs})
	}
	if err == nil {
		v.ETL, err = etl.Judge(ctx, r.db.own)
	}
	if err == nil {
		err = r.play(ctx, &checkout.Scene{DB: r.db.own, Pawl: r.producer, Checkouts: r.Checkouts})
	}
	if err == nil {
		v.Checkout, err = checkout.Judge(ctx, r.db.own)
	}
	if err != nil {
		return nil, err
	}
	if r.after != nil {
		r.Board.Show("")
		r.after(ctx, &v)
	}
	return &v, nil
}
