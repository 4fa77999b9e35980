// Package man writes manual pages of section 1 from kong's model of a command line.
package man

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/alecthomas/kong"
)

// Page is a manual page.
type Page struct {
	Name string // "pawl-joins-ls"
	Text string
}

// File returns the name of the page's file.
func (p Page) File() string { return p.Name + ".1" }

// Pages returns the page of the program and one of each of its commands. version is
// shown at the foot of each.
func Pages(app *kong.Application, version string) []Page {
	var all []Page
	var add func(n *kong.Node)
	add = func(n *kong.Node) {
		all = append(all, Page{name(n), page(app, n, version)})
		for _, child := range commands(n) {
			add(child)
		}
	}
	add(app.Node)
	return all
}

func commands(n *kong.Node) []*kong.Node {
	return slices.DeleteFunc(slices.Clone(n.Children), func(c *kong.Node) bool { return c.Hidden || c.Type != kong.CommandNode })
}

// name returns the words of a command with hyphens: "pawl-joins-ls".
func name(n *kong.Node) string {
	if n.Parent == nil {
		return n.Name
	}
	return name(n.Parent) + "-" + n.Name
}

// writer writes roff.
type writer struct{ strings.Builder }

func (w *writer) section(title string) { fmt.Fprintf(w, ".SH %s\n", title) }

// page returns the page of a command.
func page(app *kong.Application, n *kong.Node, version string) string {
	w := &writer{}
	fmt.Fprintf(w, ".TH %s 1 \"\" %s \"pawl\"\n", quote(strings.ToUpper(name(n))), quote(version))
	help, detail := n.Help, n.Detail
	if n.Parent == nil { // its help is a whole text
		help, detail, _ = strings.Cut(n.Help, "\n\n")
	}
	w.section("NAME")
	fmt.Fprintf(w, "%s \\- %s\n", escape(name(n)), escape(strings.TrimSuffix(strings.Join(strings.Fields(help), " "), ".")))
	w.section("SYNOPSIS")
	w.synopsis(n)
	if detail != "" {
		w.section("DESCRIPTION")
		w.text(detail)
	}
	if len(n.Positional) > 0 {
		w.section("ARGUMENTS")
		for _, arg := range n.Positional {
			w.item("\\fI"+escape(arg.Name)+"\\fR", arg.Help)
		}
	}
	if children := commands(n); len(children) > 0 {
		w.section("COMMANDS")
		for _, child := range children {
			w.item("\\fB"+escape(child.FullPath())+"\\fR", child.Help)
		}
	}
	if n.Parent != nil {
		w.flags("OPTIONS", n.Flags)
		w.flags("OPTIONS OF ALL COMMANDS", app.Flags)
	} else {
		w.flags("OPTIONS", app.Flags)
	}
	w.seeAlso(n)
	return w.String()
}

func (w *writer) synopsis(n *kong.Node) {
	fmt.Fprintf(w, ".B %s\n", escape(n.FullPath()))
	for _, flag := range n.Flags {
		if flag.Required {
			fmt.Fprintf(w, "%s\n", escape(flag.Summary()))
		}
	}
	fmt.Fprintln(w, "[\\fIoptions\\fR]")
	for _, arg := range n.Positional {
		fmt.Fprintln(w, escape(arg.Summary()))
	}
	if len(commands(n)) > 0 {
		fmt.Fprintln(w, "\\fIcommand\\fR")
	}
}

// item writes a term and what it means.
func (w *writer) item(term, help string) {
	fmt.Fprintf(w, ".TP\n%s\n%s\n", term, escape(strings.TrimSpace(help)))
}

func (w *writer) flags(title string, flags []*kong.Flag) {
	begun := false
	for _, flag := range flags {
		if flag.Hidden {
			continue
		}
		if !begun {
			w.section(title)
			begun = true
		}
		term := "\\fB" + escape("--"+flag.Name) + "\\fR"
		if flag.Short != 0 {
			term = "\\fB" + escape("-"+string(flag.Short)) + "\\fR, " + term
		}
		if !flag.IsBool() {
			term += "=\\fI" + escape(flag.FormatPlaceHolder()) + "\\fR"
		}
		help := flag.Help
		if len(flag.Envs) > 0 {
			help += " Environment: " + strings.Join(flag.Envs, ", ") + "."
		}
		w.item(term, help)
	}
}

// text writes paragraphs; one that is indented stands as it is.
func (w *writer) text(text string) {
	for i, paragraph := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if strings.HasPrefix(paragraph, "    ") {
			fmt.Fprint(w, ".PP\n.in +4n\n.nf\n")
			for line := range strings.SplitSeq(paragraph, "\n") {
				fmt.Fprintln(w, escape(strings.TrimPrefix(line, "    ")))
			}
			fmt.Fprint(w, ".fi\n.in\n")
			continue
		}
		if i > 0 {
			fmt.Fprintln(w, ".PP")
		}
		for line := range strings.SplitSeq(paragraph, "\n") {
			fmt.Fprintln(w, escape(line))
		}
	}
}

func (w *writer) seeAlso(n *kong.Node) {
	var also []string
	if n.Parent != nil {
		also = append(also, name(n.Parent))
	}
	for _, child := range commands(n) {
		also = append(also, name(child))
	}
	if len(also) == 0 {
		return
	}
	w.section("SEE ALSO")
	for i, page := range also {
		end := ","
		if i == len(also)-1 {
			end = ""
		}
		fmt.Fprintf(w, ".BR %s (1)%s\n", escape(page), end)
	}
}

func quote(s string) string { return `"` + strings.ReplaceAll(escape(s), `"`, `\(dq`) + `"` }

// escape returns text of which roff takes nothing for a command.
func escape(s string) string {
	s = strings.ReplaceAll(s, `\`, `\e`)
	s = strings.NewReplacer("-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	var b strings.Builder
	for _, r := range strings.ReplaceAll(s, "\n.", "\n\\&.") {
		if r > unicode.MaxASCII {
			fmt.Fprintf(&b, `\[u%04X]`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
