//go:build linux || darwin

package pawl_test

import (
	"context"
	"database/sql"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/pgcluster"
	"github.com/bravellian/pawl/outbox"
)

// cluster is a server of the test's own, to be killed and replaced.
func cluster(t *testing.T, settings map[string]string) *pgcluster.Cluster {
	t.Helper()
	c, err := pgcluster.Start(t.Context(), pgcluster.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop() })
	return c
}

// atCluster opens the database of whichever of the servers takes writes.
func atCluster(t *testing.T, servers ...*pgcluster.Cluster) *postgres.DB {
	t.Helper()
	hosts := ""
	for i, c := range servers {
		u, err := url.Parse(c.URL())
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			hosts += ","
		}
		hosts += u.Host
	}
	db, err := postgres.Open("postgres://postgres@"+hosts+"/postgres?sslmode=disable&target_session_attrs=read-write&pool_max_conns=6&connect_timeout=5", postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func query(t testing.TB, c *pgcluster.Cluster, text string) (answer string) {
	t.Helper()
	db, err := sql.Open("pgx", c.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), text).Scan(&answer); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return answer
}

func standby(t *testing.T, primary *pgcluster.Cluster, name string) *pgcluster.Cluster {
	t.Helper()
	s, err := primary.Standby(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	return s
}

// load has several callers enqueue until stop is called, which returns what was
// acknowledged. Errors are an outage's.
func (p *program) load(callers int) (stop func() []outbox.MessageID) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	acked := make([][]outbox.MessageID, callers)
	for i := range callers {
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				queue := ""
				if n%2 == 0 {
					queue = lateQueue
				}
				if id, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: "t", Queue: queue}); err == nil {
					acked[i] = append(acked[i], id)
				} else {
					_ = engine.Sleep(ctx, 5*time.Millisecond)
				}
			}
		})
	}
	return func() (ids []outbox.MessageID) {
		cancel()
		all.Wait()
		for _, some := range acked {
			ids = append(ids, some...)
		}
		return ids
	}
}

