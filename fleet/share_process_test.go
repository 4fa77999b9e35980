//go:build linux || darwin

package fleet_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/outbox"
)

// This test binary is also the processes that share stores: with a job in its environment it
// works on a fleet, says on its output what it does, and runs no tests.
const jobVariable = "PAWL_FLEET_JOB"

type sharedJob struct {
	Process string
	Control fleet.Database
	Stores  []fleet.Database
	Copies  int
	Locks   string // a directory: who handles a message holds a lock on its file there
}

func TestMain(m *testing.M) {
	if os.Getenv(jobVariable) == "" && os.Getenv(moveVariable) == "" {
		os.Exit(m.Run())
	}
	err := runJob(os.Getenv(jobVariable), new(sharedJob))
	if text := os.Getenv(moveVariable); text != "" {
		err = runJob(text, new(moveJob))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func runJob(text string, job interface{ run() error }) error {
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), job); err != nil {
		return err
	}
	return job.run()
}

// run works until its input ends.
func (j *sharedJob) run() error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	scheme, _, _ := strings.Cut(j.Control.URL, ":")
	db, err := engines()[scheme](engine.OpenOptions{URL: j.Control.URL, Schema: j.Control.Schema, Connections: 3})
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	quiet := slog.New(slog.DiscardHandler)
	p, err := pawl.New(db, pawl.Options{Logger: quiet})
	if err != nil {
		return err
	}
	members := fleet.MembersOf(p, "", j.Process, 5*time.Second, 100*time.Millisecond)
	f, err := fleet.New(fleet.Static(j.Stores...), fleet.Options{
		Engines: engines(), Connections: 12, PollMin: 50 * time.Millisecond, PollMax: 500 * time.Millisecond, Cool: 100 * time.Millisecond,
		Pawl:  pawl.Options{Lease: 3 * time.Second, Logger: quiet},
		Share: fleet.ShareOf(members, j.Copies),
	})
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	var printing sync.Mutex
	say := func(words ...any) {
		printing.Lock()
		defer printing.Unlock()
		fmt.Println(words...)
	}
	f.Handle("t", func(_ context.Context, m *outbox.Message) error {
		file, err := os.Create(filepath.Join(j.Locks, strings.ReplaceAll(string(m.Payload), "/", "-")))
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
			say("twice", string(m.Payload))
		}
		say("done", string(m.Payload))
		return nil
	})
	go func() {
		for last, failing := "", ""; ctx.Err() == nil; _ = engine.Sleep(ctx, 10*time.Millisecond) {
			share := f.Operator(access.Key{}).State().Share
			if now := fmt.Sprintf("%d:%s:%s", len(share.Members), share.Self, strings.Join(ours(f), ",")); now != last {
				say("owns", now)
				last = now
			}
			if text := f.Health(ctx).String(); strings.Contains(text, "[-]store/") && text != failing {
				say("fails", strings.ReplaceAll(text, "\n", "; "))
				failing = text
			}
		}
	}()
	return f.Run(ctx)
}

// processes are those of a fleet, as a test knows them.
type processes struct {
	t   *testing.T
	job sharedJob

	mu    sync.Mutex
	owns  map[string][]string // by process
	sees  map[string]string   // how many members a process knows
	ids   map[string]string   // their numbers
	done  map[string]int      // by message
	twice []string
	fails []string
	procs map[string]*exec.Cmd
	stdin map[string]io.Closer
}

func newProcesses(t *testing.T, job sharedJob) *processes {
	t.Helper()
	job.Locks = t.TempDir()
	return &processes{t: t, job: job, owns: map[string][]string{}, sees: map[string]string{}, ids: map[string]string{}, done: map[string]int{}, procs: map[string]*exec.Cmd{}, stdin: map[string]io.Closer{}}
}

