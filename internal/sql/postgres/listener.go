package postgres

import (
	"context"
	"crypto/md5" //nolint:gosec // a short name for a channel, the same as the SQL makes
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/engine"
)

// Behind a transaction-pooling PgBouncer LISTEN succeeds and stays silent for
// ever. A busy machine may be late once, and what is given up is given up for good.
const (
	selfTest  = 2 * time.Second // how long a notification to ourselves may take
	selfTests = 3               // so many in vain are silence
)

// testMark opens the payload of a self-test; other payloads are queue names.
const testMark = "\x01"

const (
	notifySelf  = `SELECT pg_catalog.pg_notify($1, $2)`
	lockQueue   = `SELECT pg_catalog.pg_try_advisory_lock(pg_catalog.hashtextextended('pawl.outbox_wake/' || $1, 0))`
	unlockQueue = `SELECT pg_catalog.pg_advisory_unlock(pg_catalog.hashtextextended('pawl.outbox_wake/' || $1, 0))`
)

var errNotListening = errors.New("not listening")

// listener owns the connection on which this process is notified, and the
// advisory locks by which producers see that a queue's worker sleeps. It runs
// while there are sleepers.
type listener struct {
	db      *DB
	channel string
	tries   chan attempt // requests to lock or unlock, answered by the loop

	mu        sync.Mutex
	users     int
	stop      context.CancelFunc
	done      chan struct{}
	interrupt context.CancelFunc // ends the wait for a notification
	live      uint64             // number of the connection that passed its self-test, or 0
	last      uint64             // number of the last connection
}

// attempt asks to take or give back a queue's lock.
type attempt struct {
	queue  string
	unlock bool
	on     uint64      // unlock: the connection whose lock it is
	answer chan uint64 // the connection that took the lock, or 0; buffered
}

func newListener(db *DB) *listener {
	sum := md5.Sum([]byte(db.folder.Names.Render("pawl.outbox_wake")))
	return &listener{db: db, channel: "pawl_" + hex.EncodeToString(sum[:])[:16], tries: make(chan attempt, 64)}
}

// join starts the listener for its first user.
func (l *listener) join() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.users++
	if l.users > 1 || l.db.opts.PollOnly {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	before, done := l.done, make(chan struct{})
	l.stop, l.done = cancel, done
	go func() {
		if before != nil {
			<-before // two at a time would undo each other's state
		}
		l.run(ctx, done)
	}()
}

// leave stops it after its last.
func (l *listener) leave() {
	l.end(func() bool { l.users--; return l.users == 0 })
}

func (l *listener) close() { l.end(func() bool { return true }) }

// end stops the listener if that is wanted. It decides under the lock, so that
// a user who joins meanwhile gets a listener of its own.
func (l *listener) end(wanted func() bool) {
	l.mu.Lock()
	if !wanted() {
		l.mu.Unlock()
		return
	}
	stop, done := l.stop, l.done
	l.stop = nil
	l.mu.Unlock()
	if stop != nil {
		stop()
	}
	if done != nil {
		<-done
	}
}

// run keeps a connection until it is told to stop.
func (l *listener) run(ctx context.Context, done chan struct{}) {
	defer close(done)
	pause := 250 * time.Millisecond
	for ctx.Err() == nil {
		began := time.Now()
		err := l.connection(ctx)
		l.setLive(false)
		l.db.notifier.NotifyAll() // whoever sleeps relied on this connection
		if errors.Is(err, errSilent) {
			l.db.opts.Logger.Warn("notifications do not arrive, probably because of a connection pooler, polling instead")
			return
		}
		if time.Since(began) > time.Minute {
			pause = 250 * time.Millisecond
		}
		_ = engine.Sleep(ctx, engine.Jitter(pause, 0.2))
		pause = min(2*pause, 30*time.Second)
	}
}

var errSilent = errors.New("no notification arrived")

// connection lives as long as one connection does.
func (l *listener) connection(ctx context.Context) error {
	pool := l.db.pool.Config()
	config := pool.ConnConfig.Copy()
	config.OnNotification = nil // the program's own would swallow ours
	if pool.BeforeConnect != nil {
		if err := pool.BeforeConnect(ctx, config); err != nil {
			return err
		}
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return l.db.scrub(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+l.channel); err != nil {
		return err
	}
	err = l.test(ctx, conn)
	for tries := 1; tries < selfTests && errors.Is(err, errSilent); tries++ {
		err = l.test(ctx, conn)
	}
	if err != nil {
		return err
	}
	l.refuse()
	l.setLive(true)
	for {
		if err := l.serve(ctx, conn); err != nil {
			return err
		}
	}
}

// refuse drops requests that were meant for the connection before.
func (l *listener) refuse() {
	for {
		select {
		case a := <-l.tries:
			if a.answer != nil {
				a.answer <- 0
			}
		default:
			return
		}
	}
}

// test notifies this connection over another one.
func (l *listener) test(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, selfTest)
	defer cancel()
	nonce := fmt.Sprintf("%s%x", testMark, rand.Uint64())
	if _, err := l.db.pool.Exec(ctx, notifySelf, l.channel, nonce); err != nil {
		return err
	}
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil && !conn.IsClosed() && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return errSilent
		}
		if err != nil || n.Payload == nonce {
			return err
		}
	}
}

