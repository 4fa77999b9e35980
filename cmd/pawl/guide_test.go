//go:build unix

package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/guide"
)

// stage is where a scene is played: a directory with the files of the guide, and a
// database that the environment names.
type stage struct {
	*database
	dir     string
	happens map[string]func()
	replace []string // what the guide says, what stands for it here
	workers sync.WaitGroup
	stop    context.CancelFunc
	ctx     context.Context
}

// onStage sets a stage up for a database.
func onStage(t *testing.T, d *database) *stage {
	s := &stage{database: d, dir: t.TempDir(), happens: map[string]func(){}, replace: []string{"8080", strconv.Itoa(freePort(t))}}
	s.ctx, s.stop = context.WithCancel(t.Context())
	t.Cleanup(s.halt)
	t.Chdir(s.dir)
	for _, flag := range d.flags {
		name, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		t.Setenv("PAWL_"+strings.ToUpper(name), value)
	}
	t.Setenv("PAWL_ACTOR", "alice")
	login := []string{"  shop  ", "  postgres  ", `"login":"shop"`, `"login":"postgres"`}
	if len(d.flags) == 0 || strings.Contains(d.flags[0], "sqlite:") { // has no users
		login = []string{"  LOGIN", "", "  shop  ", "  ", `"login":"shop",`, ""}
	}
	s.replace = append(s.replace, login...)
	return s
}

// halt stops the workers in the background.
func (s *stage) halt() {
	s.stop()
	s.workers.Wait()
	s.ctx, s.stop = context.WithCancel(s.t.Context())
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// script writes a command for messages.
func (s *stage) script(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

// play runs a scene step by step.
func (s *stage) play(one guide.Scene) {
	s.t.Helper()
	for _, step := range one.Steps {
		if step.Happens != "" {
			do := s.happens[step.Happens]
			if do == nil {
				s.t.Fatalf("line %d: what is %q?", step.Line, step.Happens)
			}
			do()
			continue
		}
		if !s.try(step) {
			continue
		}
	}
}

// looks are commands that change nothing, and so may be repeated until they print
// what the guide says: workers need their time. So may be what says of itself that it
// changed nothing, because a worker held the message just then.
var looks = regexp.MustCompile(`^(curl|grep|pawl (health|ls|show|explain|workers|doctor|audit|pauses|timers ls|fleet status))\b`)

const patience = 2 * time.Minute

// try runs a command and compares.
func (s *stage) try(step guide.Step) bool {
	s.t.Helper()
	replace := strings.NewReplacer(s.replace...)
	command, want := replace.Replace(step.Command), guide.Wanted(replace, step.Want)
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	for {
		got := s.shell(command)
		switch {
		case want.MatchString(guide.Plain(got)):
			return true
		case !looks.MatchString(command) && !strings.Contains(got, "nothing was changed"), engine.Sleep(ctx, 50*time.Millisecond) != nil:
			s.t.Errorf("line %d: $ %s\n%s\nthe guide says\n%s", step.Line, command, got, strings.Join(step.Want, "\n"))
			return false
		}
	}
}

// shell runs what the guide's commands need of one: pawl within this process, in the
// background with "&", its exit code with "; echo $?".
func (s *stage) shell(command string) string {
	s.t.Helper()
	line, background := strings.CutSuffix(command, " &")
	line, coded := strings.CutSuffix(line, "; echo $?")
	line, log, _ := strings.Cut(line, " 2> ")
	args := words(line)
	var out bytes.Buffer
	switch {
	case args[0] == "curl":
		return s.get(args)
	case args[0] != "pawl":
		cmd := exec.CommandContext(s.t.Context(), "sh", "-c", command)
		cmd.Stdout, cmd.Stderr = &out, &out
		_ = cmd.Run() // what it prints is what counts
	case background:
		s.background(log, args[1:])
	default:
		a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &out}
		code := a.run(s.t.Context(), args[1:])
		if coded {
			out.WriteString(strconv.Itoa(code) + "\n")
		}
	}
	text := out.String()
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n" // as the next prompt would have it
	}
	return text
}

// background runs pawl until the scene is over.
func (s *stage) background(log string, args []string) {
	s.t.Helper()
	var said bytes.Buffer
	var stderr io.Writer = &said
	if log != "" {
		file, err := os.Create(filepath.Join(s.dir, log))
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { _ = file.Close() })
		stderr = file
	}
	s.workers.Go(func() {
		a := &app{stdin: strings.NewReader(""), stdout: io.Discard, stderr: stderr}
		if code := a.run(s.ctx, args); code != exitOK {
			s.t.Errorf("%q: exit code %d\n%s", args, code, said.Bytes())
		}
	})
}

// get is "curl -s URL" and, with -w, what else it says: the status.
func (s *stage) get(args []string) string {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, "http://"+args[len(args)-1], nil)
	if err != nil {
		s.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err.Error()
	}
	text := string(body)
	for i, arg := range args {
		if arg == "-w" {
			text += strings.NewReplacer("%{http_code}", strconv.Itoa(answer.StatusCode), `\n`, "\n").Replace(args[i+1])
		}
	}
	return text
}

var word = regexp.MustCompile(`'[^']*'|[^ ']+`)

// words are a command's, where quotes stand around whole words.
func words(command string) (all []string) {
	for _, w := range word.FindAllString(command, -1) {
		all = append(all, strings.Trim(w, "'"))
	}
	return all
}
