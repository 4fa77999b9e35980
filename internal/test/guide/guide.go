// Package guide reads the commands that guides show, with what they print, for tests that run them.
package guide

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Scene is a section of a guide with commands to run.
type Scene struct {
	Title string
	Steps []Step
}

// Step is a command of a guide with what it prints, or something that happens, which
// readers do not see: <!-- test: WHAT -->.
type Step struct {
	Line    int
	Command string
	Want    []string
	Happens string
}

// Read reads the sections of a guide that have ```console blocks.
func Read(t testing.TB, path string) (all []Scene) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var one *Scene
	inside := false
	for n, line := range strings.Split(string(text), "\n") {
		happens, found := strings.CutPrefix(line, "<!-- test: ")
		switch {
		case strings.HasPrefix(line, "#") && !inside:
			all = append(all, Scene{Title: strings.TrimLeft(line, "# ")})
			one = &all[len(all)-1]
		case found:
			one.Steps = append(one.Steps, Step{Line: n + 1, Happens: strings.TrimSuffix(happens, " -->")})
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case inside && strings.HasPrefix(line, "$ "):
			one.Steps = append(one.Steps, Step{Line: n + 1, Command: line[2:]})
		case inside:
			last := &one.Steps[len(one.Steps)-1]
			last.Want = append(last.Want, line)
		}
	}
	return slices.DeleteFunc(all, func(s Scene) bool { return len(s.Steps) == 0 })
}

var (
	spaces = regexp.MustCompile(`[ \t]+`)
	times  = regexp.MustCompile(`\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z`)
)

// Plain is text whose columns are as wide as they like, and all times are alike.
func Plain(text string) string {
	text = times.ReplaceAllString(spaces.ReplaceAllString(text, " "), "TIME")
	return strings.ReplaceAll(text, " \n", "\n")
}

// Wanted matches what is to be printed, made [Plain]: "…" stands for anything within a line and, by
// itself, for any lines. What the guide says is replaced first.
func Wanted(replace *strings.Replacer, want []string) *regexp.Regexp {
	text := `\A`
	for _, line := range want {
		if line == "…" {
			text += `(?:[^\n]*\n)*?`
			continue
		}
		text += strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSuffix(Plain(replace.Replace(line)+"\n"), "\n")), "…", `[^\n]*`) + `\n`
	}
	return regexp.MustCompile(text + `\z`)
}
