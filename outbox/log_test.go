package outbox_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// lines is a log that tests can read.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *lines) count(text string) int { return strings.Count(l.String(), text) }

func (l *lines) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// find returns the first line that has all the texts.
func (l *lines) find(texts ...string) string {
next:
	for line := range strings.SplitSeq(l.String(), "\n") {
		for _, text := range texts {
			if !strings.Contains(line, text) {
				continue next
			}
		}
		return line
	}
	return ""
}

// OBX-102, OBX-103, OBX-104, OBX-105, OBX-106, D-117
func TestLogging(t *testing.T) { dbtest.Each(t, testLogging) }

func testLogging(t *testing.T, e dbtest.Engine) {
	var log lines
	f := open(t, e, quick(worker.Options{Logger: log.logger(), RetryLogLevel: slog.LevelWarn}))
	id, err := f.Enqueue(f.ctx(), outbox.Message{Topic: "mail", CorrelationID: "corr-9"})
	if err != nil {
		t.Fatal(err)
	}
	f.claimShort(1)
	f.handle("mail", func(context.Context, *outbox.Message) error { return errors.New("mailbox full") })
	f.start()
	f.db.Pass(short + 20*time.Millisecond)
	f.untilStatus(f.find(id).Position, outbox.Failed)
	for _, want := range [][]string{
		{"level=INFO", "msg=enqueued", "topic=mail", "correlation_id=corr-9", id.String()},
		{"level=DEBUG", "msg=claimed", "count=1"},
		{"level=INFO", "msg=handling", "topic=mail", id.String()},
		{"level=WARN", "handler failed", "mailbox full", " of=3 ", "final=false", id.String()},
		{"level=ERROR", "handler failed", "mailbox full", "attempt=3 of=3 retry_in=0s final=true", id.String()},
		{"level=INFO", "reaped", "count=1"},
	} {
		if log.find(want...) == "" {
			t.Errorf("no log line with %v in:\n%s", want, log.String())
		}
	}
}

// OBX-125, D-5
func TestLogsHoldNoPayload(t *testing.T) { dbtest.Each(t, testLogsHoldNoPayload) }

func testLogsHoldNoPayload(t *testing.T, e dbtest.Engine) {
	const secret = "canary-7f3a"
	var log lines
	f := open(t, e, quick(worker.Options{Logger: log.logger(), MaxPayload: 100}))
	pawl.NewTopic[map[string]int]("t").Handle(f, func(context.Context, *pawl.Delivery[map[string]int]) error { return nil })
	m := outbox.Message{Topic: "t", Payload: []byte(`{"a":"` + secret + `"}`), Headers: map[string]string{"authorization": secret}}
	id := f.enqueue(m)
	f.start()
	info := f.untilStatus(id, outbox.Failed)
	m.Payload = []byte(strings.Repeat(secret, 20))
	_, err := f.Enqueue(f.ctx(), m)
	if err == nil {
		t.Fatal("the payload is over the limit")
	}
	for where, text := range map[string]string{"the log": log.String(), "last_error": info.LastError, "the error": err.Error()} {
		if strings.Contains(text, secret) {
			t.Errorf("%s holds a payload or header: %s", where, text)
		}
	}
}
