package main

import (
	"os"
	"strings"
	"testing"
)

// D-666: the program of the README is this one, and prints what stands there.
func TestReadme(t *testing.T) {
	program, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, program = cut(t, program, "\n") // what go doc says of it
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block := cut(t, readme, "```go\n")
	if block, _ = cut(t, block, "```"); string(block) != string(program) {
		t.Errorf("README.md has\n%s", block)
	}
	if _, shown := cut(t, readme, "$ go run .\n"); !strings.HasPrefix(string(shown), said) {
		t.Errorf("README.md says that it prints %.80q", shown)
	}
}

func cut(t *testing.T, text []byte, at string) (before, after []byte) {
	t.Helper()
	b, a, found := strings.Cut(string(text), at)
	if !found {
		t.Fatalf("no %q", at)
	}
	return []byte(b), []byte(a)
}

// said is what the program prints.
const said = "mail about order 7\n"

func Example() {
	dir, err := os.MkdirTemp("", "quickstart")
	check(err)
	defer func() { _ = os.RemoveAll(dir) }()
	check(os.Chdir(dir))
	main()
	// Output: mail about order 7
}
