package worker_test

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bravellian/pawl/internal/worker"
	"github.com/google/uuid"
)

// D-310, D-312, D-313, D-314, OBX-058, OBX-059, OBX-100, D-12, D-13, D-15, D-19: several processes, each with loops
// and a scheduler, work on one database in simulated time. It fails before and after calls took
// effect, is away, slow, and takes no writes; processes are stopped, killed and frozen; topics
// are paused. At every step what the loops promise has to hold. PAWL_SIMULATE=seed runs one seed
// and prints what happened.
func TestSimulate(t *testing.T) {
	if text := os.Getenv("PAWL_SIMULATE"); text != "" {
		seed, err := strconv.ParseUint(text, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		m := simulate(t, seed, true)
		t.Logf("%d steps\n%s", m.steps, strings.Join(m.trace, "\n"))
		return
	}
	steps, began := 0, time.Now()
	seeds := append(corpus(t), someSeeds()...)
	for _, seed := range seeds {
		steps += simulate(t, seed, false).steps
		if t.Failed() {
			return
		}
	}
	t.Logf("%d seeds, %d steps, %.0f a minute", len(seeds), steps, float64(steps)/time.Since(began).Minutes())
}

// D-311: the seed decides everything that happens.
func TestSimulateTwice(t *testing.T) {
	for _, seed := range slices.Concat(corpus(t), someSeeds())[:simulatedTwice] {
		first, second := simulate(t, seed, true).trace, simulate(t, seed, true).trace
		for i := range max(len(first), len(second)) {
			if a, b := lineAt(first, i), lineAt(second, i); a != b {
				t.Fatalf("seed %d: after %d lines that are the same\n%s\n%s", seed, i, a, b)
			}
		}
	}
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(over)"
}

// corpus returns the seeds that are kept, since they found something or are rare.
func corpus(t *testing.T) (seeds []uint64) {
	f, err := os.Open("testdata/simulate.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		number, _, _ := strings.Cut(lines.Text(), " ")
		if number == "" || number == "#" {
			continue
		}
		seed, err := strconv.ParseUint(number, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, seed)
	}
	return seeds
}

// someSeeds returns the seeds of a run: PAWL_SIMULATE_SEEDS of them from PAWL_SIMULATE_FROM on.
func someSeeds() (seeds []uint64) {
	n, _ := strconv.Atoi(os.Getenv("PAWL_SIMULATE_SEEDS"))
	from, _ := strconv.ParseUint(os.Getenv("PAWL_SIMULATE_FROM"), 0, 64)
	switch {
	case n == 0 && os.Getenv("PAWL_LONG") != "":
		n = simulatedLong
	case n == 0:
		n = simulatedShort
	}
	for i := range n {
		seeds = append(seeds, from+uint64(i))
	}
	return seeds
}

// simulate runs a seed in a bubble and reports what went wrong.
func simulate(t *testing.T, seed uint64, keep bool) (m *simulation) {
	t.Helper()
	// Which of several goroutines runs first is the same in every run only with one processor.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	synctest.Test(t, func(*testing.T) {
		m = newSimulation(seed, keep)
		m.run()
	})
	if len(m.wrong) > 0 {
		t.Errorf("PAWL_SIMULATE=%d go test ./internal/worker -run 'TestSimulate$'\n%s", seed, strings.Join(m.wrong[:min(len(m.wrong), 5)], "\n"))
	}
	return m
}

// shape is what a seed decides at the beginning.
type shape struct {
	seed       uint64
	items      int
	most       int // processes at once
	handlers   int
	slots      int
	ownSlots   bool
	batch      int
	lease      time.Duration
	grace      time.Duration
	pollMost   time.Duration
	attempts   int
	latency    time.Duration
	slowest    time.Duration // a call, ever
	longest    time.Duration // a handler
	horizon    time.Duration // until then things go wrong
	failBefore int           // per mille of calls that fail without an effect
	failAfter  int           // per mille of calls that fail though they took effect
	slow       int           // per mille of calls that take long
	failing    int           // per mille of handlers that do not succeed
	ignores    int           // per mille of handlers that ignore their context
	silent     int           // per mille of commits that notify nobody
}

