package main

import (
	"context"
	"os"
	"runtime"
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
	colLast     = "last quarter/s"
	colCommit   = "enqueue p50 ms"
	colP50      = "pick-up p50 ms"
	colClaim    = "claim p50 ms"
	colAck      = "ack p50 ms"
	colFollowUp = "follow-up p50 ms"
	colLate     = "late p50 ms"
	colWoken    = "woken p50 ms"
	colPlainP50 = "p50 ms"
	colP90      = "p90 ms"
	colP99      = "p99 ms"
	colP999     = "p999 ms"
	colLast50   = "last p50 ms"
	colLast99   = "last p99 ms"
	colMax      = "max ms"
	colAfter    = "after commit p50 ms"
	colClient   = "client µs/msg"
	colServer   = "server µs/msg"
	colWAL      = "WAL B/msg"
	colAllocs   = "allocs/msg"
	colDead     = "dead/msg"
	colCommits  = "commits/msg"
	colVacuum   = "vacuum µs/msg"
	colSize     = "size MB"
	colDoubled  = "doubled"
	colUsed     = "limit used %"
	colOthers   = "other load"

	// Of overload.
	colOfPeak   = "of peak %"
	colBacklog  = "backlog"
	colRecovery = "recovery s"

	// Of what goes on beside a queue.
	colQueries = "queries/s"
	colQuery99 = "query p99 ms"

	// Of flows that wait.
	colParked     = "parked/s"
	colParkedSize = "B a parked flow"
	colParkedWAL  = "WAL B a parked flow"
	colIdleWAL    = "WAL B/s"

	// Of idle fleets.
	colClientShare     = "client CPU %"
	colServerShare     = "server CPU %"
	colConnections     = "connections"
	colMostConnections = "at most"
	colTransactions    = "transactions/s"
	colFiles           = "files open"
	colHeap            = "heap kB/store"
	colGoroutines      = "goroutines/store"
	colMemory          = "RSS MB"
	colBusyHeap        = "busy: heap kB more"
	colBusyGoroutines  = "busy: goroutines more"
	colBusyConnections = "busy: connections"
	colAgainHeap       = "idle again: heap kB more"
	colAgainGoroutines = "idle again: goroutines more"

	microsecond = float64(time.Microsecond)
)

// run is one repetition of one system.
type run struct {
	n         int
	dir       string  // for SQLite's file
	relaxed   bool    // SQLite's synchronous=NORMAL
	server    *server // nil on SQLite
	profile   string  // where a CPU profile goes, or ""
	figures   figures
	processes bool         // it has worker processes
	from, to  time.Time    // of what was measured
	written   int          // messages since the reset, warm-up included
	stop      func() error // ends what a phase began; nil if there is nothing
}

// stopped calls stop once.
func (r *run) stopped() error {
	stop := r.stop
	r.stop = nil
	if stop == nil {
		return nil
	}
	return stop()
}

// warm is how many messages go through before the measuring begins: a tenth, in whole
// batches if there is one.
func (r *run) warm() int {
	if r.n < batchSize {
		return max(r.n/10, 1)
	}
	return (r.n/10 + batchSize - 1) / batchSize * batchSize
}

// measured runs work, which handles n messages, and records its costs. It
// returns how long it took.
func (r *run) measured(ctx context.Context, n int, work func() error) (time.Duration, error) {
	return r.counted(ctx, func() (int, error) { return n, work() })
}

// counted is measured for work that returns how many messages it handled.
func (r *run) counted(ctx context.Context, work func() (n int, err error)) (time.Duration, error) {
	stop, err := r.startProfile()
	if err != nil {
		return 0, err
	}
	defer stop()
	before, err := r.spent(ctx)
	if err != nil {
		return 0, err
	}
	r.from = time.Now()
	n, err := work()
	if err != nil {
		return 0, err
	}
	r.to = time.Now()
	took := r.to.Sub(r.from)
	after, err := r.spent(ctx)
	if err != nil {
		return 0, err
	}
	r.costs(n, took, before, after)
	return took, nil
}

// spent is what was used so far, by everybody who is counted.
type spent struct {
	client, machine time.Duration // processor time
	allocs          uint64
	server          usage
}

func (r *run) spent(ctx context.Context) (s spent, err error) {
	if r.server != nil {
		if s.server, err = r.server.usage(ctx); err != nil {
			return s, err
		}
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	s.allocs, s.client, s.machine = memory.Mallocs, clientCPU(), machineCPU()
	if r.processes {
		s.client += childrenCPU(os.Getpid())
	}
	return s, nil
}

// costs records what n messages took. The load of the rest of the machine is in cores.
func (r *run) costs(n int, took time.Duration, before, after spent) {
	client, server := after.client-before.client, after.server.cpu-before.server.cpu
	r.figures[colClient] = float64(client) / microsecond / float64(n)
	r.figures[colAllocs] = float64(after.allocs-before.allocs) / float64(n)
	if r.server != nil {
		r.figures[colWAL] = float64(after.server.wal-before.server.wal) / float64(n)
		if after.server.cpu > 0 {
			r.figures[colServer] = float64(server) / microsecond / float64(n)
		}
	}
	if after.machine > 0 {
		r.figures[colOthers] = max(0, (after.machine-before.machine-client-server).Seconds()) / took.Seconds()
	}
}

// rate records how many of n per second.
func (r *run) rate(column string, n int, took time.Duration) {
	r.figures[column] = float64(n) / took.Seconds()
}

// left records what remains in the database: its size, and on PostgreSQL what vacuum
// will have to clean up, how long it works at that, and how many transactions there were. The
// numbers count from the reset on, so the warm-up is part of them.
func (r *run) left(ctx context.Context) error {
	if r.written == 0 {
		return nil
	}
	size, per := folderSize(r.dir), 1/float64(r.written)
	if r.server != nil {
		var dead, commits int64
		var err error
		if dead, size, commits, err = r.server.left(ctx); err != nil {
			return err
		}
		r.figures[colDead], r.figures[colCommits] = float64(dead)*per, float64(commits)*per
		if vacuum, err := r.server.vacuum(ctx); err != nil {
			return err
		} else if r.server.pid != 0 {
			r.figures[colVacuum] = float64(vacuum) / microsecond * per
		}
	}
	r.figures[colSize] = float64(size) / 1e6
	return nil
}

// folderSize adds up the files of a folder.
func folderSize(dir string) (size int64) {
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			size += info.Size()
		}
	}
	return size
}

// clientCPU is the processor time that this process has used.
func clientCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
