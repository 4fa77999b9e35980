package ui

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/outbox"
)

// bulkActs lists the bulk acts that are stored, the newest first.
func bulkActs(v *visit) (*screen, error) {
	sc := &screen{Title: "Bulk acts"}
	sc.Blocks = v.each(func(ctx context.Context, s *store) ([]block, error) {
		list, err := v.bulks(ctx, s)
		return []block{{Note: workedOff, Table: v.paged(s, bulkTable(s, list), "acts")}}, err
	})
	return sc, nil
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
			do = []action{{Do: "stop-bulk", Label: "Stop", Danger: true, Fields: []string{"store", s.key, "id", b.ID.String()}, Inputs: []input{why()}, Confirm: "What it has not changed yet is left as it is."}}
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

// stopBulk stops a bulk act.
func stopBulk(ctx context.Context, s *store, id uuid.UUID, _ url.Values) (string, error) {
	b, err := s.Outbox.Operator(access.Key{}).StopBulk(ctx, id)
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
