// Package completion completes command lines: it lists what may follow the words that
// were typed, from kong's model of the command line, and has the scripts that let bash,
// zsh and fish ask for it.
package completion

import (
	"cmp"
	"embed"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

//go:embed pawl.bash pawl.zsh pawl.fish
var scripts embed.FS

// Shells are those that there is a script for.
func Shells() []string { return []string{"bash", "zsh", "fish"} }

// Script returns the script of one of the Shells.
func Script(shell string) (string, error) {
	text, err := scripts.ReadFile("pawl." + shell)
	return string(text), err
}

// Candidate is what a word may be completed to.
type Candidate struct {
	Text string
	Help string // one line, may be empty
}

// Candidates returns what the last of the words may be completed to. words are those
// that follow the program's name, the last of them as far as it was typed. There are no
// candidates for names that only a database knows, and for files.
func Candidates(root *kong.Node, words []string) []Candidate {
	if len(words) == 0 {
		words = []string{""}
	}
	typed := words[len(words)-1]
	at := position{node: root}
	for _, word := range words[:len(words)-1] {
		at.pass(word)
	}
	if typed == "=" { // bash takes the "=" of --flag=value for a word
		typed = ""
	}
	var all []Candidate
	switch name, value, hasValue := strings.Cut(typed, "="); {
	case at.flag != nil:
		all = values(at.flag.Value, "")
	case at.literal:
		return nil
	case strings.HasPrefix(typed, "--") && hasValue:
		if flag := at.find(name); flag != nil {
			all, typed = values(flag.Value, name+"="), name+"="+value
		}
	case strings.HasPrefix(typed, "-"):
		all = at.flags()
	default:
		all = at.words()
	}
	return slices.DeleteFunc(all, func(c Candidate) bool { return !strings.HasPrefix(c.Text, typed) })
}

// position is how far a command line was read.
type position struct {
	node       *kong.Node
	positional int        // how many arguments were read
	flag       *kong.Flag // that the next word is the value of
	literal    bool       // no flags follow, after "--"
	used       []*kong.Flag
}

// pass reads a word that is complete.
func (p *position) pass(word string) {
	switch {
	case p.flag != nil && word == "=":
	case p.flag != nil:
		p.flag = nil
	case p.literal:
		p.positional++
	case word == "--":
		p.literal = true
	case strings.HasPrefix(word, "-") && word != "-":
		name, _, hasValue := strings.Cut(word, "=")
		flag := p.find(name)
		if flag == nil {
			return
		}
		p.used = append(p.used, flag)
		short := !strings.HasPrefix(word, "--")
		if !hasValue && !flag.IsBool() && !(short && len(word) > 2) {
			p.flag = flag
		}
	default:
		if child := p.child(word); child != nil {
			p.node = child
			return
		}
		p.positional++
	}
}

func (p *position) child(word string) *kong.Node {
	for _, child := range p.node.Children {
		if child.Type == kong.CommandNode && (child.Name == word || slices.Contains(child.Aliases, word)) {
			return child
		}
	}
	return nil
}

// find returns the flag of a word such as "--topic" or "-t".
func (p *position) find(word string) *kong.Flag {
	for _, level := range p.node.AllFlags(false) {
		for _, flag := range level {
			if word == "--"+flag.Name || flag.Short != 0 && strings.HasPrefix(word, "-"+string(flag.Short)) {
				return flag
			}
		}
	}
	return nil
}

// flags returns the flags that may follow, a command's own first.
func (p *position) flags() []Candidate {
	var all []Candidate
	levels := p.node.AllFlags(true)
	slices.Reverse(levels)
	for _, level := range levels {
		for _, flag := range level {
			if slices.Contains(p.used, flag) && !flag.IsCumulative() {
				continue
			}
			all = append(all, Candidate{"--" + flag.Name, line(flag.Help)})
		}
	}
	return all
}

// words returns the commands or the values of the argument that may follow.
func (p *position) words() []Candidate {
	var all []Candidate
	for _, child := range p.node.Children {
		if !child.Hidden && child.Type == kong.CommandNode {
			all = append(all, Candidate{child.Name, line(child.Help)})
		}
	}
	args := p.node.Positional
	if len(args) == 0 {
		return all
	}
	if i := min(p.positional, len(args)-1); p.positional == i || args[i].IsCumulative() {
		all = append(all, values(args[i], "")...)
	}
	return all
}

// values returns the values of a flag or argument that are known: those of its enum or,
// where the command checks them itself, of its tag "values".
func values(v *kong.Value, before string) []Candidate {
	var all []Candidate
	for word := range strings.SplitSeq(cmp.Or(v.Enum, v.Tag.Get("values")), ",") {
		if word = strings.TrimSpace(word); word != "" {
			all = append(all, Candidate{before + word, ""})
		}
	}
	return all
}

// line returns the first sentence of a help text.
func line(help string) string {
	text := strings.Join(strings.Fields(help), " ")
	if end := strings.Index(text, ". "); end >= 0 {
		text = text[:end]
	}
	return strings.TrimSuffix(text, ".")
}

// Lines returns candidates as the script of a shell reads them, one a line.
func Lines(shell string, all []Candidate) string {
	var b strings.Builder
	for _, c := range all {
		switch {
		case shell == "fish" && c.Help != "":
			b.WriteString(c.Text + "\t" + c.Help)
		case shell == "zsh":
			b.WriteString(strings.ReplaceAll(c.Text, ":", `\:`))
			if c.Help != "" {
				b.WriteString(":" + c.Help)
			}
		default:
			b.WriteString(c.Text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
