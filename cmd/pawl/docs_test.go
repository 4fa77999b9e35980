package main

import (
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/bravellian/pawl/cmd/pawl/internal/reference"
	"github.com/bravellian/pawl/internal/test/docblocks"
)

// D-240: the reference of the command line is what the parser accepts. PAWL_UPDATE=1 writes it.
func TestReference(t *testing.T) {
	const page = "../../docs/cli.md"
	parser, err := (&app{}).parser(&cli{})
	if err != nil {
		t.Fatal(err)
	}
	want := reference.Markdown(parser.Model)
	if os.Getenv("PAWL_UPDATE") != "" {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != want {
		t.Errorf("docs/cli.md is out of date: PAWL_UPDATE=1 go test ./cmd/pawl -run TestReference")
	}
}

// D-238: the parser accepts each command line of pawl in the documentation. Those of
// docs/operating.md run besides, in TestOperatingGuide.
func TestDocumentedCommands(t *testing.T) {
	blocks, err := docblocks.Read("../..")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, b := range blocks {
		if slices.Contains([]string{"go", "sql", "json", "yaml"}, b.Language) {
			continue
		}
		for _, line := range commandLines(b) {
			for _, args := range pawlCommands(line) {
				if err := accepts(args); err != nil {
					t.Errorf("%s: %s: %v", b, line, err)
				}
				n++
			}
		}
	}
	t.Logf("%d commands", n)
	if n < 50 {
		t.Errorf("%d commands are found", n)
	}
}

// accepts returns an error for a command line that the parser refuses.
func accepts(args []string) error {
	answered := false // by --help
	parser, err := (&app{stdout: io.Discard, stderr: io.Discard}).parser(&cli{}, kong.Exit(func(int) { answered = true }))
	if err != nil {
		return err
	}
	if _, err := parser.Parse(args); err != nil && !answered {
		return err
	}
	return nil
}

// D-238: a command line with a flag, a command or an argument that pawl does not know is refused.
func TestAccepts(t *testing.T) {
	for line, want := range map[string]bool{
		"ls --failed": true, "joins ls --help": true, "ls --failes": false, "lss": false, "ls x": false, "health --json=maybe": false,
	} {
		if err := accepts(strings.Fields(line)); (err == nil) != want {
			t.Errorf("pawl %s: %v", line, err)
		}
	}
}

// commandLines returns the lines of a block that are typed: in a console those behind a prompt,
// elsewhere all.
func commandLines(b *docblocks.Block) (all []string) {
	text := strings.ReplaceAll(b.Text, "\\\n", " ")
	for line := range strings.SplitSeq(text, "\n") {
		command, prompted := strings.CutPrefix(line, "$ ")
		if prompted || b.Language == "sh" {
			all = append(all, command)
		}
	}
	return all
}

// token is a word, an operator between commands or redirections, or a comment.
var token = regexp.MustCompile(`[0-9]?>>?(?:&[0-9])?|<|\|\||&&|[|&;()]|(?:'[^']*'|"(?:\\.|[^"\\])*"|\$\([^)]*\)|\\.|[^\s'"|&;<>()\\])+`)

// pawlCommands returns the arguments of each call of pawl in a line of a shell.
func pawlCommands(line string) (all [][]string) {
	var words []string
	end := func() {
		for len(words) > 0 && regexp.MustCompile(`^\w+=`).MatchString(words[0]) {
			words = words[1:]
		}
		switch {
		case len(words) > 0 && words[0] == "pawl":
			all = append(all, words[1:])
		case len(words) > 3 && slices.Equal(words[:2], []string{"go", "run"}) && strings.HasSuffix(words[2], "cmd/pawl"):
			all = append(all, words[3:])
		}
		words = nil
	}
	target := false // of a redirection
	for at := 0; at < len(line); {
		m := token.FindStringIndex(line[at:])
		if m == nil {
			break
		}
		word := line[at+m[0] : at+m[1]]
		spaced := at+m[0] == 0 || line[at+m[0]-1] == ' '
		at += m[1]
		switch {
		case spaced && strings.HasPrefix(word, "#"):
			end()
			return all
		case strings.Trim(word, "0123456789&>") == "" && strings.Contains(word, ">"):
			target = !strings.Contains(word, "&")
		case word == "<":
			target = true
		case slices.Contains([]string{"|", "||", "&&", "&", ";", "(", ")"}, word):
			end()
		case target:
			target = false
		default:
			words = append(words, unquote(word))
		}
	}
	end()
	return all
}

var quoted = regexp.MustCompile(`'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)`)

func unquote(word string) string { return quoted.ReplaceAllString(word, "$1$2$3") }

// D-238: the calls of pawl in a line of a shell are found.
func TestPawlCommands(t *testing.T) {
	got := pawlCommands(`A=1 pawl ls --topic 'a b' 2> log | grep x; pawl work --exec "./x \"y\"" & # pawl no`)
	want := [][]string{{"ls", "--topic", "a b"}, {"work", "--exec", `./x \"y\"`}}
	if len(got) != 2 || !slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1]) {
		t.Errorf("got %q", got)
	}
}
