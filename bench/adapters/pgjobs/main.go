// Command pgjobs is pawl's adapter for the public benchmark of job queues on PostgreSQL,
// github.com/hardbyte/postgresql-job-queue-benchmarking: a process that enqueues and handles jobs
// at once and writes what it measures to its standard output, a JSON object a line. It uses pawl
// as any program does, by its public packages alone. README.md says how it is run.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/postgres"
)

// grace is how long handlers may go on after SIGTERM: the harness waits 5 s for the process.
const grace = 3 * time.Second

// eventTables are the tables whose dead rows and size the harness follows; adapter.json has them, too.
var eventTables = []string{
	"pawl.outbox_message", "pawl.outbox_ready", "pawl.outbox_claim", "pawl.outbox_done", "pawl.outbox_exception", "pawl.outbox_lane",
}

// job is the body of a message.
type job struct {
	Seq        int64     `json:"seq"`
	ProducedAt time.Time `json:"produced_at"` // just before the call that enqueues it
	Padding    string    `json:"padding"`
}

var jobs = pawl.NewTopic[job]("long_horizon_job")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdin, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "[pawl]", err)
		os.Exit(1)
	}
}

// run works until ctx ends, and returns nil then.
func run(ctx context.Context, tokens io.Reader, out io.Writer) error {
	cfg, err := readConfig(os.Getenv)
	if err != nil {
		return err
	}
	db, err := postgres.Open(cfg.databaseURL)
	if err != nil {
		return err
	}
	defer db.Close()
	p, err := pawl.New(db, pawl.Options{Concurrency: cfg.workers, Grace: grace})
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Migrate(ctx); err != nil || cfg.scenario == migrateOnly {
		return err
	}
	return work(ctx, p, cfg, tokens, out)
}

// work produces, handles and reports until ctx ends. Handlers end last, so that the last report has
// what was handled meanwhile.
func work(ctx context.Context, p *pawl.Pawl, cfg *config, tokens io.Reader, out io.Writer) error {
	st := newStats()
	handle(p, cfg, st)
	depth, err := newDepth(p, st)
	if err != nil {
		return err
	}
	r := &reporter{out: out, cfg: cfg, stats: st, depth: depth}
	r.descriptor(time.Now())

	handling := make(chan error, 1)
	go func() { handling <- p.Run(ctx) }()
	beside, cancel := context.WithCancel(ctx)
	var others sync.WaitGroup
	others.Go(func() { produce(beside, p, cfg, st, depth, tokens) })
	others.Go(func() { r.sampleEvery(beside) })
	if cfg.observer() || cfg.mode == depthTarget {
		others.Go(func() { depth.follow(beside) })
	}
	err = <-handling // nil after ctx, else it could not start
	cancel()
	others.Wait()
	r.sample(time.Now())
	return errors.Join(err, r.err)
}

// handle registers the handler, which works for as long as it is told, and the observer that counts
// what is acked: a job counts as completed when that is in the database.
func handle(p *pawl.Pawl, cfg *config, st *stats) {
	jobs.Handle(p, func(_ context.Context, d *pawl.Delivery[job]) error {
		st.claim.record(time.Since(d.Body.ProducedAt))
		time.Sleep(cfg.work)
		return nil
	})
	p.Observe(pawl.Observer{Attempted: st.attempted})
}
