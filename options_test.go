package pawl_test

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// field insists on an error that names an option.
func field(t *testing.T, want string, err error) {
	t.Helper()
	var invalid *engine.InvalidError
	if !errors.As(err, &invalid) || invalid.Field() != want || !strings.Contains(err.Error(), want) {
		t.Errorf("want an error that names %s, got %v", want, err)
	}
}

// D-8: options that cannot be are refused when a Pawl is made, with the field's name; zero is the default.
func TestOptionsAreValidated(t *testing.T) {
	db := dbtest.OpenSQLite(t)
	long := strings.Repeat("é", 256)
	for want, o := range map[string]pawl.Options{
		"MaxPollingInterval": {MaxPollingInterval: -1},
		"MaxPayload":         {MaxPayload: -1},
		"Concurrency":        {Concurrency: -1},
		"QueueConcurrency":   {QueueConcurrency: map[string]int{"a": -1}},
		"BatchSize":          {BatchSize: 1001},
		"Lease":              {Lease: time.Second - 1},
		"PollInterval":       {PollInterval: -1},
		"Grace":              {Grace: -1},
		"Retention":          {Retention: -1},
		"Worker":             {Worker: long},
		"Queues":             {Queues: []string{"a", "b", "a"}},
		"Retry.MaxAttempts":  {Retry: &outbox.RetryPolicy{MaxAttempts: -1}},
		"Retry.Jitter":       {Retry: &outbox.RetryPolicy{Jitter: math.NaN()}},
		"Fair":               {Fair: map[string]string{"": "tenant"}},
		"FairWeights":        {FairWeights: map[string]int{"acme": 101}},
		"Joins.Retention":    {Joins: join.Options{Retention: -1}},
		"Joins.Topic":        {Joins: join.Options{Topic: long}},
		"Joins.Queue":        {Joins: join.Options{Queue: "\x00"}},
		"Inbox.Lease":        {Inbox: inbox.Options{Lease: time.Millisecond}},
		"Inbox.Retention":    {Inbox: inbox.Options{Retention: -1}},
		"Inbox.Queue":        {Inbox: inbox.Options{Queue: long}},
		"Timers.Retention":   {Timers: timer.Options{Retention: -1}},
		"Jobs.Retention":     {Jobs: job.Options{Retention: -1}},
		"Health.Timeout":     {Health: health.Options{Timeout: -1}},
		"Health.Waiting":     {Health: health.Options{Waiting: -1}},
		"Health.Busy":        {Health: health.Options{Busy: -1}},
		"Health.Failing":     {Health: health.Options{Failing: -1}},
		"Health.Stalled":     {Health: health.Options{Stalled: -1}},
	} {
		_, err := pawl.New(db, o)
		field(t, want, err)
	}
	if _, err := pawl.New(db, pawl.Options{Inbox: inbox.Options{Retry: &outbox.RetryPolicy{MaxAttempts: 0}}, Lease: time.Second, BatchSize: 1000}); err != nil {
		t.Errorf("what is allowed: %v", err)
	}
}

// D-8: those of a handler are reported when it is to run.
func TestOptionsOfHandlersAreReportedByRun(t *testing.T) {
	db := dbtest.OpenSQLite(t)
	for want, opts := range map[string]outbox.HandlerOptions{"Timeout": {Timeout: -1}, "Retry.Jitter": {Retry: &outbox.RetryPolicy{Jitter: 1.5}}} {
		p, err := pawl.New(db, pawl.Options{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		p.Handle("t", func(context.Context, *outbox.Message) error { return nil }, opts)
		field(t, want, p.Run(t.Context()))
	}
}

// D-8: databases refuse them before anything is opened.
func TestOptionsOfDatabases(t *testing.T) {
	path := t.TempDir() + "/x.db"
	for want, o := range map[string]sqlite.Options{"StatementTimeout": {StatementTimeout: -1}, "WatchEvery": {WatchEvery: -1}} {
		_, err := sqlite.Open(path, o)
		field(t, want, err)
	}
	for want, o := range map[string]postgres.Options{"StatementTimeout": {StatementTimeout: -1}, "LockTimeout": {LockTimeout: -1}} {
		_, err := postgres.Open("postgres://u@127.0.0.1:1/d", o)
		field(t, want, err)
	}
	_, err := sqlite.OpenURL(engine.OpenOptions{URL: "sqlite:" + path, Connections: -1})
	field(t, "Connections", err)
	_, err = postgres.OpenURL(engine.OpenOptions{URL: "postgres://u@127.0.0.1:1/d", Connections: -1})
	field(t, "Connections", err)
}
