//go:build linux || darwin

package pgcluster

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// childVariable makes this test binary a program that starts a cluster and
// waits to be killed.
const childVariable = "PAWL_PGCLUSTER_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		waitToBeKilled()
	}
	os.Exit(m.Run())
}

func waitToBeKilled() {
	c, err := Start(context.Background(), Options{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(c.URL(), c.PID(), c.dir)
	_, _ = io.Copy(io.Discard, os.Stdin) // our parent holds the other end
	_ = c.Stop()
	os.Exit(1) // only reached when nobody killed us
}

func TestStartAndStop(t *testing.T) {
	c := start(t, Options{Settings: map[string]string{"fsync": "off", "application_name": "it's"}})

	if got := query(t, c.URL(), "show fsync"); got != "off" {
		t.Errorf("fsync = %q, want off", got)
	}
	if got := query(t, c.URL(), "show application_name"); got != "it's" {
		t.Errorf("application_name = %q: the quote did not survive", got)
	}
	if got := query(t, c.URL(), "show server_encoding"); got != "UTF8" {
		t.Errorf("server_encoding = %q, want UTF8", got)
	}

	pid := c.PID()
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the server is still there: kill -0: %v", err)
	}
	if _, err := os.Stat(c.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the data is still there: %v", err)
	}
	if err := c.Stop(); err != nil {
		t.Errorf("second Stop: %v", err)
	}
	if err := c.Restart(t.Context()); !errors.Is(err, ErrStopped) {
		t.Errorf("Restart after Stop: %v, want ErrStopped", err)
	}
	if err := c.Kill(); !errors.Is(err, ErrStopped) {
		t.Errorf("Kill after Stop: %v, want ErrStopped", err)
	}
}

// A version that is asked for is the version that runs, or there is no
// server: tests never run on another by accident.
func TestVersions(t *testing.T) {
	t.Setenv(VersionVariable, "18")
	if got := query(t, start(t, Options{}).URL(), "show server_version_num"); !strings.HasPrefix(got, "18") {
		t.Errorf("asked for 18, got %s", got)
	}
	for _, version := range []string{"9", "18/../17", ".."} {
		if c, err := Start(t.Context(), Options{Version: version}); err == nil {
			t.Errorf("version %q: a server at %s", version, c.URL())
			_ = c.Stop()
		}
	}
	t.Setenv(VersionVariable, "9")
	if c, err := Start(t.Context(), Options{}); err == nil {
		t.Errorf("a server at %s in place of version 9", c.URL())
		_ = c.Stop()
	}
}

// Test binaries that share a cluster look for leaked goroutines at their end.
func TestClusterNeedsNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	start(t, Options{})
	eventually(t, "no goroutine more than before", func() bool {
		return runtime.NumGoroutine() <= before
	})
}

func TestKillAndRestartKeepDataAndAddress(t *testing.T) {
	c := start(t, Options{})
	query(t, c.URL(), "create table kept as select 42 as answer")
	before := c.PID()

	if err := c.Kill(); err != nil {
		t.Fatal(err)
	}
	if pid := c.PID(); pid != 0 {
		t.Errorf("PID after Kill = %d, want 0", pid)
	}
	if running(before) { // its port is no evidence: somebody else may have it by now
		t.Error("a killed server runs")
	}
	if err := c.Kill(); err != nil {
		t.Errorf("Kill of a server that is down: %v", err)
	}

	if err := c.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if pid := c.PID(); pid == 0 || pid == before {
		t.Errorf("PID after Restart = %d, before %d", pid, before)
	}
	if got := query(t, c.URL(), "select answer from kept"); got != "42" {
		t.Errorf("after the crash: %q, want 42", got)
	}

	// Restart of a running server is a clean shutdown and a start.
	if err := c.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := query(t, c.URL(), "select answer from kept"); got != "42" {
		t.Errorf("after the restart: %q, want 42", got)
	}
}

func TestRestartWaitsForItsPort(t *testing.T) {
	c := start(t, Options{})
	if err := c.Kill(); err != nil {
		t.Fatal(err)
	}
	squatter, err := net.Listen("tcp4", address(t, c.URL()))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if err := c.Restart(ctx); err == nil {
		t.Fatal("started on a port that is taken")
	}
	if err := squatter.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	query(t, c.URL(), "select 1")
}

func TestWrongSettingIsExplained(t *testing.T) {
	c, err := Start(t.Context(), Options{Settings: map[string]string{"no_such_setting": "1"}})
	if err == nil {
		_ = c.Stop()
		t.Fatal("started")
	}
	if !strings.Contains(err.Error(), "no_such_setting") {
		t.Errorf("the error does not name the setting: %v", err)
	}
}

func TestCancelledStartLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", openDir(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if c, err := Start(ctx, Options{}); err == nil {
		_ = c.Stop()
		t.Fatal("started with a context that has ended")
	}
	left, err := os.ReadDir(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Root's TMPDIR is often closed to the user the server runs as.
func TestClosedTempDir(t *testing.T) {
	closed := t.TempDir()
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", closed)
	query(t, start(t, Options{}).URL(), "select 1")
}

// The data are where they are to be, in memory for instance.
func TestParent(t *testing.T) {
	parent := t.TempDir()
	if err := os.Chmod(filepath.Dir(parent), 0o755); err != nil { // as root the server is another user
		t.Fatal(err)
	}
	c := start(t, Options{Parent: parent})
	query(t, c.URL(), "select 1")
	if filepath.Dir(c.dir) != parent {
		t.Errorf("the data are in %s, want them in %s", c.dir, parent)
	}
}

// The whole process group is killed, as an impatient supervisor does it, and
// nothing gets a chance to clear up.
func TestServerDiesWithItsProcess(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(exe)
	child.Env = append(os.Environ(), childVariable+"=1")
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(stdout).ReadString('\n')

	var server, dir string
	var pid int
	_, scanErr := fmt.Sscan(line, &server, &pid, &dir)
	if scanErr == nil {
		query(t, server, "select 1")
	}
	if err := syscall.Kill(-child.Process.Pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	_ = child.Wait() // killed, as it should be
	if scanErr != nil {
		t.Fatalf("the child said %q: %v", line, scanErr)
	}

	eventually(t, "the server is gone", func() bool { return !running(pid) })
	eventually(t, "the data is gone", func() bool {
		_, err := os.Stat(dir)
		return errors.Is(err, os.ErrNotExist)
	})
	if conn, err := net.Dial("tcp", address(t, server)); err == nil {
		_ = conn.Close()
		t.Error("somebody still listens on the port")
	}
}

func TestMajorVersion(t *testing.T) {
	for dir, want := range map[string]int{
		"/usr/lib/postgresql/15/bin":             15,
		"/usr/lib/postgresql/9.6/bin":            9,
		"/opt/homebrew/opt/postgresql@17/bin":    17,
		"/somewhere/else":                        0,
		"/usr/pgsql-16/bin":                      16,
		"/Applications/Postgres.app/x/latest/un": 0,
	} {
		if got := majorVersion(dir); got != want {
			t.Errorf("majorVersion(%q) = %d, want %d", dir, got, want)
		}
	}
}

func start(t *testing.T, opts Options) *Cluster {
	t.Helper()
	c, err := Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// openDir is a directory for everybody, like /tmp. That takes two chmods: the
// parent of a test's directory is closed, too.
func openDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(d, 0o777|os.ModeSticky); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// eventually looks again and again, for as long as a busy machine may need.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for !ok() {
		if pause(ctx) != nil {
			t.Fatalf("not within 30 s: %s", what)
		}
	}
}

// running tells whether a process that is not our child runs. Where nobody
// reaps orphans (process 1 of many containers does not) a dead one stays as a
// zombie for ever; that one does not count.
func running(pid int) bool {
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		return !strings.Contains(string(stat), ") Z ")
	}
	return syscall.Kill(pid, 0) == nil
}

func address(t *testing.T, rawURL string) string {
	t.Helper()
	u, err := url.Parse(rawURL)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// query speaks just enough of the protocol to ask a question and return the
// last value of the answer, so that this package needs no driver.
func query(t *testing.T, rawURL, sql string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address(t, rawURL))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	const version = "\x00\x03\x00\x00"
	send(t, conn, "", version+"user\x00postgres\x00database\x00postgres\x00\x00")
	readAnswer(t, conn)
	send(t, conn, "Q", sql+"\x00")
	value := readAnswer(t, conn)
	send(t, conn, "X", "")
	return value
}

func send(t *testing.T, w io.Writer, kind, body string) {
	t.Helper()
	message := append([]byte(kind), 0, 0, 0, 0)
	binary.BigEndian.PutUint32(message[len(kind):], uint32(4+len(body)))
	if _, err := w.Write(append(message, body...)); err != nil {
		t.Fatal(err)
	}
}

// readAnswer reads up to the server's ReadyForQuery.
func readAnswer(t *testing.T, r io.Reader) (value string) {
	t.Helper()
	for {
		var header [5]byte
		if _, err := io.ReadFull(r, header[:]); err != nil {
			t.Fatal(err)
		}
		body := make([]byte, binary.BigEndian.Uint32(header[1:])-4)
		if _, err := io.ReadFull(r, body); err != nil {
			t.Fatal(err)
		}
		switch header[0] {
		case 'D': // a row: number of columns, then length and bytes of each
			value = string(body[6:])
		case 'E':
			t.Fatalf("server: %q", body)
		case 'Z':
			return value
		}
	}
}
