package join_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// inBubble runs test on SQLite under a fake clock, with workers that poll once a
// day and note when "done" and "failed" come.
func inBubble(t *testing.T, test func(ctx context.Context, o *parts.Outbox, j *parts.Joins, at *sync.Map)) {
	path := filepath.Join(t.TempDir(), "test.db")
	synctest.Test(t, func(t *testing.T) {
		db, err := sqlite.Open(path, sqlite.Options{WatchEvery: time.Second}) // looking costs real time
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		dbtest.Migrate(t, db)
		o := parts.NewOutbox(db, worker.Options{PollInterval: 24 * time.Hour})
		j := parts.NewJoins(db, o, join.Options{}, nil)
		at := &sync.Map{}
		for _, topic := range []string{"done", "failed"} {
			o.Handle(topic, func(context.Context, *outbox.Message) error { at.Store(topic, time.Now()); return nil })
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- o.Run(ctx) }()
		test(ctx, o, j, at)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

var bothWays = join.Wait{OnComplete: outbox.Message{Topic: "done"}, OnFail: outbox.Message{Topic: "failed"}}

// D-33: a join that takes an hour fires as soon after its last step as one that
// takes a second, whatever the poll interval.
func TestALongJoinFiresAtOnce(t *testing.T) {
	for _, lasts := range []time.Duration{time.Second, time.Hour} {
		inBubble(t, func(ctx context.Context, o *parts.Outbox, j *parts.Joins, at *sync.Map) {
			fan, err := j.FanOut(ctx, join.Spec{}, []outbox.Message{{Topic: "step", Queue: "by hand"}}, bothWays)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(lasts)
			if _, err := j.ReportCompleted(ctx, fan.Join, fan.Messages[0]); err != nil {
				t.Fatal(err)
			}
			over := time.Now()
			time.Sleep(time.Second)
			synctest.Wait()
			done, sent := at.Load("done")
			if !sent {
				t.Fatalf("after %v nothing followed", lasts)
			}
			if late := done.(time.Time).Sub(over); late > 100*time.Millisecond {
				t.Fatalf("after %v the follow-up came %v after the last step", lasts, late)
			}
		})
	}
}

// D-36: a deadline is kept to the moment, also one that is sooner than the poll.
func TestADeadlineIsKept(t *testing.T) {
	inBubble(t, func(ctx context.Context, _ *parts.Outbox, j *parts.Joins, at *sync.Map) {
		deadline := time.Now().Add(20 * time.Minute)
		if _, err := j.FanOut(ctx, join.Spec{Deadline: deadline}, []outbox.Message{{Topic: "step", Queue: "by hand"}}, bothWays); err != nil {
			t.Fatal(err)
		}
		time.Sleep(19 * time.Minute)
		synctest.Wait()
		if when, sent := at.Load("failed"); sent {
			t.Fatalf("sent before the deadline: %v", when)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		failed, sent := at.Load("failed")
		if !sent {
			t.Fatal("the deadline passed and nothing was sent")
		}
		if late := failed.(time.Time).Sub(deadline); late > 100*time.Millisecond {
			t.Fatalf("the deadline was kept %v late", late)
		}
	})
}
