//go:build linux || darwin

package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/pgcluster"
	"github.com/bravellian/pawl/outbox"
)

// ledger is what producers and handlers did, outside of any database.
type ledger struct {
	*pawl.Pawl
	t  testing.TB
	mu sync.Mutex
	// committed are messages whose transaction's commit was acknowledged, doubtful those
	// whose commit had no answer.
	committed, doubtful map[outbox.MessageID]bool
	handled             map[outbox.MessageID]time.Time // when first
	repeated            int
	running             map[outbox.MessageID]bool
	together            []string           // messages that were handled twice at once
	attempts            map[int]int        // how many handler calls were a message's nth attempt
	stop                context.CancelFunc // producers
	producers           sync.WaitGroup
}

// work runs a worker and producers, which write in transactions of the program's, until the
// test ends.
func work(t testing.TB, db *postgres.DB, producers int) *ledger {
	t.Helper()
	l := &ledger{
		t: t, committed: map[outbox.MessageID]bool{}, doubtful: map[outbox.MessageID]bool{}, handled: map[outbox.MessageID]time.Time{}, running: map[outbox.MessageID]bool{},
		attempts: map[int]int{},
	}
	var err error
	l.Pawl, err = pawl.New(db, pawl.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), PollInterval: 50 * time.Millisecond, Lease: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	l.Handle("t", l.handle)
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- l.Run(ctx) }()
	producing, stop := context.WithCancel(ctx)
	l.stop = stop
	for range producers {
		l.producers.Go(func() { l.produce(producing, db.Pool()) })
	}
	t.Cleanup(func() {
		cancel()
		l.producers.Wait()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	return l
}

func (l *ledger) handle(_ context.Context, m *outbox.Message) error {
	l.mu.Lock()
	if l.running[m.ID] {
		l.together = append(l.together, m.ID.String())
	}
	l.running[m.ID] = true
	l.attempts[m.RetryCount+1]++
	if _, again := l.handled[m.ID]; again {
		l.repeated++
	} else {
		l.handled[m.ID] = time.Now()
	}
	l.mu.Unlock()
	time.Sleep(time.Millisecond) // so that two could meet
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.running, m.ID)
	return nil
}

func (l *ledger) produce(ctx context.Context, pool *pgxpool.Pool) {
	for ctx.Err() == nil {
		id := outbox.MessageID(uuid.New())
		commit := false
		err := pgx.BeginFunc(context.WithoutCancel(ctx), pool, func(tx pgx.Tx) error {
			_, err := l.Outbox.EnqueueTx(ctx, tx, outbox.Message{ID: id, Topic: "t"})
			commit = err == nil
			return err
		})
		l.mu.Lock()
		switch {
		case err == nil:
			l.committed[id] = true
		case commit:
			l.doubtful[id] = true
		}
		l.mu.Unlock()
		if err != nil {
			_ = engine.Sleep(ctx, 5*time.Millisecond)
		}
	}
}

func (l *ledger) count() (committed, handled int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.committed), len(l.handled)
}

// moves waits until n more messages are committed and handled.
func (l *ledger) moves(what string, n int) {
	l.t.Helper()
	c, h := l.count()
	dbtest.Until(l.t, what, func() bool { committed, handled := l.count(); return committed >= c+n && handled >= h+n })
}

