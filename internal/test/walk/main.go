// Command walk makes calls whose functions and files its test counts, on SQLite. It is built with
// counters of coverage, and writes those of each call to a folder of the call's name:
//
//	walk FOLDER
package main

import (
	"context"
	"database/sql"
	"errors"
	"log"
	"os"
	"path/filepath"
	"runtime/coverage"
	"slices"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sqlite"
)

func message() outbox.Message {
	return outbox.Message{Topic: "order.created", Payload: []byte(`{"order":1}`)}
}

func main() {
	for name, walk := range map[string]func(context.Context, *program) error{
		"EnqueueTx": enqueueTx, "Topic.EnqueueTx": topicEnqueueTx, "Enqueue": enqueue, "Claim and Ack": claimAndAck, "Run": run,
	} {
		if err := count(filepath.Join(os.Args[1], name), walk); err != nil {
			log.Fatalf("%s: %v", name, err)
		}
	}
}

// program is a program whose calls are counted.
type program struct {
	*pawl.Pawl
	db     *sql.DB
	folder string // of the counters
}

func count(folder string, walk func(context.Context, *program) error) (err error) {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	db, err := sqlite.Open(folder + ".db")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	p, err := pawl.New(db, pawl.Options{StopWhenEmpty: true, Concurrency: 1})
	if err != nil {
		return err
	}
	ctx := context.Background()
	if err := p.Migrate(ctx); err != nil {
		return err
	}
	return walk(ctx, &program{p, sqlite.SQL(db), folder})
}

// write writes the counters.
func (p *program) write() error {
	return errors.Join(coverage.WriteMetaDir(p.folder), coverage.WriteCountersDir(p.folder))
}

// second counts the second of two calls: the first finds nothing prepared.
func (p *program) second(call func() error) error {
	return errors.Join(call(), coverage.ClearCounters(), call(), p.write())
}

func (p *program) secondTx(ctx context.Context, call func(*sql.Tx) error) error {
	if _, err := p.Outbox.Enqueue(ctx, message()); err != nil { // which reserves ids for the calls that follow
		return err
	}
	tx, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	return errors.Join(p.second(func() error { return call(tx) }), tx.Commit())
}

func enqueueTx(ctx context.Context, p *program) error {
	return p.secondTx(ctx, func(tx *sql.Tx) error { _, err := p.Outbox.EnqueueTx(ctx, tx, message()); return err })
}

func topicEnqueueTx(ctx context.Context, p *program) error {
	topic := pawl.NewTopic[string](message().Topic)
	return p.secondTx(ctx, func(tx *sql.Tx) error { _, err := topic.EnqueueTx(ctx, p.Pawl, tx, "body"); return err })
}

func enqueue(ctx context.Context, p *program) error {
	return p.second(func() error { _, err := p.Outbox.Enqueue(ctx, message()); return err })
}

func claimAndAck(ctx context.Context, p *program) error {
	if _, err := p.Outbox.EnqueueBatch(ctx, slices.Repeat([]outbox.Message{message()}, 2)); err != nil {
		return err
	}
	return p.second(func() error {
		owner := outbox.NewOwnerToken()
		claimed, err := p.Outbox.WorkQueue("").Claim(ctx, owner, time.Minute, 1)
		if err != nil {
			return err
		}
		_, err = p.Outbox.WorkQueue("").Ack(ctx, owner, claimed[0].Position)
		return err
	})
}

// run counts from the call of one handler to that of the next one.
func run(ctx context.Context, p *program) error {
	if _, err := p.Outbox.EnqueueBatch(ctx, slices.Repeat([]outbox.Message{message()}, 3)); err != nil {
		return err
	}
	handled := 0
	p.Handle(message().Topic, func(context.Context, *outbox.Message) error {
		switch handled++; handled {
		case 2:
			return coverage.ClearCounters()
		case 3:
			return p.write()
		}
		return nil
	})
	return p.Run(ctx)
}