// serve answers one request for a lock or waits for one notification.
func (l *listener) serve(ctx context.Context, conn *pgx.Conn) error {
	select {
	case a := <-l.tries:
		return l.try(ctx, conn, a)
	default:
	}
	wait, cancel := context.WithCancel(ctx)
	defer cancel()
	l.setInterrupt(cancel)
	if len(l.tries) > 0 { // came before interrupt was set
		return nil
	}
	n, err := conn.WaitForNotification(wait)
	switch {
	case err == nil:
		if !strings.HasPrefix(n.Payload, testMark) {
			l.db.notifier.Notify(n.Payload)
		}
		return nil
	case ctx.Err() == nil && wait.Err() != nil && !conn.IsClosed():
		return nil
	}
	return err
}

func (l *listener) try(ctx context.Context, conn *pgx.Conn, a attempt) error {
	ctx, cancel := context.WithTimeout(ctx, l.db.opts.StatementTimeout)
	defer cancel()
	if a.unlock && a.on != l.connected() {
		return nil // that lock went with its connection
	}
	query := lockQueue
	if a.unlock {
		query = unlockQueue
	}
	var ok bool
	err := conn.QueryRow(ctx, l.db.folder.Names.Render(query), a.queue).Scan(&ok)
	if a.answer != nil {
		var by uint64
		if ok && err == nil {
			by = l.connected()
		}
		a.answer <- by
	}
	return err
}

func (l *listener) setLive(live bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.live = 0
	if live {
		l.last++
		l.live = l.last
	}
}

func (l *listener) setInterrupt(f context.CancelFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.interrupt = f
}

// submit hands a request to the loop, which may be waiting for notifications.
func (l *listener) submit(a attempt) error {
	l.mu.Lock()
	live, interrupt := l.live, l.interrupt
	l.mu.Unlock()
	if live == 0 {
		return errNotListening
	}
	select {
	case l.tries <- a:
	default:
		return errNotListening
	}
	if interrupt != nil {
		interrupt()
	}
	return nil
}

// connected returns the number of the live connection, or 0.
func (l *listener) connected() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.live
}

// sleeper waits for notifications of one queue.
type sleeper struct {
	db       *DB
	queue    string
	notifier chan struct{}
	armed    uint64 // the connection that holds the queue's lock for us, or 0
}

// Waiter returns a sleeper for one queue.
func (db *DB) Waiter(queue string) engine.Waiter {
	db.listen.join()
	return &sleeper{db: db, queue: queue, notifier: db.notifier.Subscribe(queue)}
}

// errNoLock: another sleeper has the queue's lock, or a producer's transaction
// is open. Notifications still arrive, but not from that transaction.
var errNoLock = errors.New("queue's lock taken")

// Arm takes the queue's lock, unless it is still held.
func (s *sleeper) Subscribe(ctx context.Context) (again bool, err error) {
	now := s.db.listen.connected()
	if s.armed != 0 && s.armed == now {
		return false, nil
	}
	s.armed = 0
	a := attempt{queue: s.queue, answer: make(chan uint64, 1)}
	if err := s.db.listen.submit(a); err != nil {
		return false, err
	}
	select {
	case s.armed = <-a.answer:
		if s.armed == 0 {
			return false, errNoLock
		}
		return true, nil
	case <-ctx.Done():
		s.unlock(now) // it may yet be taken
		return false, ctx.Err()
	case <-time.After(time.Second): // the connection broke before it answered
		s.unlock(now)
		return false, errNotListening
	}
}

// unlock asks to give the lock back, after everything that was asked before.
func (s *sleeper) unlock(on uint64) {
	_ = s.db.listen.submit(attempt{queue: s.queue, unlock: true, on: on})
}

// Unsubscribe gives the lock back: while it is held every enqueue pays for a NOTIFY.
func (s *sleeper) Unsubscribe() {
	if s.armed != 0 {
		s.unlock(s.armed)
		s.armed = 0
	}
}

// Sleep waits for a notification.
func (s *sleeper) Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-s.notifier:
		return true
	case <-t.C:
	case <-ctx.Done():
	}
	return false
}

// Close gives up the lock and the connection, if it was the last to use it.
func (s *sleeper) Close() {
	s.Unsubscribe()
	s.db.notifier.Unsubscribe(s.queue, s.notifier)
	s.db.listen.leave()
}
