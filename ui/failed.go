package ui

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/fingerprint"
	"github.com/bravellian/pawl/outbox"
)

// failed groups messages that failed for good, and those that are retrying, by topic and the fingerprint of
// their last error. Of a group that the address names it shows all that is known. It reads much, and so is
// kept up to date only while an act is under way.
func failed(v *visit) (*screen, error) {
	q := v.params()
	f := v.failedFilter(q)
	if q.err != nil {
		return nil, q.err
	}
	sc := &screen{Filter: v.filter(input{Name: "topic", Label: "Topic"}, input{Name: "queue", Label: "Queue"}, input{Name: "error", Label: "Error contains"}, input{Name: "fingerprint", Label: "Error like"})}
	sc.Blocks = v.each(func(ctx context.Context, s *store) ([]block, error) {
		groups, more, err := v.failures(ctx, s, &f, true)
		all, unread := v.underWay(ctx, s, &f)
		if err = cmp.Or(err, unread); err != nil {
			return nil, err
		}
		for i := range groups[:min(len(groups), pageSize)] {
			if err := groups[i].date(ctx, s); err != nil {
				return nil, err
			}
		}
		count, retrying := sum(groups)
		list := block{Actions: failedActions(s, &f, count, retrying), Table: v.paged(s, v.failureTable(s, f.Queue, groups), "groups")}
		if more {
			list.Note = "Those that are retrying were looked for among the newest " + grouped(pageRead) + " messages that wait."
		}
		if all = append(all, list); f.Fingerprint == "" || len(groups) != 1 {
			return all, nil
		}
		one, err := v.oneFailure(ctx, s, &f, &groups[0])
		if err != nil {
			one = []block{{Error: v.problem(err)}}
		}
		return append(all, one...), nil
	})
	sc.Still = !slices.ContainsFunc(sc.Blocks, func(b block) bool { return b.Live })
	return sc, nil
}

// failedFilter reads what the visitor looks for.
func (v *visit) failedFilter(q *params) outbox.FailedFilter {
	v.searched(q, "error")
	v.searched(q, "fingerprint")
	return filterOf(q)
}

func filterOf(q *params) outbox.FailedFilter {
	return outbox.FailedFilter{Topic: q.Get("topic"), Queue: q.Get("queue"), Error: q.Get("error"), Fingerprint: q.Get("fingerprint")}
}

// failure is messages of a topic whose last errors are of one kind: Count that failed for good, and others.
type failure struct {
	acts.Failure
	Retrying int64           `json:"retrying,omitempty"`
	oldest   outbox.Position // of those that are retrying
}

func (g *failure) saw(at time.Time) {
	if g.FirstAt.IsZero() || at.Before(g.FirstAt) {
		g.FirstAt = at
	}
	if at.After(g.LastAt) {
		g.LastAt = at
	}
}

// sum is how many messages groups have.
func sum(groups []failure) (count, retrying int64) {
	for i := range groups {
		count, retrying = count+groups[i].Count, retrying+groups[i].Retrying
	}
	return count, retrying
}

// date adds when messages that are retrying failed: the oldest of them and the newest.
func (g *failure) date(ctx context.Context, s *store) error {
	if g.Retrying == 0 {
		return nil
	}
	for _, at := range []outbox.Position{g.oldest, outbox.Position(g.Position)} {
		attempts, err := s.Outbox.Operator(access.Key{}).Attempts(ctx, at)
		if err != nil {
			return err
		}
		for i := range attempts {
			g.saw(attempts[i].EndedAt)
		}
	}
	return nil
}