// start starts a process.
func (c *processes) start(name string) {
	c.t.Helper()
	job := c.job
	job.Process = name
	text, err := json.Marshal(job)
	must(c.t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), jobVariable+"="+string(text))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(c.t, err)
	in, err := cmd.StdinPipe()
	must(c.t, err)
	must(c.t, cmd.Start())
	c.mu.Lock()
	c.procs[name], c.stdin[name] = cmd, in
	c.mu.Unlock()
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			c.record(name, lines.Text())
		}
	}()
	c.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-read
		_ = cmd.Wait()
	})
}

func (c *processes) record(name, line string) {
	what, about, _ := strings.Cut(line, " ")
	c.mu.Lock()
	defer c.mu.Unlock()
	switch what {
	case "owns":
		words := strings.Split(about, ":")
		c.sees[name], c.ids[name], c.owns[name] = words[0], words[1], strings.Split(words[2], ",")
	case "done":
		c.done[about]++
	case "fails":
		c.fails = append(c.fails, name+": "+about)
	case "twice":
		c.twice = append(c.twice, about)
	}
}

// shared is who works on which store, and under which numbers.
type shared struct {
	owners map[string][]string
	ids    map[string]string
}

// settled waits until these processes know of each other and of no other, and each store has exactly
// its owners, all of these processes.
func (c *processes) settled(names ...string) shared {
	c.t.Helper()
	var of map[string][]string
	var ids map[string]string
	want := min(c.job.Copies, len(names))
	defer func() {
		if c.t.Failed() {
			c.t.Logf("%v", of)
		}
	}()
	dbtest.UntilWithin(c.t, 3*time.Minute, fmt.Sprintf("each store has %d owners of %q", want, names), func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		of, ids = map[string][]string{}, maps.Clone(c.ids)
		for _, name := range names {
			if c.sees[name] != strconv.Itoa(len(names)) {
				return false
			}
			for _, key := range c.owns[name] {
				of[key] = append(of[key], name)
			}
		}
		for _, d := range c.job.Stores {
			if len(of[d.Key]) != want {
				return false
			}
		}
		return true
	})
	return shared{of, ids}
}

// kill kills a process that cannot prepare for it.
func (c *processes) kill(name string) {
	c.t.Helper()
	must(c.t, c.procs[name].Process.Kill())
}

// stop ends a process gracefully.
func (c *processes) stop(name string) {
	c.t.Helper()
	must(c.t, c.stdin[name].Close())
}

// handled waits until all those messages were handled.
func (c *processes) handled(messages []string) {
	c.t.Helper()
	defer func() {
		if c.t.Failed() {
			c.mu.Lock()
			defer c.mu.Unlock()
			left := slices.DeleteFunc(slices.Clone(messages), func(m string) bool { return c.done[m] > 0 })
			c.t.Logf("not handled: %q; failures: %q", left, c.fails)
		}
	}()
	dbtest.UntilWithin(c.t, 3*time.Minute, fmt.Sprintf("%d messages are handled", len(messages)), func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return !slices.ContainsFunc(messages, func(m string) bool { return c.done[m] == 0 })
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.twice) > 0 {
		c.t.Errorf("handled twice at once: %q", c.twice)
	}
}

// producer enqueues into all stores from yet another process: this one.
type producer struct {
	t *testing.T
	f *fleet.Fleet
	n int
}

func (p *producer) enqueue(each int) (messages []string) {
	p.t.Helper()
	for _, s := range p.f.Stores() {
		msgs := make([]outbox.Message, each)
		for i := range msgs {
			p.n++
			text := fmt.Sprintf("%s/%d", s.Key, p.n)
			msgs[i] = outbox.Message{Topic: "t", Payload: []byte(text)}
			messages = append(messages, text)
		}
		_, err := box(p.t, p.f, s.Key).EnqueueBatch(p.t.Context(), msgs)
		must(p.t, err)
	}
	return messages
}

// D-249, D-250, D-251: three processes share thirty files. One is killed, a fourth joins, one
// leaves: each store always gets its owners again, every message is handled, and none by two
// at once.
func TestProcessesShareFiles(t *testing.T) {
	t.Parallel()
	stores := files(t, storeKeys(30)...)
	processesShare(t, sharedJob{Control: file(t, "control"), Stores: stores, Copies: 1})
}

