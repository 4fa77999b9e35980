package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/cmd/pawl/internal/target"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/engine"
)

// shareFlags say with which processes the stores of a fleet are shared.
type shareFlags struct {
	Share       string `placeholder:"DB" help:"Share the stores of --fleet with all processes that name this control database, in the form of --db."`
	ShareCopies int    `placeholder:"N" help:"How many processes work on each store, the same for all of them. Default: 1."`
	ShareName   string `placeholder:"NAME" help:"Tells fleets apart that use the same control database. Default: default."`
}

func (s *shareFlags) check() error {
	switch {
	case s.Share == "" && (s.ShareCopies != 0 || s.ShareName != ""):
		return usage("--share-copies and --share-name go with --share")
	case s.ShareCopies < 0:
		return usage("--share-copies: negative")
	}
	if strings.Contains(s.ShareName, "/") {
		return usage("--share-name: contains a slash")
	}
	return nil
}

// open opens the control database; nil if the stores are not shared.
func (s *shareFlags) open(ctx context.Context, g *options, o opening) (share *fleet.Share, leave func(), err error) {
	if s.Share == "" {
		return nil, func() {}, nil
	}
	at, err := target.Parse(s.Share, engine.Names{Schema: g.Schema, Prefix: g.Prefix})
	if err != nil {
		return nil, nil, usage("--share: %w", err)
	}
	if !at.Exists() {
		return nil, nil, fmt.Errorf("%s does not exist: make it with \"pawl migrate --db\"", at)
	}
	db, err := openTarget(ctx, at, o)
	if err != nil {
		return nil, nil, err
	}
	return &fleet.Share{DB: db, Fleet: s.ShareName, Copies: s.ShareCopies}, func() { _ = db.Close() }, nil
}
