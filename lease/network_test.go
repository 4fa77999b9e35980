package lease_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/test/proxytest"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/lease"
)

// real is a lease that is lost in real time.
const real = 3 * time.Second

// behindProxy is leases whose connection to PostgreSQL a test can spoil.
type behindProxy struct {
	*lease.Leases
	t     *testing.T
	d     dbtest.Database
	proxy *proxytest.Proxy
}

func spoilable(t *testing.T) *behindProxy {
	t.Helper()
	d := dbtest.OpenPostgres(t)
	p := proxytest.New(t, testpg.URL(t))
	u, err := url.Parse(p.URL(testpg.URL(t)))
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("pool_max_conns", "4")
	u.RawQuery = q.Encode()
	db, err := postgres.Open(u.String(), postgres.Options{Schema: strings.TrimSuffix(d.Table(""), ".")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Cut(); _ = db.Close() })
	return &behindProxy{parts.NewLeases(db, "", nil), t, d, p}
}

func (b *behindProxy) acquire(o lease.Options) *lease.Lease {
	b.t.Helper()
	l, err := b.Acquire(b.t.Context(), "n", o)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { b.proxy.Cut(); _ = l.Close(context.Background()) })
	return l
}

// long is a lease that no busy machine loses: it is renewed after a tenth of it, and the
// rest is left for a renewal that goes wrong.
var long = lease.Options{Duration: 40 * time.Second, RenewAt: 0.1}

// renewed waits until the lease has been renewed once more.
func renewed(t *testing.T, l *lease.Lease) {
	t.Helper()
	before := l.Deadline()
	dbtest.Until(t, "the lease is renewed", func() bool { return l.Deadline().After(before) || l.Err() != nil })
	if err := l.Err(); err != nil {
		t.Fatal(err)
	}
}

// D-62: a connection that is slow loses nothing: 50 ms more for each round trip.
func TestSlowConnection(t *testing.T) {
	t.Parallel()
	b := spoilable(t)
	b.proxy.Delay(50 * time.Millisecond)
	l := b.acquire(long)
	for range 3 {
		renewed(t, l)
	}
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// D-62: connections that are cut, once, cost one renewal, which is repeated.
func TestCutConnection(t *testing.T) {
	t.Parallel()
	b := spoilable(t)
	l := b.acquire(long)
	for range 2 {
		b.proxy.CutAfter("SELECT") // the renewal takes effect, and its answer is lost
		renewed(t, l)
	}
	if b.proxy.Cuts() != 2 {
		t.Fatalf("cut %d times", b.proxy.Cuts())
	}
	b.proxy.Cut()
	renewed(t, l)
}

// D-62: connections that fall silent cost one renewal: the next goes over others.
func TestOldConnectionsGoSilent(t *testing.T) {
	t.Parallel()
	b := spoilable(t)
	l := b.acquire(long)
	b.proxy.SilenceOpen()
	renewed(t, l)
}

// lostInTime insists on a lease being lost no later than it ends by the holder's
// clock, and not before someone else could have it.
func (b *behindProxy) lostInTime(l *lease.Lease) {
	b.t.Helper()
	deadline := l.Deadline() // no renewal succeeds any more
	stall := dbtest.WatchStalls()
	next := make(chan *lease.Lease, 1)
	go func() {
		o, err := parts.NewLeases(b.d.DB, "", nil).AcquireWait(b.t.Context(), "n", lease.Options{})
		if err != nil {
			b.t.Error(err)
		} else if l.Err() == nil {
			b.t.Error("two have it at once")
		}
		next <- o
	}()
	<-l.Context().Done()
	if late := time.Since(deadline) - stall(); late > time.Second { // it is at once; the machine may be busy
		b.t.Errorf("lost %v after its end, and what the machine stood still", late)
	}
	if !errors.Is(context.Cause(l.Context()), lease.ErrLost) || !errors.Is(l.Err(), lease.ErrLost) {
		b.t.Errorf("cause %v, error %v", context.Cause(l.Context()), l.Err())
	}
	if o := <-next; o != nil {
		if o.Token() != l.Token()+1 {
			b.t.Errorf("token %d after %d", o.Token(), l.Token())
		}
		_ = o.Close(context.Background())
	}
}

// D-62: a database that cannot be reached.
func TestRefusedConnections(t *testing.T) {
	b := spoilable(t)
	l := b.acquire(lease.Options{Duration: real})
	b.proxy.Refuse(true)
	b.proxy.Cut()
	b.lostInTime(l)
}

// D-62: a database that does not answer.
func TestBlackHole(t *testing.T) {
	b := spoilable(t)
	l := b.acquire(lease.Options{Duration: real})
	b.proxy.Silence()
	b.lostInTime(l)
}
