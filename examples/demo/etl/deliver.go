package etl

import (
	"context"
	"errors"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/examples/demo/scene"
	"github.com/bravellian/pawl/outbox"
)

const noteDelivery = `INSERT INTO pawl.etl_deliveries (message_id, run_id, topic, attempt, outcome, worker, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`

// Handle registers the handlers of the scene's messages. None of them knows of
// joins.
func Handle(p *pawl.Pawl, d *scene.Database) {
	handle(p, d, extractTopic, extract)
	handle(p, d, transformTopic, transform)
	handle(p, d, notifyTopic, notify)
}

func handle(p *pawl.Pawl, d *scene.Database, topic *pawl.Topic[body], effect func(m *outbox.Message, b body) scene.Delivery) {
	topic.Handle(p, func(ctx context.Context, m *pawl.Delivery[body]) error {
		v := effect(m.Message, m.Body)
		v.Subject, v.Note = m.Body.RunID, noteDelivery
		return d.Deliver(ctx, m.Message, v)
	})
}

func extract(m *outbox.Message, b body) scene.Delivery {
	return scene.Delivery{
		Fate: fate(b, m.RetryCount), No: errors.New("the source is gone"),
		Effect: `INSERT INTO pawl.etl_extracts (message_id, run_id, source, items) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (message_id) DO NOTHING`,
		Args:   []any{m.ID.String(), b.RunID, b.Source, 100 + scene.Dice(900, b.Source+b.RunID)},
	}
}

// transform adds up what it finds, and writes down how much of it there was.
func transform(m *outbox.Message, b body) scene.Delivery {
	return scene.Delivery{
		Fate: scene.Sent,
		Effect: `INSERT INTO pawl.etl_transforms (message_id, run_id, extracts, items)
SELECT ?1, ?2, count(*), coalesce(sum(items), 0) FROM pawl.etl_extracts WHERE run_id = ?2 ON CONFLICT (message_id) DO NOTHING`,
		Args: []any{m.ID.String(), b.RunID},
	}
}

func notify(m *outbox.Message, b body) scene.Delivery {
	return scene.Delivery{
		Fate:   scene.Sent,
		Effect: `INSERT INTO pawl.etl_notices (message_id, run_id) VALUES (?1, ?2) ON CONFLICT (message_id) DO NOTHING`,
		Args:   []any{m.ID.String(), b.RunID},
	}
}

// fate decides what a source says: the same for a run each time. In one run of
// nine one source is gone for good; one source in 20 is busy at first.
func fate(b body, failures int) string {
	if n := scene.Dice(9*extractsOfRun, "gone"+b.RunID); n < extractsOfRun && sources()[n] == b.Source {
		return scene.Rejected
	}
	if failures == 0 && scene.Dice(20, b.Source+b.RunID) == 0 {
		return scene.Refused
	}
	return scene.Sent
}
