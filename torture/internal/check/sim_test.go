package check

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/torture/internal/history"
)

// The simulator is a queue that breaks no promise, in a world that does not spare it:
// processes are killed and stopped, replies to commits are lost, and the database is
// rewound. What its processes write down must be accepted.

const (
	ms       = int64(1e6)
	simLease = 10_000 * ms
	simEvery = 30_000 * ms // of the job
	attempts = 3
)

type row struct {
	id, topic, key string
	place          int64
	state          State
	attempts       int
	owner          string
	until          int64
	joins          string // the join that it is a member of
	follows        string // the join whose follow-up it is
	timer          bool
	nominal        int64
	source         string // of the inbox
	expires        int64
	unique         string // its unique key
}

type simJoin struct {
	Join
	fired string
}

type simLeaseRow struct {
	token, until int64
	free         bool
}

// database is everything that a rewind takes back.
type database struct {
	ledger  map[string]bool
	rows    map[string]row
	order   []string // ids as they were committed
	effects map[[2]string]int
	joins   map[string]simJoin
	timers  map[string]int64
	runs    []Run
	next    int64 // nominal time
	leases  map[string]simLeaseRow
}

func (d *database) clone() *database {
	return &database{
		maps.Clone(d.ledger), maps.Clone(d.rows), slices.Clone(d.order), maps.Clone(d.effects), maps.Clone(d.joins),
		maps.Clone(d.timers), slices.Clone(d.runs), d.next, maps.Clone(d.leases),
	}
}

// claimed is what a process holds.
type claimed struct {
	id      string
	row     row // as it was claimed
	owner   string
	until   int64
	running bool
}

type simProcess struct {
	name    string
	holds   []claimed
	stopped int64 // until when
	raw     bool
}

type simHolder struct {
	name, lease  string
	token, until int64
}

type sim struct {
	rnd     *rand.Rand
	now     int64
	seqs    map[string]int64
	out     func(history.Event)
	db      *database
	saved   *database
	procs   []*simProcess
	holders []*simHolder
	places  map[string]int64
	n       int
	gen     int64
	final   Final
	rewinds bool
	limit   int
	joinN   int
}

func newSim(seed uint64, rewinds bool, out func(history.Event)) *sim {
	s := &sim{
		rnd: rand.New(rand.NewPCG(seed, 1)), now: 1_000_000 * ms, seqs: map[string]int64{}, out: out, places: map[string]int64{}, rewinds: rewinds, limit: 2, gen: 1,
		db: &database{ledger: map[string]bool{}, rows: map[string]row{}, effects: map[[2]string]int{}, joins: map[string]simJoin{}, timers: map[string]int64{}, leases: map[string]simLeaseRow{}},
	}
	s.db.next = s.now + simEvery
	s.final = Final{Lease: time.Duration(simLease), Limits: map[string]int{"limited": s.limit}, Jobs: []Job{{Name: "job", From: s.db.next, Every: simEvery}}}
	for i := range 5 {
		s.procs = append(s.procs, &simProcess{name: s.name("worker"), raw: i == 4})
	}
	for i := range 4 {
		s.holders = append(s.holders, &simHolder{name: s.name("holder"), lease: fmt.Sprint("lease-", i%2)})
	}
	return s
}

func (s *sim) name(kind string) string {
	s.n++
	return kind + "-" + strconv.Itoa(s.n)
}

func (s *sim) id() string {
	var u uuid.UUID
	for i := range u {
		u[i] = byte(s.rnd.Uint32())
	}
	return u.String()
}

func (s *sim) chance(percent int) bool { return s.rnd.IntN(100) < percent }

// tick lets time pass.
func (s *sim) tick() { s.now += ms * (1 + s.rnd.Int64N(40)) }

func (s *sim) event(process, op string, outcome history.Outcome, e history.Event) {
	s.tick()
	s.seqs[process]++
	e.At, e.Process, e.Seq, e.Op, e.Outcome = s.now, process, s.seqs[process], op, outcome
	s.out(e)
	s.tick()
}

// step lets somebody do something.
func (s *sim) step() {
	s.jobs()
	s.dispatch()
	switch n := s.rnd.IntN(1000); {
	case n < 150:
		s.produce()
	case n < 160:
		s.startJoin()
	case n < 180:
		s.timer()
	case n < 190:
		s.cancel()
	case n < 300:
		s.contend(s.holders[s.rnd.IntN(len(s.holders))])
	case n < 303:
		s.kill()
	case n < 306:
		s.stop()
	case n < 307 && s.rewinds:
		s.rewind()
	default:
		s.work(s.procs[s.rnd.IntN(len(s.procs))])
	}
}

