package evidence

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/outbox"
)

// held is longer than any check: only what crashed would be claimed twice.
const held = 10 * time.Minute

func migrated(ctx context.Context, w *world) (string, error) {
	began := time.Now()
	for range 2 {
		if err := w.db.Migrate(ctx); err != nil {
			return "", err
		}
	}
	return "in " + time.Since(began).Round(time.Millisecond).String(), w.db.CheckSchema(ctx)
}

// doctor reports codes and levels: what findings say may name logins, hosts and files. That a server may lose commits
// is its owner's choice.
func doctor(ctx context.Context, w *world) (string, error) {
	p, err := w.pawl()
	if err != nil {
		return "", err
	}
	var other []string
	bad := false
	r := p.Admin.ExamineWith(ctx, access.Key{}, engine.ExamineOptions{Timeout: checkLimit / 4})
	for _, f := range r.Findings {
		if f.Level != health.OK {
			other = append(other, f.Code+": "+f.Level.String())
		}
		bad = bad || f.Level == health.Problem && f.Code != "durability"
	}
	detail := fmt.Sprintf("%d checks", len(r.Findings))
	if len(other) > 0 {
		detail += "; " + strings.Join(other, ", ")
	}
	if bad {
		return "", errors.New(detail)
	}
	return detail, nil
}

func rolledBack(ctx context.Context, w *world) (string, error) {
	p, err := w.pawl()
	if err != nil {
		return "", err
	}
	pool := w.sql()
	for _, commit := range []bool{false, true} {
		tx, err := pool.BeginTx(ctx, nil)
		if err != nil {
			return "", err
		}
		if _, err = p.Outbox.EnqueueBatchTx(ctx, tx, make3("rollback")); err != nil {
			return "", errors.Join(err, tx.Rollback())
		}
		if commit {
			err = tx.Commit()
		} else {
			err = tx.Rollback()
		}
		if err != nil {
			return "", err
		}
	}
	owner := outbox.NewOwnerToken()
	q := p.Outbox.WorkQueue("rollback")
	got, err := q.Claim(ctx, owner, held, 100)
	if err != nil {
		return "", err
	}
	if len(got) != 3 {
		return "", wrong("%d messages were claimed, 3 committed and 3 rolled back", len(got))
	}
	n, err := q.Ack(ctx, owner, positions(got)...)
	if err == nil && n != 3 {
		err = wrong("%d of 3 were acked", n)
	}
	return "3 committed, 3 rolled back, 3 claimed", err
}

func make3(queue string) []outbox.Message {
	m := outbox.Message{Topic: "evidence", Queue: queue, Payload: []byte(`{"n":"naïve 𝄞"}`)}
	return []outbox.Message{m, m, m}
}

func positions(all []*outbox.Message) (ids []outbox.Position) {
	for _, m := range all {
		ids = append(ids, m.Position)
	}
	return ids
}

const sharedMessages = 2000

// shared has two sessions claim from one queue at once until it is empty.
func shared(ctx context.Context, w *world) (string, error) {
	p, err := w.pawl()
	if err != nil {
		return "", err
	}
	for range sharedMessages / 100 {
		batch := make([]outbox.Message, 100)
		for i := range batch {
			batch[i] = outbox.Message{Topic: "evidence", Queue: "shared"}
		}
		if _, err := p.Outbox.EnqueueBatch(ctx, batch); err != nil {
			return "", err
		}
	}
	var sides sync.WaitGroup
	var mu sync.Mutex
	seen, parts, failures := map[outbox.Position]int{}, [2]int{}, [2]error{}
	for side := range 2 {
		own, err := w.pawl()
		if err != nil {
			return "", err
		}
		sides.Go(func() {
			q := own.Outbox.WorkQueue("shared")
			for left := true; left; {
				owner := outbox.NewOwnerToken()
				got, err := q.Claim(ctx, owner, held, 20)
				if err == nil && len(got) == 0 { // the other one may be putting a part of a run back
					err = wait(ctx, time.Millisecond)
				}
				if err != nil {
					failures[side] = err
					return
				}
				mu.Lock()
				for _, m := range got {
					seen[m.Position]++
				}
				parts[side] += len(got)
				left = len(seen) < sharedMessages
				mu.Unlock()
				if n, err := q.Ack(ctx, owner, positions(got)...); err != nil || int(n) != len(got) {
					failures[side] = errors.Join(err, wrong("%d of %d were acked", n, len(got)))
					return
				}
			}
		})
	}
	sides.Wait()
	if err := errors.Join(failures[:]...); err != nil {
		return "", err
	}
	for _, n := range seen {
		if n > 1 {
			return "", wrong("a message was claimed %d times under a lease", n)
		}
	}
	return fmt.Sprintf("%d and %d of %d", parts[0], parts[1], sharedMessages), nil
}

