package brokertest_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/bravellian/pawl/internal/test/dbtest"
)

// guard is a shell script that runs a broker and kills it, by its process id, when standard input
// ends: because the test says so, or because the test's process ended, for whatever reason.
const guard = `"$@" </dev/null & cat >/dev/null; kill -9 $!; wait $!`

// server is a broker that listens on loopback and keeps its data in a directory of the test.
type server struct {
	dir  string
	port int
	// args are the program and its arguments, env what its environment has beyond the test's.
	args, env []string

	cmd  *exec.Cmd // nil while it is down
	stop io.Closer
}

// newServer chooses a directory and a port.
func newServer(t *testing.T) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	s := &server{dir: t.TempDir(), port: l.Addr().(*net.TCPAddr).Port}
	must(t, l.Close())
	return s
}

// self makes the server one of this program's own.
func (s *server) self(t *testing.T, name string) *server {
	t.Helper()
	path, err := os.Executable()
	must(t, err)
	s.args = []string{path}
	s.env = []string{serveVariable + "=" + name, fmt.Sprintf("%s_AT=%d %s", serveVariable, s.port, s.dir)}
	return s
}

func (s *server) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// start starts the server and waits until it takes connections. It is killed with the test.
func (s *server) start(t *testing.T) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(s.dir, "server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(t, err)
	defer log.Close()
	s.cmd = exec.Command("sh", append([]string{"-c", guard, "guard"}, s.args...)...)
	s.cmd.Env = append(os.Environ(), s.env...)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	s.stop, err = s.cmd.StdinPipe()
	must(t, err)
	must(t, s.cmd.Start())
	t.Cleanup(func() { s.kill(t) })
	dbtest.Until(t, "the broker takes connections", func() bool {
		conn, err := net.Dial("tcp", s.address())
		if err != nil {
			return false
		}
		_ = conn.Close()
		return true
	})
}

// kill ends the server by SIGKILL and returns when it is gone.
func (s *server) kill(t *testing.T) {
	if s.cmd == nil {
		return
	}
	_ = s.stop.Close()
	_ = s.cmd.Wait() // which says that it was killed
	s.cmd = nil
	if t.Failed() {
		text, _ := os.ReadFile(filepath.Join(s.dir, "server.log"))
		t.Logf("the broker's log ends: %s", text[max(0, len(text)-2000):])
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
