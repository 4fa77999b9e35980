package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"
)

// screen is what a terminal shows.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) shows(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Contains(s.text.Bytes(), []byte(text))
}

// openTerminal makes a terminal: what is written to keys is typed on it.
func openTerminal(t *testing.T) (keys, tty *os.File, shown *screen) {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	t.Cleanup(func() { _ = keys.Close() })
	var unlock, number int32
	for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &unlock, syscall.TIOCGPTN: &number} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, keys.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
			t.Fatal(errno)
		}
	}
	if tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Skip("no terminals here: ", err)
	}
	t.Cleanup(func() { _ = tty.Close() })
	shown = &screen{}
	go func() { _, _ = io.Copy(shown, keys) }()
	return keys, tty, shown
}

// A command under a lease may ask whoever sits at the terminal, and what comes
// after it in a script may, too.
func TestLeaseRunOnATerminal(t *testing.T) {
	d := onSQLite(t)
	keys, tty, shown := openTerminal(t)
	script := `"$0" lease run n ` + d.flags[0] + ` -- sh -c 'echo sure?; read -r a; echo "said $a"; read -r b'; echo "code $?"; read -r c; echo "then $c"`
	cmd := exec.Command("sh", "-c", script, os.Args[0]) //nolint:noctx // the test waits for it
	cmd.Env = append(os.Environ(), asCommand+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	for _, step := range []struct{ after, typed string }{
		{"sure?", "\x1ayes\n"}, // Ctrl-Z stops nobody
		{"said yes", "\x03"},   // Ctrl-C is the command's
		{"code 130", "more\n"},
		{"then more", ""},
	} {
		eventually(t, step.after, func() bool { return shown.shows(step.after) })
		if _, err := io.WriteString(keys, step.typed); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// onTerminal runs a command line whose three files are a terminal.
func onTerminal(t *testing.T, args ...string) *screen {
	t.Helper()
	_, tty, shown := openTerminal(t)
	cmd := exec.Command(os.Args[0], args...) //nolint:noctx // the test waits for it
	cmd.Env = append(os.Environ(), asCommand+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, shown.text.Bytes())
	}
	return shown
}

// A terminal shows how much was done and how much is left; programs get ids and lines.
func TestProgressOnATerminal(t *testing.T) {
	d := onSQLite(t)
	file := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(file, []byte(numbered(40)), 0o600); err != nil {
		t.Fatal(err)
	}
	shown := onTerminal(t, d.line([]string{"enqueue", "--topic", "t", file})...)
	eventually(t, "a count", func() bool { return shown.shows("40 messages enqueued\r\n") })
	shown = onTerminal(t, d.line([]string{"work", "--topic", "t", "--exec", "sleep 0.1", "--drain", "--concurrency", "4"})...)
	eventually(t, "what is left", func() bool { return shown.shows(" left, about ") && shown.shows("█·") })
	if r := d.run(numbered(2), "enqueue", "--topic", "t"); len(lines(r.stdout)) != 2 || r.stderr != "" {
		t.Errorf("piped: %+v", r)
	}
	if r := d.run("", "work", "--topic", "t", "--exec", "true", "--drain"); strings.Contains(r.stderr, "left") {
		t.Errorf("piped: %+v", r)
	}
	dir := t.TempDir()
	for _, name := range []string{"a.db", "b.db", "c.db"} {
		command(t.Context(), "", "migrate", "--db", "sqlite:"+filepath.Join(dir, name))
	}
	shown = onTerminal(t, "migrate", "--fleet", "dir:"+dir)
	eventually(t, "stores", func() bool { return shown.shows("of 3 stores migrated") && shown.shows("3 stores up to date") })
}
