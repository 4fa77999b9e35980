package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/bravellian/pawl/outbox"
)

// Scenario P: several worker processes on one queue. Each is this program again.

// workerVariable makes this program a worker of P, on the server that it names.
const workerVariable = "PAWL_BENCH_WORKER"

func manyProcesses(n int) []scenario {
	const title = "a backlog that so many worker processes drain together; they have started before"
	systems := []system{{"1 process", 4 * n, drainedBy(1)}}
	for _, k := range []int{2, 4, 8} {
		systems = append(systems, system{fmt.Sprint(k, " processes"), 4 * n, drainedBy(k)})
	}
	return []scenario{{"P", "postgres", title, nil, systems}}
}

func drainedBy(processes int) measurement {
	return func(ctx context.Context, r *run) error {
		q, err := pawlPostgres(ctx, r)
		if err != nil {
			return err
		}
		defer q.Close()
		t := &trial{Queue: q}
		if err := t.fill(ctx, r.n, nil); err != nil {
			return err
		}
		var all workers
		defer all.stop()
		for range processes {
			if err := all.start(ctx, r.server.url); err != nil {
				return err
			}
		}
		r.written, r.processes = r.n, true
		took, err := r.measured(ctx, r.n, func() error { return errors.Join(all.release(), r.server.drained(ctx)) })
		if err != nil {
			return err
		}
		delete(r.figures, colAllocs) // this process has only waited
		r.rate(colRate, r.n, took)
		return nil
	}
}

// drained returns when nothing is ready or claimed.
func (s *server) drained(ctx context.Context) error {
	for {
		var over bool
		err := s.admin.QueryRow(ctx, `SELECT NOT EXISTS (SELECT FROM `+schema+`.outbox_ready) AND NOT EXISTS (SELECT FROM `+schema+`.outbox_claim)`).Scan(&over)
		if err != nil || over {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// workers are processes that wait for a line, and end with their input.
type workers struct {
	inputs []io.WriteCloser
	waits  []func() error
}

// start starts one, and returns when it could begin.
func (w *workers) start(ctx context.Context, url string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, self)
	c.Env, c.Stderr = append(os.Environ(), workerVariable+"="+url), os.Stderr
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
	w.inputs, w.waits = append(w.inputs, in), append(w.waits, c.Wait)
	_, err = bufio.NewReader(out).ReadString('\n')
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

func (w *workers) stop() {
	for i, in := range w.inputs {
		_ = in.Close()
		_ = w.waits[i]()
	}
}

// work is such a process.
func work(ctx context.Context, url string) error {
	srv, err := connect(ctx, url)
	if err != nil {
		return err
	}
	db, done, err := openPostgres(ctx, &run{server: srv})
	if err != nil {
		return err
	}
	defer done()
	o := outbox.New(db, outbox.Options{})
	for _, name := range topics() {
		o.Handle(name, outbox.HandlerFunc(func(context.Context, *outbox.Message) error { return nil }))
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
	return o.Run(ctx)
}
