package postgres_test

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/internal/test/proxytest"
	"github.com/bravellian/pawl/internal/test/testpg"
)

// channel is where workers of a place are notified.
func channel(p *enginetest.Place) string {
	sum := md5.Sum([]byte(p.Names.Quote("outbox_wake")))
	return "pawl_" + hex.EncodeToString(sum[:])[:16]
}

// eavesdropper is a raw connection that receives the producers' notifications.
type eavesdropper struct {
	t    testing.TB
	conn *pgx.Conn
	name string
}

func eavesdrop(t testing.TB, p *enginetest.Place) *eavesdropper {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), testpg.URL(t))
	enginetest.Must(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	_, err = conn.Exec(t.Context(), "LISTEN "+channel(p))
	enginetest.Must(t, err)
	return &eavesdropper{t, conn, channel(p)}
}

// heard returns the queues notified until now, without self-tests.
func (e *eavesdropper) heard() (queues []string) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(e.t.Context(), 2*time.Minute)
	defer cancel()
	admin(e.t, "NOTIFY "+e.name+", 'end of test'")
	for {
		n, err := e.conn.WaitForNotification(ctx)
		enginetest.Must(e.t, err)
		switch {
		case n.Payload == "end of test":
			return queues
		case !strings.HasPrefix(n.Payload, "\x01"):
			queues = append(queues, n.Payload)
		}
	}
}

// OBX-118: producers notify only while a worker sleeps.
func TestOnlySleepersAreNotified(t *testing.T) {
	p := place()(t)
	db, other := enginetest.Migrated(t, p), p.Open(t, enginetest.Options{})
	ear := eavesdrop(t, p)
	enginetest.Put(t, other, 3)
	if q := ear.heard(); len(q) != 0 {
		t.Errorf("nobody sleeps, and %v were notified", q)
	}
	s := db.Waiter(enginetest.Queue)
	defer s.Close()
	for range 2 {
		woken := enginetest.Asleep(t, s)
		enginetest.Put(t, other, 1)
		enginetest.WantWoken(t, woken)
		if q := ear.heard(); len(q) != 1 || q[0] != enginetest.Queue {
			t.Errorf("somebody sleeps, and %v were notified", q)
		}
		s.Unsubscribe()
		enginetest.Until(t, "the lock is given back", func() bool { return wakeLocks(t, p) == 0 })
		enginetest.Put(t, other, 1)
		if q := ear.heard(); len(q) != 0 {
			t.Errorf("the worker is busy, and %v were notified", q)
		}
	}
}

// wakeLocks is how many session locks this place's listeners hold.
func wakeLocks(t testing.TB, p *enginetest.Place) int64 {
	t.Helper()
	return locksOf(t, p, "ExclusiveLock")
}

// locksOf counts the locks of a mode, the producers' among them, on what a sleeping worker locks.
func locksOf(t testing.TB, p *enginetest.Place, mode string) int64 {
	t.Helper()
	return enginetest.Number(t, p, `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND mode = $2 AND granted
		AND classid::bigint << 32 | objid::bigint = hashtextextended($1, 0)`, p.Names.Quote("outbox_wake")+"/"+enginetest.Queue, mode)
}

// OBX-100: every way to make messages due notifies the waiters: the routine for other
// languages and redriving, too.
func TestEveryWayToEnqueueWakesSleepers(t *testing.T) {
	p := place()(t)
	db, other := enginetest.Migrated(t, p), p.Open(t, enginetest.Options{})
	owner := enginetest.Token()
	ids := enginetest.Put(t, db, 1)
	enginetest.Take(t, db, owner, 1)
	enginetest.Do(t, db, enginetest.Fail(owner, "x", enginetest.Span{Lo: ids[0], N: 1}))
	lo, err := other.ReserveIDs(t.Context(), nil, 1)
	enginetest.Must(t, err)
	s := db.Waiter(enginetest.Queue)
	defer s.Close()
	for name, do := range map[string]func(){
		"routine":      func() { enginetest.Exec(t, p, `SELECT pawl.outbox_enqueue('t', 'x'::text)`) },
		"redrive":      func() { enginetest.Do(t, other, enginetest.Redrive(nil)) },
		"one message":  func() { enginetest.Put(t, other, 1) },
		"many at once": func() { enginetest.Put(t, other, 2) },
		"enqueue once": func() { enginetest.Do(t, other, enginetest.EnqueueOnce(enginetest.Once{ID: lo, MessageID: owner})) },
	} {
		t.Run(name, func(t *testing.T) {
			woken := enginetest.Asleep(t, s)
			do()
			enginetest.WantWoken(t, woken)
		})
	}
}

