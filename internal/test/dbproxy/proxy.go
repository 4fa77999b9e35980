// Package dbproxy puts a TCP proxy between a program and PostgreSQL or SQL Server. It can
// cut a connection before the server gets a commit, after the server has committed and
// before the client has heard of it, or in the middle of an answer. Package proxytest has
// it for tests.
package dbproxy

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Proxy forwards connections to a server. It understands just enough of the server's
// protocol to see what it is asked and answers; encryption is refused.
type Proxy struct {
	listen net.Listener
	tds    bool // the server is SQL Server
	wg     sync.WaitGroup

	mu                sync.Mutex
	target            string // host:port of the server
	cutBefore         bool   // cut when a client sends its next commit
	truncate          bool   // cut in the middle of the next answer
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

// Start starts a proxy for the server of a postgres:// or sqlserver:// URL. Stop ends it.
func Start(server string) (*Proxy, error) {
	target, tds, err := addressOf(server)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{target: target, tds: tds, listen: l, conns: map[net.Conn]struct{}{}}
	p.wg.Go(p.accept)
	return p, nil
}

// Retarget makes the proxy forward new connections to the server of another URL, as the
// address of a service does after a failover.
func (p *Proxy) Retarget(server string) error {
	target, _, err := addressOf(server)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
	return nil
}

// addressOf returns where the server of a URL listens, and whether it is SQL Server.
func addressOf(server string) (target string, tds bool, err error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", false, errors.New("dbproxy: the server's URL cannot be read") // it may have a password
	}
	if u.Scheme != tdsScheme {
		return u.Host, false, nil
	}
	if strings.Trim(u.Path, "/") != "" {
		return "", true, errors.New("dbproxy: an instance of SQL Server is addressed by its port, not by its name")
	}
	if u.Port() == "" {
		return net.JoinHostPort(u.Hostname(), tdsPort), true, nil
	}
	return u.Host, true, nil
}

// URL is the server's URL with the proxy's address. On SQL Server it asks for no encryption,
// in which a commit cannot be seen.
func (p *Proxy) URL(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return server
	}
	u.Host = p.listen.Addr().String()
	if p.tds {
		q := u.Query()
		q.Set("encrypt", "disable")
		u.RawQuery = q.Encode()
	}
	return u.String()
}

// CutAfter makes the proxy drop the connection on which a command with this
// tag ("INSERT", "COMMIT", …) completes next. The server has by then done and
// committed everything up to the client's Sync; the client sees none of it. On SQL
// Server, whose answers have no tags, any tag but COMMIT stands for any request.
func (p *Proxy) CutAfter(tag string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cutTag = tag
}

// CutBefore makes the proxy drop the connection on which a client commits next. The server
// does not get the commit.
func (p *Proxy) CutBefore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cutBefore = true
}

// Truncate makes the proxy hand on half of the next answer of some length and then drop
// the connection.
func (p *Proxy) Truncate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.truncate = true
}

// Heal ends whatever the proxy does to connections; those that it muted are dropped, as
// their clients would wait for answers that are lost.
func (p *Proxy) Heal() {
	p.mu.Lock()
	silenced := p.silent || p.mute > 0
	p.cutBefore, p.truncate, p.cutTag = false, false, ""
	p.silent, p.refuse, p.delay, p.mute = false, false, 0, 0
	p.mu.Unlock()
	if silenced {
		p.Cut()
	}
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

// Stop closes the proxy and all its connections, and returns when they are over.
func (p *Proxy) Stop() {
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
	server, err := net.Dial("tcp", p.address())
	if err != nil {
		return
	}
	defer server.Close()
	if !p.enter(server) {
		return
	}
	defer p.exit(server)
	var cut atomic.Bool
	p.wg.Go(func() {
		defer server.Close()
		p.questions(server, client, &cut)
	})
	_ = p.answers(client, server, p.number(), &cut)
}

func (p *Proxy) address() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.target
}

// questions forwards what the client says, until a commit that is to be cut. It sets cut if
// the answer is not to come.
func (p *Proxy) questions(server, client net.Conn, cut *atomic.Bool) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := client.Read(buffer)
		if n > 0 && p.cutsBefore(buffer[:n]) {
			_ = client.Close()
			return
		}
		if p.tds && n > 0 && p.cutsAfter(buffer[:n]) {
			cut.Store(true)
		}
		if _, failed := server.Write(buffer[:n]); failed != nil || err != nil {
			return
		}
	}
}

// cutsBefore reports whether a client's message has a commit at which to cut.
func (p *Proxy) cutsBefore(sent []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.cutBefore || !p.commits(sent) {
		return false
	}
	p.cutBefore = false
	p.cuts++
	return true
}

// commits reports whether a client's message has a commit. A payload that has the word is
// taken for one: then the transaction is cut a little earlier.
func (p *Proxy) commits(sent []byte) bool {
	if p.tds {
		return tdsCommits(sent)
	}
	return bytes.Contains(bytes.ToLower(sent), []byte("commit"))
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

// answers forwards what the server says, message by message. What has come by then goes on in one write: a write
// for each of many rows costs more than the database does.
func (p *Proxy) answers(conn, from net.Conn, number int, cut *atomic.Bool) error {
	server, client := bufio.NewReaderSize(from, 32<<10), bufio.NewWriterSize(conn, 32<<10)
	defer client.Flush()
	next := read
	if p.tds {
		next = tdsRead
	}
	cutting := false
	for {
		if server.Buffered() == 0 {
			if err := client.Flush(); err != nil {
				return err
			}
		}
		kind, message, err := next(server)
		if err != nil {
			return err
		}
		cutting = cutting || cut.Load()
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
		if p.truncates(message) {
			_, _ = client.Write(message[:len(message)/2])
			return errCut
		}
		if kind == 'Z' { // the end of a round trip
			if longer := p.roundTrip(); longer > 0 {
				_ = client.Flush()
				time.Sleep(longer)
			}
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

// truncates reports whether this is the answer to hand on in part.
func (p *Proxy) truncates(message []byte) bool {
	const some = 16
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.truncate || len(message) < some {
		return false
	}
	p.truncate = false
	p.cuts++
	return true
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
