//go:build linux || darwin

package fleet_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/move"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// With this in its environment the test binary is a process of moveJob.
const moveVariable = "PAWL_FLEET_MOVE_JOB"

// moveJob works on a store until its input ends or, with To, moves it.
type moveJob struct {
	Store fleet.Database
	To    *fleet.Database
	Lease time.Duration
}

func (j *moveJob) run() error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	o := quick()
	o.Pawl.Lease, o.PollMax, o.Pawl.Logger = j.Lease, 500*time.Millisecond, slog.New(slog.DiscardHandler)
	f, err := fleet.New(fleet.Static(j.Store), o)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if j.To != nil {
		_, err := f.Operator(access.Key{}).Move(ctx, j.Store.Key, *j.To, move.Options{})
		if err == nil {
			fmt.Println("moved")
		}
		return err
	}
	f.Handle("t", func(_ context.Context, m *outbox.Message) error {
		fmt.Println("done", time.Now().UnixNano(), string(m.Payload))
		return nil
	})
	return f.Run(ctx)
}

// moving is a store that is moved, with its processes.
type moving struct {
	t     *testing.T
	mu    sync.Mutex
	count map[string]int // how often each message was handled
	last  map[string]int // the highest of each key
	begun []handling     // what was handled for the first time
}

// handling is a message that was handled, and when: lines of several processes are read in any
// order.
type handling struct {
	at     int64
	key    string
	number int
}

// start starts a process and returns a function that waits for its end.
func (m *moving) start(job moveJob) (cmd *exec.Cmd, ended func() error) {
	m.t.Helper()
	text, err := json.Marshal(job)
	must(m.t, err)
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), moveVariable+"="+string(text))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(m.t, err)
	_, err = cmd.StdinPipe() // open until the end
	must(m.t, err)
	must(m.t, cmd.Start())
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if words := strings.Fields(lines.Text()); len(words) == 3 && words[0] == "done" {
				m.handled(words[1], words[2])
			}
		}
	}()
	ended = sync.OnceValue(func() error {
		<-read
		return cmd.Wait()
	})
	m.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = ended()
	})
	return cmd, ended
}

// handled notes a message, "key/number".
func (m *moving) handled(when, body string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count[body]++
	key, text, _ := strings.Cut(body, "/")
	n, _ := strconv.Atoi(text)
	at, _ := strconv.ParseInt(when, 10, 64)
	m.begun = append(m.begun, handling{at, key, n})
	m.last[key] = max(m.last[key], n)
}

// wrong returns what was handled for the first time before the one before it.
func (m *moving) wrong() (all []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	slices.SortFunc(m.begun, func(a, b handling) int { return cmp.Compare(a.at, b.at) })
	last := map[string]int{}
	for _, h := range m.begun {
		switch {
		case h.number == last[h.key]+1:
			last[h.key]++
		case h.number > last[h.key]:
			all = append(all, fmt.Sprintf("%s/%d after %d", h.key, h.number, last[h.key]))
		}
	}
	return all
}

func (m *moving) lastOf(key string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last[key]
}

func (m *moving) all() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.count)
}

// produce enqueues messages of one key until ctx ends, and returns how many. One that it has begun
// by then is finished, in the store's new place if it was moved.
func (m *moving) produce(ctx context.Context, f *fleet.Fleet, key string) (n int) {
	const most = 50 // that are not handled: of a key one is handled at a time
	for n = 1; ctx.Err() == nil; n++ {
		for n > m.lastOf(key)+most && ctx.Err() == nil {
			time.Sleep(5 * time.Millisecond)
		}
		message := outbox.Message{Topic: "t", OrderingKey: key, Payload: fmt.Appendf(nil, "%s/%d", key, n)}
		if err := enqueueMoving(context.WithoutCancel(ctx), f, message); err != nil {
			m.t.Errorf("enqueue %s/%d: %v", key, n, err)
			return n - 1
		}
	}
	return n - 1
}

// enqueueMoving enqueues a message in a transaction of the program's own: of a store that moved it
// asks the fleet again.
func enqueueMoving(ctx context.Context, f *fleet.Fleet, message outbox.Message) error {
	ctx, cancel := context.WithTimeout(ctx, mostWait)
	defer cancel()
	for {
		p, err := f.Pawl(ctx, "a")
		if err == nil {
			var id outbox.MessageID
			id, err = p.Outbox.Enqueue(ctx, message)
			if errors.Is(err, pawl.ErrCommitUnknown) {
				message.ID = id
			}
		}
		passes := errors.Is(err, pawl.ErrMoved) || errors.Is(err, pawl.ErrClosed) || errors.Is(err, pawl.ErrCommitUnknown) || errors.Is(err, pawl.ErrBusy)
		if !passes || ctx.Err() != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// mostWait is how long the test waits for anything on a slow machine.
const mostWait = 3 * time.Minute

// D-256, D-259: a store moves while producers and workers of several processes are at it, to
// another engine and back; the processes that move it are killed again and again. No message is
// lost, none is handled twice unless its worker was killed, and the order of keys holds.
func TestMoveUnderLoad(t *testing.T) {
	t.Parallel()
	for name, killWorkers := range map[string]bool{"movers killed": false, "workers killed as well": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pg, _ := servers(t, 1)
			old, new, third := file(t, "a"), pg[0], blank(t, "a")
			m := &moving{t: t, count: map[string]int{}, last: map[string]int{}}
			random := rand.New(rand.NewPCG(1, 2))
			f := open(t, fleet.Static(old), quick())
			ctx, enough := context.WithCancel(t.Context())
			var producing sync.WaitGroup
			sent := make([]int, 4)
			for i := range sent {
				producing.Go(func() { sent[i] = m.produce(ctx, f, fmt.Sprintf("k%d", i)) })
			}
			lease := time.Minute // longer than a busy machine keeps a worker from settling
			if killWorkers {
				lease = 3 * time.Second
			}
			worker, ended := m.start(moveJob{Store: old, Lease: lease})
			other, _ := m.start(moveJob{Store: old, Lease: lease})
			dbtest.UntilWithin(t, mostWait, "the workers work", func() bool { return m.all() > 100 })
			for _, to := range []fleet.Database{new, third} {
				for longest := 1500; ; longest += 500 { // on a slow machine a move takes longer than it lives at first
					mover, moved := m.start(moveJob{Store: old, To: &to, Lease: lease})
					life := time.Duration(50+random.IntN(longest)) * time.Millisecond
					timer := time.AfterFunc(life, func() { _ = mover.Process.Kill() })
					err := moved()
					timer.Stop()
					if err == nil {
						break
					}
					if mover.ProcessState.Exited() { // it was not killed
						t.Fatalf("the move failed: %v", err)
					}
					if killWorkers {
						_ = worker.Process.Kill()
						_ = ended()
						worker, ended = m.start(moveJob{Store: old, Lease: lease})
					}
				}
				before := m.all()
				dbtest.UntilWithin(t, mostWait, "work goes on in the new place", func() bool { return m.all() > before+100 })
			}
			enough()
			producing.Wait()
			total := 0
			for _, n := range sent {
				total += n
			}
			dbtest.UntilWithin(t, mostWait, "all are handled", func() bool { return m.all() == total })
			_ = other.Process.Signal(os.Interrupt)
			if wrong := m.wrong(); len(wrong) > 0 {
				t.Errorf("out of order: %v", wrong)
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			for body, n := range m.count {
				if n > 1 && !killWorkers {
					t.Errorf("%s was handled %d times", body, n)
				}
			}
			t.Logf("%d messages, moved twice", total)
		})
	}
}