// OBX-100, D-856: an enqueue that is not committed when a worker goes to sleep is not missed: the
// worker cannot subscribe before it ends, and is told why.
func TestUncommittedEnqueueIsNotMissed(t *testing.T) {
	p := place()(t)
	db := enginetest.Migrated(t, p)
	s := db.Waiter(enginetest.Queue)
	defer s.Close()
	enginetest.Until(t, "the waiter can be armed", func() bool { _, err := s.Subscribe(t.Context()); return err == nil })
	s.Unsubscribe()
	enginetest.Until(t, "the lock is given back", func() bool { return wakeLocks(t, p) == 0 })
	tx, err := p.Pool(db).BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	defer tx.Rollback()
	lo, err := db.ReserveIDs(t.Context(), tx, 1)
	enginetest.Must(t, err)
	enginetest.Must(t, db.DoTx(t.Context(), tx, enginetest.Enqueue([]int64{lo}, nil)))
	for range 3 {
		if again, err := s.Subscribe(t.Context()); !errors.Is(err, engine.ErrUncommitted) {
			t.Fatalf("look again: %v, error %v, although an enqueue is under way that sent no notification", again, err)
		}
	}
	if n := locksOf(t, p, "ShareLock"); n != 1 {
		t.Errorf("%d locks: the producer's is the only one", n)
	}
	enginetest.Must(t, tx.Commit())
	var again bool
	enginetest.Until(t, "the waiter can be armed after the commit", func() bool { again, err = s.Subscribe(t.Context()); return err == nil })
	if !again {
		t.Error("after the commit there was no need to look again")
	}
	if got := enginetest.Take(t, db, enginetest.Token(), 1); len(got) != 1 {
		t.Error("the look after arming found nothing")
	}
	if again, err := s.Subscribe(t.Context()); err != nil || again {
		t.Errorf("armed all along: look again %v, error %v", again, err)
	}
}

// OBX-100: of two waiters of one queue the one that still sleeps is notified when the other
// got busy.
func TestTwoSleepersOfOneQueue(t *testing.T) {
	p := place()(t)
	db, other := enginetest.Migrated(t, p), p.Open(t, enginetest.Options{})
	a, b := db.Waiter(enginetest.Queue), db.Waiter(enginetest.Queue)
	defer b.Close()
	enginetest.Until(t, "a can be armed", func() bool { _, err := a.Subscribe(t.Context()); return err == nil })
	beside := other.Waiter(enginetest.Queue)
	enginetest.Until(t, "another process listens, but has no lock", func() bool {
		_, err := beside.Subscribe(t.Context())
		if err == nil || errors.Is(err, engine.ErrUncommitted) {
			t.Fatalf("beside a waiter: %v", err)
		}
		return strings.Contains(err.Error(), "lock taken")
	})
	beside.Close()
	woken := enginetest.Asleep(t, b)
	a.Unsubscribe()
	a.Close()
	enginetest.Put(t, other, 1)
	enginetest.WantWoken(t, woken)
	b.Unsubscribe()
	enginetest.Until(t, "both locks are given back", func() bool { return wakeLocks(t, p) == 0 })
}

// D-6: a listening connection that ends wakes its waiters, since they may have missed
// notifications, and is replaced.
func TestListenerComesBack(t *testing.T) {
	p := place("application_name=listener_comes_back")(t)
	db, other := enginetest.Migrated(t, p), p.Open(t, enginetest.Options{})
	s := db.Waiter(enginetest.Queue)
	defer s.Close()
	for range 2 {
		woken := enginetest.Asleep(t, s)
		admin(t, `SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a JOIN pg_locks l USING (pid)
			WHERE a.application_name = 'listener_comes_back' AND l.locktype = 'advisory'`)
		enginetest.WantWoken(t, woken)
		woken = enginetest.Asleep(t, s)
		enginetest.Put(t, other, 1)
		enginetest.WantWoken(t, woken)
		s.Unsubscribe()
		enginetest.Until(t, "the lock is given back", func() bool { return wakeLocks(t, p) == 0 })
	}
}

