package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Scenario P: several worker processes on one queue. Each is this program again.

const (
	// workerVariable makes this program a worker of P or R, on the server or SQLite file that it names.
	workerVariable = "PAWL_BENCH_WORKER"
	// sleepVariable is how long its handlers take on average; "0s": they do nothing.
	sleepVariable = "PAWL_BENCH_SLEEP"
)

func manyProcesses(n int) []scenario {
	const title = "a backlog that so many worker processes drain together; they have started before"
	var all []scenario
	for _, e := range places() {
		systems := []system{{"1 process", 4 * n, drainedBy(e.open, 1)}}
		for _, k := range []int{2, 4, 8} {
			systems = append(systems, system{fmt.Sprint(k, " processes"), 4 * n, drainedBy(e.open, k)})
		}
		for _, l := range limitsOfFlow() {
			systems = append(systems, system{"8 processes: " + l.name, 4 * n, under(l, e.open, drainedBy(e.open, 8))})
		}
		all = append(all, scenario{"P", e.engine, title, nil, systems})
	}
	return all
}

func drainedBy(open opener, processes int) measurement {
	return withOutbox(open, func(ctx context.Context, r *run, _ engine.DB, o *parts.Outbox) error {
		if err := produce(ctx, o, r.n); err != nil {
			return err
		}
		var all workers
		defer all.stop()
		for range processes {
			if err := all.start(ctx, r.place(), 0); err != nil {
				return err
			}
		}
		r.written, r.processes = r.n, true
		took, err := r.measured(ctx, r.n, func() error { return errors.Join(all.release(), allDone(ctx, o, r.n)) })
		if err != nil {
			return err
		}
		delete(r.figures, colAllocs) // this process has only waited
		r.rate(colRate, r.n, took)
		return nil
	})
}

// place is where the worker processes of a measurement find its database.
func (r *run) place() string {
	if r.server != nil {
		return r.server.url
	}
	return r.dir
}

// workers are processes that wait for a line, and end with their input.
type workers struct {
	inputs  []io.WriteCloser
	outputs []*bufio.Reader
	waits   []func() error
}

// start starts one, and returns when it could begin. Its handlers take sleep on average.
func (w *workers) start(ctx context.Context, place string, sleep time.Duration) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, self)
	c.Env, c.Stderr = append(os.Environ(), workerVariable+"="+place, sleepVariable+"="+sleep.String()), os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(out)
	w.inputs, w.outputs, w.waits = append(w.inputs, in), append(w.outputs, lines), append(w.waits, c.Wait)
	_, err = lines.ReadString('\n')
	return err
}

// release lets all of them begin.
func (w *workers) release() (err error) {
	for _, in := range w.inputs {
		_, e := io.WriteString(in, "\n")
		err = errors.Join(err, e)
	}
	return err
}

// stop ends all of them, and returns how many messages they handled and how long that took, added up.
func (w *workers) stop() (handled int64, took time.Duration) {
	for i, in := range w.inputs {
		_ = in.Close()
		var n int64
		var d time.Duration
		_, _ = fmt.Fscan(w.outputs[i], &n, &d) // one that crashed is missing messages
		handled, took = handled+n, took+d
		_ = w.waits[i]()
	}
	w.inputs = nil
	return handled, took
}

// openNamed opens the server or SQLite file of a worker process.
func openNamed(ctx context.Context, place string) (engine.DB, func(), error) {
	if filepath.IsAbs(place) {
		return openSQLite(false)(ctx, &run{dir: place})
	}
	srv, err := connect(ctx, place)
	if err != nil {
		return nil, nil, err
	}
	return openPostgres(ctx, &run{server: srv})
}

// work is such a process. In the end it writes how many messages it handled, and the nanoseconds that
// this took, without those of the warm-up.
func work(ctx context.Context, place string) error {
	db, done, err := openNamed(ctx, place)
	if err != nil {
		return err
	}
	defer done()
	sleep, err := time.ParseDuration(os.Getenv(sleepVariable))
	if err != nil {
		return err
	}
	o := parts.NewOutbox(db, worker.Options{})
	var handled, took atomic.Int64
	for _, name := range topics() {
		o.Handle(name, func(_ context.Context, m *outbox.Message) error {
			if sleep > 0 {
				began := time.Now()
				time.Sleep(sleep/2 + rand.N(sleep))
				if m.Topic != warmTopic {
					took.Add(int64(time.Since(began)))
				}
			}
			handled.Add(1)
			return nil
		})
	}
	fmt.Println("ready")
	in := bufio.NewReader(os.Stdin)
	if _, err := in.ReadString('\n'); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	go func() {
		_, _ = in.ReadString('\n') // the end
		stop()
	}()
	err = o.Run(ctx)
	fmt.Println(handled.Load(), took.Load())
	return err
}
