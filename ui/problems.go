package ui

import (
	"context"
	"fmt"
	"net/url"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
)

// problems shows what the checks of health find, the worst first, and what an examination does if it is
// asked for: that reads much, a SQLite file from end to end, and so is not repeated to keep the page up
// to date.
func problems(v *visit) (*screen, error) {
	examine := v.query.Get("examine") != ""
	sc := &screen{Title: "Problems", Still: examine}
	if v.s.source.fleet != nil && v.key == "" {
		sc.Blocks = append(sc.Blocks, block{Heading: "The fleet", Findings: worst(v.redactReport(v.s.source.probes.Health(v.Context())), "")})
	}
	sc.Blocks = append(sc.Blocks, v.each(func(ctx context.Context, s *store) ([]block, error) {
		h := v.redactReport(s.Health(ctx))
		health := block{Heading: "Health: is work done?", Note: verdict(h), Findings: worst(h, s.key)}
		if !examine {
			return []block{health, {Heading: "Doctor: is the database in order?", Facts: facts("It reads much", link("Examine now", v.hrefIn(s.key, "problems", "examine", "yes")))}}, nil
		}
		d := v.redactReport(s.Admin.ExamineWith(ctx, access.Key{}, engine.ExamineOptions{Timeout: v.s.opts.Timeout}))
		return []block{health, {Heading: "Doctor: is the database in order?", Note: verdict(d), Findings: worst(d, s.key)}}, nil
	})...)
	return sc, nil
}

// verdict is a report in a sentence.
func verdict(r health.Report) string {
	n := 0
	for _, f := range r.Findings {
		if f.Level >= health.Warning {
			n++
		}
	}
	switch {
	case n == 0:
		return "All is well."
	case r.Level >= health.Problem:
		return fmt.Sprintf("Something is wrong: %s.", plural(int64(n), "finding"))
	}
	return fmt.Sprintf("It works, with %s.", plural(int64(n), "warning"))
}

// worst are the findings that are not OK, the worst first.
func worst(r health.Report, key string) (all []finding) {
	for level := health.Problem; level > health.OK; level-- {
		for _, f := range r.Findings {
			if f.Level != level {
				continue
			}
			one := finding{Finding: f}
			if f.Fixable {
				one.Actions = []action{{Do: "repair", Label: "Repair", Fields: []string{"store", key}, Confirm: "All that the doctor can repair in this database is repaired."}}
			}
			all = append(all, one)
		}
	}
	return all
}

// repair repairs what the doctor can repair.
func repair(ctx context.Context, s *store, _ url.Values) (string, error) {
	before := s.Admin.ExamineWith(ctx, access.Key{}, engine.ExamineOptions{Fix: true})
	return "examined and repaired: " + verdict(before), nil
}
