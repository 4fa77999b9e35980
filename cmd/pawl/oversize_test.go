package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/receive"
	"github.com/bravellian/pawl/sqlite"
	"github.com/bravellian/pawl/timer"
	"github.com/bravellian/pawl/ui"
)

const (
	hostileSize = 128 << 20
	// mayAllocate is what any input may make the program allocate in all: copies of it in whole are more.
	mayAllocate = 80 << 20
)

// endless is input that does not end in any time that a test has.
type endless struct {
	byte
	read int64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.read += int64(len(p)); e.read > 4<<30 {
		return 0, errors.New("read without a bound")
	}
	for i := range p {
		p[i] = e.byte
	}
	return len(p), nil
}

// sparse is a file of a gibibyte that takes no room.
func sparse(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sparse")
	f, err := os.Create(path)
	if err == nil {
		err = errors.Join(f.Truncate(1<<30), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// D-306: whatever is too large, in whatever input, is refused, and no more memory is taken for it than for what is
// allowed.
func TestOversizeInputTakesNoMemory(t *testing.T) {
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "a.db"))
	if err == nil {
		err = db.Migrate(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	quiet := slog.New(slog.DiscardHandler)
	p, err := pawl.New(db, pawl.Options{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	long := strings.Repeat("x", hostileSize)
	bytes, commas := []byte(long), strings.ReplaceAll(long, "x", ",")
	many := map[string]string{}
	for i := range 1_000_000 {
		many[strconv.Itoa(i)] = ""
	}
	file := sparse(t)
	due := time.Now().Add(time.Hour)
	dashboard := ui.Handler(ui.Of(p), ui.Options{Logger: quiet})
	hook, err := receive.New(p.Inbox, receive.Options{Source: "s", Topic: "t", Verify: receive.GitHub("secret"), Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	send := func(h http.Handler, method, path string, body io.Reader) error {
		r := httptest.NewRequestWithContext(ctx, method, "http://localhost"+path, body)
		r.RemoteAddr = "127.0.0.1:9"
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code < 400 {
			return nil
		}
		return fmt.Errorf("%d", w.Code)
	}
	line := func(stdin io.Reader, args ...string) error {
		var said strings.Builder
		a := &app{stdin: stdin, stdout: io.Discard, stderr: &said}
		if args[0] != "fleet" {
			args = append(args, "--db="+filepath.Join(t.TempDir(), "b.db"))
		}
		code := a.run(ctx, args)
		for _, wrong := range []string{"missing flags", "unexpected argument", "unknown flag", "used together"} { // nothing was read then
			if strings.Contains(said.String(), wrong) {
				t.Errorf("%q: %s", args, said.String())
			}
		}
		if code != exitOK {
			return fmt.Errorf("exit code %d", code)
		}
		return nil
	}
	enqueue := func(m outbox.Message) func() error {
		if m.Topic == "" {
			m.Topic = "t"
		}
		return func() error { return second(p.Outbox.Enqueue(ctx, m)) }
	}
	cases := map[string]func() error{
		"payload":           enqueue(outbox.Message{Payload: bytes}),
		"topic":             enqueue(outbox.Message{Topic: long}),
		"queue":             enqueue(outbox.Message{Queue: long}),
		"correlation id":    enqueue(outbox.Message{CorrelationID: long}),
		"ordering key":      enqueue(outbox.Message{OrderingKey: long}),
		"unique key":        enqueue(outbox.Message{UniqueKey: long}),
		"a header":          enqueue(outbox.Message{Headers: map[string]string{"h": long}}),
		"a header's name":   enqueue(outbox.Message{Headers: map[string]string{long: ""}}),
		"a million headers": enqueue(outbox.Message{Headers: many}),
		"inbox source":      func() error { return second(p.Inbox.AlreadyProcessed(ctx, inbox.Key{Source: long, MessageID: "m"})) },
		"inbox id":          func() error { return second(p.Inbox.AlreadyProcessed(ctx, inbox.Key{Source: "s", MessageID: long})) },
		"inbox hash": func() error {
			return second(p.Inbox.AlreadyProcessed(ctx, inbox.Key{Source: "s", MessageID: "m", Hash: bytes}))
		},
		"join metadata": func() error { return second(p.Joins.Start(ctx, join.Spec{ExpectedSteps: 1, Metadata: long})) },
		"join group":    func() error { return second(p.Joins.Start(ctx, join.Spec{ExpectedSteps: 1, GroupingKey: long})) },
		"timer key":     func() error { return second(p.Timers.Schedule(ctx, timer.Timer{Topic: "t", Due: due, Key: long})) },
		"timer payload": func() error {
			return second(p.Timers.Schedule(ctx, timer.Timer{Topic: "t", Due: due, Payload: bytes}))
		},
		"job name":     func() error { return p.Jobs.Put(ctx, job.Job{Name: long, Topic: "t", Schedule: "@daily"}) },
		"job schedule": func() error { return p.Jobs.Put(ctx, job.Job{Name: "j", Topic: "t", Schedule: long}) },
		"job schedule of many": func() error {
			return p.Jobs.Put(ctx, job.Job{Name: "j", Topic: "t", Schedule: commas})
		},
		"job zone":    func() error { return p.Jobs.Put(ctx, job.Job{Name: "j", Topic: "t", Schedule: "@daily", Zone: long}) },
		"lease name":  func() error { return second(p.Leases.Acquire(ctx, long, lease.Options{})) },
		"lease owner": func() error { return second(p.Leases.Acquire(ctx, "l", lease.Options{Owner: long})) },
		"pause":       func() error { return second(p.Admin.Pause(ctx, admin.Topic, long, "")) },
		"a reason":    func() error { return second(p.Admin.Pause(ctx, admin.Topic, "t", long)) },
		"a limit": func() error {
			return second(p.Admin.SetLimit(ctx, admin.Topic, long, outbox.Limit{Concurrency: 1}, ""))
		},
		"explain":        func() error { return second(p.Admin.Explain(ctx, long)) },
		"a form":         func() error { return send(dashboard, http.MethodPost, "/do/pause", &endless{byte: 'x'}) },
		"a form of many": func() error { return send(dashboard, http.MethodPost, "/do/pause", &endless{byte: '&'}) },
		"a path":         func() error { return send(dashboard, http.MethodGet, "/messages/"+long[:1<<20], http.NoBody) },
		"a query": func() error {
			return send(dashboard, http.MethodGet, "/api/v1/messages?id="+url.QueryEscape(long[:1<<20]), http.NoBody)
		},
		"a webhook":      func() error { return send(hook, http.MethodPost, "/", &endless{byte: 'x'}) },
		"a line":         func() error { return line(&endless{byte: 'x'}, "enqueue", "--topic", "t") },
		"a line of JSON": func() error { return line(&endless{byte: '['}, "enqueue") },
		"a whole input":  func() error { return line(&endless{byte: 'x'}, "enqueue", "--topic", "t", "--format", "whole") },
		"jobs of a file": func() error { return line(nil, "jobs", "sync", "--owner", "o", file) },
		"jobs of a stream": func() error {
			return line(io.MultiReader(strings.NewReader(`[{"name":"`), &endless{byte: 'x'}), "jobs", "sync", "--owner", "o", "-")
		},
		"people of a file": func() error { return line(nil, "ui", "--basic-auth", file) },
		"stores of a file": func() error { return line(nil, "fleet", "ls", "--fleet", "list:"+file) },
		"data of a timer": func() error {
			return line(&endless{byte: 'x'}, "timers", "add", "--topic", "t", "--due", "1h", "--data", "-")
		},
		"an enqueued file": func() error { return line(nil, "enqueue", "--topic", "t", "--format", "whole", file) },
	}
	for name, do := range cases {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := do()
		runtime.ReadMemStats(&after)
		if err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("%s: taken", name)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > mayAllocate {
			t.Errorf("%s: %d MiB were allocated", name, took>>20)
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Errorf("%s: the error has %d bytes", name, len(err.Error()))
		}
	}
}

func second[T any](_ T, err error) error { return err }
