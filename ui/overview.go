package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/fleetstate"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// overview says in words whether all is well, what is wrong and what helps, and shows the course of the
// last hour and which topics and queues it is about. Of a fleet it is the list of its stores.
func overview(v *visit) (*screen, error) {
	if v.s.source.fleet != nil && v.key == "" {
		return stores(v)
	}
	return pictured((*visit).overview)(v)
}

func (v *visit) overview(_ context.Context, s *store, p *picture) ([]block, error) {
	all := &sums{}
	for i := range p.activity.Topics {
		all.add(&p.activity.Topics[i])
	}
	found := v.remedied(s, p, p.health.Findings)
	verdicts := block{Verdict: &verdictBox{Level: p.health.Level, Text: verdict(p.health)}, Findings: found[:min(len(found), onVerdict)], Facts: v.amounts(s, &p.backlog)}
	if more := len(found) - onVerdict; more > 0 {
		verdicts.Verdict.More = link(plural(int64(more), "more finding"), v.hrefIn(s.key, "problems"))
	}
	topics, queues := p.subjects(admin.Topic, ""), p.subjects(admin.Queue, "")
	return []block{
		verdicts,
		{Heading: "Messages a minute", Timeline: v.timeline(p, all, p.marks(nil))},
		{Heading: "Topics", Table: first(v.sorted(v.topicTable(s, &p.activity, topics)), v.hrefIn(s.key, "topics"))},
		{Heading: "Queues", Table: first(v.sorted(v.queueTable(s, queues)), v.hrefIn(s.key, "topics"))},
	}, nil
}

// verdictBox says how it is.
type verdictBox struct {
	Level health.Level
	Text  string
	More  cell
}

// first cuts a table, and leads to all of it.
func first(t *table, all string) *table {
	if len(t.Rows) > onOverview {
		t.Rows, t.All, t.AllHref = t.Rows[:onOverview], "All "+grouped(int64(len(t.Rows))), all
	}
	return t
}

// amounts are the figures that matter.
func (v *visit) amounts(s *store, b *inspect.Backlog) []fact {
	in := func(state string) int64 {
		n, _ := inspect.Of(b.Messages, state)
		return n
	}
	amount := func(n int64, path string, pairs ...string) cell {
		return link(grouped(n), v.hrefIn(s.key, path, pairs...))
	}
	some := func(n int64, path string, pairs ...string) cell { // what is shown if it is there
		if n == 0 {
			return cell{}
		}
		return amount(n, path, pairs...)
	}
	return facts(
		"Ready", amount(in("ready"), "messages", "status", "ready"), "Running", amount(in("in_flight"), "messages", "status", "running"), "Retrying", amount(in("retrying"), "messages", "status", "retrying"),
		"Scheduled", amount(in("scheduled"), "messages", "status", "scheduled"), "Failed", amount(b.Failed, "failed"), "Workers", amount(b.Workers, "workers"),
		"Without a handler", some(in("unhandled"), "topics"), "Paused", some(in("paused"), "topics"), "Timers due", some(b.TimersDue, "timers"), "Timers are late by", b.TimersLate, "Timers scheduled", some(b.TimersScheduled, "timers", "status", string(timer.Scheduled)),
		"Joins pending", some(b.JoinsPending, "joins", "status", string(join.Pending)),
	)
}

// problems shows what the checks of health find, the worst first, and what an examination does if it is asked for:
// that reads much, a SQLite file from end to end, and so is not repeated to keep the page up to date.
func problems(v *visit) (*screen, error) {
	examine := v.query.Get("examine") != ""
	sc := &screen{Still: examine}
	if v.s.source.fleet != nil && v.key == "" {
		sc.Blocks = append(sc.Blocks, block{Heading: "The fleet", Findings: worst(v.redactReport(v.s.source.fleet.Health(v.Context())), "")})
	}
	sc.Blocks = append(sc.Blocks, v.each(func(ctx context.Context, s *store) ([]block, error) {
		h := v.redactReport(s.Health(ctx))
		health := block{Heading: "Health: is work done?", Note: verdict(h), Findings: worst(h, s.key)}
		if !examine {
			return []block{health, {Heading: "Doctor: is the database in order?", Facts: facts("It reads much", link("Examine now", v.hrefIn(s.key, "problems", "examine", "yes")))}}, nil
		}
		d := v.examine(ctx, s)
		return []block{health, {Heading: "Doctor: is the database in order?", Note: verdict(d), Findings: worst(d, s.key)}}, nil
	})...)
	return sc, nil
}

func (v *visit) examine(ctx context.Context, s *store) health.Report {
	return v.redactReport(s.Admin.ExamineWith(ctx, access.Key{}, engine.ExamineOptions{Timeout: v.s.opts.Timeout}))
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
	for _, f := range r.Findings {
		one := finding{Finding: f}
		if f.Fixable {
			one.Actions = offer("repair", "store", key)
		}
		all = append(all, one)
	}
	all = slices.DeleteFunc(all, func(f finding) bool { return f.Level == health.OK })
	slices.SortStableFunc(all, func(a, b finding) int { return cmp.Compare(b.Level, a.Level) })
	return all
}