// failures reads groups as the visitor may read them, the largest first: those that look alike are one. more
// means that some may be retrying that are not among them.
func (v *visit) failures(ctx context.Context, s *store, f *outbox.FailedFilter, retrying bool) (all []failure, more bool, err error) {
	found, err := s.Outbox.Operator(access.Key{}).Failures(ctx, *f)
	if err != nil {
		return nil, false, err
	}
	at := map[[3]string]int{}
	group := func(g acts.Failure) *failure {
		key := [3]string{g.Topic, g.Fingerprint}
		if !v.readsAll() {
			g.Fingerprint, g.Error = "", v.private(g.Topic, g.Fingerprint)
			key = [3]string{g.Topic, "", g.Error}
		}
		i, known := at[key]
		if !known {
			i, at[key] = len(all), len(all)
			all = append(all, failure{Failure: g})
			all[i].Count = 0
		}
		return &all[i]
	}
	for _, g := range found {
		one := group(g)
		one.Count += g.Count
		one.saw(g.FirstAt)
		one.saw(g.LastAt)
	}
	if retrying {
		opts := outbox.ListOptions{Status: outbox.Retrying, Topic: f.Topic, Queue: f.Queue, Error: f.Error, Fingerprint: f.Fingerprint, NoPayload: true}
		waiting, next, err := s.Outbox.Operator(access.Key{}).ListSome(ctx, opts, pageRead, pageRead)
		if err != nil {
			return nil, false, err
		}
		for i := range waiting {
			m := &waiting[i]
			one := group(acts.Failure{Topic: m.Topic, Fingerprint: fingerprint.Of(m.LastError), Error: m.LastError, Position: int64(m.Position)})
			one.Retrying++
			one.oldest = m.Position
		}
		more = next != 0
	}
	slices.SortStableFunc(all, func(a, b failure) int { return cmp.Compare(b.Count+b.Retrying, a.Count+a.Retrying) })
	return all, more, nil
}

// failureTable is a table of groups, each of which leads to its page.
func (v *visit) failureTable(s *store, queue string, groups []failure) *table {
	t := tableOf("Nothing has failed.", []string{"Topic", "Error", "Failed", "Retrying", "First failed", "Last failed", "Example"}, groups, func(g *failure) []cell {
		f := outbox.FailedFilter{Topic: g.Topic, Queue: queue, Fingerprint: g.Fingerprint}
		topic, shown, example := words(g.Topic), words(g.Error), cell{} // a group whose errors are not shown cannot be named by one
		if v.readsAll() {
			shown, example = link(cmp.Or(g.Fingerprint, "no error"), v.hrefIn(s.key, "failed", failedPairs(&f)...)), link(firstLine(g.Error), v.hrefIn(s.key, "messages/"+number64(g.Position)))
		}
		if g.Others {
			shown, example = words("of other kinds"), cell{}
		} else if g.Fingerprint != "" || !v.access.Details { // then the group is the topic
			topic = pick(true, topic, append(failedPairs(&f), "limit", number64(g.Count+g.Retrying))...)
		}
		return []cell{topic, shown, count(g.Count), count(g.Retrying), at(g.FirstAt), at(g.LastAt), example}
	})
	return t.selectable(s, actsOnFailed("Failed messages of these kinds")...)
}

// oneFailure shows a group: its newest message with its error, attempts and payload, and others like it.
func (v *visit) oneFailure(ctx context.Context, s *store, f *outbox.FailedFilter, g *failure) ([]block, error) {
	m, err := s.Outbox.GetByPosition(ctx, outbox.Position(g.Position))
	if err != nil {
		return nil, err
	}
	all, unread := v.story(ctx, s, m)
	opts := outbox.ListOptions{Status: outbox.Failed, Topic: g.Topic, Queue: f.Queue, Error: f.Error, Fingerprint: f.Fingerprint, NoPayload: true}
	if g.Count == 0 {
		opts.Status = outbox.Retrying
	}
	newest, _, err := s.Outbox.Operator(access.Key{}).ListSome(ctx, opts, pageRead, fewMessages)
	if err = cmp.Or(unread, err); err != nil {
		return nil, err
	}
	for i := range newest {
		v.redactMessage(&newest[i])
	}
	t := v.messageTable(s, newest)
	t.All, t.AllHref = "All of them", v.hrefIn(s.key, "messages", append(failedPairs(f), "status", string(opts.Status))...)
	all[0].Note = "Of message " + m.ID.String() + ", the newest:"
	all = append(all, block{Heading: "The newest messages", Table: t})
	if v.readsAll() {
		all = append(all, block{Heading: "On the command line", Text: &text{Body: "pawl retry --all --topic " + engine.Quoted(g.Topic) + " --fingerprint " + engine.Quoted(g.Fingerprint)}})
	}
	return all, nil
}

// stackBegins is where the stack begins in the text of an error, behind what it says.
var stackBegins = regexp.MustCompile(`\n(goroutine \d|\s+at |\t| {4}|Traceback )`)

