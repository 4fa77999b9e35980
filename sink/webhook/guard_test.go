package webhook

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// D-223: addresses that are not public are refused, however they are written.
func TestGuard(t *testing.T) {
	check := guard(nil)
	for _, address := range []string{
		"127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "240.0.0.1",
		"192.0.2.1", "198.18.0.1", "::1", "::", "fe80::1", "fc00::1", "fd12::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::1",
		"2001:0:1::1", "2001:db8::1", "::127.0.0.1",
	} {
		network := "tcp4"
		if netip.MustParseAddr(address).Is6() {
			network = "tcp6"
		}
		if err := check(network, net.JoinHostPort(address, "8080"), nil); !errors.Is(err, ErrRefusedAddress) {
			t.Errorf("%s: %v", address, err)
		}
	}
	for network, address := range map[string]string{"tcp4": "93.184.216.34:8443", "tcp6": "[2606:2800:220:1:248:1893:25c8:1946]:443"} {
		if err := check(network, address, nil); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"unix", "10.0.0.1", "example.com:80"} {
		if err := check("tcp4", address, nil); err == nil {
			t.Errorf("%s: allowed", address)
		}
	}
	some := guard([]netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd12::/16")})
	for address, allowed := range map[string]bool{"10.1.2.3:80": true, "10.2.0.1:80": false, "127.0.0.1:80": false} {
		if err := some("tcp4", address, nil); (err == nil) != allowed {
			t.Errorf("%s: %v", address, err)
		}
	}
	for address, allowed := range map[string]bool{"[fd12::1]:80": true, "[fd13::1]:80": false, "[::1]:80": false} {
		if err := some("tcp6", address, nil); (err == nil) != allowed {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// nameserver resolves every name to an address of this machine.
func nameserver(t *testing.T) *net.Resolver {
	t.Helper()
	return resolver(t, func() []byte { return []byte{1} })
}

// resolver resolves every name to 127.0.0.n, for each n that it is told of for each question.
func resolver(t *testing.T, hosts func() []byte) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		question := make([]byte, 512)
		for {
			n, from, err := conn.ReadFrom(question)
			if err != nil {
				return
			}
			_, _ = conn.WriteTo(loopback(question[:n], hosts), from) // who does not hear asks again
		}
	}()
	t.Cleanup(func() { _ = conn.Close(); <-ended })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// loopback answers a question of DNS with addresses in 127.0.0.0/24, and one for IPv6 with nothing.
func loopback(question []byte, hosts func() []byte) []byte {
	end := 12
	for question[end] != 0 {
		end += int(question[end]) + 1
	}
	end += 5
	answer := append([]byte(nil), question[:end]...)
	binary.BigEndian.PutUint16(answer[2:], 0x8180) // an answer without an error
	binary.BigEndian.PutUint16(answer[10:], 0)     // no additional records
	if binary.BigEndian.Uint16(question[end-4:]) != 1 {
		return answer
	}
	all := hosts()
	binary.BigEndian.PutUint16(answer[6:], uint16(len(all)))
	for _, host := range all {
		answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, host)
	}
	return answer
}

// D-305: a name that resolves to an address that is allowed and then to another, or to both at once in either order,
// never gets a connection to the other.
func TestNamesThatChange(t *testing.T) {
	t.Parallel()
	inside := newReceiver(t) // at 127.0.0.1, which is not allowed; at 127.0.0.2 nobody listens
	at, err := url.Parse(inside.URL)
	must(t, err)
	var asked atomic.Int64
	for name, hosts := range map[string]func() []byte{
		"changes":       func() []byte { return []byte{byte(2 - asked.Add(1)%2)} },
		"both":          func() []byte { asked.Add(1); return []byte{2, 1} },
		"the other way": func() []byte { asked.Add(1); return []byte{1, 2} },
	} {
		asked.Store(0)
		o := Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}}
		client := newClient(&o, resolver(t, hosts))
		refused := 0
		for range 6 {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://harmless.example:"+at.Port(), nil)
			must(t, err)
			answer, err := client.Do(r)
			if err == nil {
				_ = answer.Body.Close()
				t.Errorf("%s: an answer, %s", name, answer.Status)
			}
			if errors.Is(err, ErrRefusedAddress) {
				refused++
			}
		}
		if asked.Load() < 6 || len(inside.all()) > 0 || name == "changes" && refused == 0 {
			t.Errorf("%s: %d questions, %d refused, %d requests", name, asked.Load(), refused, len(inside.all()))
		}
	}
}