func repair(a *act) (string, error) {
	before := a.Admin.ExamineWith(a, access.Key{}, engine.ExamineOptions{Fix: true})
	return "examined and repaired: " + verdict(before), nil
}

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
	rows := make([]storeRow, to-from)
	sideBySide(len(rows), func(i int) {
		r := &rows[i]
		r.Store = all[from+i]
		r.picture, r.err = askOne(v, r.Key, func(ctx context.Context, s *store) (picture, error) {
			p, err := v.picture(ctx, s, window{since: time.Hour})
			return *p, err
		})
	})
	slices.SortStableFunc(rows, func(a, b storeRow) int {
		return cmp.Or(cmp.Compare(b.level(), a.level()), cmp.Compare(oldestOf(&b.backlog), oldestOf(&a.backlog)), cmp.Compare(a.Key, b.Key))
	})
	t := v.storeTable(rows)
	if t.More = more; len(rows) == len(all) {
		v.sorted(t)
	}
	return &screen{Title: "Stores", Blocks: []block{{Verdict: fleetVerdict(rows, len(all))}, {Table: t}}}, nil
}

func oldestOf(b *inspect.Backlog) (oldest time.Duration) {
	for i := range b.Messages {
		oldest = max(oldest, b.Messages[i].Oldest)
	}
	return oldest
}

// fleetVerdict says how many of the stores are well.
func fleetVerdict(rows []storeRow, all int) *verdictBox {
	levels := map[health.Level]int64{}
	for i := range rows {
		levels[rows[i].level()]++
	}
	bad, warned := levels[health.Problem], levels[health.Warning]
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
	t := tableOf("The fleet has no stores.", []string{"State", "Store", "What is wrong", "Failing topics", "Schema", "Waiting", "Oldest", "Failed", "Workers", "Where", "Fleet", "Last answer"}, rows, func(r *storeRow) []cell {
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
		return []cell{
			state(r.level().String()), link(r.Key, v.hrefIn(r.Key, "")), wrong, words(strings.Join(failing, ", ")), schema, waiting, oldest, failed, workers, words(r.Where), state(string(r.State)), at(r.LastSuccess),
		}
	})
	t.Dense = true
	return t
}

// findPage leads to what has a name or id: a message, join, timer or job, a topic or queue, or the messages
// with a correlation id.
func findPage(v *visit) (*screen, error) {
	sc := &screen{Title: "Find", Still: true, Blocks: []block{{Note: "Nothing has this id, name or correlation id."}}}
	q := strings.TrimSpace(v.query.Get("q"))
	if q == "" {
		sc.Blocks[0].Note = "Find a message, join, timer or job by its id, a topic, queue or store by its name, messages by their correlation id."
		return sc, nil
	}
	if slices.Contains(v.s.source.keys(), q) {
		return &screen{Location: v.hrefIn(q, "")}, nil
	}
	keys, _ := v.stores()
	for _, key := range keys {
		to, err := askOne(v, key, func(ctx context.Context, s *store) (string, error) { return v.found(ctx, s, q) })
		if err != nil {
			sc.Blocks = append(sc.Blocks, block{Store: key, Error: v.problem(err)})
		} else if to != "" {
			return &screen{Location: to}, nil
		}
	}
	return sc, nil
}

// found is where something is in a store; "" if it is not there.
func (v *visit) found(ctx context.Context, s *store, q string) (string, error) {
	if e, err := s.Admin.Explain(ctx, q); err == nil {
		return v.explainedAt(s.key, e), nil
	} else if !errors.Is(err, admin.ErrNotFound) {
		return "", err
	}
	p, err := v.picture(ctx, s, window{since: time.Hour})
	if err != nil {
		return "", err
	}
	for _, kind := range []admin.Kind{admin.Topic, admin.Queue} {
		if p.subject(kind, q) != nil {
			return v.hrefIn(s.key, string(kind), "name", q), nil
		}
	}
	if !v.access.Details { // correlation ids are what programs wrote
		return "", nil
	}
	for _, err := range s.Outbox.List(ctx, outbox.ListOptions{CorrelationID: q, NoPayload: true}) {
		return v.hrefIn(s.key, "messages", "correlation", q), err
	}
	return "", nil
}

// explainedAt is the page of what was explained.
func (v *visit) explainedAt(key string, e *admin.Explanation) string {
	switch e.Kind {
	case "join":
		return v.hrefIn(key, "joins/"+url.PathEscape(e.ID))
	case "job":
		return v.hrefIn(key, "job", "name", e.ID)
	case "timer":
		return v.hrefIn(key, "timers", "id", e.ID)
	case "inbox":
		source, id, _ := strings.Cut(e.ID, "/")
		return v.hrefIn(key, "inbox", "source", source, "id", id)
	}
	return v.hrefIn(key, "messages/"+url.PathEscape(e.ID))
}
