package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/bench/internal/peers"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// fewest is how many messages a peer gets at least.
const fewest = 20

// queueOpener opens pawl or a peer in the repetition's database. Every call opens
// another handle, as another process would.
type queueOpener func(ctx context.Context, r *run) (peers.Queue, error)

// versus are the systems of a scenario that peers take part in: pawl with n messages,
// what else it is compared with, and the peers of its engine.
func versus(engine string, n int, measure func(queueOpener) measurement, others ...system) []system {
	pawl := queueOpener(pawlPostgres)
	if engine == "sqlite" {
		pawl = pawlSQLite
	}
	all := append([]system{{"pawl", n, measure(pawl)}}, others...)
	for _, p := range peersOn(engine) {
		all = append(all, system{p.Name, shareOf(n, p.Divisor), measure(openPeer(p))})
	}
	return all
}

// shareOf is how many of n messages a peer gets: some, and whole batches if there is one.
func shareOf(n, divisor int) int {
	share := max(n/divisor, fewest)
	if share > batchSize {
		share -= share % batchSize
	}
	return share
}

func peersOn(engine string) []peers.Peer {
	if engine == "sqlite" {
		return peers.SQLite()
	}
	return peers.Postgres()
}

// relaxed measures with synchronous=NORMAL.
func relaxed(m measurement) measurement {
	return func(ctx context.Context, r *run) error {
		r.relaxed = true
		return m(ctx, r)
	}
}

// openPeer tells a peer where its data goes.
func openPeer(p peers.Peer) queueOpener {
	return func(ctx context.Context, r *run) (peers.Queue, error) {
		place := peers.Place{File: filepath.Join(r.dir, "bench.db"), Relaxed: r.relaxed}
		if r.server != nil {
			u, err := url.Parse(r.server.url)
			if err != nil {
				return nil, err
			}
			settings := u.Query()
			settings.Set("search_path", schema)
			settings.Set("application_name", application)
			u.RawQuery = settings.Encode()
			place.URL = u.String()
		}
		return p.Open(ctx, place)
	}
}

// pawlQueue is pawl as a peers.Queue.
type pawlQueue struct {
	db       engine.DB
	change   func(m *outbox.Message, id int64) // what differs of a message, nil: nothing
	current  atomic.Pointer[parts.Outbox]      // enqueues, and works or worked last
	transact func(ctx context.Context, f func(tx outbox.Tx) error) error
	close    func()
}

func newPawlQueue(db engine.DB, done func()) *pawlQueue {
	q := &pawlQueue{db: db, close: done}
	q.current.Store(parts.NewOutbox(db, worker.Options{}))
	return q
}

// pawlPostgres has a pool for the program's own transactions beside pawl's, with as many
// connections as scenario C has producers.
func pawlPostgres(ctx context.Context, r *run) (peers.Queue, error) {
	db, done, err := openPostgres(ctx, r)
	if err != nil {
		return nil, err
	}
	pool, err := r.server.poolUpTo(ctx, writers)
	if err != nil {
		return nil, err
	}
	q := newPawlQueue(db, func() { pool.Close(); done() })
	q.transact = func(ctx context.Context, f func(tx outbox.Tx) error) error {
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return f(postgres.Tx(tx)) })
	}
	return q, nil
}

func pawlSQLite(ctx context.Context, r *run) (peers.Queue, error) {
	db, done, err := openSQLite(r.relaxed)(ctx, r)
	if err != nil {
		return nil, err
	}
	lite, ok := engine.As[*sqlite.DB](db)
	if !ok {
		return nil, fmt.Errorf("%s is no SQLite file", db.Engine())
	}
	pool := lite.SQL()
	q := newPawlQueue(db, done)
	q.transact = func(ctx context.Context, f func(tx outbox.Tx) error) error {
		return peers.InTx(ctx, pool, func(tx *sql.Tx) error { return f(tx) })
	}
	return q, nil
}

// numbered are the messages of these ids, as a program would make them.
func numbered(ids []int64) []outbox.Message {
	all := make([]outbox.Message, len(ids))
	names := topics()
	for i, body := range peers.Bodies(ids) {
		all[i] = outbox.Message{Topic: names[ids[i]%topicCount], Payload: body}
	}
	return all
}

func (q *pawlQueue) Enqueue(ctx context.Context, ids []int64) (err error) {
	if len(ids) == 1 {
		_, err = q.current.Load().Enqueue(ctx, q.numbered(ids)[0])
	} else {
		_, err = q.current.Load().EnqueueBatch(ctx, q.numbered(ids))
	}
	return err
}