// D-6: behind a pooler that drops notifications pawl notices, logs it once, and polls.
func TestSilentChannelIsNoticed(t *testing.T) {
	t.Parallel()
	p := place()(t)
	enginetest.Migrated(t, p)
	proxy := proxytest.New(t, testpg.URL(t))
	proxy.DropNotifications()
	var log enginetest.LockedBuffer
	db := open(t, proxy.URL(testpg.URL(t)), postgres.Options{Schema: p.Names.Schema, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	s := db.Waiter(enginetest.Queue)
	defer s.Close()
	enginetest.Until(t, "the silence is noticed", func() bool { return strings.Contains(log.String(), "polling instead") })
	if _, err := s.Subscribe(t.Context()); err == nil {
		t.Error("armed by a connection that hears nothing")
	}
	if n := strings.Count(log.String(), "\n"); n != 1 {
		t.Errorf("logged %d lines: %s", n, &log)
	}
	s.Sleep(t.Context(), time.Minute) // what rang when the channel was given up: a short sleep might end without taking it
	if s.Sleep(t.Context(), time.Millisecond) {
		t.Error("woken by nothing")
	}
	db.Notify(enginetest.Queue)
	if !s.Sleep(t.Context(), time.Minute) {
		t.Error("a ring of this process does not wake")
	}
}

// D-6: notifications that are late once, as on a busy machine, are kept in use.
func TestOneSilenceIsForgiven(t *testing.T) {
	t.Parallel()
	p := place()(t)
	enginetest.Migrated(t, p)
	proxy := proxytest.New(t, testpg.URL(t))
	proxy.DropSomeNotifications(1)
	var log enginetest.LockedBuffer
	db := open(t, proxy.URL(testpg.URL(t)), postgres.Options{Schema: p.Names.Schema, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	s := db.Waiter(enginetest.Queue)
	defer s.Close()
	enginetest.Until(t, "the waiter can be armed", func() bool {
		_, err := s.Subscribe(t.Context())
		if log.String() != "" {
			t.Fatalf("given up: %s", &log)
		}
		return err == nil
	})
}

// D-6: with PollOnly no connection listens, and Subscribe says so.
func TestPollOnly(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	db := open(t, with(testpg.URL(t), "application_name=poll_only"), postgres.Options{Schema: p.Names.Schema, PollOnly: true})
	s := db.Waiter(enginetest.Queue)
	defer s.Close()
	for range 3 {
		if _, err := s.Subscribe(t.Context()); err == nil {
			t.Error("armed without listening")
		}
	}
	enginetest.Put(t, db, 1)
	if n := enginetest.Number(t, p, `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'poll_only' AND query LIKE 'LISTEN%'`); n != 0 {
		t.Errorf("%d connections listen", n)
	}
	if s.Sleep(t.Context(), time.Millisecond) {
		t.Error("woken by nothing")
	}
}

// D-6: a program's own handler of notifications in its pool does not take pawl's.
func TestPoolWithItsOwnNotificationHandler(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	config, err := pgxpool.ParseConfig(testpg.URL(t))
	enginetest.Must(t, err)
	config.ConnConfig.OnNotification = func(*pgconn.PgConn, *pgconn.Notification) {}
	own, err := pgxpool.NewWithConfig(t.Context(), config)
	enginetest.Must(t, err)
	defer own.Close()
	db, err := postgres.New(own, postgres.Options{Schema: p.Names.Schema})
	enginetest.Must(t, err)
	s := db.Waiter(enginetest.Queue)
	woken := enginetest.Asleep(t, s)
	enginetest.Put(t, p.Open(t, enginetest.Options{}), 1)
	enginetest.WantWoken(t, woken)
	s.Close()
	enginetest.Must(t, db.Close())
}

// D-6: the listening connection is made as the pool makes its own: with a
// password, say, that only a hook knows.
func TestListenerIsConnectedLikeThePool(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	config, err := pgxpool.ParseConfig(testpg.URL(t))
	enginetest.Must(t, err)
	right := config.ConnConfig.Database
	config.ConnConfig.Database = "nothing_here"
	config.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error { c.Database = right; return nil }
	own, err := pgxpool.NewWithConfig(t.Context(), config)
	enginetest.Must(t, err)
	defer own.Close()
	db, err := postgres.New(own, postgres.Options{Schema: p.Names.Schema})
	enginetest.Must(t, err)
	s := db.Waiter(enginetest.Queue)
	woken := enginetest.Asleep(t, s)
	enginetest.Put(t, p.Open(t, enginetest.Options{}), 1)
	enginetest.WantWoken(t, woken)
	s.Close()
	enginetest.Must(t, db.Close())
}

// OBX-100: a context that ends during Subscribe leaves no lock: producers would pay for
// notifications that no waiter needs.
func TestArmThatIsCancelledLeavesNoLock(t *testing.T) {
	p := place()(t)
	db := enginetest.Migrated(t, p)
	s := db.Waiter(enginetest.Queue)
	defer s.Close()
	enginetest.Until(t, "the waiter can be armed", func() bool { _, err := s.Subscribe(t.Context()); return err == nil })
	s.Unsubscribe()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		if _, err := s.Subscribe(ctx); err == nil {
			s.Unsubscribe()
		} else if !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled Arm: %v", err)
		}
	}
	// Requests are served in their order: after this one nothing is pending.
	enginetest.Until(t, "the waiter can be armed again", func() bool { _, err := s.Subscribe(t.Context()); return err == nil })
	s.Unsubscribe()
	enginetest.Until(t, "no lock is left", func() bool { return wakeLocks(t, p) == 0 })
}

// D-6: after Close no goroutine and no connection is left, however many waiters there were.
func TestCloseLeavesNothingBehind(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	before := enginetest.Running()
	db, err := postgres.Open(with(testpg.URL(t), "application_name=leaves_nothing"), postgres.Options{Schema: p.Names.Schema})
	enginetest.Must(t, err)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 5 {
				s := db.Waiter(enginetest.Queue)
				if i%2 == 0 {
					_, _ = s.Subscribe(context.Background())
					s.Sleep(context.Background(), time.Millisecond)
				}
				s.Close()
			}
		})
	}
	wg.Wait()
	s := db.Waiter(enginetest.Queue)
	enginetest.Asleep(t, s)
	db.Notify(enginetest.Queue)
	s.Close()
	enginetest.Must(t, db.Close())
	if left := before.Left(); left != "" {
		t.Errorf("left behind:\n%s", left)
	}
	enginetest.Until(t, "no connection is left", func() bool {
		return enginetest.Number(t, p, `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'leaves_nothing'`) == 0
	})
}
