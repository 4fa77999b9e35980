package check

import "github.com/bravellian/pawl/torture/internal/history"

const checkGuards = "guarded transactions commit while their lease is held"

// guarded is what is known of the transactions under the guard of one token.
type guarded struct {
	began, failed int
	committed     []int64 // when that was known
	rows          int
}

// guardRule: what guarded transactions wrote is there in the order of tokens, once for each
// that committed. Who takes the lease waits for those of its last holder, so a row of an
// earlier token after one of a later was written by somebody who had lost the lease.
func (r *run) guardRule() rule {
	all := map[Guard]*guarded{}
	get := func(name string, token int64) *guarded {
		key := Guard{name, token}
		g := all[key]
		if g == nil {
			g = &guarded{}
			all[key] = g
		}
		return g
	}
	return rule{
		name: checkGuards,
		event: func(s *step) {
			if s.Op != history.Guard || r.final.Guards == nil {
				return
			}
			switch g := get(s.Name, s.Token); s.Outcome {
			case history.Began:
				g.began++
			case history.Failed:
				g.failed++
			case history.OK:
				g.committed = append(g.committed, s.At)
			case history.Unknown:
			}
		},
		end: func() {
			if r.final.Guards == nil {
				return
			}
			last := map[string]int64{}
			for row := range r.final.Guards {
				get(row.Name, row.Token).rows++
				if row.Token < last[row.Name] {
					r.violate(checkGuards, "", row.Name, "token %d wrote after token %d", row.Token, last[row.Name])
				}
				last[row.Name] = max(last[row.Name], row.Token)
			}
			for key, g := range all {
				r.checkGuarded(key, g)
			}
		},
	}
}

func (r *run) checkGuarded(key Guard, g *guarded) {
	kept := 0
	for _, at := range g.committed {
		if !r.lost(at) {
			kept++
		}
	}
	switch {
	case g.rows > g.began-g.failed:
		r.violate(checkGuards, "", key.Name, "token %d has %d rows, of %d transactions", key.Token, g.rows, g.began-g.failed)
	case g.rows < kept:
		r.violate(checkGuards, "", key.Name, "token %d has %d rows, of %d transactions that committed", key.Token, g.rows, kept)
	}
}
