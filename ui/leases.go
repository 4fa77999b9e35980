package ui

import (
	"context"
	"net/url"

	"github.com/bravellian/pawl/lease"
)

// leases lists leases by name.
func leases(v *visit) (*screen, error) {
	q := v.query
	sc := &screen{Title: "Leases", Filter: &filter{Fields: []field{
		{Name: "status", Label: "State", Value: q.Get("status"), Options: []string{string(lease.Held), string(lease.Expired), string(lease.Free)}},
	}, Keep: []string{"store", v.key}}}
	sc.Blocks = v.each(func(ctx context.Context, s *store) ([]block, error) {
		list, err := s.Leases.List(ctx, v.leaseOptions())
		if err != nil {
			return nil, err
		}
		t := &table{Head: []string{"State", "Lease", "Holder", "Until", "Token", "Waiting", "Last granted", ""}, None: "No leases."}
		for i := range list {
			l := &list[i]
			var actions []action
			if l.Status == lease.Held {
				actions = []action{{
					Do: "release-lease", Label: "Release by force", Danger: true, Fields: []string{"store", s.key, "name", l.Name}, Inputs: []input{why()},
					Confirm: "Somebody else may have it at once. What its holder guards cannot be committed any more; anything else that it does goes on until it notices.",
				}}
			}
			t.Rows = append(t.Rows, []cell{state(string(l.Status)), words(l.Name), words(l.Owner), at(l.Until), count(l.Token), count(int64(l.Waiting)), at(l.LastGranted), {Actions: actions}})
		}
		if len(list) == pageSize {
			t.More = v.here("store", s.key, "after", list[len(list)-1].Name)
		}
		return []block{{Table: t}}, nil
	})
	return sc, nil
}

// leaseOptions are the filters of the address.
func (v *visit) leaseOptions() lease.ListOptions {
	opts := lease.ListOptions{Status: lease.Status(v.query.Get("status")), Limit: pageSize}
	if after := v.query.Get("after"); after != "" {
		opts.After = &lease.Info{Name: after}
	}
	return opts
}

func releaseLease(ctx context.Context, s *store, form url.Values) (string, error) {
	return became(s.Leases.ForceRelease(ctx, form.Get("name")))("lease", "released")
}
