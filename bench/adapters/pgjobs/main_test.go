package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/test/testpg"
)

// asProcess makes the test's binary the adapter itself, so that it can be started, told and ended as the
// harness does.
const asProcess = "PGJOBS_TEST_PROCESS"

func TestMain(m *testing.M) {
	if os.Getenv(asProcess) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// harness is the benchmark's side of a process.
type harness struct {
	t       *testing.T
	cmd     *exec.Cmd
	tokens  io.WriteCloser
	lines   chan line
	sampled map[string]int
	jobs    map[string]float64 // rate times window, summed up: of each rate
	last    map[string]float64
}

// line is what the process writes, of both kinds.
type line struct {
	Kind        string   `json:"kind"`
	System      string   `json:"system"`
	InstanceID  *int     `json:"instance_id"`
	EventTables []string `json:"event_tables"`
	Extensions  []string `json:"extensions"`
	DBName      string   `json:"db_name"`
	StartedAt   string   `json:"started_at"`
	T           string   `json:"t"`
	SubjectKind string   `json:"subject_kind"`
	Metric      string   `json:"metric"`
	Value       *float64 `json:"value"`
	WindowS     *float64 `json:"window_s"`
}

// start starts the process with variables as the harness sets them, and reads its descriptor.
func start(t *testing.T, url string, variables ...string) (*harness, line) {
	t.Helper()
	h := &harness{t: t, lines: make(chan line), sampled: map[string]int{}, jobs: map[string]float64{}, last: map[string]float64{}}
	h.cmd = exec.CommandContext(t.Context(), os.Args[0])
	h.cmd.Env = append(os.Environ(), append([]string{
		asProcess + "=1", "DATABASE_URL=" + url, "SCENARIO=long_horizon", "SAMPLE_EVERY_S=1", "WORKER_COUNT=4", "JOB_WORK_MS=1",
	}, variables...)...)
	h.cmd.Stderr = t.Output()
	out, err := h.cmd.StdoutPipe()
	check(t, err)
	h.tokens, err = h.cmd.StdinPipe()
	check(t, err)
	check(t, h.cmd.Start())
	go func() {
		defer close(h.lines)
		for in := bufio.NewScanner(out); in.Scan(); {
			var l line
			if err := json.Unmarshal(in.Bytes(), &l); err != nil {
				l.Kind = fmt.Sprintf("%q: %v", in.Text(), err)
			}
			h.lines <- l
		}
	}()
	t.Cleanup(func() { _ = h.cmd.Process.Kill() })
	first := h.read()
	if first.Kind != "descriptor" {
		t.Fatalf("the first line is %q, want the descriptor", first.Kind)
	}
	return h, first
}

// read reads a line and notes what it says.
func (h *harness) read() line {
	h.t.Helper()
	select {
	case l, ok := <-h.lines:
		if !ok {
			h.t.Fatalf("the process ended: %v", h.cmd.Wait())
		}
		h.note(l)
		return l
	case <-time.After(2 * time.Minute):
		h.t.Fatalf("no line for two minutes; so far: %v", h.last)
		return line{}
	}
}

// note checks a line as the harness does and adds it up.
func (h *harness) note(l line) {
	h.t.Helper()
	if l.System != "pawl" || l.InstanceID == nil {
		h.t.Fatalf("a line without system or replica: %+v", l)
	}
	if l.Kind != "adapter" {
		return
	}
	if _, err := time.Parse(time.RFC3339Nano, l.T); err != nil || l.SubjectKind != "adapter" || l.Metric == "" || l.Value == nil || l.WindowS == nil {
		h.t.Fatalf("an incomplete sample: %+v", l)
	}
	h.sampled[l.Metric]++
	h.last[l.Metric] = *l.Value
	if strings.HasSuffix(l.Metric, "_rate") {
		h.jobs[l.Metric] += *l.Value * *l.WindowS
	}
}

// mostSamples is how many samples a state may take to come, one a second.
const mostSamples = 120

// until reads lines until ok.
func (h *harness) until(ok func() bool) {
	h.t.Helper()
	for began := h.sampled["enqueue_rate"]; !ok(); h.read() {
		if h.sampled["enqueue_rate"]-began > mostSamples {
			h.t.Fatalf("after %d samples: %v", mostSamples, h.last)
		}
	}
}

// end ends the process by SIGTERM and reads the rest of its lines. It has to exit with 0.
func (h *harness) end() {
	h.t.Helper()
	check(h.t, h.tokens.Close())
	check(h.t, h.cmd.Process.Signal(syscall.SIGTERM))
	for l := range h.lines {
		h.note(l)
	}
	if err := h.cmd.Wait(); err != nil {
		h.t.Errorf("after SIGTERM: %v", err)
	}
}

// is reports whether what was summed up of a rate is n jobs.
func (h *harness) is(metric string, n int) bool { return math.Round(h.jobs[metric]) == float64(n) }

// required are the metrics that the contract asks of every sample.
var required = []string{"claim_p50_ms", "claim_p95_ms", "claim_p99_ms", "enqueue_rate", "completion_rate", "queue_depth"}

// D-690: a run as the harness makes it: descriptor, tokens, samples, SIGTERM.
func TestRunByTokens(t *testing.T) {
	h, first := start(t, testpg.Database(t), "PRODUCER_PACING=harness", "PRODUCER_BATCH_MAX=16")
	var manifest struct {
		System      string   `json:"system"`
		EventTables []string `json:"event_tables"`
		Extensions  []string `json:"extensions"`
	}
	text, err := os.ReadFile("adapter.json")
	check(t, err)
	check(t, json.Unmarshal(text, &manifest))
	if first.System != manifest.System || !slices.Equal(first.EventTables, manifest.EventTables) || first.Extensions == nil || first.DBName == "" || first.StartedAt == "" {
		t.Errorf("descriptor %+v, manifest %+v", first, manifest)
	}
	jobs := 0
	for _, n := range []int{1, 16, 40, 3} {
		_, err := fmt.Fprintf(h.tokens, "ENQUEUE %d\n", n)
		check(t, err)
		jobs += n
	}
	h.until(func() bool { return h.is("enqueue_rate", jobs) && h.is("completion_rate", jobs) })
	h.until(func() bool {
		return h.last["queue_depth"] == 0 && h.last["total_backlog"] == 0 && h.sampled["queue_depth"] > 1
	})
	h.end()
	for _, m := range required {
		if h.sampled[m] == 0 {
			t.Errorf("no sample has %s", m)
		}
	}
	if !h.is("enqueue_rate", jobs) || !h.is("completion_rate", jobs) {
		t.Errorf("%v jobs in the end, want %d enqueued and completed", h.jobs, jobs)
	}
	if h.last["claim_p50_ms"] > h.last["claim_p99_ms"] || h.last["claim_p99_ms"] > h.last["end_to_end_p99_ms"] {
		t.Errorf("latencies in no order: %v", h.last)
	}
}

// D-690: without tokens the process keeps the rate that a file says, and a depth.
func TestRunByItself(t *testing.T) {
	url := testpg.Database(t)
	rate := filepath.Join(t.TempDir(), "rate")
	check(t, os.WriteFile(rate, []byte("200"), 0o600))
	h, _ := start(t, url, "PRODUCER_RATE=1", "PRODUCER_RATE_CONTROL_FILE="+rate)
	h.until(func() bool { return h.jobs["completion_rate"] > 300 && h.last["producer_target_rate"] == 200 })
	check(t, os.WriteFile(rate, []byte("0"), 0o600))
	h.until(func() bool { return h.last["producer_target_rate"] == 0 })
	enqueued := h.sampled["enqueue_rate"] // what the sample holds that the rate changed in
	h.until(func() bool { return h.sampled["enqueue_rate"] > enqueued+1 && h.last["enqueue_rate"] == 0 })
	h.end()

	second, _ := start(t, url, "PRODUCER_MODE=depth-target", "TARGET_DEPTH=500", "JOB_WORK_MS=3600000")
	second.until(func() bool { return second.last["total_backlog"] >= 500 })
	check(t, second.cmd.Process.Kill())
}

// D-690: replicas but the first report what they did themselves, not what is the same for all.
func TestSecondReplica(t *testing.T) {
	h, _ := start(t, testpg.Database(t), "BENCH_INSTANCE_ID=1", "PRODUCER_PACING=harness")
	h.until(func() bool { return h.sampled["completion_rate"] > 1 })
	h.end()
	if h.sampled["queue_depth"]+h.sampled["total_backlog"] > 0 {
		t.Errorf("replica 1 reports what replica 0 does: %v", h.sampled)
	}
}

// D-690: jobs of a worker that was killed are completed by the next.
func TestKilledWorker(t *testing.T) {
	url := testpg.Database(t)
	h, _ := start(t, url, "PRODUCER_PACING=harness", "JOB_WORK_MS=3600000")
	_, err := io.WriteString(h.tokens, "ENQUEUE 20\n")
	check(t, err)
	h.until(func() bool { return h.last["running_depth"] > 0 })
	check(t, h.cmd.Process.Kill())
	expireLeases(t, url)
	next, _ := start(t, url, "PRODUCER_PACING=harness")
	next.until(func() bool { return next.is("completion_rate", 20) })
	next.end()
}

// expireLeases ends the leases of all workers.
func expireLeases(t *testing.T, url string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	check(t, err)
	defer c.Close(context.WithoutCancel(t.Context()))
	_, err = c.Exec(t.Context(), "UPDATE pawl.outbox_claim SET locked_until = now() - interval '1 s'")
	check(t, err)
}

// D-691: percentiles have three significant figures, of the last 30 s alone.
func TestWindow(t *testing.T) {
	for bucket := range buckets {
		if got := bucketOf(int64(valueOf(bucket))); got != bucket {
			t.Fatalf("bucket %d has the value %v, which is of bucket %d", bucket, valueOf(bucket), got)
		}
	}
	w, now := new(window), time.Unix(1_000_000, 0)
	if p, ok := w.percentiles(now); ok {
		t.Errorf("an empty window has percentiles: %v", p)
	}
	random := rand.New(rand.NewPCG(1, 2))
	var all []float64
	for range 10_000 {
		d := time.Duration(math.Exp(random.Float64()*15) * float64(time.Microsecond)) // to 3 s
		w.recordAt(now, d)
		all = append(all, float64(d.Microseconds())/1000)
	}
	slices.Sort(all)
	p, _ := w.percentiles(now)
	for i, share := range []float64{0.50, 0.95, 0.99} {
		if want := all[int(share*float64(len(all)-1))]; math.Abs(p[i]-want) > want/1000 {
			t.Errorf("percentile %v is %v ms, want %v", share, p[i], want)
		}
	}
	w.recordAt(now.Add(windowSeconds*time.Second), time.Millisecond)
	if p, _ := w.percentiles(now.Add(windowSeconds * time.Second)); p != [3]float64{1, 1, 1} {
		t.Errorf("30 s later: %v, want only what was recorded then", p)
	}
	w.recordAt(now, 500*time.Hour)
	w.recordAt(now, -time.Hour) // clocks are set
}

// D-690: what is wrong in the environment is named, and nothing is assumed instead.
func TestConfig(t *testing.T) {
	env := map[string]string{"DATABASE_URL": "postgres://h/d", "PRODUCER_MODE": "sometimes", "WORKER_COUNT": "0", "SAMPLE_EVERY_S": "soon"}
	_, err := readConfig(func(name string) string { return env[name] })
	if err == nil || err.Error() != "missing or invalid: PRODUCER_MODE, WORKER_COUNT, SAMPLE_EVERY_S" {
		t.Errorf("got %v", err)
	}
	if _, err := readConfig(func(string) string { return "" }); err == nil || err.Error() != "missing or invalid: DATABASE_URL" {
		t.Errorf("got %v", err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
