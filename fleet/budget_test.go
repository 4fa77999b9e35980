package fleet_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/outbox"
)

// peak is how many were in something at once, at most.
type peak struct{ now, most atomic.Int64 }

func (p *peak) enter() {
	now := p.now.Add(1)
	for most := p.most.Load(); now > most && !p.most.CompareAndSwap(most, now); most = p.most.Load() {
	}
}

func (p *peak) leave() { p.now.Add(-1) }

// D-93: handlers are bounded over all stores and in each, and the bound is used.
func TestHandlersAreBounded(t *testing.T) {
	t.Parallel()
	o, r := quick(), newRecord()
	o.Handlers, o.Pawl.Concurrency = 5, 3
	keys := []string{"a", "b", "c"}
	f := open(t, fleet.Static(files(t, keys...)...), o)
	var all peak
	each := map[string]*peak{"a": {}, "b": {}, "c": {}}
	full := make(chan struct{})
	f.Handle("t", func(ctx context.Context, m *outbox.Message) error {
		one := each[fleet.StoreOf(ctx).Key]
		all.enter()
		one.enter()
		<-full
		one.leave()
		all.leave()
		return r.Handle(ctx, m)
	})
	start(t, f)
	for _, key := range keys {
		enqueue(t, f, key, 20)
	}
	dbtest.Until(t, "five handlers run", func() bool { return all.now.Load() == 5 })
	if h := f.Operator(access.Key{}).State(); h.Handlers != 5 || h.MaxHandlers != 5 {
		t.Errorf("health: %+v", h)
	}
	close(full)
	for _, key := range keys {
		r.until(t, key, 20)
		if most := each[key].most.Load(); most > 3 {
			t.Errorf("%d handlers of %q at once", most, key)
		}
	}
	if all.most.Load() != 5 {
		t.Errorf("%d handlers at once", all.most.Load())
	}
	dbtest.Until(t, "none runs", func() bool { return f.Operator(access.Key{}).State().Handlers == 0 })
}

// servers are stores that are schemas of the test server, under one application name.
func servers(t *testing.T, n int) (dbs []fleet.Database, connected func() int) {
	t.Helper()
	name := "fleet_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	var d dbtest.Database
	for i := range n {
		d = dbtest.OpenPostgres(t)
		dbs = append(dbs, fleet.Database{
			Key: fmt.Sprintf("pg%02d", i), URL: testpg.With(testpg.URL(t), "application_name="+name, "connect_timeout=60"), Schema: strings.TrimSuffix(d.Table(""), "."),
		})
	}
	return dbs, func() (n int) {
		d.Row(t, "SELECT count(*) FROM pg_stat_activity WHERE application_name = '"+name+"'", &n)
		return n
	}
}

// counting opens PostgreSQL and notes how many connections there are between the
// gate's entry and exit.
func counting(p *peak) fleet.Opener {
	return func(o engine.OpenOptions) (engine.DB, error) {
		o.Gate = countingGate{o.Gate, p}
		return postgres.OpenURL(o)
	}
}

type countingGate struct {
	engine.Gate
	p *peak
}

func (g countingGate) Enter(ctx context.Context) error {
	err := g.Gate.Enter(ctx)
	if err == nil {
		g.p.enter()
	}
	return err
}

func (g countingGate) Leave() {
	g.p.leave()
	g.Gate.Leave()
}

// D-93: many stores on servers share few connections: never more than that, and all of them are served.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	dbs, connected := servers(t, 5)
	o, r := quick(), newRecord()
	var p peak
	o.Engines["postgres"] = counting(&p)
	o.Connections, o.PollMax = 4, 100*time.Millisecond
	f := open(t, fleet.Static(dbs...), o)
	f.Handle("t", r.Handle)
	stop := start(t, f)
	for round := range 3 {
		for _, d := range dbs {
			enqueue(t, f, d.Key, 10)
		}
		for _, d := range dbs {
			r.until(t, d.Key, 10*(round+1))
		}
		dbtest.Until(t, "the server sees no more than allowed", func() bool { return connected() <= 4 })
	}
	if h := f.Operator(access.Key{}).State(); p.most.Load() > 4 || h.MaxConnections != 4 || h.Connections > 4 {
		t.Errorf("%d connections at once; health %+v", p.most.Load(), h)
	}
	stop()
	must(t, f.Close())
	// The driver closes a connection that it gave up on in a goroutine of its own.
	dbtest.Until(t, "no connection is left", func() bool {
		return connected() == 0 && f.Operator(access.Key{}).State().Connections == 0 && p.now.Load() == 0
	})
}

// D-92, D-93: a store on a server that leaves the fleet keeps no connection.
func TestRemovedServerKeepsNoConnection(t *testing.T) {
	t.Parallel()
	dbs, connected := servers(t, 1)
	l, r := listOf(append(dbs, file(t, "file"))...), newRecord()
	f := open(t, l, quick())
	f.Handle("t", r.Handle)
	start(t, f)
	enqueue(t, f, dbs[0].Key, 5)
	r.until(t, dbs[0].Key, 5)
	if connected() == 0 {
		t.Error("worked without a connection")
	}
	l.set(l.dbs[1:]...)
	must(t, f.Refresh(t.Context()))
	must(t, f.Refresh(t.Context()))
	dbtest.Until(t, "the server sees none", func() bool { return connected() == 0 && f.Operator(access.Key{}).State().Connections == 0 })
}