// D-249, D-250, D-251: the same with two processes a store.
func TestPairsOfProcessesShareFiles(t *testing.T) {
	t.Parallel()
	stores := files(t, storeKeys(30)...)
	processesShare(t, sharedJob{Control: file(t, "control"), Stores: stores, Copies: 2})
}

// D-249, D-250, D-251: the same with twelve schemas on a server. Thirty took half a minute more.
func TestProcessesSharePostgres(t *testing.T) {
	t.Parallel()
	url := testpg.Database(t)
	stores := make([]fleet.Database, 12)
	for i := range stores {
		stores[i] = fleet.Database{Key: fmt.Sprintf("s%02d", i), URL: url, Schema: fmt.Sprintf("s%02d", i)}
	}
	processesShare(t, sharedJob{Control: fleet.Database{Key: "control", URL: url, Schema: "control"}, Stores: stores, Copies: 1})
}

func processesShare(t *testing.T, job sharedJob) {
	o := quick()
	o.Connections = 12
	all := open(t, fleet.Static(append(slices.Clone(job.Stores), job.Control)...), o)
	if err := all.MigrateAll(t.Context(), "control"); err != nil {
		t.Fatal(err)
	}
	out := open(t, fleet.Static(job.Stores...), o)
	must(t, out.Refresh(t.Context()))
	p := &producer{t: t, f: out}
	c := newProcesses(t, job)
	sent := p.enqueue(2)
	for _, name := range []string{"a", "b", "c"} {
		c.start(name)
	}
	three := c.settled("a", "b", "c")
	sent = append(sent, p.enqueue(5)...)
	c.handled(sent)

	sent = append(sent, p.enqueue(5)...)
	c.kill("b")
	sent = append(sent, p.enqueue(5)...)
	two := c.settled("a", "c")
	c.handled(sent)
	sameExcept(t, "b", three, two)

	sent = append(sent, p.enqueue(5)...)
	c.start("d")
	sent = append(sent, p.enqueue(5)...)
	again := c.settled("a", "c", "d")
	c.handled(sent)
	sameExcept(t, "d", again, two)
	if again.ids["d"] == three.ids["b"] && same(three, again, "a", "c") {
		for key := range three.owners { // it takes b's place
			if got, want := rename(again.owners[key], "d", "b"), three.owners[key]; !slices.Equal(got, want) {
				t.Errorf("%s belongs to %q, and before to %q", key, got, want)
			}
		}
	}

	sent = append(sent, p.enqueue(5)...)
	c.stop("a")
	last := c.settled("c", "d")
	c.handled(sent)
	sameExcept(t, "a", again, last)
}

func rename(names []string, from, to string) []string {
	names = slices.Clone(names)
	for i := range names {
		if names[i] == from {
			names[i] = to
		}
	}
	slices.Sort(names)
	return names
}

// same reports whether processes kept their numbers. One that a busy machine held up for longer than its
// lease gets another, and other stores.
func same(before, after shared, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return before.ids[name] != after.ids[name] })
}

// sameExcept checks that one process had or has stores that others have without it, and that
// nothing else moved.
func sameExcept(t *testing.T, one string, with, without shared) {
	t.Helper()
	has, kept := 0, true
	for _, key := range slices.Sorted(maps.Keys(with.owners)) {
		if slices.Contains(with.owners[key], one) {
			has++
		}
		for _, name := range with.owners[key] {
			kept = kept && (name == one || same(with, without, name))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(with.owners)) {
		for _, name := range with.owners[key] {
			if kept && name != one && !slices.Contains(without.owners[key], name) {
				t.Errorf("%s belongs to %q with %s, and to %q without", key, with.owners[key], one, without.owners[key])
			}
		}
	}
	if has == 0 {
		t.Errorf("%s had no store", one)
	}
}
