package main

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// probed is a server of this program that answers at /livez, and holds requests for /held until they are
// released or their connection is gone.
func probed(t *testing.T) (s *server, held chan struct{}) {
	t.Helper()
	held = make(chan struct{}, 2*maxConnections)
	mux := http.NewServeMux()
	mux.HandleFunc("/livez", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/held", func(_ http.ResponseWriter, r *http.Request) {
		held <- struct{}{}
		<-r.Context().Done()
	})
	s, err := startServer(":0", mux, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, held
}

// dial opens a connection for the length of a test, and sends a text.
func dial(t *testing.T, address, text string) net.Conn {
	t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn
}

// asks reports whether a connection of its own is answered.
func asks(t *testing.T, address string) {
	t.Helper()
	conn := dial(t, address, "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 200") {
		t.Fatalf("%q, %v", line, err)
	}
}

// D-451: connections that are kept open, which say nothing, or half of a request, or whose requests do not end,
// keep nobody out, and are no more than the program has room for.
func TestConnectionsMakeRoom(t *testing.T) {
	for what, request := range map[string]string{
		"nothing": "", "half a head": "GET /livez HTTP/1.1\r\nHost: local", "a request, then nothing": "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"half a body": "POST /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nx",
	} {
		t.Run(what, func(t *testing.T) {
			s, _ := probed(t)
			first := dial(t, s.address, request)
			for range 3 * maxConnections {
				dial(t, s.address, request)
			}
			asks(t, s.address)
			if _, err := io.Copy(io.Discard, first); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error(err)
			}
		})
	}
}

// D-451: a server never has more connections than it may, and closes those first that have no request.
func TestConnectionsAreBounded(t *testing.T) {
	c := newConnections()
	var all []*closer
	open := func(state http.ConnState) *closer {
		one := &closer{}
		all = append(all, one)
		c.changed(one, http.StateNew)
		c.changed(one, state)
		return one
	}
	busy, idle, fresh := open(http.StateActive), open(http.StateIdle), open(http.StateNew)
	c.changed(idle, http.StateActive)
	c.changed(idle, http.StateIdle)
	for range maxConnections - 3 {
		open(http.StateActive)
	}
	for i, next := range []*closer{fresh, idle, busy} {
		open(http.StateActive)
		if n := len(c.all); n != maxConnections || !next.closed {
			t.Errorf("%d: %d connections, %v", i, n, next.closed)
		}
	}
	if c.changed(busy, http.StateActive); len(c.all) != maxConnections || slices.ContainsFunc(all, func(o *closer) bool { return o.closed && o != busy && o != idle && o != fresh }) {
		t.Error("a connection that was closed takes another one's place")
	}
	for _, one := range all {
		c.changed(one, http.StateClosed)
	}
	if len(c.all) > 0 {
		t.Errorf("%d are left", len(c.all))
	}
}

// closer is a connection that can be closed.
type closer struct {
	net.Conn
	closed bool
}

func (c *closer) Close() error { c.closed = true; return nil }

// D-451: of connections whose requests have not ended that with the oldest request is closed for a new one.
func TestBusyConnectionsMakeRoom(t *testing.T) {
	s, held := probed(t)
	first := dial(t, s.address, "GET /held HTTP/1.1\r\nHost: localhost\r\n\r\n")
	<-held
	for range maxConnections - 1 {
		dial(t, s.address, "GET /held HTTP/1.1\r\nHost: localhost\r\n\r\n")
		<-held
	}
	asks(t, s.address)
	if n, err := first.Read(make([]byte, 1)); err == nil || n > 0 {
		t.Errorf("the oldest is still open: %d, %v", n, err)
	}
}

// D-451: a connection is closed when it says nothing for long, and so is one whose request or answer takes long.
func TestServersHaveLimits(t *testing.T) {
	s := newServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	for name, limit := range map[string]time.Duration{"header": s.ReadHeaderTimeout, "request": s.ReadTimeout, "answer": s.WriteTimeout, "idle": s.IdleTimeout} {
		if limit <= 0 || limit > time.Minute {
			t.Errorf("%s: %v", name, limit)
		}
	}
	s.IdleTimeout = time.Millisecond
	var l net.ListenConfig
	listener, err := l.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(func() { _ = s.Close() })
	conn := dial(t, listener.Addr().String(), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if answer, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 404") {
		t.Errorf("%q, %v", answer, err)
	}
}

// D-451: who listens for other machines is told so.
func TestExposed(t *testing.T) {
	for address, want := range map[string]struct {
		at     string
		others bool
	}{
		":0": {"127.0.0.1:", false}, "localhost:0": {"127.0.0.1:", false}, "127.0.0.1:0": {"127.0.0.1:", false}, "[::1]:0": {"[::1]:", false},
		"0.0.0.0:0": {"localhost:", true}, "[::]:0": {"localhost:", true},
	} {
		s, err := startServer(address, http.NotFoundHandler(), slog.New(slog.DiscardHandler))
		if err != nil {
			if strings.Contains(address, "[") { // no IPv6 here
				continue
			}
			t.Fatal(err)
		}
		if !strings.HasPrefix(s.address, want.at) || s.exposed != want.others {
			t.Errorf("%s: at %s, others %v", address, s.address, s.exposed)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	d := onSQLite(t)
	d.must("x", "enqueue", "--topic", "mail")
	_, stop := d.dashboardOf("--listen", "0.0.0.0:0")
	if _, said := stop(); !strings.Contains(said, "without --basic-auth the dashboard serves this machine alone") {
		t.Error(said)
	}
}
