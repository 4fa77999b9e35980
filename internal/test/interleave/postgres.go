package interleave

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/sql/postgres"
)

// Postgres runs a scenario's sessions on connections of their own, each stopped before every
// statement that names a table.
//
// One session moves at a time. It moves until it stands at the next pause, has ended, or waits
// for a lock that another session of the scenario holds, as the server says: nothing depends on
// how long anything takes. Two sessions that one commit wakes at once run beside each other until
// their next pauses; which of them is first is the server's choice.
type Postgres struct {
	// Whole makes a step a whole transaction: an order of them is a serial one.
	Whole bool
	// Retries counts transactions that ended in a deadlock, say, and were repeated.
	Retries int
	// Allowed are the outcomes that are right; nil for any.
	Allowed map[string]bool

	world    *world
	schema   string
	control  *pgx.Conn
	sessions []*session
	signals  chan signal
	state    []state
	started  int
}

// state is where a session is.
type state struct {
	phase phase
	at    signal // where it stands
	skip  bool   // its next pause in a routine follows one before the call, with nothing between
}

type phase int

const (
	moving phase = iota
	standing
	ended
)

// patience is how long may pass until something is wrong with the test itself.
const patience = 2 * time.Minute

// NewPostgres prepares a schema, which has to be the caller's own: its routines get pauses, and
// the faults. db is open on it, at url. Close ends what it began.
func NewPostgres(ctx context.Context, url, schema string, db *postgres.DB, faults ...Fault) (*Postgres, error) {
	p := &Postgres{schema: schema, signals: make(chan signal, 100)}
	table := func(name string) string { return schema + "." + name }
	p.world = newWorld(db, table)
	var err error
	if p.control, err = pgx.Connect(ctx, url); err != nil {
		return nil, fmt.Errorf("interleave: %w", err)
	}
	p.world.read = p.read
	if err := p.instrument(ctx, faults); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	for i := range maxSessions {
		s := &session{nr: i, db: db, table: table, tokens: &p.world.tokens, signals: p.signals, work: make(chan []Tx), resume: make(chan struct{})}
		if err := connect(ctx, url, s); err != nil {
			return nil, errors.Join(err, p.Close())
		}
		p.sessions = append(p.sessions, s)
		go s.loop(ctx)
	}
	p.state = make([]state, maxSessions)
	for _, s := range p.sessions {
		if _, err := p.control.Exec(ctx, "SELECT pg_advisory_lock($1::int, 1)", s.pid); err != nil {
			return nil, errors.Join(err, p.Close())
		}
	}
	return p, p.world.register(ctx)
}

const maxSessions = 3

// Close ends the sessions and their connections. All must have ended what they ran.
func (p *Postgres) Close() error {
	ctx := context.Background()
	var errs []error
	for _, s := range p.sessions {
		close(s.work)
		errs = append(errs, s.conn.Close(ctx))
	}
	if p.control != nil {
		errs = append(errs, p.control.Close(ctx))
	}
	return errors.Join(errs...)
}

func (p *Postgres) read(ctx context.Context, query string) ([]row, error) {
	rows, err := p.control.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[row])
}

// Set chooses the scenario.
func (p *Postgres) Set(s *Scenario) { p.world.scenario = s }

// Start implements Machine.
func (p *Postgres) Start() error {
	ctx := context.Background()
	if p.started++; p.started%vacuumEvery == 0 {
		if err := p.vacuum(ctx); err != nil {
			return err
		}
	}
	if err := p.world.start(ctx); err != nil {
		return err
	}
	for i := range p.state {
		p.state[i] = state{phase: ended}
		if i < len(p.world.scenario.Sessions) {
			p.state[i].phase = moving
			p.sessions[i].work <- p.world.scenario.Sessions[i]
		}
	}
	return p.settle(ctx)
}

// vacuumEvery is after how many schedules the rows of earlier ones are removed, which every
// statement would read over.
const vacuumEvery = 200

func (p *Postgres) vacuum(ctx context.Context) error {
	for _, t := range tables {
		if _, err := p.control.Exec(ctx, "VACUUM "+p.world.table(t)); err != nil {
			return fmt.Errorf("vacuum: %w", err)
		}
	}
	return nil
}

// Runnable implements Machine.
func (p *Postgres) Runnable() (list []int) {
	for i := range p.state {
		if p.state[i].phase == standing {
			list = append(list, i)
		}
	}
	return list
}

// Advance implements Machine.
func (p *Postgres) Advance(i int) error {
	ctx := context.Background()
	for {
		if err := p.release(ctx, i); err != nil {
			return err
		}
		if err := p.settle(ctx); err != nil {
			return err
		}
		if s := &p.state[i]; !p.Whole || s.phase != standing || s.at.between {
			return nil
		}
	}
}

