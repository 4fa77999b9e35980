package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/fleetstate"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// ward opens stores whose illness a test decides on. Their scheme is "sick".
type ward struct {
	mu    sync.Mutex
	rules map[string]func(ctx context.Context, op string) error // by URL
	asked map[string]int
}

func newWard() *ward {
	return &ward{rules: map[string]func(context.Context, string) error{}, asked: map[string]int{}}
}

func (w *ward) engines() map[string]fleet.Opener {
	e := engines()
	e["sick"] = func(o engine.OpenOptions) (engine.DB, error) {
		url := o.URL
		o.URL = "sqlite" + strings.TrimPrefix(url, "sick")
		db, err := sqlite.OpenURL(o)
		return &patient{DB: db, w: w, url: url}, err
	}
	return e
}

// admits makes a store one of the ward's.
func (w *ward) admits(d fleet.Database, rule func(context.Context, string) error) fleet.Database {
	d.URL = "sick" + strings.TrimPrefix(d.URL, "sqlite")
	w.rule(d, rule)
	return d
}

// rule has f decide over the operations of a store; nil lets all pass.
func (w *ward) rule(d fleet.Database, f func(context.Context, string) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rules[d.URL] = f
}

func (w *ward) times(d fleet.Database) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked[d.URL]
}

type patient struct {
	engine.DB
	w   *ward
	url string
}

func (p *patient) pass(ctx context.Context, op string) error {
	p.w.mu.Lock()
	p.w.asked[p.url]++
	rule := p.w.rules[p.url]
	p.w.mu.Unlock()
	if rule == nil {
		return nil
	}
	return rule(ctx, op)
}

func (p *patient) Do(ctx context.Context, calls ...*engine.Call) error {
	if err := p.pass(ctx, calls[0].Name()); err != nil {
		return err
	}
	return p.DB.Do(ctx, calls...)
}

func (p *patient) Read(ctx context.Context, call *engine.Call) error {
	if err := p.pass(ctx, call.Name()); err != nil {
		return err
	}
	return p.DB.Read(ctx, call)
}

func (p *patient) CheckSchema(ctx context.Context) error {
	if err := p.pass(ctx, "check"); err != nil {
		return err
	}
	return p.DB.CheckSchema(ctx)
}

var errSick = errors.New("the doctor says no")

func fails(context.Context, string) error { return errSick }

func hangs(ctx context.Context, _ string) error {
	<-ctx.Done()
	return ctx.Err()
}

// onlyReads is a database that cannot be written.
func onlyReads(_ context.Context, op string) error {
	if op == "fleet/poll" || op == "check" {
		return nil
	}
	return errSick
}

// hangsAtWork answers looks and nothing else.
func hangsAtWork(ctx context.Context, op string) error {
	if onlyReads(ctx, op) == nil {
		return nil
	}
	return hangs(ctx, op)
}

// D-91: whatever is wrong with some stores, the others' work is all done meanwhile, with few places, in either order.
func TestSickStoresHoldUpNobody(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]func(context.Context, string) error{"fails": fails, "hangs": hangs, "only reads": onlyReads, "hangs at work": hangsAtWork} {
		for order, strategy := range map[string]fleet.Strategy{"round robin": fleet.RoundRobin(), "drain first": fleet.DrainFirst()} {
			t.Run(name+", "+order, func(t *testing.T) {
				t.Parallel()
				w, r := newWard(), newRecord()
				dbs := files(t, "a sick", "b", "c sick", "d", "e sick")
				healthy := []fleet.Database{dbs[1], dbs[3]}
				for _, d := range dbs {
					enqueueIn(t, another(t, d), d.Key, 30)
				}
				for i := 0; i < len(dbs); i += 2 {
					dbs[i] = w.admits(dbs[i], rule)
				}
				o := quick()
				o.Engines, o.Active, o.Strategy, o.Pawl.BatchSize = w.engines(), 2, strategy, 5
				f := open(t, fleet.Static(dbs...), o)
				f.Handle("t", r.Handle)
				start(t, f)
				for _, d := range healthy {
					r.until(t, d.Key, 30)
				}
				for _, d := range []fleet.Database{dbs[0], dbs[2], dbs[4]} {
					if r.of(d.Key) != 0 {
						t.Errorf("%q handled %d", d.Key, r.of(d.Key))
					}
				}
				r.once(t)
				for _, d := range dbs {
					w.rule(d, nil)
				}
			})
		}
	}
}

// D-91: many databases that hang keep nobody's from being looked at.
func TestManyThatHang(t *testing.T) {
	t.Parallel()
	w, r := newWard(), newRecord()
	dbs := files(t, "z", "y")
	for i := range 100 {
		dbs = append(dbs, w.admits(blank(t, fmt.Sprintf("hung %d", i)), hangs))
	}
	o := quick()
	o.Engines = w.engines()
	f := open(t, fleet.Static(dbs...), o)
	f.Handle("t", r.Handle)
	start(t, f)
	dbtest.Until(t, "the first hang", func() bool { return w.times(dbs[2]) > 0 })
	for i := range 3 {
		enqueue(t, f, "z", 1)
		enqueueIn(t, another(t, dbs[1]), "y", 1)
		r.until(t, "z", i+1)
		r.until(t, "y", i+1)
	}
	dbtest.Until(t, "the answer of z came in time", func() bool { return state(f, "z").State != fleetstate.Failing })
	if h := f.Operator(access.Key{}).State(); len(h.Stores) != 102 {
		t.Errorf("health: %s", h.Summary)
	}
}

