package ui

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/fleetstate"
	"github.com/bravellian/pawl/internal/inspect"
)

// storeRow is a store of a fleet with what it answers.
type storeRow struct {
	fleetstate.Store
	picture
	err error
}

// level is how bad it is.
func (r *storeRow) level() health.Level {
	if r.err != nil || r.State == fleetstate.Failing {
		return health.Problem
	}
	return r.health.Level
}

// stores lists the stores of a fleet, the worst first. Of very many those are asked that the fleet itself
// finds failing, then the first ones.
func stores(v *visit) (*screen, error) {
	if v.s.source.fleet == nil {
		return &screen{Title: "Stores", Blocks: []block{{Note: "This is one database."}}}, nil
	}
	all := v.s.source.fleet.Operator(access.Key{}).State().Stores
	order := map[fleetstate.State]int{fleetstate.Failing: -1}
	slices.SortStableFunc(all, func(a, b fleetstate.Store) int {
		return cmp.Or(cmp.Compare(order[a.State], order[b.State]), cmp.Compare(a.Key, b.Key))
	})
	from, to, more := v.part(&store{}, len(all), "stores")
	rows := v.askStores(all[from:to])
	slices.SortStableFunc(rows, func(a, b storeRow) int {
		return cmp.Or(cmp.Compare(b.level(), a.level()), cmp.Compare(oldestOf(&b.backlog), oldestOf(&a.backlog)), cmp.Compare(a.Key, b.Key))
	})
	t := v.storeTable(rows)
	if t.More = more; len(rows) == len(all) {
		v.sorted(t)
	}
	return &screen{Title: "Stores", Blocks: []block{{Verdict: fleetVerdict(rows, len(all))}, {Table: t}}}, nil
}

// askStores asks stores, some side by side.
func (v *visit) askStores(of []fleetstate.Store) []storeRow {
	rows := make([]storeRow, len(of))
	sideBySide(len(of), func(i int) {
		r := &rows[i]
		r.Store = of[i]
		ctx, cancel := context.WithTimeout(v.Context(), v.s.opts.Timeout)
		defer cancel()
		s, err := v.s.source.open(ctx, r.Key)
		if r.err = err; err == nil {
			p, unread := v.picture(ctx, s, &window{since: time.Hour})
			r.picture, r.err = *p, unread
		}
	})
	return rows
}

func oldestOf(b *inspect.Backlog) (oldest time.Duration) {
	for i := range b.Messages {
		oldest = max(oldest, b.Messages[i].Oldest)
	}
	return oldest
}

// fleetVerdict says how many of the stores are well.
func fleetVerdict(rows []storeRow, all int) *verdictBox {
	var bad, warned int64
	for i := range rows {
		switch level := rows[i].level(); {
		case level >= health.Problem:
			bad++
		case level >= health.Warning:
			warned++
		}
	}
	box := &verdictBox{Level: health.OK, Text: plural(int64(all), "store") + ", all is well."}
	switch {
	case all == 0:
		box.Text = "The fleet has no stores."
	case bad > 0:
		box.Level, box.Text = health.Problem, "Something is wrong in "+grouped(bad)+" of "+plural(int64(all), "store")+"."
	case warned > 0:
		box.Level, box.Text = health.Warning, "It works, with warnings in "+grouped(warned)+" of "+plural(int64(all), "store")+"."
	}
	if all > len(rows) {
		box.Text += " " + grouped(int64(len(rows))) + " were asked, a page of them: those that the fleet finds failing come first, then the others by name."
	}
	return box
}

func (v *visit) storeTable(rows []storeRow) *table {
	t := &table{Head: []string{"State", "Store", "What is wrong", "Failing topics", "Schema", "Waiting", "Oldest", "Failed", "Workers", "Where", "Fleet", "Last answer"}, None: "The fleet has no stores.", Dense: true}
	for i := range rows {
		r := &rows[i]
		wrong, schema, failing, waiting, oldest, failed, workers := cell{}, cell{}, []string(nil), cell{Number: true}, cell{Number: true}, cell{Number: true}, cell{Number: true}
		switch found := worst(r.health, r.Key); {
		case r.err != nil:
			wrong = words(v.problem(r.err))
		case len(found) > 0 && found[0].Level >= health.Warning:
			wrong = words(firstLine(found[0].Code + ": " + found[0].Summary))
			if n := len(found) - 1; n > 0 {
				wrong.Text += " (and " + plural(int64(n), "more finding") + ")"
			}
		}
		for _, f := range r.health.Findings {
			if topic, is := strings.CutPrefix(f.Code, "failing/"); is {
				failing = append(failing, topic)
			} else if f.Code == "schema" {
				schema = state(f.Level.String())
			}
		}
		if r.err == nil {
			waiting, oldest, failed, workers = counted(inspect.Of(r.backlog.Messages, "ready", "paused", "unhandled")), age(oldestOf(&r.backlog)), count(r.backlog.Failed), count(r.backlog.Workers)
		}
		t.Rows = append(t.Rows, []cell{
			state(r.level().String()), link(r.Key, v.hrefIn(r.Key, "")), wrong, words(strings.Join(failing, ", ")), schema, waiting, oldest, failed, workers, words(r.Where), state(string(r.State)), at(r.LastSuccess),
		})
	}
	return t
}
