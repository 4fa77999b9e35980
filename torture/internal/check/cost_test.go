package check

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/torture/internal/history"
)

// A run has millions of messages, and each costs a record in memory.
func TestSizeOfMessage(t *testing.T) {
	if size := unsafe.Sizeof(message{}); size > 104 {
		t.Errorf("a message takes %d bytes", size)
	}
}

func number(n int) string {
	var u uuid.UUID
	binary.BigEndian.PutUint64(u[8:], uint64(n)*0x9e3779b97f4a7c15) // in no order
	return u.String()
}

// synthesize writes n events, five for each message, to the files of eight processes.
func synthesize(tb testing.TB, folder string, n int) int {
	tb.Helper()
	var writers []*history.Writer
	for i := range 8 {
		w, err := history.Create(folder, fmt.Sprint("process-", i))
		if err != nil {
			tb.Fatal(err)
		}
		writers = append(writers, w)
		tb.Cleanup(func() {
			if err := w.Close(); err != nil {
				tb.Error(err)
			}
		})
	}
	add := func(w int, op string, o history.Outcome, e history.Event) {
		e.Op, e.Outcome = op, o
		if err := writers[w].Append(e); err != nil {
			tb.Fatal(err)
		}
	}
	messages := n / 5
	for i := range messages {
		e := history.Event{Message: number(i), Topic: "orders", Key: fmt.Sprint("key-", i%1000), Place: int64(i)}
		add(i%4, history.Enqueue, history.Began, e)
		add(i%4, history.Enqueue, history.OK, e)
		e.Attempt = 1
		add(4+i%4, history.Handle, history.Began, e)
		add(4+i%4, history.Handle, history.OK, e)
		e.Detail = history.Done
		add(4+i%4, history.Settled, history.OK, e)
	}
	add(0, history.Phase, history.OK, history.Event{Detail: history.Drained})
	return messages
}

// BenchmarkCheck reads 2 million events, or as many as PAWL_EVENTS says.
func BenchmarkCheck(b *testing.B) {
	n := 2_000_000
	if text := os.Getenv("PAWL_EVENTS"); text != "" {
		if _, err := fmt.Sscan(text, &n); err != nil {
			b.Fatal(err)
		}
	}
	folder := b.TempDir()
	messages := synthesize(b, folder, n)
	files, err := history.Folder(folder)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		peak := watch(b)
		report, err := Check(files, Final{
			Lease:  30 * time.Second,
			Limits: map[string]int{"orders": 4},
			Ledger: func(yield func(string) bool) {
				for i := 0; i < messages && yield(number(i)); i++ {
				}
			},
			Messages: func(yield func(Message) bool) {
				for i := 0; i < messages && yield(Message{number(i), Done, 0}); i++ {
				}
			},
		})
		if err != nil || !report.OK() {
			b.Fatal(err, report)
		}
		b.ReportMetric(float64(peak())/1e6, "MB")
		b.ReportMetric(float64(peak())/float64(messages), "B/message")
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// watch returns a function that returns the greatest heap since.
func watch(b *testing.B) func() uint64 {
	runtime.GC()
	done, result := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapInuse)
			select {
			case <-tick.C:
			case <-done:
				result <- most
				return
			}
		}
	}()
	var most uint64
	ended := false
	return func() uint64 {
		if !ended {
			close(done)
			most, ended = <-result, true
		}
		return most
	}
}