func (m *stepper) shape(seed uint64) shape {
	calm := m.chance(300) // nothing goes wrong: bounds are strict
	rare := func(perMille ...int) int {
		if calm {
			return 0
		}
		return pick(m, perMille...)
	}
	lease := pick(m, time.Second, 2*time.Second, 5*time.Second, 30*time.Second) + 11
	return shape{
		seed: seed, items: 10 + m.rng.IntN(pick(m, 20, 150)), most: 1 + m.rng.IntN(4),
		handlers: pick(m, 1, 2, 5, 20), slots: 1 + m.rng.IntN(3), ownSlots: m.chance(300), batch: pick(m, 1, 3, 10, 100),
		lease: lease, grace: pick(m, 500*time.Millisecond, 3*time.Second, 20*time.Second) + 7,
		pollMost: pick(m, time.Second, 5*time.Second) + 5, attempts: pick(m, 0, 1, 3, 10),
		latency: pick(m, 100*time.Microsecond, 3*time.Millisecond, 20*time.Millisecond), slowest: 3 * time.Second,
		longest:    pick(m, time.Millisecond, 20*time.Millisecond, 500*time.Millisecond, 2*time.Second, 20*time.Second),
		horizon:    time.Duration(20+m.rng.IntN(100)) * time.Second,
		failBefore: rare(0, 0, 20, 200), failAfter: rare(0, 0, 20, 200), slow: rare(0, 0, 5, 50),
		failing: pick(m, 0, 100, 400), ignores: rare(0, 0, 50), silent: pick(m, 0, 0, 100, 1000),
	}
}

// simulation is a running seed.
type simulation struct {
	shape
	*stepper
	queues    []*store
	clock     *store // timers
	jobDue    time.Time
	runsDue   int
	processes []*process
	calm      bool // nothing goes wrong any more
	away      bool // the database
	readOnly  bool
	sluggish  bool
	hindered  time.Time // when something last kept all loops from work

	checks    sync.Mutex // guards what follows during a step
	asking    *lane      // whose call takes effect
	owners    map[uuid.UUID]*lane
	claims    map[uuid.UUID]int // by number
	suspects  map[uuid.UUID]time.Time
	suspected time.Time          // when a suspect was last claimed or settled
	orphans   map[uuid.UUID]bool // claims whose reply was lost
	runs      map[runKey]*run
	running   map[*run]bool
	pausedAt  map[pauseKey]pauseMark
}

func newSimulation(seed uint64, keep bool) *simulation {
	m := &simulation{
		stepper: newStepper(seed, keep), owners: map[uuid.UUID]*lane{}, claims: map[uuid.UUID]int{},
		suspects: map[uuid.UUID]time.Time{}, orphans: map[uuid.UUID]bool{}, runs: map[runKey]*run{}, running: map[*run]bool{}, pausedAt: map[pauseKey]pauseMark{},
	}
	m.shape = m.stepper.shape(seed)
	m.admit, m.goOn = m.admitStep, m.release
	for q := range 1 + m.rng.IntN(2) {
		s := newStore()
		s.paused, s.limits = map[string]bool{}, map[string]int{"limited": 1 + m.rng.IntN(3)}
		s.settles = func(done *worker.Settlement) { m.settling(q, done) }
		s.claims = func(owner uuid.UUID, suspects bool, items []*entry) { m.claimed(q, owner, suspects, items) }
		m.queues = append(m.queues, s)
	}
	m.clock, m.jobDue = newStore(), time.Now().Add(m.upTo(jobPeriod))
	m.hindered = time.Now()
	m.note("%+v", m.shape)
	return m
}

func (m *simulation) run() {
	m.plan()
	for range m.most {
		m.launch()
	}
	m.loop()
	m.verdicts()
}

// admitStep decides about a step that has just arrived.
func (m *simulation) admitStep(s *step) {
	p := s.lane.p
	s.at = time.Now()
	switch {
	case p.killed:
	case s.run != nil && s.of == nil:
		m.steps++
		m.begins(s.run)
		s.fate.verdict = m.decide(s)
		m.note("process %d begins %v in claim %d", p.n, s.run, m.claims[s.run.held.Owner])
	case s.run != nil:
		m.steps++
		m.interrupt(s)
	case s.of != nil:
		m.cutShort(s)
	case s.key.phase == 0:
		m.steps++
		m.asks(s.lane, s.call)
		m.judge(s)
		m.note("process %d lane %d calls %s", p.n, s.lane.n, s.call.op)
	default:
		m.note("process %d lane %d: %s got %d of %d", p.n, s.lane.n, s.call.op, s.call.got, s.call.want)
		s.at = s.at.Add(s.fate.reply)
	}
	m.schedule(s)
}

