package postgres

import (
	"context"
	"crypto/md5" //nolint:gosec // a short name for a channel, as computed in SQL
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/engine"
)

// Behind a transaction-pooling PgBouncer LISTEN succeeds and no notification arrives. A busy
// machine may be late once, so the test is repeated: after it failed, notifications are off.
const (
	selfTest  = 2 * time.Second // how long a notification to this process may take
	selfTests = 3               // so many failed ones mean that none arrive
)

// testMark begins the payload of a self-test; other payloads are queue names.
const testMark = "\x01"

const (
	notifySelf = `SELECT pg_catalog.pg_notify($1, $2)`
	// lockQueue returns 1, 2 if producers' open transactions hold the lock, which is shared, and 0 if a waiter does.
	lockQueue = `SELECT CASE WHEN pg_catalog.pg_try_advisory_lock(k.key) THEN 1 WHEN NOT pg_catalog.pg_try_advisory_lock_shared(k.key) THEN 0 WHEN pg_catalog.pg_advisory_unlock_shared(k.key) THEN 2 END
 FROM (SELECT pg_catalog.hashtextextended('pawl.outbox_wake/' || $1, 0) AS key) k`
	unlockQueue = `SELECT pg_catalog.pg_advisory_unlock(pg_catalog.hashtextextended('pawl.outbox_wake/' || $1, 0))`
)

var errNotListening = errors.New("not listening")

// errRefused: another waiter has the queue's lock, so that producers notify all. Or the server took no notification.
var errRefused = errors.New("queue's lock taken, or notification refused")

// uncommitted is the answer to a request for a lock that producers hold. Notifications still arrive, but not of what
// they add, nor of what others add until one waiter has the lock.
const uncommitted = math.MaxUint64

// listener owns the connection on which this process is notified, and the advisory locks that
// show producers that a queue's worker sleeps. It runs while there are waiters.
type listener struct {
	db       *DB
	channel  string
	ends     ends
	silent   atomic.Bool   // no notification arrived when it was tested last
	requests chan request  // answered by the loop
	renew    chan struct{} // asks for another connection; buffered

	mu        sync.Mutex
	users     int
	stop      context.CancelFunc
	done      chan struct{}
	interrupt context.CancelFunc // ends the wait for a notification
	live      uint64             // number of the connection that passed its self-test, or 0
	last      uint64             // number of the last connection
}

// request asks for a queue's lock, for its release, or to notify of a payload about ends.
type request struct {
	queue   string
	unlock  bool
	on      uint64 // unlock: the connection whose lock it is
	payload string
	answer  chan uint64 // the connection that took the lock or notified, or 0; buffered
}

func newListener(db *DB) *listener {
	sum := md5.Sum([]byte(db.folder.Names.Render("pawl.outbox_wake")))
	return &listener{db: db, channel: "pawl_" + hex.EncodeToString(sum[:])[:16], requests: make(chan request, 64), renew: make(chan struct{}, 1)}
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

// leave stops the listener after its last user.
func (l *listener) leave() {
	l.end(func() bool { l.users--; return l.users == 0 })
}

func (l *listener) close() { l.end(func() bool { return true }) }

// end stops the listener if wanted returns true. It decides under the lock, so that a user
// who joins meanwhile gets a listener of its own.
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

// run keeps a connection open until ctx ends.
func (l *listener) run(ctx context.Context, done chan struct{}) {
	defer close(done)
	delay := minRedial
	for ctx.Err() == nil {
		began := time.Now()
		renewed, err := l.renewable(ctx)
		l.setLive(false)
		l.db.notifier.NotifyAll() // waiters relied on this connection
		if errors.Is(err, errSilent) {
			l.silent.Store(true)
			l.db.opts.Logger.Warn("notifications do not arrive, probably because of a connection pooler, polling instead")
			return
		}
		if renewed || time.Since(began) > time.Minute {
			delay = minRedial
		}
		if l.pause(ctx, engine.Jitter(delay, 0.2)) {
			delay = minRedial
			continue
		}
		delay = min(2*delay, 30*time.Second)
	}
}

// minRedial is the first delay between two connections.
const minRedial = 250 * time.Millisecond

// reconnect asks for another connection: the present one may lead to a server that is no
// longer the primary.
func (l *listener) reconnect() {
	select {
	case l.renew <- struct{}{}:
	default:
	}
}

// renewable serves a connection until it breaks, ctx ends or another one is asked for, which
// renewed reports.
func (l *listener) renewable(ctx context.Context) (renewed bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	over := make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-l.renew:
			cancel(errRenewed)
		case <-ctx.Done():
		}
	}()
	err = l.connection(ctx)
	cancel(nil)
	<-over
	return errors.Is(context.Cause(ctx), errRenewed), err
}

var errRenewed = errors.New("another connection is asked for")

// pause waits for d, and reports whether another connection was asked for meanwhile.
func (l *listener) pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-l.renew:
		return true
	case <-t.C:
	case <-ctx.Done():
	}
	return false
}

var errSilent = errors.New("no notification arrived")

