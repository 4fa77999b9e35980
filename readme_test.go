package pawl_test

import (
	"os"
	"strings"
	"testing"
)

// The program on the README's first screen is the first example, which compiles and runs:
// each line of it stands there, in the same order.
func TestREADMEShowsTheExample(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	must(t, err)
	_, rest, _ := strings.Cut(string(readme), "```go\n")
	program, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the README shows no program")
	}
	code, err := os.ReadFile("example_test.go")
	must(t, err)
	left := string(code)
	for line := range strings.Lines(program) {
		line, _, _ = strings.Cut(line, " // ")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		_, after, ok := strings.Cut(left, line)
		if !ok {
			t.Errorf("not in the first example, or elsewhere in it: %s", line)
			continue
		}
		left = after
	}
}
