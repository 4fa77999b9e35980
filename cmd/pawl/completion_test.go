package main

import (
	"crypto/x509"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bravellian/pawl/cmd/pawl/internal/completion"
)

func TestCompletionCandidates(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  string // candidates with blanks between; "…": at least these
	}{
		{[]string{"jo"}, "joins jobs"},
		{[]string{"joins", ""}, "ls show cancel retry"},
		{[]string{"joins", "ls", "--s"}, "--status --store --schema"},
		{[]string{"joins", "ls", "--status", ""}, "pending completed failed cancelled"},
		{[]string{"joins", "list", "--status", "c"}, "completed cancelled"},
		{[]string{"joins", "ls", "--status=c"}, "--status=completed --status=cancelled"},
		{[]string{"joins", "ls", "--status", "="}, "pending completed failed cancelled"},
		{[]string{"joins", "ls", "--status", "=", "f"}, "failed"},
		{[]string{"joins", "ls", "--status", "failed", "--status"}, ""}, // given already
		{[]string{"--db", "x.db", "timers", "c"}, "cancel"},
		{[]string{"--db=x.db", "timers", "c"}, "cancel"},
		{[]string{"ls", "-t", "ls", "--coun"}, "--counts"},
		{[]string{"ls", "-tls", "--coun"}, "--counts"},
		{[]string{"work", "--topic", "a", "--topi"}, "--topic"}, // may be repeated
		{[]string{"work", "--topic", "a", "--webhook-format", "c"}, "cloudevents cloudevents-binary"},
		{[]string{"pause", ""}, "topic queue"},
		{[]string{"pause", "topic", ""}, ""},
		{[]string{"completion", "z"}, "zsh"},
		{[]string{"enqueue", "--format", "e"}, "envelope"},
		{[]string{"lease", "run", "n", "--", "--"}, ""},
		{[]string{"demo-w"}, ""},
		{[]string{"complete-w"}, ""},
		{[]string{"no-such-command", "--js"}, "--json"},
		{nil, "migrate … version completion man"},
	} {
		r := command(t.Context(), "", append([]string{"complete-words", "bash", "--"}, c.words...)...)
		got := strings.Fields(r.stdout)
		if r.code != exitOK || r.stderr != "" {
			t.Errorf("%q: %+v", c.words, r)
		}
		if want := strings.Fields(c.want); slices.Contains(want, "…") {
			for _, w := range want {
				if w != "…" && !slices.Contains(got, w) {
					t.Errorf("%q: %q, want %s among them", c.words, got, w)
				}
			}
		} else if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", c.words, got, want)
		}
	}
	if out := command(t.Context(), "", "complete-words", "fish", "--", "timers", "ad").stdout; !strings.HasPrefix(out, "add\t") {
		t.Errorf("fish: %q", out)
	}
	if out := command(t.Context(), "", "complete-words", "zsh", "--", "timers", "ad").stdout; !strings.HasPrefix(out, "add:") {
		t.Errorf("zsh: %q", out)
	}
}

// What --status accepts is what is offered.
func TestCompletionOffersWhatIsAccepted(t *testing.T) {
	d := onSQLite(t)
	d.must("", "migrate")
	for _, list := range [][]string{{"ls"}, {"joins", "ls"}, {"timers", "ls"}, {"inbox", "ls"}, {"leases", "ls"}} {
		offered := command(t.Context(), "", append(append([]string{"complete-words", "bash", "--"}, list...), "--status", "")...).stdout
		if offered == "" {
			t.Errorf("%q: no states", list)
		}
		for status := range strings.Lines(offered) {
			d.must("", append(list, "--status", strings.TrimSpace(status))...)
		}
		r := d.run("", append(list, "--status", "no-such")...)
		if want := choice(strings.Fields(offered)); !strings.Contains(r.stderr, "want "+want) {
			t.Errorf("%q: %q, want %q", list, r.stderr, want)
		}
	}
}

