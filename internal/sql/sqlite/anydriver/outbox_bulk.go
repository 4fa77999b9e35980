package anydriver

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// Bulk acts on failed messages, which workers work off in steps.

type (
	// outboxBulkTake reads a bulk act whose next step is due.
	outboxBulkTake struct {
		engine.Rows[bulk]
		ID [16]byte
	}
	bulk struct {
		Action              string
		IDs                 *string
		Topic, Queue, Error *string
		Fingerprint         *string
		FailedSince         *time.Time
		FailedBefore        time.Time
		Most                *int64
		Rate, N, Last       int64
		Target, Actor       string
		Reason              *string
	}
	outboxBulkStepped struct {
		engine.Changes
		ID            [16]byte
		N, Last, Wait int64
		Over          bool
	}
)

// bulkStep does the next step of a bulk act, if one is due.
func bulkStep(t *txn, o op.OutboxBulkStep) (int64, error) {
	act, found, err := one(t, outboxBulkTake{ID: o.ID})
	if err != nil || !found {
		return 0, err
	}
	f, err := act.filter(&o)
	if err != nil {
		return 0, err
	}
	note := op.Note{ID: &o.ID, Actor: act.Actor, Target: act.Target, Reason: act.Reason}
	var done op.Dead
	if act.Action == "discard" {
		done, err = discard(t, op.OutboxDiscard{DeadFilter: f, Note: note})
	} else {
		done, err = redrive(t, op.OutboxRedrive{DeadFilter: f, Note: note})
	}
	if err != nil {
		return 0, err
	}
	s := outboxBulkStepped{ID: o.ID, N: done.N, Last: act.Last, Over: done.Last == nil || act.Most != nil && act.N+done.N >= *act.Most}
	if done.Last != nil {
		s.Last = *done.Last
	}
	if act.Rate > 0 {
		s.Wait = done.N * 1_000_000 / act.Rate
	}
	if err := t.do(s); err != nil {
		return 0, err
	}
	if s.Over {
		err = t.audit(o.Note, "end", 1)
	}
	return 1, err
}

// filter returns what a step selects.
func (b *bulk) filter(o *op.OutboxBulkStep) (f op.DeadFilter, err error) {
	f = op.DeadFilter{Topic: b.Topic, Queue: b.Queue, Error: b.Error, Fingerprint: b.Fingerprint, Since: b.FailedSince, Before: &b.FailedBefore, After: b.Last, Look: o.Look, Most: o.Most}
	if b.Rate > 0 {
		f.Most = min(f.Most, b.Rate)
	}
	if b.Most != nil {
		f.Most = min(f.Most, *b.Most-b.N)
	}
	if b.IDs != nil {
		if err := json.Unmarshal([]byte(*b.IDs), &f.IDs); err != nil {
			return f, fmt.Errorf("ids of a bulk act: %w", err)
		}
	}
	return f, nil
}
