package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// D-779: a message is done exactly if the handler's transaction commits, whatever the handler returns.
func TestAckTx(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, worker.Options{Retry: &worker.RetryPolicy{Delay: func(int) time.Duration { return 0 }}})
		f.AwaitEvery(time.Hour)
		if _, err := f.db.SQL.Exec("CREATE TABLE effect (body VARCHAR(50))"); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		attempts := map[string]int{}
		f.Handle("t", func(ctx context.Context, m *outbox.Message) error {
			body := string(m.Payload)
			mu.Lock()
			attempts[body]++
			first := attempts[body] == 1
			mu.Unlock()
			tx, err := f.db.SQL.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback() }()
			if _, err := tx.ExecContext(ctx, "INSERT INTO effect (body) VALUES ('"+body+"')"); err != nil {
				return err
			}
			if err := errors.Join(m.SetResult([]byte("result of "+body)), f.AckTx(ctx, tx, m)); err != nil {
				return err
			}
			if first && (body == "rolls back" || body == "rolls back and fails") {
				if err := tx.Rollback(); err != nil || body == "rolls back" {
					return err
				}
				return errors.New("failed")
			}
			if err := tx.Commit(); err != nil {
				return err
			}
			switch body {
			case "fails afterwards":
				return errors.New("failed")
			case "panics afterwards":
				panic("afterwards")
			}
			return nil
		})
		stop := f.start()
		for _, body := range []string{"commits", "rolls back", "rolls back and fails", "fails afterwards", "panics afterwards"} {
			id, err := f.Enqueue(f.ctx(), outbox.Message{Topic: "t", Payload: []byte(body)})
			if err != nil {
				t.Fatal(err)
			}
			dbtest.Until(t, "it is over", func() bool { return f.find(id).Status == outbox.Done })
			result, err := f.Await(f.ctx(), id)
			if err != nil || string(result) != "result of "+body {
				t.Errorf("%s: the result is %q, %v", body, result, err)
			}
			if n := f.db.Count(t, "SELECT count(*) FROM effect WHERE body = '"+body+"'"); n != 1 {
				t.Errorf("%s: %d effects", body, n)
			}
			want := 0
			if body == "rolls back" || body == "rolls back and fails" {
				want = 1
			}
			if got := f.find(id); got.RetryCount != want || want == 0 && got.LastError != "" {
				t.Errorf("%s: %d attempts failed, the last with %q", body, got.RetryCount, got.LastError)
			}
		}
		stop()
		mu.Lock()
		defer mu.Unlock()
		if got := fmt.Sprint(attempts); got != "map[commits:1 fails afterwards:1 panics afterwards:1 rolls back:2 rolls back and fails:2]" {
			t.Errorf("attempts: %s", got)
		}
		f.db.CheckPlaces(t)
	})
}

// D-779: who has no lease any more cannot ack, and who has none never could.
func TestAckTxNeedsTheLease(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.enqueueN(1)
		_, msgs := f.claimExactly(1)
		if _, err := f.Release(f.ctx(), msgs[0].Owner, msgs[0].Position); err != nil {
			t.Fatal(err)
		}
		tx := f.db.Begin(t)
		defer func() { _ = tx.Rollback() }()
		if err := f.AckTx(f.ctx(), tx, msgs[0]); !errors.Is(err, outbox.ErrLeaseLost) {
			t.Errorf("without the lease: %v", err)
		}
		if err := f.AckTx(f.ctx(), tx, &outbox.Message{Topic: "t"}); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("of nobody: %v", err)
		}
		if err := f.AckTx(f.ctx(), nil, msgs[0]); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("without a transaction: %v", err)
		}
	})
}