// errorText is an error with its line breaks, of which the stack is folded.
func errorText(heading, failure string) []block {
	at := stackBegins.FindStringIndex(failure)
	switch {
	case failure == "":
		return nil
	case at == nil:
		return []block{{Heading: heading, Text: &text{Body: failure}}}
	}
	stack := failure[at[0]+1:]
	label := "Show the stack, " + plural(int64(strings.Count(strings.TrimSpace(stack), "\n")+1), "line")
	return []block{{Heading: heading, Text: &text{Body: failure[:at[0]]}}, {Text: &text{Body: stack, Hidden: true, Label: label}}}
}

func failedPairs(f *outbox.FailedFilter) []string {
	return []string{"topic", f.Topic, "queue", f.Queue, "error", f.Error, "fingerprint", f.Fingerprint}
}

// failedActions redrive and discard what a filter selects, of which so many were found.
func failedActions(s *store, f *outbox.FailedFilter, count, retrying int64) []action {
	all := actsOnFailed(plural(count, "failed message"))
	for i, n := range []int64{count + retrying, count} {
		all[i].Fields = append([]string{"store", s.key}, failedPairs(f)...)
		all[i].Inputs = append([]input{{Name: "limit", Label: "At most", Value: number64(n), Hint: "a number, or " + everything}}, all[i].Inputs...)
	}
	if count == 0 {
		return all[:min(1, retrying)]
	}
	return all
}

func actsOnFailed(what string) []action {
	return []action{
		{Do: "retry", Label: "Redrive", Inputs: []input{{Name: "rate", Label: "A second", Type: "number", Hint: "no limit"}}, Confirm: what + " become ready again, with all attempts; those that are retrying run now, unless there is a rate."},
		{Do: "discard", Label: "Discard", Inputs: []input{why()}, Confirm: what + " are given up, and cannot be redriven. " + takenBack, Danger: true},
	}
}

// toFailed makes a change to what a form selects: one message, or what has failed in a way.
func toFailed(do func(*act, outbox.FailedFilter) (acts.Bulk, error)) change {
	return func(a *act) (string, error) {
		f, err := failedOf(a)
		if err != nil {
			return "", err
		}
		b, err := do(a, f)
		did := began(&b)
		if b.EndedSteps > 0 {
			did += "; " + plural(b.EndedSteps, "step") + " of joins that have failed and stay failed: retry the joins"
		}
		return did, err
	}
}

func failedOf(a *act) (outbox.FailedFilter, error) {
	if id := a.Get("id"); id != "" {
		m, err := find(a, a.store, id)
		if err != nil {
			return outbox.FailedFilter{}, err
		}
		return outbox.FailedFilter{IDs: []outbox.Position{m.Position}}, nil
	}
	f := filterOf(a.params)
	f.Limit, f.Rate = a.limit(), a.number("rate")
	return f, a.err
}

// takenBack is what else may become of what is discarded.
const takenBack = "For an hour that can be taken back."

// undiscardsAct takes back what an act discarded until a time, as long as that is possible.
func undiscardsAct(s *store, did string, id uuid.UUID, until time.Time) []action {
	if did != audit.Discard || time.Since(until) >= acts.Undiscardable {
		return nil
	}
	return offer("undiscard", "store", s.key, "act", id.String())
}

func undiscard(a *act) (string, error) {
	id := idOf(a.params, "act", uuid.Parse)
	switch {
	case a.err != nil:
		return "", a.err
	case id == uuid.Nil:
		return toFailed(func(a *act, f outbox.FailedFilter) (acts.Bulk, error) {
			return a.Outbox.Operator(access.Key{}).Undiscard(a, f, uuid.Nil)
		})(a)
	}
	b, err := a.Outbox.Operator(access.Key{}).Undiscard(a, outbox.FailedFilter{}, id)
	return began(&b), err
}

func (v *visit) bulkActs(ctx context.Context, s *store) ([]block, error) {
	list, err := v.bulks(ctx, s)
	return []block{{Note: workedOff, Table: v.paged(s, bulkTable(s, list), "acts")}}, err
}

const workedOff = "Workers work them off; one that is stored waits for a worker."

