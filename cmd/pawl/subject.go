package main

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
)

// subjectResult is what became of a topic or queue, also as JSON.
type subjectResult struct {
	Store   string `json:"store,omitempty"`
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Changed bool   `json:"changed"`
}

// changeSubject changes a topic or queue in every store; act says in words what became of it, and
// whether it changed anything.
func changeSubject(ctx context.Context, a *app, g *options, kind, name string, act func(*admin.Admin) (string, bool, error)) error {
	if err := engine.CheckText(kind, name, limits.PauseName, true); err != nil {
		return usage("%w", err)
	}
	return g.eachStore(ctx, a, func(s *store, key string) error {
		became, changed, err := act(s.pawl().Admin)
		if err != nil {
			return err
		}
		return subjectResult{Store: key, Kind: kind, Name: name, Changed: changed}.print(a, g, became)
	})
}

func (r subjectResult) print(a *app, g *options, became string) error {
	if g.JSON {
		return a.printJSON(r)
	}
	line := fmt.Sprintf("%s %s %s", r.Kind, r.Name, became)
	if r.Store != "" {
		line = r.Store + "  " + line
	}
	_, err := fmt.Fprintln(a.stdout, terminal.Clean(line))
	return err
}
