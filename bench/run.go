package main

import (
	"context"
	"syscall"
	"time"
)

// figures are what one repetition of one system gave, by column.
type figures map[string]float64

// The columns, in the order in which tables show them.
const (
	colEnqueue  = "enqueue/s"
	colDrain    = "drain/s"
	colDue      = "from due on/s"
	colRate     = "msg/s"
	colCommit   = "enqueue p50 ms"
	colP50      = "pick-up p50 ms"
	colAck      = "ack p50 ms"
	colFollowUp = "follow-up p50 ms"
	colLate     = "late p50 ms"
	colPlainP50 = "p50 ms"
	colP90      = "p90 ms"
	colP99      = "p99 ms"
	colMax      = "max ms"
	colAfter    = "after commit p50 ms"
	colClient   = "client µs/msg"
	colServer   = "server µs/msg"
	colWAL      = "WAL B/msg"
	colDead     = "dead/msg"

	// Of idle fleets.
	colClientShare     = "client CPU %"
	colServerShare     = "server CPU %"
	colConnections     = "connections"
	colMostConnections = "at most"
	colTransactions    = "transactions/s"
	colFiles           = "files open"
	colGoroutines      = "goroutines"
	colMemory          = "RSS MB"

	microsecond = float64(time.Microsecond)
)

// run is one repetition of one system.
type run struct {
	n       int
	dir     string  // for SQLite's file
	server  *server // nil on SQLite
	profile string  // where a CPU profile goes, or ""
	figures figures
	written int // messages since the reset, warm-up included
}

// warm is how many messages go through before the measuring begins: a tenth.
func (r *run) warm() int { return max(r.n/10, 1) }

// measured runs work, which handles n messages, and records its costs. It
// returns how long it took.
func (r *run) measured(ctx context.Context, n int, work func() error) (time.Duration, error) {
	stop, err := r.startProfile()
	if err != nil {
		return 0, err
	}
	defer stop()
	var before, after usage
	if r.server != nil {
		if before, err = r.server.usage(ctx); err != nil {
			return 0, err
		}
	}
	client := clientCPU()
	start := time.Now()
	if err := work(); err != nil {
		return 0, err
	}
	took := time.Since(start)
	r.figures[colClient] = float64(clientCPU()-client) / microsecond / float64(n)
	if r.server != nil {
		if after, err = r.server.usage(ctx); err != nil {
			return 0, err
		}
		r.figures[colWAL] = float64(after.wal-before.wal) / float64(n)
		if after.cpu > 0 {
			r.figures[colServer] = float64(after.cpu-before.cpu) / microsecond / float64(n)
		}
	}
	return took, nil
}

// rate records how many of n per second.
func (r *run) rate(column string, n int, took time.Duration) {
	r.figures[column] = float64(n) / took.Seconds()
}

// deadTuples records what vacuum will have to clean up. The numbers count from
// the reset on, so the warm-up is part of them.
func (r *run) deadTuples(ctx context.Context) error {
	dead, err := r.server.dead(ctx)
	if err == nil && r.written > 0 {
		r.figures[colDead] = float64(dead) / float64(r.written)
	}
	return err
}

// clientCPU is the processor time that this process has used.
func clientCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
