package dbproxy

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// Pooler is a connection pooler that hands out the server's connections by the
// transaction, as PgBouncer does with pool_mode = transaction: a client keeps the
// connection that it got until the server says that no transaction is open. It asks
// for no password and knows nothing of prepared statements.
type Pooler struct {
	server string
	listen net.Listener
	wg     sync.WaitGroup
	ctx    context.Context // of connections to the server
	cancel context.CancelFunc

	mu      sync.Mutex
	free    []*pgconn.HijackedConn // the last one given back goes first, unless they rotate
	rotate  bool
	late    int // as many are given back when their client speaks again
	open    map[net.Conn]struct{}
	stopped bool
}

// StartPooler starts a pooler for the server of a postgres:// URL. Stop ends it.
func StartPooler(server string) (*Pooler, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Pooler{server: server, listen: l, open: map[net.Conn]struct{}{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			if p.enter(client) {
				p.wg.Go(func() { p.serve(client) })
			}
		}
	})
	return p, nil
}

// URL is the server's URL with the pooler's address.
func (p *Pooler) URL(server string) string { return (&Proxy{listen: p.listen}).URL(server) }

// enter remembers a connection that is to be closed at the end, unless this is it.
func (p *Pooler) enter(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		_ = c.Close()
		return false
	}
	p.open[c] = struct{}{}
	return true
}

// Stop closes the pooler and all its connections, and returns when they are over.
func (p *Pooler) Stop() {
	p.cancel()
	_ = p.listen.Close()
	p.mu.Lock()
	p.stopped = true
	for c := range p.open {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
}

// take is a connection of the server that nobody has.
func (p *Pooler) take() (*pgconn.HijackedConn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return nil, net.ErrClosed
	}
	if n := len(p.free); n > 0 {
		next := n - 1
		if p.rotate {
			next = 0
		}
		c := p.free[next]
		p.free = slices.Delete(p.free, next, next+1)
		return c, nil
	}
	return p.connect()
}

// connect is a new connection of the server.
func (p *Pooler) connect() (*pgconn.HijackedConn, error) {
	conn, err := pgconn.Connect(p.ctx, p.server)
	if err != nil {
		return nil, err
	}
	c, err := conn.Hijack()
	if err != nil {
		return nil, err
	}
	p.open[c.Conn] = struct{}{}
	return c, nil
}

// Rotate has the pooler hand out the connection that has been free for longest, of n that it
// makes now, as PgBouncer does with server_round_robin.
func (p *Pooler) Rotate(n int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.rotate = true; n > 0; n-- {
		c, err := p.connect()
		if err != nil {
			return err
		}
		p.free = append(p.free, c)
	}
	return nil
}

// Late has the next n connections be given back when the client that had them speaks again.
func (p *Pooler) Late(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.late = n
}

// give makes a connection free, at once or when it is tried again, and reports whether it is.
func (p *Pooler) give(c *pgconn.HijackedConn, again bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.late > 0 && !again {
		p.late--
		return false
	}
	p.free = append(p.free, c)
	return true
}

// serve speaks with a client until it goes.
func (p *Pooler) serve(client net.Conn) {
	defer client.Close()
	if err := welcome(client); err != nil {
		return
	}
	var server *pgconn.HijackedConn
	defer func() {
		if server != nil { // in the middle of a transaction, which the server then rolls back
			_ = server.Conn.Close()
		}
	}()
	idle := false
	for {
		sent, over, err := clientTurn(client)
		if server != nil && idle && p.give(server, true) {
			server = nil
		}
		if err != nil || over {
			return
		}
		if server == nil {
			if server, err = p.take(); err != nil {
				return
			}
		}
		if _, err := server.Conn.Write(sent); err != nil {
			return
		}
		if idle, err = serverTurn(server.Conn, client); err != nil {
			return
		}
		if idle && p.give(server, false) {
			server = nil
		}
	}
}

// welcome answers a client's first messages as a server would.
func welcome(client net.Conn) error {
	backend := pgproto3.NewBackend(client, client)
	for {
		m, err := backend.ReceiveStartupMessage()
		if err != nil {
			return err
		}
		switch m.(type) {
		case *pgproto3.StartupMessage:
			backend.Send(&pgproto3.AuthenticationOk{})
			backend.Send(&pgproto3.ParameterStatus{Name: "standard_conforming_strings", Value: "on"})
			backend.Send(&pgproto3.ParameterStatus{Name: "client_encoding", Value: "UTF8"})
			backend.Send(&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte{0, 0, 0, 1}})
			backend.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
			return backend.Flush()
		case *pgproto3.SSLRequest, *pgproto3.GSSEncRequest:
			if _, err := client.Write([]byte{'N'}); err != nil {
				return err
			}
		default:
			return errors.New("neither a start nor a question for encryption")
		}
	}
}

// message reads one message, its head included.
func message(r io.Reader) (kind byte, raw []byte, err error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(r, head); err != nil {
		return 0, nil, err
	}
	raw = make([]byte, 1+binary.BigEndian.Uint32(head[1:]))
	_, err = io.ReadFull(r, raw[copy(raw, head):])
	return head[0], raw, err
}

// clientTurn reads up to where the server has to answer.
func clientTurn(client net.Conn) (sent []byte, over bool, err error) {
	for {
		kind, raw, err := message(client)
		if err != nil {
			return nil, false, err
		}
		switch sent = append(sent, raw...); kind {
		case 'X':
			return nil, true, nil
		case 'Q', 'S':
			return sent, false, nil
		}
	}
}

// serverTurn hands on answers until the server is ready, and tells whether no
// transaction is open.
func serverTurn(server, client net.Conn) (idle bool, err error) {
	for {
		kind, raw, err := message(server)
		if err != nil {
			return false, err
		}
		if _, err := client.Write(raw); err != nil {
			return false, err
		}
		if kind == 'Z' {
			return raw[5] == 'I', nil
		}
	}
}