// connection opens a connection and serves it until it breaks or ctx ends.
func (l *listener) connection(ctx context.Context) error {
	pool := l.db.pool.Config()
	config := pool.ConnConfig.Copy()
	config.OnNotification = nil // the program's own would get pawl's notifications
	if pool.BeforeConnect != nil {
		if err := pool.BeforeConnect(ctx, config); err != nil {
			return err
		}
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return l.db.redact(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if _, err := conn.PgConn().Exec(ctx, "LISTEN "+l.channel+"; LISTEN "+l.channel+endsChannel).ReadAll(); err != nil {
		return err
	}
	err = l.test(ctx, conn)
	for tries := 1; tries < selfTests && errors.Is(err, errSilent); tries++ {
		err = l.test(ctx, conn)
	}
	if err != nil {
		return err
	}
	l.dropRequests()
	l.silent.Store(false)
	l.setLive(true)
	l.ends.hear(nil) // what was told before did not arrive
	for {
		if err := l.serve(ctx, conn); err != nil {
			return err
		}
	}
}

// dropRequests answers requests that were meant for the connection before.
func (l *listener) dropRequests() {
	for {
		select {
		case a := <-l.requests:
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
	case a := <-l.requests:
		return l.handle(ctx, conn, a)
	default:
	}
	wait, cancel := context.WithCancel(ctx)
	defer cancel()
	l.setInterrupt(cancel)
	if len(l.requests) > 0 { // arrived before interrupt was set
		return nil
	}
	n, err := conn.WaitForNotification(wait)
	switch {
	case err == nil && n.Channel != l.channel:
		l.ends.received(n, n.PID == conn.PgConn().PID())
		return nil
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

func (l *listener) handle(ctx context.Context, conn *pgx.Conn, a request) error {
	ctx, cancel := context.WithTimeout(ctx, l.db.opts.StatementTimeout)
	defer cancel()
	if a.unlock && a.on != l.connected() {
		return nil // that lock was released with its connection
	}
	var by uint64
	var err error
	if a.payload != "" {
		by, err = l.notifyEnds(ctx, conn, a.payload)
	} else {
		by, err = l.lock(ctx, conn, a)
	}
	if a.answer != nil {
		a.answer <- by
	}
	return err
}

// lock takes or releases a queue's lock.
func (l *listener) lock(ctx context.Context, conn *pgx.Conn, a request) (by uint64, err error) {
	if a.unlock {
		_, err = conn.Exec(ctx, l.db.folder.Names.Render(unlockQueue), a.queue)
		return 0, err
	}
	var got int
	err = conn.QueryRow(ctx, l.db.folder.Names.Render(lockQueue), a.queue).Scan(&got)
	switch {
	case err == nil && got == 1:
		return l.connected(), nil
	case err == nil && got == 2:
		return uncommitted, nil
	}
	return 0, err
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

// submit passes a request to the loop, which may be waiting for notifications.
func (l *listener) submit(a request) error {
	l.mu.Lock()
	live, interrupt := l.live, l.interrupt
	l.mu.Unlock()
	if live == 0 {
		return errNotListening
	}
	select {
	case l.requests <- a:
	default:
		return errNotListening
	}
	if interrupt != nil {
		interrupt()
	}
	return nil
}

// ask submits a request and returns its answer, which is not 0 or an error.
func (l *listener) ask(ctx context.Context, a request) (by uint64, err error) {
	a.answer = make(chan uint64, 1)
	if err := l.submit(a); err != nil {
		return 0, err
	}
	t := time.NewTimer(time.Second)
	defer t.Stop()
	select {
	case by = <-a.answer:
		switch by {
		case 0:
			return 0, errRefused
		case uncommitted:
			return 0, engine.ErrUncommitted
		}
		return by, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-t.C: // the connection broke before it answered
		return 0, errNotListening
	}
}

// connected returns the number of the live connection, or 0.
func (l *listener) connected() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.live
}

// waiter waits for notifications of one queue.
type waiter struct {
	db       *DB
	queue    string
	notifier chan struct{}
	lockedBy uint64 // the connection that holds the queue's lock for it, or 0
}

// Waiter returns a waiter for one queue.
func (db *DB) Waiter(queue string) engine.Waiter {
	db.listen.join()
	return &waiter{db: db, queue: queue, notifier: db.notifier.Subscribe(queue)}
}

// Subscribe takes the queue's lock, unless it is still held.
func (s *waiter) Subscribe(ctx context.Context) (again bool, err error) {
	now := s.db.listen.connected()
	if s.lockedBy != 0 && s.lockedBy == now {
		return false, nil
	}
	s.lockedBy, err = s.db.listen.ask(ctx, request{queue: s.queue})
	switch {
	case errors.Is(err, errRefused), errors.Is(err, engine.ErrUncommitted):
		return false, err
	case err != nil:
		s.unlock(now) // it may be taken later
		return false, err
	}
	return true, nil
}

// unlock requests the release of the lock, after all earlier requests.
func (s *waiter) unlock(on uint64) {
	_ = s.db.listen.submit(request{queue: s.queue, unlock: true, on: on})
}

// Unsubscribe releases the lock: while it is held every enqueue pays for a NOTIFY.
func (s *waiter) Unsubscribe() {
	if s.lockedBy != 0 {
		s.unlock(s.lockedBy)
		s.lockedBy = 0
	}
}

// Sleep waits for a notification.
func (s *waiter) Sleep(ctx context.Context, d time.Duration) bool {
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

// Close releases the lock, and the connection if this is its last user.
func (s *waiter) Close() {
	s.Unsubscribe()
	s.db.notifier.Unsubscribe(s.queue, s.notifier)
	s.db.listen.leave()
}