// Finish implements Machine.
func (p *Postgres) Finish() error {
	for _, s := range p.sessions {
		p.Retries += s.retries
		s.retries = 0
	}
	err := p.world.finish(context.Background())
	if err == nil && p.Allowed != nil && !p.Allowed[p.world.outcome] {
		err = fmt.Errorf("no serial order has this outcome:\n%s", p.world.outcome)
	}
	return err
}

// Outcome returns what the last schedule left, and what its sessions were answered.
func (p *Postgres) Outcome() string { return p.world.outcome }

// release lets a session go on from where it stands.
func (p *Postgres) release(ctx context.Context, i int) error {
	s := &p.state[i]
	s.phase = moving
	if s.at.key == 0 {
		s.skip = true
		p.sessions[i].resume <- struct{}{}
		return nil
	}
	s.skip = false
	return p.pass(ctx, i)
}

// pass gives up the lock at which a session stands, after taking that of its next pause.
func (p *Postgres) pass(ctx context.Context, i int) error {
	pid, key := p.sessions[i].pid, p.state[i].at.key
	_, err := p.control.Exec(ctx, "SELECT pg_advisory_lock($1::int, $2::int), pg_advisory_unlock($1::int, $3::int)", pid, key+1, key)
	return err
}

// settle waits until nobody moves: each session stands, has ended, or waits for one of the others.
func (p *Postgres) settle(ctx context.Context) error {
	limit := time.Now().Add(patience)
	poll := time.NewTimer(pollAfter)
	defer poll.Stop()
	for p.anyMoving() {
		select {
		case s := <-p.signals:
			if err := p.accept(ctx, s); err != nil {
				return err
			}
			poll.Reset(0) // who still moves may have waited before
			continue
		case <-poll.C:
		}
		quiet, err := p.blocked(ctx)
		if err != nil || quiet && len(p.signals) == 0 {
			return err
		}
		if time.Now().After(limit) {
			return fmt.Errorf("interleave: sessions neither stand nor wait: %+v", p.state)
		}
		poll.Reset(pollAfter)
	}
	return nil
}

// pollAfter is when the server is asked who waits. It decides nothing but how much it is asked.
const pollAfter = 500 * time.Microsecond

func (p *Postgres) anyMoving() bool {
	return slices.ContainsFunc(p.state, func(s state) bool { return s.phase == moving })
}

// accept notes where a session is.
func (p *Postgres) accept(ctx context.Context, v signal) error {
	s := &p.state[v.session]
	switch {
	case v.ended:
		s.phase = ended
		if v.err != nil {
			p.world.wrong("session %c: %v", 'A'+v.session, v.err)
		}
	case v.key == committed:
		return p.world.committed(ctx, v.events)
	default:
		s.at, s.phase = v, standing
		if v.key > 0 && s.skip { // nothing ran since the last pause
			s.skip, s.phase = false, moving
			return p.pass(ctx, v.session)
		}
	}
	return nil
}

// blocked reports whether all sessions that have not arrived anywhere wait for others that stand.
func (p *Postgres) blocked(ctx context.Context) (bool, error) {
	var pids []int32
	for _, s := range p.sessions {
		pids = append(pids, int32(s.pid))
	}
	rows, err := p.control.Query(ctx, "SELECT i::int - 1, pg_blocking_pids(pid) FROM unnest($1::int[]) WITH ORDINALITY u(pid, i)", pids)
	if err != nil {
		return false, fmt.Errorf("blocked: %w", err)
	}
	type waiting struct {
		Session int
		For     []int32
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[waiting])
	if err != nil {
		return false, fmt.Errorf("blocked: %w", err)
	}
	waits := make([][]int, len(p.state))
	for _, w := range list {
		for _, pid := range w.For {
			if k := slices.Index(pids, pid); k >= 0 && p.state[w.Session].phase == moving {
				waits[w.Session] = append(waits[w.Session], k)
			}
		}
	}
	for i := range p.state {
		if p.state[i].phase == moving && !p.rests(waits, i, len(p.state)) {
			return false, nil
		}
	}
	return true, nil
}

// rests reports whether a session waits for one that stands, directly or not. In a circle the
// server ends somebody's waiting.
func (p *Postgres) rests(waits [][]int, i, depth int) bool {
	if p.state[i].phase == standing {
		return true
	}
	return depth > 0 && slices.ContainsFunc(waits[i], func(k int) bool { return p.rests(waits, k, depth-1) })
}
