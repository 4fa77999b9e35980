//go:build unix

package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/job"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/outbox"
)

// TestMain lets the test's program be what keeps commands.
func TestMain(m *testing.M) {
	if code, ours := job.Process(os.Args[1:]); ours {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// one runs a single command.
type one struct {
	*Runner
	command string
}

func (o *one) Handle(ctx context.Context, m *outbox.Message) error {
	return o.Handler(o.command)(ctx, m)
}

func runner(t *testing.T, command string) (r *one, stdout, stderr *enginetest.LockedBuffer) {
	t.Helper()
	stdout, stderr = &enginetest.LockedBuffer{}, &enginetest.LockedBuffer{}
	shared, err := New(stdout, stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(shared.Close)
	return &one{shared, command}, stdout, stderr
}

func TestPayloadAndFieldsReachTheCommand(t *testing.T) {
	m := &outbox.Message{
		ID: outbox.MessageID{1}, Position: 7, Topic: "a b", CorrelationID: "c'd", RetryCount: 2, Payload: []byte("body"), Queue: "q", Priority: -3,
		CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Due: time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC), Headers: map[string]string{"k": "v"},
	}
	r, stdout, _ := runner(t, `cat; printf '|%s' "$PAWL_MESSAGE_ID" "$PAWL_WORK_ITEM_ID" "$PAWL_TOPIC" "$PAWL_CORRELATION_ID" \
		"$PAWL_ATTEMPT" "$PAWL_CREATED_AT" "$PAWL_DUE" "$PAWL_QUEUE" "$PAWL_PRIORITY" "$PAWL_HEADERS" "$PAWL_STORE"`)
	t.Setenv("PAWL_STORE", "of another fleet, whose command this is")
	if err := r.Handle(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	want := "body|01000000-0000-0000-0000-000000000000|7|a b|c'd|3|2026-01-02T03:04:05.000000006Z|2026-01-03T00:00:00Z|q|-3|{\"k\":\"v\"}|\n"
	if stdout.String() != want {
		t.Errorf("got  %q\nwant %q", stdout, want)
	}
}

// D-5: a command gets no password of pawl's database, unless it is to get it.
func TestDatabaseIsNotPassedOn(t *testing.T) {
	t.Setenv("PAWL_DB", "postgres://u:secret@h/d")
	t.Setenv("PAWL_FLEET", "table:postgres://u:secret@h/d")
	for pass, want := range map[bool]string{false: "||", true: "|postgres://u:secret@h/d|table:postgres://u:secret@h/d"} {
		r, stdout, _ := runner(t, `printf '|%s' "$PAWL_DB" "$PAWL_FLEET"`)
		r.PassDB = pass
		if err := r.Handle(t.Context(), &outbox.Message{Topic: "t"}); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(stdout.String()); got != want {
			t.Errorf("passed on %v: %q", pass, got)
		}
	}
}

func TestExitCodes(t *testing.T) {
	permanent := fmt.Sprintf("%T", outbox.Permanent(errors.New("x")))
	for _, c := range []struct {
		command, want string
		permanent     bool
	}{
		{"exit 0", "", false},
		{"exit 75", "the command asked for a retry", false},
		{"echo busy >&2; exit 75", "exit status 75: busy", false},
		{"echo bad >&2; exit 65", "exit status 65: bad", true},
		{"echo oops >&2; exit 3", "exit status 3: oops", false},
		{"no-such-command-here", "not found", false},
		{"kill -9 $$", "signal: killed", false},
	} {
		r, _, _ := runner(t, c.command)
		err := r.Handle(t.Context(), &outbox.Message{Topic: "t"})
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.command, err, c.want)
		case (fmt.Sprintf("%T", err) == permanent) != c.permanent:
			t.Errorf("%s: %T, permanent should be %v", c.command, err, c.permanent)
		}
	}
}

// D-7: an error is the end of what the command said, cut between characters.
func TestErrorIsTheTailOfStderr(t *testing.T) {
	r, _, stderr := runner(t, `i=0; while [ $i -lt 900 ]; do printf 'éß' >&2; i=$((i+1)); done; echo END >&2; exit 1`)
	err := r.Handle(t.Context(), &outbox.Message{Topic: "t"})
	if err == nil || len(err.Error()) > 2048 || !strings.HasSuffix(err.Error(), "END") || strings.Contains(err.Error(), "\uFFFD") {
		t.Errorf("error of %d bytes: %v", len(err.Error()), err)
	}
	if stderr.Len() != 900*4+4 {
		t.Errorf("%d bytes were passed on", stderr.Len())
	}
}

func TestOutputComesInOnePiece(t *testing.T) {
	r, stdout, _ := runner(t, `read -r c; i=0; while [ $i -lt 50 ]; do printf %s "$c"; i=$((i+1)); done`)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if err := r.Handle(context.Background(), &outbox.Message{Topic: "t", Payload: []byte(strconv.Itoa(i) + "\n")}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for line := range strings.Lines(stdout.String()) {
		if line != strings.Repeat(line[:1], 50)+"\n" {
			t.Errorf("mixed: %q", line)
		}
	}
}

// D-460: output without an end is neither held in memory nor in the way of others'.
func TestEndlessOutputIsNotHeldInMemory(t *testing.T) {
	for name, chunk := range map[string]string{"lines": strings.Repeat("a", 998) + "\n", "one line": strings.Repeat("b", 1000)} {
		var to bytes.Buffer
		st := &stream{to: &to}
		written := 0
		for written < 3*holdBack {
			n, err := io.WriteString(st, chunk)
			if err != nil {
				t.Fatal(err)
			}
			if written += n; len(st.buf) > holdBack+len(chunk)+1 {
				t.Fatalf("%s: %d bytes held", name, len(st.buf))
			}
		}
		if err := st.end(); err != nil || strings.ReplaceAll(to.String(), "\n", "") != strings.ReplaceAll(strings.Repeat(chunk, written/len(chunk)), "\n", "") || !strings.HasSuffix(to.String(), "\n") {
			t.Errorf("%s: %d bytes of %d passed on, %v", name, to.Len(), written, err)
		}
	}
}

// D-460: a command that prints more than is held back and goes on keeps no other one from
// ending, and lines stay whole.
func TestTalkativeCommandStopsNoOther(t *testing.T) {
	dir := t.TempDir()
	full, goOn := filepath.Join(dir, "full"), filepath.Join(dir, "go-on")
	var out enginetest.LockedBuffer
	r, err := New(&out, &out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	big := r.Handler(`head -c 6000000 /dev/zero | tr '\0' a; echo; echo > "` + full + `"; while [ ! -e "` + goOn + `" ]; do sleep 0.01; done; echo end`)
	small := r.Handler("echo small")
	done := make(chan error, 1)
	go func() { done <- big(t.Context(), &outbox.Message{Topic: "big"}) }()
	for _, err := os.Stat(full); err != nil; _, err = os.Stat(full) {
		if engine.Sleep(t.Context(), time.Millisecond) != nil {
			t.Fatal("the command did not print")
		}
	}
	for range 20 {
		if err := small(t.Context(), &outbox.Message{Topic: "small"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	smalls := 0
	for line := range strings.Lines(out.String()) {
		switch {
		case line == "small\n":
			smalls++
		case line != "end\n" && strings.Trim(line, "a") != "\n":
			t.Fatalf("mixed: %d bytes", len(line))
		}
	}
	if smalls != 20 || strings.Count(out.String(), "a") != 6000000+smalls {
		t.Errorf("%d small, %d bytes", smalls, out.Len())
	}
}

// D-15: a command that our own stop ended is not a failure of its message.
func TestCancelKillsTheWholeGroup(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	// The grandchild ignores the polite request.
	r, _, _ := runner(t, `sh -c 'trap "" TERM; echo $$ > "`+pids+`.tmp"; mv "`+pids+`.tmp" "`+pids+`"; sleep 60; sleep 60' & wait`)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Handle(ctx, &outbox.Message{Topic: "t"}) }()
	pid := waitForPID(t, pids)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	for alive(pid) {
		if engine.Sleep(t.Context(), time.Millisecond) != nil {
			t.Fatal("the grandchild lives on")
		}
	}
}

func TestTimeoutIsAFailure(t *testing.T) {
	r, _, _ := runner(t, "echo slow >&2; sleep 60")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	err := r.Handle(ctx, &outbox.Message{Topic: "t"})
	if err == nil || errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "timed out") {
		t.Errorf("got %v", err)
	}
}

func TestBackgroundProcessesDoNotHoldTheMessage(t *testing.T) {
	r, stdout, _ := runner(t, "echo done; sleep 5 &")
	if err := r.Handle(t.Context(), &outbox.Message{Topic: "t"}); err != nil || stdout.String() != "done\n" {
		t.Errorf("%q, %v", stdout, err)
	}
}

func waitForPID(t *testing.T, file string) int {
	t.Helper()
	for {
		if text, err := os.ReadFile(file); err == nil {
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
		if engine.Sleep(t.Context(), time.Millisecond) != nil {
			t.Fatal("the command did not start")
		}
	}
}

// alive reports whether a process runs; one that only waits to be collected
// by the system does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}
