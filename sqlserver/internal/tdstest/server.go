// Package tdstest is a small server that speaks TDS 7.4, the protocol of SQL Server, so
// that tests see what an engine sends and decide what it is answered: without a
// database, and with the failures that a database does not produce on demand.
//
// It executes no SQL. It does keep track of sessions, transactions and cancellations,
// as the server does that it stands for.
package tdstest

import (
	"net"
	"net/url"
	"sync"
	"testing"
)

// Handler decides what a request is answered. It is called by several goroutines, one
// for each connection.
type Handler func(r *Request) Answer

// Server is a server on loopback. It ends with its test.
type Server struct {
	t      testing.TB
	handle Handler
	listen net.Listener
	wg     sync.WaitGroup
	done   chan struct{} // closed when the server ends

	mu      sync.Mutex
	conns   map[net.Conn]struct{}
	opened  int
	cancels int
	tran    uint64 // the newest transaction
	refuse  bool
}

// New starts a server. A nil handler says that all is well to everything.
func New(t testing.TB, handle Handler) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if handle == nil {
		handle = func(*Request) Answer { return Answer{} }
	}
	s := &Server{t: t, handle: handle, listen: l, conns: map[net.Conn]struct{}{}, done: make(chan struct{})}
	s.wg.Go(s.accept)
	t.Cleanup(s.stop)
	return s
}

// URL is the server's, for the database "test" and a user whose password is "secret".
func (s *Server) URL() string {
	u := url.URL{Scheme: "sqlserver", User: url.UserPassword("tester", "secret"), Host: s.listen.Addr().String()}
	u.RawQuery = url.Values{"database": {"test"}, "encrypt": {"disable"}}.Encode()
	return u.String()
}

// Opened is how many connections were made so far.
func (s *Server) Opened() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

// Open is how many connections there are.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Cancellations is how many requests were to be cancelled.
func (s *Server) Cancellations() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cancels
}

// Refuse makes the server close new connections at once, or stop doing so.
func (s *Server) Refuse(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = on
}

// Cut drops all connections there are.
func (s *Server) Cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		_ = c.Close()
	}
}

func (s *Server) stop() {
	s.mu.Lock()
	s.refuse = true
	s.mu.Unlock()
	close(s.done)
	_ = s.listen.Close()
	s.Cut()
	s.wg.Wait()
}

func (s *Server) accept() {
	for {
		c, err := s.listen.Accept()
		if err != nil {
			return
		}
		number := s.enter(c)
		if number == 0 {
			_ = c.Close()
			continue
		}
		s.wg.Go(func() {
			defer s.exit(c)
			newConn(s, c, number).serve()
		})
	}
}

// enter counts a connection; 0 is one that is refused.
func (s *Server) enter(c net.Conn) (number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse {
		return 0
	}
	s.conns[c] = struct{}{}
	s.opened++
	return s.opened
}

func (s *Server) exit(c net.Conn) {
	_ = c.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// begin returns the number of a new transaction.
func (s *Server) begin() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tran++
	return s.tran
}

func (s *Server) canceled() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancels++
}