func TestCompletionScripts(t *testing.T) {
	for _, shell := range completion.Shells() {
		script := command(t.Context(), "", "completion", shell).stdout
		if !strings.Contains(script, "complete-words "+shell) {
			t.Errorf("%s: %s", shell, script)
		}
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is not installed", shell)
			continue
		}
		check := exec.CommandContext(t.Context(), path, "-n")
		check.Stdin = strings.NewReader(script)
		if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s -n: %v\n%s", shell, err, out)
		}
	}
	if r := command(t.Context(), "", "completion", "csh"); r.code != exitUsage {
		t.Errorf("csh: %+v", r)
	}
}

// The script completes in a real bash.
func TestCompletionInBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err) // make needs it, too
	}
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte(command(t.Context(), "", "completion", "bash").stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]string{"joins ca": "cancel", "timers ls --status = s": "scheduled", "ls --no-such": ""} {
		fields := strings.Fields(words)
		script := `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pawl; echo "${COMPREPLY[@]}"; complete -p pawl >/dev/null`
		cmd := exec.CommandContext(t.Context(), bash, append([]string{"-c", script, "bash", file, os.Args[0]}, fields...)...)
		cmd.Env = append(os.Environ(), asCommand+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("pawl %s: %v, %q, want %q", words, err, out, want)
		}
	}
}

func TestManPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	if r := command(t.Context(), "", "man", dir); r.code != exitOK || !strings.Contains(r.stderr, "pages written") {
		t.Fatalf("%+v", r)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "pawl*.1"))
	if err != nil || len(pages) < 40 {
		t.Fatalf("%v, %d pages", err, len(pages))
	}
	groff, _ := exec.LookPath("groff")
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{".TH ", "\n.SH NAME\n", "\n.SH SYNOPSIS\n", "\\-\\-db"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s has no %q", filepath.Base(page), want)
			}
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "'") || strings.ContainsFunc(line, func(r rune) bool { return r > 126 }) {
				t.Errorf("%s: %q", filepath.Base(page), line)
			}
		}
		if groff == "" {
			continue
		}
		if out, err := exec.CommandContext(t.Context(), groff, "-man", "-ww", "-z", "-Tascii", "-rLL=200n", page).CombinedOutput(); err != nil || strings.Contains(string(out), "error") {
			t.Errorf("%s: %v\n%s", filepath.Base(page), err, out)
		}
	}
	if r := command(t.Context(), "", "man"); !strings.HasPrefix(r.stdout, `.TH "PAWL" 1`) {
		t.Errorf("%+v", r)
	}
}

func TestVersion(t *testing.T) {
	short, long := command(t.Context(), "", "version"), command(t.Context(), "", "--version")
	if short.code != exitOK || short.stdout != long.stdout || !strings.HasPrefix(short.stdout, "pawl ") {
		t.Errorf("%+v, %+v", short, long)
	}
	var v buildInfo
	if decode(t, command(t.Context(), "", "version", "--json").stdout, &v); v.Version == "" || v.Go == "" {
		t.Errorf("%+v", v)
	}
}

func TestVersionOfARelease(t *testing.T) {
	releaseVersion, releaseRevision = "v1.2.3", "0123456789abcdef"
	t.Cleanup(func() { releaseVersion, releaseRevision = "", "" })
	if got, want := version(), "pawl v1.2.3 0123456789abcdef "+runtime.Version(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// D-236: servers are verified by roots of the program's own where the system has none
func TestRootsOfItsOwn(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the system verifies")
	}
	const empty = "PAWL_TEST_NO_ROOTS"
	if os.Getenv(empty) == "" { // roots are read once in a process
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestRootsOfItsOwn$")
		cmd.Env = append(os.Environ(), empty+"=1", "SSL_CERT_FILE="+os.DevNull, "SSL_CERT_DIR="+t.TempDir())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	if pool, err := x509.SystemCertPool(); err != nil || pool.Equal(x509.NewCertPool()) {
		t.Errorf("without roots of the system there are none: %v", err)
	}
}