// commit makes do happen or not, and writes down what the producer knows.
func (s *sim) commit(process string, events []history.Event, op string, do func()) {
	for _, e := range events {
		s.event(process, op, history.Began, e)
	}
	outcome := history.OK
	switch n := s.rnd.IntN(100); {
	case n < 85:
		do()
	case n < 93:
		outcome = history.Failed
	case n < 96:
		do()
		outcome = history.Unknown
	default:
		outcome = history.Unknown
	}
	if outcome == history.Unknown && s.chance(50) {
		return // killed before it could write
	}
	for _, e := range events {
		s.event(process, op, outcome, e)
	}
}

func (s *sim) insert(r row) {
	if _, known := s.db.rows[r.id]; known {
		return
	}
	r.state = Ready
	s.db.rows[r.id] = r
	s.db.order = append(s.db.order, r.id)
}

func (s *sim) produce() {
	r := row{id: s.id(), topic: "plain"}
	switch s.rnd.IntN(6) {
	case 0:
		r.topic = "limited"
	case 1:
		r.key = fmt.Sprint("key-", s.rnd.IntN(3))
		s.places[r.key]++
		r.place = s.places[r.key]
	case 2:
		r.source = "source"
	case 3:
		r.expires = s.now + s.rnd.Int64N(simLease)
	case 4:
		r.unique = fmt.Sprint("unique-", s.rnd.IntN(5))
		if id := s.waiting(r.unique); id != "" {
			s.event(s.name("producer"), history.Duplicate, history.OK, history.Event{Message: id, Name: r.unique, Nominal: s.now})
			return
		}
	}
	e := history.Event{Message: r.id, Topic: r.topic, Key: r.key, Place: r.place, Name: r.unique, Expires: r.expires}
	s.commit(s.name("producer"), []history.Event{e}, history.Enqueue, func() {
		s.db.ledger[r.id] = true
		s.insert(r)
	})
}

// waiting is the message with a unique key that is not over, if there is one.
func (s *sim) waiting(key string) string {
	for id, r := range s.db.rows {
		if r.unique == key && !r.state.terminal() {
			return id
		}
	}
	return ""
}

func (s *sim) startJoin() {
	process := s.name("producer")
	s.joinN++
	j := simJoin{Join: Join{Name: fmt.Sprint("join-", s.joinN), Total: 2 + s.rnd.IntN(3)}}
	var rows []row
	var events []history.Event
	for range j.Total {
		rows = append(rows, row{id: s.id(), topic: "plain", joins: j.Name})
		events = append(events, history.Event{Message: rows[len(rows)-1].id, Topic: "plain"})
	}
	about := history.Event{Name: j.Name, Detail: strconv.Itoa(j.Total)}
	s.event(process, history.Join, history.Began, about)
	for _, r := range rows {
		s.event(process, history.Member, history.OK, history.Event{Message: r.id, Name: j.Name})
	}
	committed := false
	s.commit(process, events, history.Enqueue, func() {
		committed = true
		for _, r := range rows {
			s.db.ledger[r.id] = true
			s.insert(r)
		}
		s.db.joins[j.Name] = j
	})
	if committed && s.chance(70) {
		s.event(process, history.Join, history.OK, about)
	}
}

func (s *sim) timer() {
	id := s.id()
	s.commit(s.name("producer"), []history.Event{{Message: id}}, history.Timer, func() { s.db.timers[id] = s.now + s.rnd.Int64N(2*simLease) })
}

func (s *sim) cancel() {
	ids := slices.Sorted(maps.Keys(s.db.timers))
	if len(ids) == 0 {
		return
	}
	id := ids[s.rnd.IntN(len(ids))]
	process := s.name("producer")
	s.event(process, history.Cancel, history.Began, history.Event{Message: id})
	if s.chance(30) {
		s.dispatch()
	}
	_, there := s.db.timers[id]
	delete(s.db.timers, id)
	switch {
	case !there:
		s.event(process, history.Cancel, history.Failed, history.Event{Message: id})
	case s.chance(80):
		s.event(process, history.Cancel, history.OK, history.Event{Message: id})
	}
}