// numbered is numbered with what differs.
func (q *pawlQueue) numbered(ids []int64) []outbox.Message {
	all := numbered(ids)
	for i := range all {
		if q.change != nil {
			q.change(&all[i], ids[i])
		}
	}
	return all
}

func (q *pawlQueue) EnqueueTx(ctx context.Context, id int64) error {
	return q.transact(ctx, func(tx outbox.Tx) error {
		_, err := q.current.Load().EnqueueTx(ctx, tx, numbered([]int64{id})[0])
		return err
	})
}

func (q *pawlQueue) Run(ctx context.Context, handle func(id int64)) error {
	o := parts.NewOutbox(q.db, worker.Options{})
	for _, name := range topics() {
		o.Handle(name, func(_ context.Context, m *outbox.Message) error {
			handle(peers.ID(m.Payload))
			return nil
		})
	}
	q.current.Store(o)
	return o.Run(ctx)
}

// Settled compares what the worker began with what it has acked: a handler that has run
// is counted before its ack is.
func (q *pawlQueue) Settled(context.Context) (bool, error) {
	s := q.current.Load().Component().Stats()
	return s.Acked == s.Claimed, nil
}

func (q *pawlQueue) Close() { q.close() }

// trial is a queue with numbered messages, each of which must be handled once.
type trial struct {
	peers.Queue
	numbers ids
	seen    []atomic.Uint32 // how often, by number; 0 is of unknown messages
	handled atomic.Int64    // different ones
	doubled atomic.Int64
	broken  atomic.Pointer[error] // with which Run ended
	note    func(id int64)        // called for each message that is handled the first time, if not nil
}

// newTrial opens a queue for so many messages.
func newTrial(ctx context.Context, r *run, open queueOpener, total int, note func(id int64)) (*trial, error) {
	q, err := open(ctx, r)
	if err != nil {
		return nil, err
	}
	return &trial{Queue: q, seen: make([]atomic.Uint32, total+1), note: note}, nil
}

// newTimedTrial is newTrial that notes when each message's handler began.
func newTimedTrial(ctx context.Context, r *run, open queueOpener, total int) (*trial, []moments, error) {
	times := make([]moments, total)
	t, err := newTrial(ctx, r, open, total, func(id int64) { times[id-1].started = time.Now() })
	return t, times, err
}

// handle is the handler of every system.
func (t *trial) handle(id int64) {
	if id < 1 || id >= int64(len(t.seen)) {
		id = 0
	}
	if t.seen[id].Add(1) > 1 || id == 0 {
		t.doubled.Add(1)
		return
	}
	if t.note != nil {
		t.note(id)
	}
	t.handled.Add(1)
}

// fill enqueues n messages in batches by several producers. room, if not nil, is asked
// for permission before each batch.
func (t *trial) fill(ctx context.Context, n int, room chan struct{}) error {
	var claimed atomic.Int64
	return parallel(producers, (n+batchSize-1)/batchSize, func(int) error {
		if room != nil {
			room <- struct{}{}
		}
		rest := n - int(claimed.Add(batchSize)-batchSize)
		return t.Enqueue(ctx, t.numbers.take(min(batchSize, rest)))
	})
}

// start runs the queue until stop is called, which returns how Run ended.
func (t *trial) start(ctx context.Context) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		err := t.Run(ctx, t.handle)
		if err != nil {
			t.broken.Store(&err)
		}
		ended <- err
	}()
	return sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
}

// await returns when n messages are handled and the database knows it.
func (t *trial) await(ctx context.Context, n int) error {
	last, since := int64(0), time.Now()
	for {
		handled := t.handled.Load()
		if handled >= int64(n) {
			settled, err := t.Settled(ctx)
			if err != nil || settled {
				return err
			}
		}
		if err := t.broken.Load(); err != nil {
			return *err
		}
		if handled != last {
			last, since = handled, time.Now()
		}
		if time.Since(since) > stall {
			return fmt.Errorf("%w: stalled: of %d messages %d handled, %d of them again", errLost, n, handled, t.doubled.Load())
		}
		time.Sleep(500 * time.Microsecond)
	}
}

// errLost means that messages were not handled.
var errLost = errors.New("lost messages")

// audit records in r what was handled more than once. pawl must not do that.
func (t *trial) audit(r *run, n int) error {
	if handled := t.handled.Load(); handled != int64(n) {
		return fmt.Errorf("%w: of %d messages %d handled", errLost, n, handled)
	}
	doubled := t.doubled.Load()
	r.figures[colDoubled] = float64(doubled)
	if _, ours := t.Queue.(*pawlQueue); ours && doubled > 0 {
		return fmt.Errorf("%d messages handled more than once", doubled)
	}
	return nil
}
