package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/bravellian/pawl/cmd/pawl/internal/completion"
	"github.com/bravellian/pawl/cmd/pawl/internal/man"
	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/internal/engine"
)

// versionCmd is "pawl version".
type versionCmd struct{}

// Run prints the version.
func (*versionCmd) Run(a *app, g *options) error {
	if g.JSON {
		return a.printJSON(build())
	}
	_, err := fmt.Fprintln(a.stdout, version())
	return err
}

// completionCmd is "pawl completion".
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// Help is printed by --help.
func (*completionCmd) Help() string {
	return `The script completes commands, options and the values of options such as --status.
It reads no database.

In the start-up file of the shell, in zsh after compinit:

    source <(pawl completion bash)
    source <(pawl completion zsh)
    pawl completion fish | source`
}

// Run prints the script.
func (c *completionCmd) Run(a *app) error {
	script, err := completion.Script(c.Shell)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(a.stdout, script)
	return err
}

// completeWordsCmd is what the scripts call.
type completeWordsCmd struct {
	Shell string   `arg:""`
	Words []string `arg:"" optional:""`
}

// Run prints what the last word may be completed to.
func (c *completeWordsCmd) Run(a *app) error {
	parser, err := a.parser(&cli{})
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(a.stdout, completion.Lines(c.Shell, completion.Candidates(parser.Model.Node, c.Words)))
	return err
}

// manCmd is "pawl man".
type manCmd struct {
	Dir string `arg:"" optional:"" help:"Directory to write the pages of all commands to. Default: print pawl(1)."`
}

// Help is printed by --help.
func (*manCmd) Help() string {
	return `Examples:

    pawl man | man -l -
    pawl man /usr/local/share/man/man1`
}

// Run writes the pages.
func (c *manCmd) Run(a *app) error {
	parser, err := a.parser(&cli{})
	if err != nil {
		return err
	}
	pages := man.Pages(parser.Model, build().Version)
	if c.Dir == "" {
		_, err := fmt.Fprint(a.stdout, pages[0].Text)
		return err
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return err
	}
	for _, p := range pages {
		if err := os.WriteFile(filepath.Join(c.Dir, p.File()), []byte(p.Text), 0o644); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(a.stderr, "%s written to %s\n", engine.Several(len(pages), "page"), terminal.Clean(c.Dir))
	return err
}