func (s *sim) dispatch() {
	for _, id := range slices.Sorted(maps.Keys(s.db.timers)) {
		if s.db.timers[id] <= s.now {
			delete(s.db.timers, id)
			s.insert(row{id: id, topic: "timer", timer: true})
		}
	}
}

func (s *sim) jobs() {
	for s.db.next <= s.now {
		run := Run{Job: "job", Nominal: s.db.next, Message: s.id()}
		if s.db.next += simEvery; s.db.next <= s.now {
			run.Message, run.Missed = "", true
		} else {
			s.insert(row{id: run.Message, topic: "job", nominal: run.Nominal})
		}
		s.db.runs = append(s.db.runs, run)
	}
}

// claimable reports whether a message may be claimed now.
func (s *sim) claimable(r row) bool {
	free := func(o row) bool { return o.state == Ready || o.state == Claimed && o.until <= s.now }
	if !free(r) {
		return false
	}
	running := 0
	for _, id := range s.db.order {
		o := s.db.rows[id]
		if o.state == Claimed && o.until > s.now && o.topic == r.topic {
			running++
		}
		if r.key != "" && o.key == r.key && o.id != r.id && !o.state.terminal() && (o.place < r.place || !free(o)) {
			return false
		}
	}
	return r.topic != "limited" || running < s.limit
}

func (s *sim) claim(p *simProcess) {
	if p.raw {
		s.event(p.name, history.Claim, history.Began, history.Event{})
	}
	asked := s.now
	s.tick()
	for _, id := range slices.Clone(s.db.order) {
		r := s.db.rows[id]
		if len(p.holds) >= 4 || s.chance(20) || !s.claimable(r) || p.raw && r.topic != "plain" && r.topic != "limited" {
			continue
		}
		if p.raw && (r.key != "" || r.joins != "" || r.source != "") {
			continue
		}
		if r.expires != 0 && r.expires <= s.now {
			r.state = Expired
			s.db.rows[id] = r
			continue
		}
		r.state, r.owner, r.until = Claimed, s.name(p.name), s.now+simLease
		s.db.rows[id] = r
		p.holds = append(p.holds, claimed{id: id, row: r, owner: r.owner, until: asked + simLease})
		if p.raw {
			s.event(p.name, history.Claim, history.OK, history.Event{Message: id, Topic: r.topic, Until: asked + simLease})
		}
	}
}

func (s *sim) work(p *simProcess) {
	if p.stopped > s.now {
		return
	}
	if len(p.holds) == 0 || len(p.holds) < 4 && s.chance(30) {
		s.claim(p)
		return
	}
	i := s.rnd.IntN(len(p.holds))
	c := p.holds[i]
	switch {
	case p.raw:
		s.raw(p, i)
	case c.running:
		p.holds = slices.Delete(p.holds, i, i+1)
		s.finish(p, c)
	case c.until-s.now < simLease/3:
		p.holds = slices.Delete(p.holds, i, i+1) // it runs out by itself
	case c.row.expires != 0 && c.row.expires <= s.now:
		p.holds = slices.Delete(p.holds, i, i+1)
		s.settle(c, Expired)
	default:
		p.holds[i].running = true
		s.begin(p, c)
	}
}

func (s *sim) raw(p *simProcess, i int) {
	c := &p.holds[i]
	e := history.Event{Message: c.id}
	switch s.rnd.IntN(4) {
	case 0:
		s.event(p.name, history.Extend, history.Began, e)
		asked := s.now
		s.tick()
		if r := s.db.rows[c.id]; s.owns(*c) && r.until > s.now {
			r.until, c.until = s.now+simLease, asked+simLease
			s.db.rows[c.id] = r
			e.Until = c.until
			s.event(p.name, history.Extend, history.OK, e)
			return
		}
		s.event(p.name, history.Extend, history.Failed, e)
	case 1, 2:
		op := history.Ack
		state := Done
		if s.chance(30) {
			op, state = history.Abandon, Ready
		}
		s.event(p.name, op, history.Began, e)
		outcome := history.Failed
		if s.settle(*c, state) {
			outcome = history.OK
		}
		s.event(p.name, op, outcome, e)
		p.holds = slices.Delete(p.holds, i, i+1)
	}
}

func (s *sim) owns(c claimed) bool {
	r, ok := s.db.rows[c.id]
	return ok && r.state == Claimed && r.owner == c.owner
}

