package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
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
