// Package proxytest puts a TCP proxy between a test and PostgreSQL. It can cut
// a connection exactly where it hurts: after the server has committed, before
// the client has heard of it (D-4).
package proxytest

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// Proxy forwards connections to a server. It understands just enough of
// PostgreSQL's protocol to see what the server answers; encryption is refused.
type Proxy struct {
	target string
	listen net.Listener
	wg     sync.WaitGroup

	mu                sync.Mutex
	conns             map[net.Conn]struct{}
	cutTag            string // cut at the next completed command whose tag begins so
	cuts              int    // how often that happened
	silent            bool   // answers are dropped
	dropNotifications int    // so many notifications are dropped
	refuse            bool   // new connections are closed at once
	opened            int    // connections so far
	mute              int    // connections up to this number say nothing any more
	delay             time.Duration
	trips             int // answers that came to an end
	stopped           bool
}

// New starts a proxy for the server of a postgres:// URL, and stops it when
// the test ends.
func New(t testing.TB, server string) *Proxy {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatalf("the server's URL: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{target: u.Host, listen: l, conns: map[net.Conn]struct{}{}}
	p.wg.Go(p.accept)
	t.Cleanup(p.stop)
	return p
}

// URL is the server's URL with the proxy's address.
func (p *Proxy) URL(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return server
	}
	u.Host = p.listen.Addr().String()
	return u.String()
}

// CutAfter makes the proxy drop the connection on which a command with this
// tag ("INSERT", "COMMIT", …) completes next. The server has by then done and
// committed everything up to the client's Sync; the client sees none of it.
func (p *Proxy) CutAfter(tag string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cutTag = tag
}

// Cuts is how many connections CutAfter has dropped.
func (p *Proxy) Cuts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts
}

// Silence makes the proxy swallow what the server says from now on, while
// every connection stays open: a black hole.
func (p *Proxy) Silence() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = true
}

// SilenceOpen makes a black hole of the connections there are; new ones work.
func (p *Proxy) SilenceOpen() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mute = p.opened
}

// Delay makes every round trip take so much longer from now on.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// RoundTrips is how many requests the server has answered, those of connecting included.
func (p *Proxy) RoundTrips() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trips
}

// DropNotifications makes the proxy swallow what NOTIFY sends, as a connection
// pooler does that hands out a server connection per transaction.
func (p *Proxy) DropNotifications() { p.DropSomeNotifications(math.MaxInt) }

// DropSomeNotifications makes the proxy swallow the next n notifications.
func (p *Proxy) DropSomeNotifications(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropNotifications = n
}

// Refuse makes the proxy close new connections at once, or stop doing so.
func (p *Proxy) Refuse(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = on
}

// Cut drops all connections there are.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

func (p *Proxy) stop() {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	_ = p.listen.Close()
	p.Cut()
	p.wg.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listen.Accept()
		if err != nil {
			return
		}
		p.wg.Go(func() { p.connection(client) })
	}
}

func (p *Proxy) connection(client net.Conn) {
	defer client.Close()
	if !p.enter(client) {
		return
	}
	defer p.exit(client)
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	if !p.enter(server) {
		return
	}
	defer p.exit(server)
	p.wg.Go(func() {
		defer server.Close()
		_, _ = io.Copy(server, client)
	})
	_ = p.answers(client, server, p.number())
}

func (p *Proxy) enter(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse || p.stopped {
		return false
	}
	p.conns[c] = struct{}{}
	return true
}

// number counts the connections.
func (p *Proxy) number() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opened++
	return p.opened
}

func (p *Proxy) exit(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

var errCut = errors.New("cut")

// answers forwards what the server says, message by message.
func (p *Proxy) answers(client, server net.Conn, number int) error {
	cutting := false
	for {
		kind, message, err := read(server)
		if err != nil {
			return err
		}
		switch {
		case cutting && kind == 'Z': // ready for query: it is committed
			p.mu.Lock()
			p.cuts++
			p.mu.Unlock()
			return errCut
		case cutting:
			continue
		case kind == 'C' && p.cutHere(message):
			cutting = true
			continue
		}
		if p.swallows(kind, number) {
			continue
		}
		if kind == 'Z' { // the end of a round trip
			time.Sleep(p.roundTrip())
		}
		if _, err := client.Write(message); err != nil {
			return err
		}
	}
}

// cutHere reports whether a CommandComplete is the one to cut at.
func (p *Proxy) cutHere(message []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cutTag == "" || !strings.HasPrefix(string(message[headerSize:]), p.cutTag) {
		return false
	}
	p.cutTag = ""
	return true
}

func (p *Proxy) swallows(kind byte, number int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if kind == 'A' && p.dropNotifications > 0 {
		p.dropNotifications--
		return true
	}
	return p.silent || number <= p.mute
}

// roundTrip counts one, and returns how much longer it is to take.
func (p *Proxy) roundTrip() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trips++
	return p.delay
}

// headerSize is a kind and a length.
const headerSize = 5

// read returns the next message of a server: its kind and all its bytes.
func read(server io.Reader) (kind byte, message []byte, err error) {
	header := make([]byte, headerSize)
	if _, err := io.ReadFull(server, header[:1]); err != nil {
		return 0, nil, err
	}
	if _, err := io.ReadFull(server, header[1:]); err != nil {
		return 0, nil, err
	}
	message = make([]byte, 1+binary.BigEndian.Uint32(header[1:]))
	copy(message, header)
	_, err = io.ReadFull(server, message[headerSize:])
	return header[0], message, err
}
