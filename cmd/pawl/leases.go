package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/lease"
)

// leasesCmd is "pawl leases".
type leasesCmd struct {
	Ls      leasesLsCmd      `cmd:"" aliases:"list" help:"List leases by name."`
	Release leasesReleaseCmd `cmd:"" help:"Release leases, whoever holds them."`
}

// Help is printed by --help.
func (*leasesCmd) Help() string {
	return `A lease lets one process at a time do something. Programs take leases, and so does
"pawl lease run"; these commands show and release them.`
}

// leasesLsCmd is "pawl leases ls".
type leasesLsCmd struct {
	Status string `placeholder:"STATUS" xor:"status" values:"held,expired,free" help:"Only leases that are held, expired or free."`
	Held   bool   `xor:"status" help:"Only leases that are held."`

	pageFlags `set:"cursor=NAME"`
}

// Help is printed by --help.
func (*leasesLsCmd) Help() string {
	return `TOKEN grows with every time that a lease is taken. OWNER of a lease that ran out
is who held it last. The database's clock says what is held.`
}

// Run lists leases.
func (c *leasesLsCmd) Run(ctx context.Context, a *app, g *options) error {
	if err := c.checkLimit(); err != nil {
		return err
	}
	status, err := oneOf(c.Status, lease.Held, lease.Expired, lease.Free)
	if err != nil {
		return err
	}
	f := lease.ListOptions{Status: status}
	if c.Held {
		f.Status = lease.Held
	}
	if c.After != "" {
		f.After = &lease.Info{Name: c.After}
	}
	return leaseListing().list(ctx, a, g, c.listFlags, func(s *store) iter.Seq2[lease.Info, error] { return s.pawl().Leases.List(ctx, f) })
}

func leaseListing() *listing[lease.Info] {
	return &listing[lease.Info]{
		none: "no leases",
		columns: []column[lease.Info]{
			{head: "LEASE", cell: func(l *lease.Info) string { return l.Name }},
			{head: "STATE", cell: func(l *lease.Info) string { return string(l.Status) }},
			{head: "OWNER", cell: func(l *lease.Info) string { return l.Owner }},
			{head: "UNTIL", cell: func(l *lease.Info) string { return stampKnown(l.Until) }},
			{head: "TOKEN", cell: func(l *lease.Info) string { return number(l.Token) }},
			{head: "WAITING", cell: func(l *lease.Info) string { return strconv.Itoa(l.Waiting) }},
			{head: "TAKEN", cell: func(l *lease.Info) string { return stamp(l.LastGranted) }},
		},
		id:    func(l *lease.Info) string { return l.Name },
		pages: true,
	}
}

// heldBy is who holds a lease now, if anyone does.
func heldBy(l *lease.Info) string {
	if l.Status != lease.Held {
		return ""
	}
	return l.Owner
}

// leasesReleaseCmd is "pawl leases release".
type leasesReleaseCmd struct {
	Names []string `arg:"" name:"name" help:"Names of leases."`
}

// Help is printed by --help.
func (*leasesReleaseCmd) Help() string {
	return `The holder is not asked: it learns of it when it next renews, and then has to
stop. What it guards by the lease's token is refused from this moment on. The
next in line has the lease at once.

Every lease is a matter of its own, and what became of each is said. One that
nobody holds is no failure; one that was never taken is not found, which is.`
}

// released is what became of one lease.
type released struct {
	Name     string     `json:"name"`
	Released bool       `json:"released"` // by this command
	Owner    string     `json:"owner,omitempty"`
	Until    *time.Time `json:"until,omitempty"`
	Token    int64      `json:"token"`
}

// Run takes leases away.
func (c *leasesReleaseCmd) Run(ctx context.Context, a *app, g *options) error {
	for _, name := range c.Names {
		if err := checkLease(name); err != nil {
			return err
		}
	}
	s, err := g.open(ctx, opening{})
	if err != nil {
		return err
	}
	leases := s.pawl().Leases
	var missing []string
	for _, name := range c.Names {
		r, err := release(ctx, leases, name)
		if errors.Is(err, lease.ErrNotFound) {
			missing = append(missing, strconv.Quote(name))
			continue
		}
		if err == nil {
			err = a.printReleased(r, g.JSON)
		}
		if err != nil {
			return s.close(err)
		}
	}
	if len(missing) > 0 {
		return s.close(fmt.Errorf("%w: %s", lease.ErrNotFound, strings.Join(missing, ", ")))
	}
	return s.close(nil)
}

// release takes a lease away and says from whom. Its holder may change between
// the looks and the act: the token tells that it was taken, whoever had it.
func release(ctx context.Context, leases *lease.Leases, name string) (released, error) {
	r := released{Name: name}
	before, err := leases.Get(ctx, name)
	if err != nil {
		return r, err
	}
	forced, err := leases.ForceRelease(ctx, name)
	if err != nil {
		return r, err
	}
	after, err := leases.Get(ctx, name)
	if err != nil {
		return r, err
	}
	r.Token = after.Token
	if expired := before.Status == lease.Expired; forced && !expired {
		until := before.Until.UTC()
		r.Released, r.Owner = true, before.Owner
		if before.Status == lease.Held {
			r.Until = &until
		}
	}
	return r, nil
}

func (a *app) printReleased(r released, asJSON bool) error {
	if asJSON {
		return a.printJSON(r)
	}
	text := "was not held"
	switch {
	case r.Released && r.Owner != "":
		text = fmt.Sprintf("released, was held by %s until %s", r.Owner, stamp(*r.Until))
	case r.Released:
		text = "released"
	}
	_, err := fmt.Fprintln(a.stdout, terminal.Clean(fmt.Sprintf("%s  %s", r.Name, text)))
	return err
}