// settle takes effect only under the owner's token.
func (s *sim) settle(c claimed, state State) bool {
	if !s.owns(c) {
		return false
	}
	r := s.db.rows[c.id]
	r.state, r.owner, r.until = state, "", 0
	s.db.rows[c.id] = r
	if r.joins == "" || !state.terminal() {
		return true
	}
	j := s.db.joins[r.joins]
	if state == Done {
		j.Done++
	} else {
		j.Failed++
	}
	if j.Done+j.Failed == j.Total {
		j.Fired++
		j.fired = uuid.NewSHA1(uuid.Nil, []byte(j.Name)).String()
		s.insert(row{id: j.fired, topic: "wait", follows: j.Name})
	}
	s.db.joins[r.joins] = j
	return true
}

// also is what the handler of a message writes beside the event of the handler.
func (s *sim) also(p *simProcess, c claimed, outcome history.Outcome) {
	id := c.id
	switch r := c.row; {
	case r.follows != "":
		s.event(p.name, history.Wait, outcome, history.Event{Message: id, Name: r.follows})
	case r.timer:
		s.event(p.name, history.Fire, outcome, history.Event{Message: id})
	case r.nominal != 0:
		s.event(p.name, history.Run, outcome, history.Event{Message: id, Name: "job", Nominal: r.nominal})
	}
}

func (s *sim) begin(p *simProcess, c claimed) {
	r := c.row
	s.event(p.name, history.Handle, history.Began, history.Event{Message: c.id, Topic: r.topic, Key: r.key, Place: r.place, Until: c.until})
	s.also(p, c, history.Began)
	if r.source != "" {
		about := history.Event{Message: c.id, Name: r.source}
		s.event(p.name, history.Inbox, history.Began, about)
		if s.chance(90) {
			s.db.effects[[2]string{r.source, c.id}] = 1
		}
		if s.db.effects[[2]string{r.source, c.id}] == 1 && s.chance(80) {
			s.event(p.name, history.Inbox, history.OK, about)
		}
	}
}

func (s *sim) finish(p *simProcess, c claimed) {
	r := s.db.rows[c.id]
	about := history.Event{Message: c.id, Topic: c.row.topic, Key: c.row.key, Place: c.row.place}
	ok := s.chance(80)
	outcome, state, detail := history.OK, Done, history.Done
	if !ok {
		outcome, state, detail = history.Failed, Ready, history.Retry
		if r.attempts+1 >= attempts {
			state, detail = Failed, history.GivenUp
		}
	}
	s.also(p, c, outcome)
	s.event(p.name, history.Handle, outcome, about)
	if s.chance(3) {
		return // what it finished is never reported
	}
	if !s.settle(c, state) {
		return
	}
	if !ok {
		r := s.db.rows[c.id]
		r.attempts++
		s.db.rows[c.id] = r
	}
	if s.chance(90) {
		about.Detail = detail
		s.event(p.name, history.Settled, history.OK, about)
	}
}

func (s *sim) kill() {
	i := s.rnd.IntN(len(s.procs))
	p := s.procs[i]
	about := history.Event{Name: p.name, Detail: "kill"}
	s.event("nemesis", history.Fault, history.Began, about)
	s.procs[i] = &simProcess{name: s.name("worker"), raw: p.raw}
	s.event("nemesis", history.Fault, history.OK, about)
}

func (s *sim) stop() {
	p := s.procs[s.rnd.IntN(len(s.procs))]
	about := history.Event{Name: p.name, Detail: history.Stop}
	s.event("nemesis", history.Fault, history.Began, about)
	p.stopped = s.now + s.rnd.Int64N(2*simLease)
	for p.stopped > s.now {
		s.step()
	}
	// It acts on what it checked before.
	s.event("nemesis", history.Fault, history.OK, about)
	for _, c := range p.holds {
		if !p.raw && !c.running && s.chance(50) {
			about := history.Event{Message: c.id, Topic: c.row.topic}
			s.event(p.name, history.Handle, history.Began, about)
			s.also(p, c, history.Began)
			s.also(p, c, history.OK)
			s.event(p.name, history.Handle, history.OK, about)
			break
		}
	}
}

