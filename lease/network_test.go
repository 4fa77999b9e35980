package lease_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
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

// real is a lease that is lived through in real time, on a machine that may be
// busy with other things.
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

func (b *behindProxy) acquire(d time.Duration) *lease.Lease {
	b.t.Helper()
	l, err := b.Acquire(b.t.Context(), "n", lease.Options{Duration: d})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { b.proxy.Cut(); _ = l.Close(context.Background()) })
	return l
}

// survives lives through some time with a lease.
func survives(l *lease.Lease, d time.Duration) error {
	select {
	case <-l.Context().Done():
		return fmt.Errorf("lost: %w", context.Cause(l.Context()))
	case <-time.After(d):
	}
	if left := time.Until(l.Deadline()); left <= 0 || l.Err() != nil {
		return fmt.Errorf("%v left: %w", left, l.Err())
	}
	return nil
}

// kept insists on a lease being kept. Who stands still for most of what is left of it
// when it is to be renewed does lose it, and says nothing about this.
func kept(t *testing.T, try func() error) {
	t.Helper()
	for tries := 1; ; tries++ {
		longest := dbtest.WatchStalls()
		err := try()
		stall := longest()
		if err == nil {
			return
		}
		if stall < real/4 || tries == 3 {
			t.Fatal(err)
		}
		t.Logf("again: the machine stood still for %v: %v", stall, err)
	}
}

// The tests of this file do not run beside others: they live through real leases of a few
// seconds, and beside the whole package under the race detector they lost some.

// D-62: a connection that is slow loses nothing: 50 ms more for each round trip.
func TestSlowConnection(t *testing.T) {
	kept(t, func() error {
		b := spoilable(t)
		b.proxy.Delay(50 * time.Millisecond)
		l := b.acquire(real)
		length := 7 * time.Second
		if os.Getenv("PAWL_LONG") != "" {
			length = 30 * time.Second
		}
		return errors.Join(survives(l, length), l.Close(t.Context()))
	})
}

// D-62: connections that are cut, once, cost one renewal, which is repeated.
func TestCutConnection(t *testing.T) {
	kept(t, func() error {
		b := spoilable(t)
		l := b.acquire(real)
		for range 2 {
			b.proxy.CutAfter("SELECT") // the renewal takes effect, and its answer is lost
			if err := survives(l, real); err != nil {
				return err
			}
		}
		if b.proxy.Cuts() != 2 {
			t.Fatalf("cut %d times", b.proxy.Cuts())
		}
		b.proxy.Cut()
		return survives(l, real)
	})
}

// D-62: connections that fall silent cost one renewal: the next goes over others.
func TestOldConnectionsGoSilent(t *testing.T) {
	kept(t, func() error {
		b := spoilable(t)
		l := b.acquire(2 * real)
		b.proxy.SilenceOpen()
		return survives(l, 3*real)
	})
}

// lostInTime insists on a lease being lost no later than it ends by the holder's
// clock, and not before someone else could have it.
func (b *behindProxy) lostInTime(l *lease.Lease) {
	b.t.Helper()
	deadline := l.Deadline() // no renewal succeeds any more
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
	if late := time.Since(deadline); late > time.Second { // it is at once; the machine may be busy
		b.t.Errorf("lost %v after its end", late)
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
	l := b.acquire(real)
	b.proxy.Refuse(true)
	b.proxy.Cut()
	b.lostInTime(l)
}

// D-62: a database that does not answer.
func TestBlackHole(t *testing.T) {
	b := spoilable(t)
	l := b.acquire(real)
	b.proxy.Silence()
	b.lostInTime(l)
}
