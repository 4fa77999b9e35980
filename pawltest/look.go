package pawltest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// kind is what an assertion is about.
type kind int

const (
	messages kind = iota
	timers
)

// found is what there is, for an assertion to judge.
type found struct {
	items []*item
	kind  kind
	where string // in the words of a failure
}

// look reads what a transaction sees or, given the pool, what is committed.
func (d *DB) look(t testing.TB, in any, k kind) *found {
	t.Helper()
	query := d.queries.messages
	if k == timers {
		query = d.queries.timers
	}
	items, err := read(t.Context(), in, query)
	if err != nil {
		t.Fatalf("pawltest: look for what was enqueued: %v", err)
	}
	f := &found{items: items, kind: k}
	if in != any(d.sql) {
		f.where = " in this transaction"
	}
	return f
}

// within returns where matchers have an assertion look: the pool, or the transaction of In.
func (d *DB) within(matchers []Matcher) any {
	for _, m := range matchers {
		if m.tx != nil {
			return m.tx
		}
	}
	return d.sql
}

// timers is what is scheduled.
func (d *DB) timers(t testing.TB, matchers []Matcher) *found {
	t.Helper()
	return d.look(t, d.within(matchers), timers)
}

// messages is what was enqueued, of an open transaction what it has enqueued itself. Looking there
// first makes the difference exact: what others commit in between is only outside.
func (d *DB) messages(t testing.TB, matchers []Matcher) *found {
	t.Helper()
	tx := d.within(matchers)
	if tx == any(d.sql) {
		return d.look(t, tx, messages)
	}
	inside, outside := d.look(t, tx, messages), d.look(t, d.sql, messages)
	known := map[outbox.Position]bool{}
	for _, i := range outside.items {
		known[i.msg.Position] = true
	}
	inside.items = slices.DeleteFunc(inside.items, func(i *item) bool { return known[i.msg.Position] })
	return inside
}

// fitting returns what fits all matchers.
func (f *found) fitting(t testing.TB, matchers []Matcher) []*item {
	t.Helper()
	for _, m := range matchers {
		if m.err != nil || m.fits == nil {
			t.Fatalf("pawltest: a matcher that cannot match: %v", m.err)
		}
	}
	var fit []*item
	for _, i := range f.items {
		if len(differs(i, matchers)) == 0 {
			fit = append(fit, i)
		}
	}
	return fit
}

// some insists on something that fits, and returns the first.
func (f *found) some(t testing.TB, matchers []Matcher) *item {
	t.Helper()
	fit := f.fitting(t, matchers)
	if len(fit) == 0 {
		t.Fatalf("no %s was %s%s%s\n%s", f.noun(1), f.verb(), f.where, describe(matchers), f.list(matchers))
	}
	return fit[0]
}

// none insists on nothing fitting.
func (f *found) none(t testing.TB, matchers []Matcher) {
	t.Helper()
	if fit := f.fitting(t, matchers); len(fit) > 0 {
		t.Fatalf("%d %s %s%s%s, want none\n%s", len(fit), f.noun(len(fit)), f.verb(), f.where, describe(matchers), f.list(matchers))
	}
}

func (f *found) noun(n int) string {
	noun := [...]string{messages: "message", timers: "timer"}[f.kind]
	if n != 1 {
		noun += "s"
	}
	return noun
}

func (f *found) verb() string { return [...]string{messages: "enqueued", timers: "scheduled"}[f.kind] }

// most is how many messages a list shows.
const most = 20

// list shows what there was, and what about it does not fit, the nearest first.
func (f *found) list(matchers []Matcher) string {
	if len(f.items) == 0 {
		return fmt.Sprintf("nothing was %s%s", f.verb(), f.where)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "there are %d:", len(f.items))
	nearest := slices.Clone(f.items)
	slices.SortStableFunc(nearest, func(a, b *item) int { return len(differs(a, matchers)) - len(differs(b, matchers)) })
	for n, i := range nearest {
		if n == most {
			fmt.Fprintf(&b, "\n\t… and %d more", len(f.items)-most)
			break
		}
		mark := "fits"
		if fields := differs(i, matchers); len(fields) > 0 {
			mark = "other " + strings.Join(fields, ", ")
		}
		fmt.Fprintf(&b, "\n\t%s\t(%s)", i, mark)
	}
	return b.String()
}

// String is an item in a failure: a test's payloads are nobody's secret.
func (i *item) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", i.msg.Topic, i.msg.ID)
	if i.key != "" {
		fmt.Fprintf(&b, " key %q", i.key)
	}
	if !i.msg.Due.IsZero() {
		fmt.Fprintf(&b, " due %s", stamp(i.msg.Due))
	}
	if i.msg.Queue != outbox.DefaultQueue {
		fmt.Fprintf(&b, " queue %q", i.msg.Queue)
	}
	if i.msg.CorrelationID != "" {
		fmt.Fprintf(&b, " correlation id %q", i.msg.CorrelationID)
	}
	fmt.Fprintf(&b, " %s: %s", i.state, short(i.msg.Payload))
	return b.String()
}

func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.999999Z") }

// shown is how much of a payload a failure shows.
const shown = 200

// short is a payload for a person to read.
func short(payload []byte) string {
	cut := payload
	if len(cut) > shown {
		cut = cut[:shown]
		for n := 1; n < utf8.UTFMax && len(cut) > 0 && !utf8.Valid(cut); n++ {
			cut = cut[:len(cut)-1] // a character that the cut went through
		}
	}
	text := string(cut)
	if !utf8.Valid(cut) || strings.ContainsFunc(text, unicode.IsControl) {
		text = fmt.Sprintf("%q", cut)
	}
	switch {
	case len(payload) == 0:
		return "(empty)"
	case len(payload) > shown:
		return fmt.Sprintf("%s… (%d bytes)", text, len(payload))
	}
	return text
}

func bodies(items []*item) []*outbox.Message {
	all := make([]*outbox.Message, len(items))
	for n, i := range items {
		all[n] = &i.msg
	}
	return all
}

func (i *item) timer() *timer.Timer {
	m := &i.msg
	return &timer.Timer{
		ID: m.ID, Key: i.key, Due: m.Due, Topic: m.Topic, Payload: m.Payload, CorrelationID: m.CorrelationID, Headers: m.Headers, Queue: m.Queue, Priority: m.Priority,
	}
}