// unblocked claims while another transaction has messages that it neither committed nor took back.
func unblocked(ctx context.Context, w *world) (string, error) {
	if w.oneWriter() {
		return "", skip("there is one writer at a time")
	}
	p, err := w.pawl()
	if err != nil {
		return "", err
	}
	if _, err := p.Outbox.EnqueueBatch(ctx, make3("open")); err != nil { // who uses a queue first makes it
		return "", err
	}
	tx, err := w.sql().BeginTx(ctx, nil)
	if err != nil {
		return "", err
	}
	defer func() { _ = tx.Rollback() }() // or what waits for it would wait on
	if _, err := p.Outbox.EnqueueBatchTx(ctx, tx, make3("open")); err != nil {
		return "", err
	}
	limited, cancel := context.WithTimeout(ctx, checkLimit/6)
	defer cancel()
	owner := outbox.NewOwnerToken()
	began := time.Now()
	got, err := p.Outbox.WorkQueue("open").Claim(limited, owner, held, 100)
	if err != nil {
		return "", err
	}
	if len(got) != 3 {
		return "", wrong("%d messages were claimed, 3 are committed", len(got))
	}
	took := time.Since(began)
	_, err = p.Outbox.WorkQueue("open").Ack(ctx, owner, positions(got)...)
	return "claimed in " + took.Round(time.Millisecond).String(), err
}

const workers = 8

// load has eight workers handle what is enqueued meanwhile.
func load(ctx context.Context, w *world) (string, error) {
	var handled sync.Map
	var twice, n atomic.Int64
	working, stop := context.WithCancel(ctx)
	defer stop()
	var ended sync.WaitGroup
	failures := make([]error, workers)
	for i := range workers {
		p, err := w.pawl()
		if err != nil {
			return "", err
		}
		p.Handle("load", func(_ context.Context, m *outbox.Message) error {
			if _, known := handled.LoadOrStore(m.Position, true); known {
				twice.Add(1)
			}
			n.Add(1)
			return nil
		})
		ended.Go(func() { failures[i] = p.Run(working) })
	}
	p, err := w.pawl()
	if err != nil {
		return "", err
	}
	batch := make([]outbox.Message, 50)
	for i := range batch {
		batch[i] = outbox.Message{Topic: "load", Payload: []byte(`{"n":1}`)}
	}
	began, enqueued := time.Now(), int64(0)
	for time.Since(began) < w.Load {
		if enqueued-n.Load() > 2000 { // as much as workers have at hand
			if err := wait(ctx, 5*time.Millisecond); err != nil {
				return "", err
			}
			continue
		}
		if _, err := p.Outbox.EnqueueBatch(ctx, batch); err != nil {
			return "", err
		}
		enqueued += int64(len(batch))
	}
	err = until(ctx, func() bool { return n.Load() >= enqueued })
	took := time.Since(began)
	stop()
	ended.Wait()
	switch err = errors.Join(append(failures, err)...); {
	case err != nil:
		return "", fmt.Errorf("%d of %d were handled: %w", n.Load(), enqueued, err)
	case twice.Load() > 0:
		return "", wrong("%d of %d were handled twice", twice.Load(), enqueued)
	}
	return fmt.Sprintf("%d messages in %v, %.0f a second", enqueued, took.Round(time.Millisecond), float64(enqueued)/took.Seconds()), nil
}

// until waits for something, as long as ctx lasts.
func until(ctx context.Context, is func() bool) error {
	for !is() {
		if err := wait(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
