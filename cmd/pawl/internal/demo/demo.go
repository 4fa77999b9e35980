// Package demo is pawl's main job on real input, in front of an audience: an
// order service and a night of ETL runs, whose workers are separate processes
// that get killed in the middle. Afterwards the database is asked what was lost.
//
// Shop and ETL are scenes. Each brings tables, a producer, handlers and a
// verdict of its own; place, stage and crew serve any.
package demo

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/cmd/pawl/internal/demo/etl"
	"github.com/bravellian/pawl/cmd/pawl/internal/demo/shop"
	"github.com/bravellian/pawl/join"
)

// Options say how to run the demo.
type Options struct {
	DB      string       // postgres:// URL; empty: SQLite in a temporary directory
	Orders  []shop.Order // what customers order
	Runs    int          // ETL runs
	Workers int          // processes
	Keep    bool         // leave the database for inspection
	Command []string     // arguments with which this program is a worker
	Board   *Board
	// OnPlace is told how to clean up before an exit that waits for nothing.
	OnPlace func(cleanUp func())
}

// Run plays the demo and returns the verdict.
func Run(ctx context.Context, o Options) (v *Verdict, err error) {
	p, err := newPlace(o.DB)
	if err != nil {
		return nil, err
	}
	if o.OnPlace != nil && !o.Keep {
		o.OnPlace(func() { _ = p.removeFiles() }) // nobody is left to tell
	}
	s, err := openStage(p.DB, p.Schema)
	if err != nil {
		return nil, errors.Join(err, p.removeFiles())
	}
	defer func() {
		if o.Keep {
			o.Board.Say("kept: %s", p.describe())
		} else {
			err = errors.Join(err, p.remove(s))
		}
		err = errors.Join(err, s.close())
	}()
	quiet := slog.New(slog.DiscardHandler)
	producer, err := pawl.New(s, pawl.Options{Logger: quiet, Joins: join.Options{Logger: quiet}})
	if err != nil {
		return nil, err
	}
	r := &run{Options: o, stage: s, producer: producer, crew: newCrew(p, o.Command)}
	return r.perform(ctx)
}

// perform plays the scenes one after another with one crew. Each is judged
// before the next one begins, while nothing but its own is in the database.
func (r *run) perform(ctx context.Context) (*Verdict, error) {
	defer r.Board.Clear()
	if err := r.stage.prepare(ctx); err != nil {
		return nil, err
	}
	defer r.crew.dismiss(10 * time.Second)
	for range r.Workers {
		m, err := r.crew.hire()
		if err != nil {
			return nil, err
		}
		r.Board.Say("worker %d started", m.pid())
	}
	var v Verdict
	err := r.play(ctx, &shop.Scene{DB: r.stage.own, Outbox: r.producer.Outbox, Orders: r.Orders})
	if err == nil {
		v.Shop, err = shop.Judge(ctx, r.stage.own)
	}
	if err == nil {
		err = r.play(ctx, &etl.Scene{DB: r.stage.own, Joins: r.producer.Joins, Runs: r.Runs})
	}
	if err == nil {
		v.ETL, err = etl.Judge(ctx, r.stage.own)
	}
	if err != nil {
		return nil, err
	}
	return &v, nil
}

func (p *place) describe() string {
	if p.Schema != "" {
		return "schema " + p.Schema
	}
	return p.DB
}