// end stops the producers and waits until all that was committed was handled or is not in the
// database; it returns how many are not.
func (l *ledger) end() (lost int) {
	l.t.Helper()
	l.stop()
	l.producers.Wait()
	pending := func() (ids []outbox.MessageID) {
		l.mu.Lock()
		defer l.mu.Unlock()
		for id := range l.committed {
			if l.handled[id].IsZero() {
				ids = append(ids, id)
			}
		}
		return ids
	}
	dbtest.Until(l.t, "all that is stored was handled", func() bool {
		_, _ = l.Outbox.WorkQueue("").ReapExpired(l.t.Context())
		lost = 0
		for _, id := range pending() {
			if _, err := l.Outbox.Get(l.t.Context(), id); !errors.Is(err, outbox.ErrNotFound) {
				return false
			}
			lost++
		}
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.together) > 0 {
		l.t.Errorf("%d messages were handled twice at once, %s among them", len(l.together), l.together[0])
	}
	l.t.Logf("%d messages committed, %d commits without an answer, %d handled, %d of them again, %d lost by the failover", len(l.committed), len(l.doubtful), len(l.handled), l.repeated, lost)
	return lost
}

// since logs how long work took to go on, as it was handled.
func (l *ledger) since(what string, at time.Time) {
	l.t.Helper()
	c, _ := l.count()
	dbtest.Until(l.t, "a transaction commits "+what, func() bool { n, _ := l.count(); return n > c })
	wrote := time.Since(at)
	_, h := l.count()
	dbtest.Until(l.t, "a message is handled "+what, func() bool { _, n := l.count(); return n > h })
	l.t.Logf("%s: the first commit after %v, the first message handled after %v", what, wrote.Round(time.Millisecond), time.Since(at).Round(time.Millisecond))
}

func synchronous(t testing.TB, primary *pgcluster.Cluster, name string) {
	t.Helper()
	alter(t, primary, "ALTER SYSTEM SET synchronous_standby_names = '"+name+"'")
	query(t, primary, "SELECT pg_reload_conf()::text")
	dbtest.Until(t, "the replica is synchronous", func() bool {
		return query(t, primary, "SELECT coalesce((SELECT sync_state FROM pg_stat_replication WHERE application_name = '"+name+"'), '')") == "sync"
	})
}

// asynchronous has a server wait for no standby, as before there is another one.
func asynchronous(t testing.TB, c *pgcluster.Cluster) {
	t.Helper()
	alter(t, c, "ALTER SYSTEM SET synchronous_standby_names = ''")
	query(t, c, "SELECT pg_reload_conf()::text")
	dbtest.Until(t, "it waits for no standby", func() bool { return query(t, c, "SHOW synchronous_standby_names") == "" })
}

// D-254: with synchronous replication a primary that is killed takes no committed message with
// it, and none is handled twice at once; the same after a switchover, whose old primary comes
// back as a standby. The program never stops and is not told.
func TestSynchronousFailover(t *testing.T) {
	a := cluster(t, map[string]string{"fsync": "off", "full_page_writes": "off"})
	b := standby(t, a, "b")
	db := atCluster(t, a, b)
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	synchronous(t, a, "b")
	l := work(t, db, 4)
	l.moves("there is load", 100)

	generation := db.Generation()
	if err := a.Shutdown(); err != nil {
		t.Fatal(err)
	}
	asynchronous(t, b)
	at := time.Now()
	takeOver(t, b)
	l.since("after a switchover", at)
	if db.Generation() == generation {
		t.Error("the program did not notice the switchover")
	}
	if err := a.Follow(t.Context(), b, "a"); err != nil {
		t.Fatal(err)
	}
	synchronous(t, b, "a")
	l.moves("there is load", 100)

	generation = db.Generation()
	if err := b.Kill(); err != nil {
		t.Fatal(err)
	}
	down := time.Now()
	dbtest.Until(t, "health says that no server takes writes", func() bool {
		f := finding(l.Health(t.Context()), "database")
		return f.Level == health.Problem && strings.Contains(f.Summary, "read-only") && strings.Contains(f.Summary, engine.ErrNoPrimary.Error()) && f.NextStep != ""
	})
	asynchronous(t, a)
	at = time.Now()
	takeOver(t, a)
	l.since(fmt.Sprintf("after a failover that was decided %v after the crash", at.Sub(down).Round(time.Millisecond)), at)
	if db.Generation() == generation {
		t.Error("the program did not notice the failover")
	}
	if lost := l.end(); lost > 0 {
		t.Errorf("%d committed messages were lost", lost)
	}
}

// D-254: with asynchronous replication what the replica did not have is lost, and nothing else;
// the program drops what it remembers and goes on.
func TestAsynchronousFailover(t *testing.T) {
	a := cluster(t, map[string]string{"fsync": "off", "full_page_writes": "off"})
	b := standby(t, a, "b")
	db := atCluster(t, a, b)
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	l := work(t, db, 4)
	l.moves("there is load", 100)
	sever(t, b)
	l.moves("the replica lags", 100)
	generation := db.Generation()
	if err := a.Kill(); err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	takeOver(t, b)
	l.since("after a failover", at)
	if db.Generation() == generation {
		t.Error("the program did not notice the failover")
	}
	if lost := l.end(); lost > 0 {
		t.Logf("%d messages that nobody had handled were lost with the primary", lost)
	}
	gone := 0 // what the failover lost, handled before or not
	for id := range l.committed {
		if _, err := l.Outbox.Get(t.Context(), id); errors.Is(err, outbox.ErrNotFound) {
			gone++
		}
	}
	t.Logf("%d messages were only on the old primary", gone)
	if gone == 0 {
		t.Error("nothing was lost: the replica did not lag, and the test shows nothing")
	}
}

// refuseWrites demotes a primary by its configuration.
func refuseWrites(t testing.TB, c *pgcluster.Cluster) {
	t.Helper()
	alter(t, c, "ALTER SYSTEM SET default_transaction_read_only = on")
	query(t, c, "SELECT pg_reload_conf()::text")
	dbtest.Until(t, "it takes no writes", func() bool { return query(t, c, "SHOW default_transaction_read_only") == "on" })
}

// takeOver promotes a standby and waits until it is the primary.
func takeOver(t testing.TB, c *pgcluster.Cluster) {
	t.Helper()
	query(t, c, "SELECT pg_promote(false)::text")
	dbtest.Until(t, "it is the primary", func() bool { return query(t, c, "SELECT pg_is_in_recovery()::text") == "false" })
}

// takeWrites ends refuseWrites.
func takeWrites(t testing.TB, c *pgcluster.Cluster) {
	t.Helper()
	alter(t, c, "ALTER SYSTEM RESET default_transaction_read_only")
	query(t, c, "SELECT pg_reload_conf()::text")
}

func finding(r health.Report, code string) health.Finding {
	for _, f := range r.Findings {
		if f.Code == code {
			return f
		}
	}
	return health.Finding{}
}

// D-253, D-255: a primary that takes no writes any more: nothing is claimed, no attempt is
// counted, health and readiness say so, and what waits is handled when it takes writes again.
func TestReadOnlyPrimary(t *testing.T) {
	a := cluster(t, map[string]string{"fsync": "off", "full_page_writes": "off"})
	db, err := postgres.Open(a.URL()+"&pool_max_conns=6", postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	l := work(t, db, 2)
	l.moves("there is load", 50)
	before := db.Pool().Stat().NewConnsCount()
	refuseWrites(t, a)
	dbtest.Until(t, "health says that the server is read-only", func() bool {
		f := finding(l.Health(t.Context()), "database")
		return f.Level == health.Problem && strings.Contains(f.Summary, "default_transaction_read_only = on") && strings.Contains(f.Summary, "nothing is claimed") && f.NextStep != ""
	})
	dbtest.Until(t, "connections are made anew", func() bool { return db.Pool().Stat().NewConnsCount() > before })
	dbtest.Until(t, "handlers are done", func() bool { l.mu.Lock(); defer l.mu.Unlock(); return len(l.running) == 0 })
	_, handled := l.count()
	before = db.Pool().Stat().NewConnsCount()
	dbtest.Until(t, "several claims were refused", func() bool { return db.Pool().Stat().NewConnsCount() > before+2 })
	if _, now := l.count(); now != handled {
		t.Errorf("%d messages were handled while the server was read-only", now-handled)
	}
	at := time.Now()
	takeWrites(t, a)
	l.since("after the server took writes again", at)
	dbtest.Until(t, "health is well", func() bool { return finding(l.Health(t.Context()), "database").Level == health.OK })
	if lost := l.end(); lost > 0 {
		t.Errorf("%d messages were lost", lost)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for attempt, n := range l.attempts {
		if attempt > 1 && n > l.repeated {
			t.Errorf("%d messages were handled in attempt %d, %d again", n, attempt, l.repeated)
		}
	}
}

// D-253: a name that leads to another server: after the one behind it refuses writes, or is
// gone, connections are made to where the name leads now.
func TestNameThatLeadsElsewhere(t *testing.T) {
	a := cluster(t, map[string]string{"fsync": "off", "full_page_writes": "off"})
	b := standby(t, a, "b")
	config, err := pgxpool.ParseConfig("postgres://postgres@db.example/postgres?sslmode=disable&pool_max_conns=6")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	leads := a
	config.ConnConfig.LookupFunc = func(context.Context, string) ([]string, error) {
		mu.Lock()
		defer mu.Unlock()
		u, err := url.Parse(leads.URL())
		return []string{u.Host}, err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	db, err := postgres.New(pool)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	l := work(t, db, 2)
	l.moves("there is load", 50)
	move := func(to *pgcluster.Cluster) {
		mu.Lock()
		defer mu.Unlock()
		leads = to
	}
	move(b) // too early: it is no primary yet, and the old one's connections still work
	refuseWrites(t, a)
	dbtest.Until(t, "health says that it is a standby", func() bool {
		return strings.Contains(finding(l.Health(t.Context()), "database").Summary, "this server is a standby")
	})
	// The old primary is still up, and nobody is connected any more.
	dbtest.Until(t, "nobody is left on the old primary", func() bool {
		return query(t, a, "SELECT count(*)::text FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()") == "0"
	})
	at := time.Now()
	takeOver(t, b)
	l.since("after the name led to the new primary", at)
	dbtest.Until(t, "it listens on the new primary", func() bool {
		return query(t, b, "SELECT count(*)::text FROM pg_stat_activity WHERE (query LIKE 'LISTEN%' OR query LIKE '%advisory%') AND pid <> pg_backend_pid()") != "0"
	})
	l.end()
}

// D-253: what is said of several hosts names them, and never a password.
func TestSeveralHostsAreNamed(t *testing.T) {
	const text = "postgres://u:secret7@127.0.0.1:1,127.0.0.1:2/d?sslmode=disable&target_session_attrs=read-write"
	for name, open := range map[string]func() (engine.DB, error){
		"Open":    func() (engine.DB, error) { return postgres.Open(text) },
		"OpenURL": func() (engine.DB, error) { return postgres.OpenURL(engine.OpenOptions{URL: text}) },
	} {
		db, err := open()
		if err != nil {
			t.Fatal(name, err)
		}
		err = db.CheckSchema(t.Context())
		if err == nil || !errors.Is(err, engine.ErrNotReady) || strings.Contains(err.Error(), "secret7") || !strings.Contains(err.Error(), "127.0.0.1:1") || !strings.Contains(err.Error(), "127.0.0.1:2") {
			t.Errorf("%s: %v", name, err)
		}
		_ = db.Close()
	}
	store := fleet.Database{Key: "k", URL: text}
	if where := store.Where(access.Key{}); where != "postgres://u:xxxxx@127.0.0.1:1,127.0.0.1:2/d?sslmode=disable&target_session_attrs=read-write" {
		t.Error(where)
	}
}
