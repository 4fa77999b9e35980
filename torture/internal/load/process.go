// Package load is what the processes of a round do: producers, workers, claimers and
// holders of leases. Each writes down what it does before and after it does it.
package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/torture/internal/history"
	"github.com/bravellian/pawl/torture/internal/store"
)

// The roles.
const (
	Producer = "producer"
	Worker   = "worker"
	Claimer  = "claimer"
	Holder   = "holder"
)

// Variable is the environment variable with the configuration of a process.
const Variable = "PAWL_TORTURE_PROCESS"

// Lease is how long claims and leases last. Faults that stop a process last longer.
const Lease = 2 * time.Second

// RawQueue is the queue of the claimers, which has no worker.
const RawQueue = "raw"

// Limited is the topic that runs LimitedTo at once.
const (
	Limited   = "limited"
	LimitedTo = 2
)

// Job is the name of the job, which runs at whole multiples of JobEvery.
const (
	Job      = "tick"
	JobEvery = time.Second
)

// Exit codes of processes.
const (
	ExitOK    = 0
	ExitError = 1 // it could not begin, or go on: it is to be started again
)

// Config says what a process is. It is handed over as JSON.
type Config struct {
	Role    string        `json:"role"`
	Process string        `json:"process"` // unique name
	Place   store.Place   `json:"place"`
	History string        `json:"history"` // folder
	Seed    uint64        `json:"seed"`    // of the round
	Pace    time.Duration `json:"pace"`    // mean time between transactions of a producer
	Claims  bool          `json:"claims"`  // there are claimers: enqueue for them
	Flows   bool          `json:"flows"`   // a producer begins flows above all
}

// process is a running process.
type process struct {
	Config
	store  *store.Store
	pawl   *pawl.Pawl
	flows  *flows
	events *history.Writer
	rand   *rand.Rand
	source *rand.ChaCha8
}

// Main runs the process that the environment configures, until SIGTERM or the end of its
// standard input, which is when the harness is gone. It returns the exit code.
func Main(ctx context.Context) int {
	var c Config
	if err := json.Unmarshal([]byte(os.Getenv(Variable)), &c); err != nil {
		fmt.Fprintln(os.Stderr, "reading the configuration:", err)
		return ExitError
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(ExitError)
	}()
	if err := run(ctx, c); err != nil {
		fmt.Fprintln(os.Stderr, time.Now().UTC().Format(time.RFC3339Nano), err)
		return ExitError
	}
	return ExitOK
}

func run(ctx context.Context, c Config) (err error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	p := &process{Config: c}
	p.source = rand.NewChaCha8(seedOf(c.Seed, c.Process))
	p.rand = rand.New(p.source)
	if p.events, err = history.Create(c.History, c.Process); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.events.Close()) }()
	if p.store, err = store.Open(c.Place, log); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.store.Close()) }()
	if p.pawl, err = pawl.New(p.store.Pawl, Options(log, c.Process)); err != nil {
		return err
	}
	p.flows = p.newFlows(retryPolicy())
	switch c.Role {
	case Producer:
		return p.produce(ctx)
	case Worker:
		return p.work(ctx)
	case Claimer:
		return p.claim(ctx)
	case Holder:
		return p.hold(ctx)
	}
	return fmt.Errorf("unknown role %q", c.Role)
}

// seedOf mixes a number and a name into a seed.
func seedOf(seed uint64, name string) (mixed [32]byte) {
	copy(mixed[8:], name)
	for i := range 8 {
		mixed[i] = byte(seed >> (8 * i))
	}
	for i := range name { // also of what is longer
		mixed[8+i%24] ^= name[i] * byte(i+1)
	}
	return mixed
}

// write writes an event. A process that cannot say what it does must not do it.
func (p *process) write(e history.Event) {
	if err := p.events.Append(e); err != nil {
		fmt.Fprintln(os.Stderr, "writing the history:", err)
		os.Exit(ExitError)
	}
}

// ended writes the end of an operation.
func (p *process) ended(e history.Event, o history.Outcome) {
	e.Outcome = o
	p.write(e)
}

// attempt is a context for a transaction, which a stop does not cut off.
func attempt(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), store.StatementTimeout)
}

// sleep waits, and reports whether the process goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// between is a random duration.
func (p *process) between(low, high time.Duration) time.Duration {
	return low + time.Duration(p.rand.Int64N(int64(high-low)+1))
}

// chance is true with a probability.
func (p *process) chance(probability float64) bool { return p.rand.Float64() < probability }
