package sdktest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/postgres"
	"github.com/jackc/pgx/v5/pgxpool"
)

// workerURL makes of this binary a worker in Go, as sdk/python/tests/worker.py is one in Python:
// it has the same arguments.
const workerURL = "PAWL_SDK_WORKER"

const queue = "sdk"

func work(url string) int {
	j, mode := journal{os.Args[1]}, os.Args[2]
	db, err := postgres.Open(url)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	options := pawl.Options{Queues: []string{queue}, Concurrency: 4, BatchSize: 20, Lease: 10 * time.Second}
	if mode == "batches" || mode == "singles" {
		options.Concurrency, options.BatchSize = 2, 1000
	}
	p, err := pawl.New(db, options)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	handle := func(_ context.Context, m *outbox.Message) error {
		j.note("begin", "go", string(m.Payload))
		time.Sleep(10 * time.Millisecond)
		j.note("end", "go", string(m.Payload))
		return nil
	}
	switch mode {
	case "batches":
		p.HandleBatch("work", func(_ context.Context, all []*outbox.Message) []error { return make([]error, len(all)) }, outbox.BatchOptions{Max: options.BatchSize})
	case "singles":
		handle = func(context.Context, *outbox.Message) error { return nil }
		fallthrough
	default:
		p.Handle("work", handle)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if mode == "produce" {
		go produce(ctx, p, url, j)
	}
	j.note("start", "go", fmt.Sprint(os.Getpid()))
	if err := p.Run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	j.note("stop", "go", fmt.Sprint(os.Getpid()))
	return 0
}

func produce(ctx context.Context, p *pawl.Pawl, url string, j journal) {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return
	}
	defer pool.Close()
	for n := 0; ctx.Err() == nil; n++ {
		var all []outbox.Message
		var put []string
		for k := range 3 {
			key := fmt.Sprintf("go-%d-%d", os.Getpid(), k)
			keyed, plain := fmt.Sprintf("%s %d", key, n), fmt.Sprintf("- go-%d-%d-%d", os.Getpid(), n, k)
			all = append(all, outbox.Message{Topic: "work", Queue: queue, Payload: []byte(keyed), OrderingKey: key}, outbox.Message{Topic: "work", Queue: queue, Payload: []byte(plain)})
			put = append(put, strings.ReplaceAll(keyed, " ", "/"), strings.ReplaceAll(plain, " ", "/"))
		}
		tx, err := pool.Begin(ctx)
		if err == nil {
			_, err = p.Outbox.EnqueueBatchTx(ctx, tx, all)
			err = errors.Join(err, tx.Commit(ctx))
		}
		if err != nil {
			return
		}
		j.note("put", "go", strings.Join(put, " "))
		time.Sleep(50 * time.Millisecond)
	}
}

// journal is a file that all processes append lines to.
type journal struct{ path string }

func (j journal) note(words ...string) {
	f, err := os.OpenFile(j.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.WriteString(strings.Join(words, " ") + "\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		panic(err)
	}
}

func (j journal) create() error { return os.WriteFile(j.path, nil, 0o600) }

// event is a line of the journal: kind, language, and the rest.
type event struct{ kind, language, rest string }

func (j journal) read() (all []event, err error) {
	text, err := os.ReadFile(j.path)
	for line := range strings.Lines(string(text)) {
		if words := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3); len(words) == 3 {
			all = append(all, event{words[0], words[1], words[2]})
		}
	}
	return all, err
}
