package pawl_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/canary"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/outbox"
)

// starter is a server that starts: first it does not listen, then it says that it is
// not ready, then it is the real one.
type starter struct {
	at     string
	server string
	ready  atomic.Bool
	open   sync.Map // clients
	wg     sync.WaitGroup
}

func newStarter(t *testing.T) (s *starter, through string) {
	t.Helper()
	u, err := url.Parse(testpg.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s = &starter{at: l.Addr().String(), server: u.Host}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	u.Host = s.at
	return s, u.String()
}

// listen begins to say that the server is not ready.
func (s *starter) listen(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", s.at)
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	t.Cleanup(func() {
		_ = l.Close()
		<-over
		s.open.Range(func(client, _ any) bool { return client.(net.Conn).Close() == nil || true })
		s.wg.Wait()
	})
	s.wg.Go(func() {
		defer close(over)
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			s.open.Store(client, nil)
			s.wg.Go(func() { s.serve(client) })
		}
	})
}

func (s *starter) serve(client net.Conn) {
	defer client.Close()
	if !s.ready.Load() {
		backend := pgproto3.NewBackend(client, client)
		for {
			m, err := backend.ReceiveStartupMessage()
			if err != nil {
				return
			}
			if _, ok := m.(*pgproto3.StartupMessage); ok {
				break
			}
			if _, err := client.Write([]byte("N")); err != nil { // no encryption
				return
			}
		}
		backend.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "57P03", Message: "the database system is starting up"})
		_ = backend.Flush()
		return
	}
	server, err := net.Dial("tcp", s.server)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		defer server.Close()
		_, _ = io.Copy(server, client)
	}()
	_, _ = io.Copy(client, server)
}

const waits = "waiting for the database to take connections"

// D-6: programs and servers that are started together come up in any order.
func TestRunWaitsForAServerThatStarts(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenPostgres(t)
	s, through := newStarter(t)
	w := canary.New()
	db, err := postgres.Open(through, postgres.Options{Schema: strings.TrimSuffix(d.Table(""), "."), Logger: w.Logger()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	p, err := pawl.New(db, pawl.Options{EnableSchemaDeployment: true, Logger: w.Logger()})
	if err != nil {
		t.Fatal(err)
	}
	handled := make(chan struct{})
	p.Handle("t", func(context.Context, *outbox.Message) error { close(handled); return nil })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	dbtest.Until(t, "it waits for somebody to listen", func() bool { return w.Count(t, waits) >= 1 })
	before := w.Count(t, waits)
	s.listen(t)
	dbtest.Until(t, "it waits while the server starts", func() bool { return w.Count(t, waits) > before+1 })
	s.ready.Store(true)
	direct, err := pawl.New(d.DB, pawl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := direct.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "t"}); err != nil {
		t.Fatal(err)
	}
	<-handled
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// D-6: who waits can be stopped, who is to end when nothing is left does not wait, and a
// database that is not there is none to wait for.
func TestRunDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	_, through := newStarter(t)
	run := func(url string, o pawl.Options, ctx context.Context) error {
		o.Logger = canary.New().Logger()
		db, err := postgres.Open(url)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		p, err := pawl.New(db, o)
		if err != nil {
			t.Fatal(err)
		}
		return p.Run(ctx)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := run(through, pawl.Options{}, stopped); err != nil {
		t.Errorf("stopped: %v", err)
	}
	if err := run(through, pawl.Options{StopWhenEmpty: true}, t.Context()); !errors.Is(err, engine.ErrNotReady) || !errors.Is(err, engine.ErrUnreachable) {
		t.Errorf("with StopWhenEmpty: %v", err)
	}
	u, err := url.Parse(testpg.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/nothing_here"
	if err := run(u.String(), pawl.Options{}, t.Context()); !errors.Is(err, engine.ErrUnreachable) || errors.Is(err, engine.ErrNotReady) {
		t.Errorf("a database that is missing: %v", err)
	}
}

// D-110: when only a restart helps, Run ends and says so.
func TestRunEndsWhenTheFileIsLost(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // nobody can delete the files of a database that is open
	}
	path := filepath.Join(t.TempDir(), "test.db")
	w := canary.New()
	db, err := sqlite.Open(path, sqlite.Options{Logger: w.Logger()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	p, err := pawl.New(db, pawl.Options{EnableSchemaDeployment: true, Logger: w.Logger()})
	if err != nil {
		t.Fatal(err)
	}
	p.Handle("t", func(context.Context, *outbox.Message) error { return nil })
	ended := make(chan error, 1)
	go func() { ended <- p.Run(t.Context()) }()
	dbtest.Until(t, "it runs", func() bool {
		for _, v := range p.Internal(access.Key{}).Status() {
			if !v.Running {
				return false
			}
		}
		return true
	})
	// As another process would: in one step, for a log that is only gone is rescued.
	if err := os.WriteFile(path+"-wal.new", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+"-wal.new", path+"-wal"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, engine.ErrFileLost) {
		t.Errorf("Run: %v", err)
	}
}

// leaving is a database that goes away for schema checks, at one of them and for good.
type leaving struct {
	engine.DB
	checks atomic.Int32
	fails  func(check int32) error
}

func (d *leaving) Unwrap() engine.DB { return d.DB }

func (d *leaving) CheckSchema(ctx context.Context) error {
	if err := d.fails(d.checks.Add(1)); err != nil {
		return err
	}
	return d.DB.CheckSchema(ctx)
}

// D-442, D-6: a database that goes away once the schema was found right ends nothing, nor does
// a file that is lost before that and comes back.
func TestRunOutlivesALossAtItsStart(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]func(int32) error{
		"after the check": func(check int32) error {
			if check > 1 {
				return engine.ErrConnLost
			}
			return nil
		},
		"a connection that breaks": func(check int32) error {
			if check == 1 {
				return &engine.Error{Op: "schema", Class: engine.ErrConnLost, Err: io.EOF}
			}
			return nil
		},
		"a connection that is cut before it is there": func(check int32) error {
			if check == 1 {
				return &engine.Error{Op: "schema", Class: engine.ErrUnreachable, Err: io.ErrUnexpectedEOF}
			}
			return nil
		},
		"a database that is busy": func(check int32) error {
			if check == 1 {
				return engine.ErrBusy
			}
			return nil
		},
		"during the check": func(check int32) error {
			if check == 1 {
				return engine.ErrFileLost
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := sqlite.Open(filepath.Join(t.TempDir(), "test.db"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			if err := db.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			p, err := pawl.New(&leaving{DB: db, fails: fails}, pawl.Options{Logger: canary.New().Logger()})
			if err != nil {
				t.Fatal(err)
			}
			handled := make(chan struct{}, 2)
			p.Handle("out", func(context.Context, *outbox.Message) error { handled <- struct{}{}; return nil })
			p.HandleInbox("in", func(context.Context, *inbox.Message) error { handled <- struct{}{}; return nil })
			if _, err := p.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "out"}); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Inbox.Enqueue(t.Context(), inbox.Message{Topic: "in", Key: inbox.Key{Source: "s", MessageID: "1"}}); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- p.Run(ctx) }()
			for range 2 {
				select {
				case <-handled:
				case err := <-ended:
					t.Fatalf("Run ended: %v", err)
				}
			}
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}