// D-91: a store that fails is left alone for longer and longer, also if only its turns fail.
func TestBackoff(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]func(context.Context, string) error{"fails": fails, "only reads": onlyReads} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWard()
			a := file(t, "a")
			enqueueIn(t, another(t, a), "a", 1)
			a = w.admits(a, rule)
			o := quick()
			o.Engines = w.engines()
			f := open(t, fleet.Static(a), o)
			f.Handle("t", newRecord().Handle)
			start(t, f)
			dbtest.Until(t, "it failed twice", func() bool { return state(f, "a").Failures >= 2 })
			if s := state(f, "a"); s.State != fleetstate.Failing || !strings.Contains(s.Error+"the database does not answer", s.Error) {
				t.Errorf("state: %+v", s)
			}
			if n := w.times(a); n > 60 {
				t.Errorf("asked %d times for two failures", n)
			}
			if h := f.Operator(access.Key{}).State(); h.Healthy || !strings.Contains(h.Summary, "1 of 1") {
				t.Errorf("health: %+v", h)
			}
		})
	}
}

// D-91: a store that is well again is worked on, says so, and has lost nothing.
func TestStoreIsBack(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]func(context.Context, string) error{"fails": fails, "only reads": onlyReads, "hangs": hangs} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, r, out := newWard(), newRecord(), &logs{}
			a := file(t, "a")
			enqueueIn(t, another(t, a), "a", 10)
			a = w.admits(a, rule)
			o := quick()
			o.Engines, o.Pawl.Logger = w.engines(), out.logger()
			f := open(t, fleet.Static(a), o)
			f.Handle("t", r.Handle)
			start(t, f)
			untilState(t, f, fleetstate.Failing, "a")
			w.rule(a, nil)
			r.until(t, "a", 10)
			dbtest.Until(t, "it is well", func() bool { return f.Operator(access.Key{}).State().Healthy })
			if s := state(f, "a"); s.Error != "" || s.Failures != 0 || s.LastSuccess.IsZero() {
				t.Errorf("state: %+v", s)
			}
			for _, news := range []string{`msg="store failed, will retry" store=a`, `msg="store is back" store=a`} {
				dbtest.Until(t, news, func() bool { return strings.Contains(out.String(), news) })
			}
			r.once(t)
		})
	}
}

// D-91: a store whose database stops answering amid its turn gives its place away, and finishes when it answers again.
func TestHangsAmidATurn(t *testing.T) {
	t.Parallel()
	w, r := newWard(), newRecord()
	dbs := files(t, "a", "b")
	a, b := w.admits(dbs[0], nil), dbs[1]
	o := quick()
	o.Engines, o.Active, o.Strategy = w.engines(), 1, fleet.DrainFirst()
	f := open(t, fleet.Static(a, b), o)
	f.Handle("t", r.Handle)
	start(t, f)
	enqueue(t, f, "a", 1)
	r.until(t, "a", 1)
	well := make(chan struct{})
	var hanging atomic.Int64
	w.rule(a, func(ctx context.Context, op string) error {
		hanging.Add(1)
		select {
		case <-well:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	enqueueIn(t, another(t, dbs[0]), "again", 1)
	dbtest.Until(t, "it hangs", func() bool { return hanging.Load() > 0 })
	enqueue(t, f, "b", 5)
	r.until(t, "b", 5)
	close(well)
	r.until(t, "a", 2)
}

// D-91: after a fault that all stores had, all are worked on again, though few of those that failed
// may have a turn at once: turns have no end where there are few stores, and handlers take long.
func TestAllAreBack(t *testing.T) {
	t.Parallel()
	for name, long := range map[string]bool{"idle turns": false, "long handlers": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWard()
			keys := []string{"a", "b", "c"}
			dbs := files(t, keys...)
			for i, d := range dbs {
				enqueueIn(t, another(t, d), d.Key, 1)
				dbs[i] = w.admits(d, fails)
			}
			o := quick()
			o.Engines, o.Connections, o.KeepReady = w.engines(), 12, len(dbs)
			f := open(t, fleet.Static(dbs...), o)
			var begun atomic.Int64
			all := make(chan struct{})
			f.Handle("t", func(context.Context, *outbox.Message) error {
				if begun.Add(1) == int64(len(dbs)) {
					close(all)
				}
				if long {
					select {
					case <-all:
					case <-t.Context().Done():
					}
				}
				return nil
			})
			start(t, f)
			untilState(t, f, fleetstate.Failing, keys...)
			for _, d := range dbs {
				w.rule(d, nil)
			}
			dbtest.Until(t, "all are worked on", func() bool { return begun.Load() == int64(len(dbs)) })
		})
	}
}
