package main

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"

	"github.com/bravellian/pawl/bench/internal/peers"
)

// Scenario calm: G at a higher rate and for longer, beside a transaction that keeps its snapshot. E
// keeps the worker busy, whose claims are full; here almost none is.

const (
	calmPerSecond = 400
	// calmTogether is how many messages are enqueued at once where it is not one; they are twice as many a second.
	calmTogether = 8
	// calmSeconds are those of a repetition with -n 60000. An hour is -n 900000.
	calmSeconds = 240
	// calmPart is which part of the messages is compared: the first and the last.
	calmPart = 5
)

func calms(n int) []scenario {
	title := fmt.Sprintf("%d messages a second, one by one, beside a transaction with a snapshot from before: the first fifth beside the last", calmPerSecond)
	count := max(calmPart*calmPerSecond, n*calmPerSecond/60_000*calmSeconds)
	systems := []system{
		{"pawl beside it", count, beforeSnapshot(calm(pawlPostgres, 1))},
		{"pawl alone", count, calm(pawlPostgres, 1)},
		{"pawl in eights beside it", 2 * count, beforeSnapshot(calm(pawlPostgres, calmTogether))},
	}
	for _, p := range heldPeers() {
		systems = append(systems, system{p.Name + " beside it", count, beforeSnapshot(calm(openPeer(p), 1))})
	}
	lite := []system{{"pawl beside it", count, calm(besideReader(pawlSQLite), 1)}, {"pawl alone", count, calm(pawlSQLite, 1)}}
	columns := []string{colLast50, colLast99}
	return []scenario{{"calm", "postgres", title, columns, systems}, {"calm", "sqlite", title, columns, lite}}
}

// besideReader opens a queue and, until it is closed, a read transaction of another connection.
func besideReader(open queueOpener) queueOpener {
	return func(ctx context.Context, r *run) (peers.Queue, error) {
		q, err := open(ctx, r)
		if err != nil {
			return nil, err
		}
		db, err := sql.Open("sqlite", "file:"+filepath.Join(r.dir, "bench.db"))
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(1)
		_, err = db.ExecContext(ctx, "BEGIN; SELECT count(*) FROM sqlite_master")
		return reading{q, db}, err
	}
}

// reading is a queue beside a reader.
type reading struct {
	peers.Queue
	reader *sql.DB
}

func (r reading) Close() {
	_ = r.reader.Close()
	r.Queue.Close()
}

func calm(open queueOpener, together int) measurement {
	at := pace{calmPerSecond * min(together, 2), together}
	return pickupFrom(open, nil, at, func(r *run, times []moments) error {
		part := len(times) / calmPart
		if err := r.latencies(times[:part], colCommit, colP50); err != nil {
			return err
		}
		whole, err := untilBegun(times[len(times)-part:])
		if err == nil {
			r.figures[colLast50], r.figures[colLast99] = quantile(whole, 0.5), quantile(whole, 0.99)
		}
		return err
	})
}

// untilBegun is how long after the call of Enqueue handlers began, in milliseconds.
func untilBegun(times []moments) (all []float64, err error) {
	for i, t := range times {
		if t.started.IsZero() {
			return nil, fmt.Errorf("message %d of %d was not handled", i, len(times))
		}
		all = append(all, milliseconds(t.started.Sub(t.called)))
	}
	return all, nil
}
