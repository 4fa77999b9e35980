package ui

import (
	"context"
	"fmt"
	"net/url"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/engine"
)

// bulkActs lists the bulk acts that are stored, the newest first.
func bulkActs(v *visit) (*screen, error) {
	sc := &screen{Title: "Bulk acts"}
	sc.Blocks = v.each(func(ctx context.Context, s *store) ([]block, error) {
		list, err := s.Outbox.Operator(access.Key{}).Bulks(ctx)
		if err != nil {
			return nil, err
		}
		return []block{{Note: "Workers work them off; one that is stored waits for a worker.", Table: bulkTable(s, list)}}, nil
	})
	return sc, nil
}

func bulkTable(s *store, list []acts.Bulk) *table {
	t := &table{Head: []string{"State", "Act", "To what", "Done", "Of", "A second", "Who", "Why", "Since", "Last step", "Ended", ""}, None: "No bulk acts."}
	for i := range list {
		b := &list[i]
		var actions []action
		if !b.Over() {
			actions = []action{{
				Do: "stop-bulk", Label: "Stop", Danger: true, Fields: []string{"store", s.key, "id", b.ID.String()}, Inputs: []input{why()},
				Confirm: "What it has not changed yet is left as it is.",
			}}
		}
		rate := cell{Number: true}
		if b.Filter.Rate > 0 {
			rate = count(int64(b.Filter.Rate))
		}
		t.Rows = append(t.Rows, []cell{
			state(string(b.Status)), words(b.Action), words(b.Target), count(b.Changed), count(b.Total), rate, words(b.Actor), words(b.Reason), at(b.StartedAt), at(b.SteppedAt), at(b.EndedAt),
			{Actions: actions},
		})
	}
	return t
}

// bulkID is the id of an act that a request names.
func bulkID(text string) (uuid.UUID, error) {
	if id, err := uuid.Parse(text); err == nil {
		return id, nil
	}
	return uuid.Nil, engine.Invalid("id", "not a UUID")
}

func apiBulk(v *visit, s *store) (any, error) {
	id, err := bulkID(v.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return s.Outbox.Operator(access.Key{}).Bulk(v.Context(), id)
}

func stopped(ctx context.Context, s *store, text string) (b acts.Bulk, err error) {
	id, err := bulkID(text)
	if err != nil {
		return b, err
	}
	return s.Outbox.Operator(access.Key{}).StopBulk(ctx, id)
}

// stopBulk stops a bulk act.
func stopBulk(ctx context.Context, s *store, form url.Values) (string, error) {
	b, err := stopped(ctx, s, form.Get("id"))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s: %s", b.Status, several(b.Changed, "message", changedBy(&b))), nil
}

// began says what became of an act that was just begun.
func began(b *acts.Bulk) string {
	if b.Over() || b.StartedAt.IsZero() {
		return several(b.Changed, "message", changedBy(b))
	}
	return fmt.Sprintf("%s to be %s by workers, %s a second: see Bulk acts", plural(b.Total, "message"), changedBy(b), grouped(int64(b.Filter.Rate)))
}

// changedBy says what an act makes of messages.
func changedBy(b *acts.Bulk) string {
	if b.Action == "discard" {
		return "discarded"
	}
	return "redriven"
}