// rewind puts an older state of the database back.
func (s *sim) rewind() {
	defer func() { s.saved = s.db.clone() }()
	if s.saved == nil {
		return
	}
	s.event("nemesis", history.Fault, history.Began, history.Event{Detail: "failover"})
	w := Rewind{From: s.now}
	s.db = s.saved
	s.gen++
	for name, l := range s.db.leases {
		l.token = s.gen << 12
		s.db.leases[name] = l
	}
	w.To = s.now + simLease + simLease/10
	s.final.Rewinds = append(s.final.Rewinds, w)
	s.event("nemesis", history.Fault, history.OK, history.Event{Detail: "failover"})
}

func (s *sim) contend(h *simHolder) {
	about := history.Event{Name: h.lease, Token: h.token}
	l, ok := s.db.leases[h.lease]
	if !ok {
		l = simLeaseRow{free: true, token: s.gen << 12}
	}
	if s.chance(3) { // killed, perhaps in the middle of a call
		if h.token == 0 && s.chance(50) {
			s.event(h.name, history.Acquire, history.Began, about)
			if s.chance(50) && (l.free || l.until <= s.now) {
				s.db.leases[h.lease] = simLeaseRow{token: l.token + 1, until: s.now + simLease}
			}
		}
		h.name, h.token = s.name("holder"), 0
		return
	}
	ours := func() bool { return !l.free && l.token == h.token && l.until > s.now }
	asked := s.now
	if h.token == 0 {
		s.event(h.name, history.Acquire, history.Began, about)
		if !l.free && l.until > s.now {
			about.Detail = history.Held
			s.event(h.name, history.Acquire, history.Failed, about)
			return
		}
		l = simLeaseRow{token: l.token + 1, until: s.now + simLease}
		s.db.leases[h.lease] = l
		h.token, h.until = l.token, asked+simLease
		about.Token, about.Until = h.token, h.until
		s.event(h.name, history.Acquire, history.OK, about)
		return
	}
	op := []string{history.Renew, history.Guard, history.Guard, history.Release}[s.rnd.IntN(4)]
	s.event(h.name, op, history.Began, about)
	switch {
	case op == history.Release:
		if ours() {
			l.free = true
			s.db.leases[h.lease] = l
		}
		h.token = 0
		s.event(h.name, op, history.OK, about)
	case !ours():
		about.Detail = history.Lost
		h.token = 0
		s.event(h.name, op, history.Failed, about)
	case op == history.Renew:
		l.until = s.now + simLease
		s.db.leases[h.lease] = l
		h.until = asked + simLease
		about.Until = h.until
		s.event(h.name, op, history.OK, about)
	default:
		s.event(h.name, op, history.OK, about)
	}
}

// drain ends the run.
func (s *sim) drain() Final {
	s.event("nemesis", history.Phase, history.OK, history.Event{Detail: history.NemesisEnds})
	for s.left() {
		s.dispatch()
		s.work(s.procs[s.rnd.IntN(len(s.procs))])
		s.tick()
	}
	s.event("nemesis", history.Phase, history.OK, history.Event{Detail: history.Drained})
	f, db := s.final, s.db
	f.Jobs[0].To = db.next - simEvery
	f.Ledger = slices.Values(slices.Sorted(maps.Keys(db.ledger)))
	var rows []Message
	for _, id := range slices.Sorted(maps.Keys(db.rows)) {
		r := db.rows[id]
		rows = append(rows, Message{r.id, r.state, r.attempts})
	}
	f.Messages = slices.Values(rows)
	var effects []Effect
	for k, n := range db.effects {
		effects = append(effects, Effect{k[0], k[1], n})
	}
	slices.SortFunc(effects, func(a, b Effect) int { return int(hash(a.Message)[0]) - int(hash(b.Message)[0]) })
	f.Effects = slices.Values(effects)
	for _, name := range slices.Sorted(maps.Keys(db.joins)) {
		f.Joins = append(f.Joins, db.joins[name].Join)
	}
	f.Runs = slices.Values(db.runs)
	return f
}

func (s *sim) left() bool {
	if len(s.db.timers) > 0 {
		return true
	}
	for _, r := range s.db.rows {
		if !r.state.terminal() {
			return true
		}
	}
	return false
}

// simulate returns a run of n steps.
func simulate(seed uint64, n int, rewinds bool) (history.List, Final) {
	var events history.List
	s := newSim(seed, rewinds, func(e history.Event) { events = append(events, e) })
	for range n {
		s.step()
	}
	return events, s.drain()
}
