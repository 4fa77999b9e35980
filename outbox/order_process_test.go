//go:build unix

package outbox_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// orderLease is the lease of workers of which some are paused for longer.
const orderLease = 2 * time.Second

// workInOrder handles messages until the process is killed.
func workInOrder() error {
	db, err := openVictim()
	if err != nil {
		return err
	}
	log, err := openLog()
	if err != nil {
		return err
	}
	o := parts.NewOutbox(db, worker.Options{
		Concurrency: 16, Lease: orderLease, PollInterval: 100 * time.Millisecond,
		Retry: &worker.RetryPolicy{Delay: func(int) time.Duration { return 5 * time.Millisecond }},
	})
	o.Handle("t", func(_ context.Context, m *outbox.Message) error {
		fmt.Fprintf(log, "begin %d %s %s\n", os.Getpid(), m.OrderingKey, m.Payload)
		time.Sleep(time.Duration(rand.IntN(2_000)) * time.Microsecond)
		if rand.IntN(50) == 0 {
			return errors.New("by chance")
		}
		fmt.Fprintf(log, "end %d %s %s\n", os.Getpid(), m.OrderingKey, m.Payload)
		return nil
	})
	return o.Run(context.Background())
}

// D-211: the order holds while processes are killed, and paused for longer than their leases; a log
// outside of the database tells. PAWL_LONG: 8 processes and 1 000 keys.
func TestOrderUnderFire(t *testing.T) {
	keys, each, processes := 60, 20, 4
	if os.Getenv("PAWL_LONG") != "" {
		keys, each, processes = 1000, 20, 8
	}
	eachVictims(t, func(t *testing.T, v *victims) {
		fire := newNemesis(t, v, "order")
		for range processes {
			fire.start()
		}
		stop := fire.during(fire.attack)
		defer stop()
		for i := range each {
			msgs := make([]outbox.Message, keys)
			for k := range msgs {
				msgs[k] = outbox.Message{Topic: "t", OrderingKey: fmt.Sprint("key", k), Payload: fmt.Append(nil, i)}
			}
			if _, err := v.o.EnqueueBatch(t.Context(), msgs); err != nil {
				t.Error(err)
			}
		}
		fire.untilDone(v, keys*each)
		stop()
		checkOrder(t, fire.log, keys, each, fire.stopped)
		t.Logf("%d killed, %d paused", fire.kills, len(fire.stopped))
	})
}

// checkOrder reads the log. A message may be handled more than once, and a process that was paused
// may end what it began, but the first attempt of each begins after the one before it has ended.
func checkOrder(t *testing.T, path string, keys, each int, stopped map[int]bool) {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ended := map[string]int{} // per key: how many have ended
	for lines := bufio.NewScanner(file); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if f[0] == "dead" {
			continue
		}
		pid, err1 := strconv.Atoi(f[1])
		nr, err2 := strconv.Atoi(f[3])
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		switch done := ended[f[2]]; {
		case f[0] == "end" && nr == done:
			ended[f[2]]++
		case f[0] == "begin" && nr > done:
			t.Fatalf("%s begins message %d of %s, and only %d have ended", f[1], nr, f[2], done)
		case f[0] == "begin" && nr < done-1 && !stopped[pid]:
			t.Fatalf("%s begins message %d of %s again, after the next one ended", f[1], nr, f[2])
		}
	}
	for k := range keys {
		if key := fmt.Sprint("key", k); ended[key] != each {
			t.Errorf("%d of %s ended, want %d", ended[key], key, each)
		}
	}
}