// D-305: every range that is not public is refused, at both of its ends, also as IPv6 writes IPv4 in it.
func TestGuardRanges(t *testing.T) {
	check := guard(nil)
	for _, text := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
		"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	} {
		prefix := netip.MustParsePrefix(text)
		first := prefix.Addr().As4()
		last := first
		for bit := prefix.Bits(); bit < 32; bit++ {
			last[bit/8] |= 1 << (7 - bit%8)
		}
		for _, a := range [][4]byte{first, last} {
			v4 := netip.AddrFrom4(a)
			mapped := netip.AddrFrom16(v4.As16())
			nat64 := netip.AddrFrom16([16]byte{0, 0x64, 0xff, 0x9b, 12: a[0], 13: a[1], 14: a[2], 15: a[3]})
			local := netip.AddrFrom16([16]byte{0, 0x64, 0xff, 0x9b, 0, 1, 12: a[0], 13: a[1], 14: a[2], 15: a[3]})
			sixToFour := netip.AddrFrom16([16]byte{0x20, 2, a[0], a[1], a[2], a[3], 15: 1})
			compatible := netip.AddrFrom16([16]byte{12: a[0], 13: a[1], 14: a[2], 15: a[3]})
			for network, addresses := range map[string][]netip.Addr{"tcp4": {v4}, "tcp6": {mapped, nat64, local, sixToFour, compatible}} {
				for _, one := range addresses {
					if err := check(network, netip.AddrPortFrom(one, 443).String(), nil); !errors.Is(err, ErrRefusedAddress) {
						t.Errorf("%s as %s: %v", v4, one, err)
					}
				}
			}
			// As a dialer that was asked for both writes it.
			if err := check("tcp4", netip.AddrPortFrom(mapped, 443).String(), nil); err == nil {
				t.Errorf("%s as %s over tcp4: allowed", v4, mapped)
			}
		}
	}
	for _, address := range []string{"fe80::1%eth0", "fec0::1", "ff02::1", "fc00::", "fdff::1", "100::1", "2001::1", "2001:2::1", "2001:db8::1", "3fff::1", "5f00::1"} {
		if err := check("tcp6", net.JoinHostPort(address, "443"), nil); !errors.Is(err, ErrRefusedAddress) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// D-223: what counts is the address that a name resolves to when the connection is made. The
// attempt is repeated, for names change.
func TestNamesOfPrivateAddresses(t *testing.T) {
	t.Parallel()
	db := dbtest.OpenSQLite(t)
	r := newReceiver(t)
	at, err := url.Parse(r.URL)
	must(t, err)
	resolver := nameserver(t)
	for _, tt := range []struct {
		allow   []netip.Prefix
		arrives bool
	}{
		{[]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, false},
		{[]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, true},
	} {
		p := start(t, db, Options{Endpoint: &Endpoint{URL: "http://harmless.example:" + at.Port()}, Allow: tt.allow})
		p.client = newClient(&p.opts, resolver)
		p.Sink.Handle("t", later())
		id := p.enqueue(outbox.Message{Topic: "t"})
		p.run()
		i := p.info(id)
		if arrived := len(r.all()) > 0; arrived != tt.arrives || (i.Status == outbox.Done) != tt.arrives || !tt.arrives && i.RetryCount != 1 {
			t.Errorf("%v: arrived %v, %s, %q", tt.allow, arrived, i.Status, i.LastError)
		}
		if err := p.attempt("t"); errors.Is(err, ErrRefusedAddress) == tt.arrives {
			t.Errorf("%v: %v", tt.allow, err)
		}
	}
}

// D-223: an endpoint cannot send the sink somewhere else.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	inside := newReceiver(t)
	r := newReceiver(t)
	db := dbtest.OpenSQLite(t)
	for _, status := range []int{301, 302, 303, 307, 308} {
		r.answers(status, "Location", inside.URL)
		p := start(t, db, Options{Endpoint: &Endpoint{URL: r.URL}, PauseAfter: -1})
		if err := p.attempt("t"); err == nil || len(inside.all()) > 0 {
			t.Errorf("%d: %v, %d requests", status, err, len(inside.all()))
		}
	}
}

// D-223: a proxy of the environment would be the only address that is checked.
func TestNoProxy(t *testing.T) {
	o := Options{}
	if transport := newClient(&o, nil).Transport.(*http.Transport); transport.Proxy != nil {
		t.Error("a proxy is used")
	}
}