// bulks reads the acts as the visitor may read them: what they select may be by an error.
func (v *visit) bulks(ctx context.Context, s *store) ([]acts.Bulk, error) {
	list, err := s.Outbox.Operator(access.Key{}).Bulks(ctx)
	for i := range list {
		v.redactBulk(&list[i])
	}
	return list, err
}

func (v *visit) redactBulk(b *acts.Bulk) {
	if f := &b.Filter; f.Error+f.Fingerprint != "" {
		f.Error, f.Fingerprint, b.Target = v.private(f.Topic, f.Error), v.private(f.Topic, f.Fingerprint), v.private(f.Topic, b.Target)
	}
}

// underWay shows the acts that may change what a filter selects, and discards of it that can be taken back.
func (v *visit) underWay(ctx context.Context, s *store, f *outbox.FailedFilter) ([]block, error) {
	list, err := v.bulks(ctx, s)
	differ := func(a, b string) bool { return a != "" && b != "" && a != b && a != hidden }
	list = slices.DeleteFunc(list, func(b acts.Bulk) bool {
		return b.Over() && undiscardsAct(s, b.Action, b.ID, b.SteppedAt) == nil || differ(b.Filter.Topic, f.Topic) || differ(b.Filter.Queue, f.Queue) || differ(b.Filter.Fingerprint, f.Fingerprint)
	})
	if len(list) == 0 {
		return nil, err
	}
	return []block{{Heading: "Acts on them", Note: workedOff, Live: slices.ContainsFunc(list, func(b acts.Bulk) bool { return !b.Over() }), Table: bulkTable(s, list)}}, err
}

// left is how long an act takes from now on: at its rate, or as fast as it was.
func left(b *acts.Bulk) time.Duration {
	rate := float64(b.Filter.Rate)
	if rate == 0 && b.SteppedAt.After(b.StartedAt) {
		rate = float64(b.Changed) / b.SteppedAt.Sub(b.StartedAt).Seconds()
	}
	if b.Over() || rate == 0 {
		return 0
	}
	return time.Duration(float64(b.Total-b.Changed) / rate * float64(time.Second))
}

func bulkTable(s *store, list []acts.Bulk) *table {
	return tableOf("No bulk acts.", []string{"State", "Act", "Done", "", "Left", "A second", "To what", "Who", "Why", "Since", "Last step", "Ended"}, list, func(b *acts.Bulk) []cell {
		do := undiscardsAct(s, b.Action, b.ID, b.SteppedAt)
		if !b.Over() {
			do = offer("stop-bulk", "store", s.key, "id", b.ID.String())
		}
		rate := cell{Number: true}
		if b.Filter.Rate > 0 {
			rate = count(int64(b.Filter.Rate))
		}
		return []cell{
			state(string(b.Status)), words(b.Action), {Meter: &meter{min(b.Changed, b.Total), b.Total}, Text: grouped(b.Changed) + " of " + grouped(b.Total), Number: true, order: float64(b.Changed)}, {Actions: do},
			age(left(b)), rate, words(b.Target), words(b.Actor), words(b.Reason), at(b.StartedAt), at(b.SteppedAt), at(b.EndedAt),
		}
	})
}

// bulk answers a request about the act that its path names.
func (v *visit) bulk(do func(context.Context, uuid.UUID) (acts.Bulk, error)) (any, error) {
	id, err := parsed(uuid.Parse, v.PathValue("id"))
	if err != nil {
		return nil, err
	}
	b, err := do(v.Context(), id)
	v.redactBulk(&b)
	return b, err
}

func stopBulk(a *act, id uuid.UUID) (string, error) {
	b, err := a.Outbox.Operator(access.Key{}).StopBulk(a, id)
	return string(b.Status) + ": " + plural(b.Changed, "message") + " " + changedBy[b.Action], err
}

// began says what became of an act that was just begun.
func began(b *acts.Bulk) string {
	if b.Over() || b.StartedAt.IsZero() {
		return plural(b.Changed, "message") + " " + changedBy[b.Action]
	}
	return fmt.Sprintf("%s to be %s by workers, %s a second: see Bulk acts", plural(b.Total, "message"), changedBy[b.Action], grouped(int64(b.Filter.Rate)))
}

// changedBy has what acts make of messages.
var changedBy = map[string]string{"redrive": "redriven", "discard": "discarded", "undiscard": "undiscarded"}