// again enqueues until that is acknowledged: the first that is, after an outage.
func (p *program) again() outbox.MessageID {
	p.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		id, err := p.Outbox.Enqueue(p.t.Context(), outbox.Message{Topic: "t"})
		if err == nil {
			return id
		}
		if time.Now().After(deadline) {
			p.t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// failover kills the primary under load and promotes the standby. It returns what was
// acknowledged before and after.
func (p *program) failover(primary, standby *pgcluster.Cluster) (before, after []outbox.MessageID) {
	p.t.Helper()
	stop := p.load(4)
	dbtest.Until(p.t, "there is load", func() bool { p.mu.Lock(); defer p.mu.Unlock(); return len(p.handled) > 100 })
	p.check(primary.Kill())
	before = stop()
	stop = p.load(4)
	promote(p.t, standby)
	p.again()
	after = append(stop(), p.some(10)...)
	return before, after
}

// D-111: a replica takes over under load, first one that lagged and so lost what was
// acknowledged last, then a synchronous one, which lost nothing. In both cases what is
// enqueued afterwards is handled, by programs that never stopped, also in a queue that
// the replica had never heard of, and fencing tokens grow.
func TestFailover(t *testing.T) {
	a := cluster(t, map[string]string{"fsync": "off", "full_page_writes": "off"})
	b := standby(t, a, "b")
	p := running(t, atCluster(t, a, b))
	p.check(p.Migrate(t.Context()))
	stop := p.work()
	token := p.token()
	p.wantHandled("before", []outbox.MessageID{p.enqueue(true, "")})
	dbtest.Until(t, "the replica has the schema", func() bool {
		return query(t, b, "SELECT (pg_last_wal_replay_lsn() >= '"+query(t, a, "SELECT pg_current_wal_flush_lsn()::text")+"')::text") == "true"
	})
	// From here on the replica is told nothing more.
	sever(t, b)
	p.wantHandled("lost with the primary", p.some(3))
	for range 5 {
		token = p.wantToken(token)
	}
	generation := p.Internal(access.Key{}).DB.Generation()
	before, after := p.failover(a, b)
	p.wantHandled("after the failover", after)
	token = p.wantToken(token)
	if p.Internal(access.Key{}).DB.Generation() == generation {
		t.Error("the program did not notice the failover")
	}
	lost := 0
	for _, id := range before {
		if _, err := p.Outbox.Get(t.Context(), id); err != nil {
			lost++
		}
	}
	if lost == 0 {
		t.Error("nothing was lost: the replica did not lag, and the test shows nothing")
	}

	stop()
	c := standby(t, b, "c")
	alter(t, b, "ALTER SYSTEM SET synchronous_standby_names = 'c'")
	query(t, b, "SELECT pg_reload_conf()::text")
	dbtest.Until(t, "the replica is synchronous", func() bool {
		return query(t, b, "SELECT coalesce((SELECT sync_state FROM pg_stat_replication WHERE application_name = 'c'), '')") == "sync"
	})
	q := running(t, atCluster(t, b, c))
	q.work()
	token = q.wantToken(token)
	generation = q.Internal(access.Key{}).DB.Generation()
	before, after = q.failover(b, c)
	q.wantHandled("synchronous", append(before, after...))
	q.wantToken(token)
	if q.Internal(access.Key{}).DB.Generation() == generation {
		t.Error("the program did not notice the second failover")
	}
}

func promote(t testing.TB, c *pgcluster.Cluster) {
	t.Helper()
	if query(t, c, "SELECT pg_promote()::text") != "true" {
		t.Fatal("the replica does not take over")
	}
}

// dump copies what a dump of the schema has: the rows, and where the sequences are.
func dump(t *testing.T, c *pgcluster.Cluster) {
	t.Helper()
	alter(t, c, `DO $$ DECLARE t record; BEGIN
		CREATE SCHEMA saved;
		FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'pawl' LOOP EXECUTE format('CREATE TABLE saved.%I AS TABLE pawl.%I', t.tablename, t.tablename); END LOOP;
		CREATE TABLE saved.sequences AS SELECT 'pawl.outbox_block' AS name, last_value FROM pawl.outbox_block UNION ALL SELECT 'pawl.outbox_single', last_value FROM pawl.outbox_single;
	END $$`)
}

// putBack puts a dump back in one transaction, over what came since.
func putBack(t *testing.T, c *pgcluster.Cluster) {
	t.Helper()
	alter(t, c, `DO $$ DECLARE t record; BEGIN
		FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'pawl' ORDER BY 1 LOOP EXECUTE format('TRUNCATE pawl.%I CASCADE', t.tablename); END LOOP;
		FOR t IN SELECT r.relname FROM pg_class r WHERE r.relkind = 'r' AND r.relnamespace = 'pawl'::regnamespace
		  ORDER BY EXISTS (SELECT FROM pg_constraint f WHERE f.conrelid = r.oid AND f.contype = 'f') LOOP
			EXECUTE format('INSERT INTO pawl.%I OVERRIDING SYSTEM VALUE SELECT * FROM saved.%I', t.relname, t.relname); END LOOP;
		PERFORM setval(s.name::regclass, s.last_value) FROM saved.sequences s;
	END $$`)
}

// sever has a replica lose its primary.
func sever(t *testing.T, c *pgcluster.Cluster) {
	t.Helper()
	alter(t, c, "ALTER SYSTEM SET primary_conninfo = ''")
	query(t, c, "SELECT pg_reload_conf()::text")
	dbtest.Until(t, "the replica is on its own", func() bool { return query(t, c, "SELECT count(*)::text FROM pg_stat_wal_receiver") == "0" })
}

func alter(t testing.TB, c *pgcluster.Cluster, text string) {
	t.Helper()
	// Of a deadlock the others are the victims.
	db, err := sql.Open("pgx", c.URL()+"&options=-c%20deadlock_timeout%3D1min")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// D-111: a dump that is put back under running programs, over what came since; and a
// server that is killed when a block of ids was just fetched, by a transaction that is
// still open.
func TestDumpPutBackAndServerKilled(t *testing.T) {
	c := cluster(t, map[string]string{"wal_writer_delay": "10s", "wal_writer_flush_after": "0"})
	db := atCluster(t, c)
	p := running(t, db)
	p.check(p.Migrate(t.Context()))
	p.work()
	token := p.token()
	dump(t, c)
	generation := p.Internal(access.Key{}).DB.Generation()
	stop := p.load(4)
	dbtest.Until(t, "there is load", func() bool { p.mu.Lock(); defer p.mu.Unlock(); return len(p.handled) > 100 })
	for range 5 {
		token = p.wantToken(token)
	}
	putBack(t, c)
	p.again()
	after := append(p.some(10), p.again())
	stop()
	p.wantHandled("after the dump was put back", append(after, p.some(5)...))
	token = p.wantToken(token)
	p.check(p.Internal(access.Key{}).DB.Do(t.Context(), engine.Ask(op.GenerationCheck{})))
	if p.Internal(access.Key{}).DB.Generation() == generation {
		t.Error("the program did not notice the dump")
	}

	// Nobody else draws from the sequence: the block of the open transaction is the last.
	pool := stdlib.OpenDBFromPool(db.Pool())
	defer pool.Close()
	for fresh := int64(0); fresh < 2; fresh++ {
		other := atCluster(t, c)
		others := stdlib.OpenDBFromPool(other.Pool())
		tx, err := others.BeginTx(t.Context(), nil)
		p.check(err)
		lo, err := other.ReserveIDs(t.Context(), tx, 1)
		p.check(err)
		p.check(c.Kill())
		_ = tx.Rollback()
		_ = others.Close()
		p.check(c.Restart(t.Context()))
		next := atCluster(t, c)
		got, err := next.ReserveIDs(t.Context(), nil, 1)
		p.check(err)
		if mine, err := other.ReserveIDs(t.Context(), nil, 1); err != nil || mine/engine.BlockSize == got/engine.BlockSize {
			t.Errorf("position %d and %d are of one block, given to two programs (%d before): %v", mine, got, lo, err)
		}
	}
	p.wantHandled("after the kill", append(p.some(5), p.again()))
	p.wantToken(token)
	if n := query(t, c, "SELECT count(*)::text FROM pawl.outbox_orphans()"); n != "0" {
		t.Errorf("%s queues are lost", n)
	}
}
