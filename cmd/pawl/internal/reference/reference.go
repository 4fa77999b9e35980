// Package reference writes the reference of a command line as Markdown, from kong's model.
package reference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// writer writes Markdown.
type writer struct{ strings.Builder }

// Markdown returns the page: the program, its options, and each of its commands.
func Markdown(app *kong.Application) string {
	w := &writer{}
	help, detail, _ := strings.Cut(app.Help, "\n\n")
	w.WriteString("<!-- Written by go test ./cmd/pawl -run TestReference, with PAWL_UPDATE=1: do not edit. -->\n")
	w.WriteString("# Command line\n\n" + sentence(help) + "\n\n")
	w.text(detail)
	w.WriteString("`pawl COMMAND --help` prints what stands here, and `pawl man DIR` writes it as manual pages.\n\n")
	w.commands(app.Node)
	w.flags("Options of all commands", app.Flags)
	w.each(app.Node, 2)
	return strings.TrimRight(w.String(), "\n") + "\n"
}

func (w *writer) each(n *kong.Node, level int) {
	for _, c := range commands(n) {
		fmt.Fprintf(w, "%s %s\n\n%s\n\n", strings.Repeat("#", level), name(c), sentence(c.Help))
		w.synopsis(c)
		w.text(c.Detail)
		w.arguments(c)
		w.commands(c)
		w.flags("Option", c.Flags)
		w.each(c, level+1)
	}
}

// name returns the words of a command, without other names that it has.
func name(n *kong.Node) string {
	if n.Parent == nil {
		return n.Name
	}
	return name(n.Parent) + " " + n.Name
}

func commands(n *kong.Node) []*kong.Node {
	return slices.DeleteFunc(slices.Clone(n.Children), func(c *kong.Node) bool { return c.Hidden || c.Type != kong.CommandNode })
}

func (w *writer) synopsis(n *kong.Node) {
	words := []string{name(n)}
	for _, flag := range n.Flags {
		if flag.Required {
			words = append(words, flag.Summary())
		}
	}
	if slices.ContainsFunc(n.Flags, func(f *kong.Flag) bool { return !f.Required && !f.Hidden && f.Name != "help" }) {
		words = append(words, "[options]")
	}
	for _, arg := range n.Positional {
		words = append(words, arg.Summary())
	}
	if len(commands(n)) > 0 {
		words = append(words, "command")
	}
	fmt.Fprintf(w, "```text\n%s\n```\n\n", strings.Join(words, " "))
	if len(n.Aliases) > 0 {
		fmt.Fprintf(w, "Also `%s`.\n\n", strings.Join(n.Aliases, "`, `"))
	}
}

func (w *writer) arguments(n *kong.Node) {
	if len(n.Positional) == 0 {
		return
	}
	w.WriteString("| argument | |\n|---|---|\n")
	for _, arg := range n.Positional {
		fmt.Fprintf(w, "| `%s` | %s |\n", arg.Summary(), cell(arg.Help))
	}
	w.WriteString("\n")
}

func (w *writer) commands(n *kong.Node) {
	all := commands(n)
	if len(all) == 0 {
		return
	}
	w.WriteString("| command | |\n|---|---|\n")
	for _, c := range all {
		fmt.Fprintf(w, "| [%s](#%s) | %s |\n", name(c), strings.ReplaceAll(name(c), " ", "-"), cell(c.Help))
	}
	w.WriteString("\n")
}

func (w *writer) flags(title string, flags []*kong.Flag) {
	begun := false
	for _, flag := range flags {
		if flag.Hidden || flag.Name == "help" {
			continue
		}
		if !begun {
			fmt.Fprintf(w, "| %s | variable | |\n|---|---|---|\n", strings.ToLower(title[:1])+title[1:])
			begun = true
		}
		name := "--" + flag.Name
		if flag.Short != 0 {
			name = "-" + string(flag.Short) + ", " + name
		}
		if !flag.IsBool() {
			name += "=" + flag.FormatPlaceHolder()
		}
		variables := ""
		if len(flag.Envs) > 0 {
			variables = "`" + strings.Join(flag.Envs, "`, `") + "`"
		}
		fmt.Fprintf(w, "| `%s` | %s | %s |\n", strings.ReplaceAll(name, "|", `\|`), variables, cell(flag.Help))
	}
	if begun {
		w.WriteString("\n")
	}
}

// text writes paragraphs; one that is indented is a block of commands.
func (w *writer) text(text string) {
	for paragraph := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		if paragraph == "" {
			continue
		}
		if strings.HasPrefix(paragraph, "  ") {
			w.WriteString("```sh\n")
			indent := len(paragraph) - len(strings.TrimLeft(paragraph, " "))
			for line := range strings.SplitSeq(paragraph, "\n") {
				w.WriteString(line[min(indent, len(line)-len(strings.TrimLeft(line, " "))):] + "\n")
			}
			w.WriteString("```\n\n")
			continue
		}
		w.WriteString(escape(paragraph) + "\n\n")
	}
}

// sentence returns a help text as one line of Markdown.
func sentence(text string) string { return escape(strings.Join(strings.Fields(text), " ")) }

// cell returns a help text as the cell of a table.
func cell(text string) string { return strings.ReplaceAll(sentence(text), "|", `\|`) }

// escape returns text that Markdown shows as it is.
func escape(text string) string {
	return strings.NewReplacer("<", "&lt;", "*", `\*`, "_", `\_`, "[", `\[`, "`", "\\`").Replace(text)
}
