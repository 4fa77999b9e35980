package outbox_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/engine/postgres"
	"github.com/bravellian/pawl/engine/sqlite"
	"github.com/bravellian/pawl/internal/testpg"
	"github.com/bravellian/pawl/outbox"
)

func smoke(t *testing.T, db engine.DB) {
	ctx := context.Background()
	if err := db.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	if err := db.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	o := outbox.New(db, outbox.Options{StopWhenEmpty: true})
	var n atomic.Int64
	o.Handle("t", outbox.HandlerFunc(func(ctx context.Context, m *outbox.Message) error {
		if n.Add(1)%7 == 0 {
			return outbox.RetryAfter(0, fmt.Errorf("again"))
		}
		return nil
	}))
	for i := 0; i < 10; i++ {
		msgs := make([]outbox.Message, 100)
		for k := range msgs {
			msgs[k] = outbox.Message{Topic: "t", Payload: []byte(`{"a":1}`), CorrelationID: "c"}
		}
		if _, err := o.EnqueueBatch(ctx, msgs); err != nil {
			t.Fatal(err)
		}
	}
	id, err := o.Enqueue(ctx, outbox.Message{Topic: "t", ID: outbox.MessageID{1, 2, 3}, Headers: map[string]string{"x": "y"}})
	if err != nil {
		t.Fatal(err)
	}
	if id2, err := o.Enqueue(ctx, outbox.Message{Topic: "t", ID: outbox.MessageID{1, 2, 3}}); err != nil || id2 != id {
		t.Fatal(id2, err)
	}
	fmt.Println(o.Count(ctx))
	i, err := o.Find(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%+v\n", i)
	start := time.Now()
	if err := o.Run(ctx); err != nil {
		t.Fatal(err)
	}
	fmt.Println(time.Since(start), n.Load())
	fmt.Printf("%+v\n", o.Stats())
	fmt.Println(o.Count(ctx))
	done := outbox.Done
	l, err := o.List(ctx, outbox.ListFilter{Status: &done, Limit: 2})
	fmt.Println(len(l), err)
	for _, s := range []outbox.Status{0, 1, 2, 3, 4, 5} {
		if _, err := o.List(ctx, outbox.ListFilter{Status: &s}); err != nil {
			t.Error(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestSmokeSQLite(t *testing.T) {
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	smoke(t, db)
}

func TestSmokePostgres(t *testing.T) {
	db, err := postgres.Open(testpg.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	smoke(t, db)
}
