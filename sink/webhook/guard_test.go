package webhook

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"testing"

	"github.com/bravellian/pawl/internal/dbtest"
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
			_, _ = conn.WriteTo(loopback(question[:n]), from) // who does not hear asks again
		}
	}()
	t.Cleanup(func() { _ = conn.Close(); <-ended })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// loopback answers a question of DNS with 127.0.0.1, and one for IPv6 with nothing.
func loopback(question []byte) []byte {
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
	binary.BigEndian.PutUint16(answer[6:], 1)
	return append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1)
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
		if arrived := len(r.all()) > 0; arrived != tt.arrives || i.IsProcessed() != tt.arrives || !tt.arrives && i.RetryCount != 1 {
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