// judge decides what becomes of a call.
func (m *simulation) judge(s *step) {
	latency := m.upTo(m.latency)
	if m.calm {
		s.at, s.fate.reply = s.at.Add(latency), m.upTo(m.latency)
		return
	}
	if m.chance(m.slow) || m.sluggish {
		latency = m.upTo(m.slowest / 2)
		s.lane.p.troubled = time.Now()
	}
	s.at, s.fate.reply = s.at.Add(latency), m.upTo(latency)
	switch {
	case m.chance(m.failBefore):
		s.fate.err = errAway
	case m.chance(m.failAfter):
		s.fate.late = errUnknown
	}
}

// cutShort decides about a call whose context has ended: its transaction may go on for a
// while, and be committed or not.
func (m *simulation) cutShort(s *step) {
	s.fate = s.of.fate
	if m.chance(500) {
		s.at = s.at.Add(m.upTo(m.latency))
		s.fate.err, s.fate.late = errUnknown, errUnknown
	} else {
		s.at = s.of.at
	}
	m.note("process %d lane %d: context of %s ends", s.lane.p.n, s.lane.n, s.call.op)
}

// decide returns what a handler that begins will do, and when.
func (m *simulation) decide(s *step) (v verdict) {
	took := m.upTo(m.longest)
	if m.chance(200) {
		took = m.upTo(m.longest / 50)
	}
	s.at = s.at.Add(took)
	if m.calm || !m.chance(m.failing) {
		v.how = succeeds
		return v
	}
	v.how = pick(m.stepper, fails, fails, fails, retriesAfter, retriesAfter, snoozes, snoozes, panics, exits, failsForGood, returnsCancelled)
	v.delay, v.ignores = m.upTo(3*time.Second), m.chance(m.ignores)
	return v
}

// interrupt decides what a handler does whose context has ended.
func (m *simulation) interrupt(s *step) {
	s.fate, s.run.cancelled = s.of.fate, true
	if errors.Is(context.Cause(s.run.ctx), worker.ErrLeaseLost) {
		m.orphans[s.run.held.Owner] = true // given up, though the database may have extended it
	}
	m.note("context of %v ends", s.run)
	switch {
	case s.fate.ignores, m.chance(100):
		s.at = s.of.at
		return
	case m.chance(100):
		s.at = s.at.Add(m.upTo(1500 * time.Millisecond))
	default:
		s.at = s.at.Add(m.upTo(20 * time.Millisecond))
	}
	if !m.chance(200) {
		s.fate.how = pick(m.stepper, gives, fails, returnsCancelled)
	}
}

// release lets a step go on.
func (m *simulation) release(s *step) {
	l, p := s.lane, s.lane.p
	f := s.fate
	switch {
	case p.killed:
		f.err, f.late, f.how = errAway, errAway, fails
	case p.frozen:
		p.held = append(p.held, s)
		return
	case s.run != nil:
		m.steps++
		m.ends(s.run, f.verdict)
	case s.key.phase == 0:
		f.err = cmp.Or(m.unavailable(s.call), f.err)
		m.asking = l
		if f.err != nil {
			m.answered(l, s.call, f.err)
			m.note("process %d lane %d: %s fails: %v", p.n, l.n, s.call.op, f.err)
		}
	default:
		m.answered(l, s.call, f.late)
		if f.late != nil {
			m.note("process %d lane %d: reply of %s lost", p.n, l.n, s.call.op)
		}
	}
	s.void = true
	s.goes <- f
}

func (m *simulation) ends(r *run, v verdict) {
	r.ended, r.verdict = true, v
	delete(m.running, r)
	r.lane.runs--
	r.lane.busy = time.Now()
	r.lane.progress()
	if r.topic == "slots" {
		r.lane.p.slotted--
	}
	m.note("%v %v", r, v.how)
}

// unavailable returns the error of a call while the database does not take it.
func (m *simulation) unavailable(c *call) error {
	reads := c.op == "nextdue" || c.op == "pauses" || strings.HasPrefix(c.op, "due")
	switch {
	case m.away:
		return errAway
	case m.readOnly && !reads:
		return errReadOnly
	}
	return nil
}

func (m *simulation) claimNumber(owner uuid.UUID) int {
	m.checks.Lock()
	defer m.checks.Unlock()
	return m.claims[owner]
}

func (r *run) String() string {
	if r == nil {
		return "none"
	}
	return fmt.Sprintf("item %d of queue %d in process %d (topic %s, retry %d, ended %v: %v %v, context ended %v)",
		r.held.ID, r.lane.n, r.lane.p.n, r.topic, r.retry, r.ended, r.how, r.delay, r.cancelled)
}
