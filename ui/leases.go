package ui

import (
	"context"
	"net/url"

	"github.com/bravellian/pawl/lease"
)

func leaseStates() []string {
	return []string{string(lease.Held), string(lease.Expired), string(lease.Free)}
}

// leases lists leases by name.
func leases(v *visit) (*screen, error) {
	return listing(v, "Leases", v.filter(input{Name: "status", Label: "State", Options: leaseStates()}), v.listLeases, func(s *store, list []lease.Info) *table {
		release := action{
			Do: "release-lease", Label: "Release by force", Danger: true, Inputs: []input{why()},
			Confirm: "Somebody else may have it at once. What its holder guards cannot be committed any more; anything else that it does goes on until it notices.",
		}
		t := tableOf("No leases.", []string{"State", "Lease", "Holder", "Until", "Token", "Waiting", "Last granted", ""}, list, func(l *lease.Info) []cell {
			first, actions := state(string(l.Status)), []action(nil)
			if l.Status == lease.Held {
				release.Fields = []string{"store", s.key, "name", l.Name}
				first, actions = pick(first, release.Fields...), []action{release}
			}
			return []cell{first, words(l.Name), words(l.Owner), at(l.Until), count(l.Token), count(int64(l.Waiting)), at(l.LastGranted), {Actions: actions}}
		})
		return t.selectable(s, release)
	})
}

// listLeases reads the page that the address asks for.
func (v *visit) listLeases(ctx context.Context, s *store) (pageOf[lease.Info], error) {
	var after *lease.Info
	if name := v.query.Get("after"); name != "" {
		after = &lease.Info{Name: name}
	}
	if err := oneOf("status", v.query.Get("status"), leaseStates()); err != nil {
		return pageOf[lease.Info]{}, err
	}
	status := lease.Status(v.query.Get("status"))
	match := func(l *lease.Info) bool { return status == "" || l.Status == status }
	return sift(s.Leases.List(ctx, lease.ListOptions{After: after}), match, func(l *lease.Info) string { return l.Name })
}

func releaseLease(ctx context.Context, s *store, form url.Values) (string, error) {
	return became(s.Leases.ForceRelease(ctx, form.Get("name")))("lease", "released")
}
