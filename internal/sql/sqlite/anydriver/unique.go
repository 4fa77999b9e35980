package anydriver

import (
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// A unique key has a row with the message that took it last. Whether that one waits or runs is
// read where it lies when the next one asks, so claims and acks need not know of keys.

// keyHolder is the message that takes a key. Until is when its period ends.
type keyHolder struct {
	Key       string
	ID        int64
	MessageID [16]byte
	Until     *int64
}

// outboxUniquePut takes a key that nobody has.
type outboxUniquePut struct {
	engine.Changes
	keyHolder
}

// outboxUniqueTake takes a key from the message that has it.
type outboxUniqueTake outboxUniquePut

// outboxUniqueFind reads the message that has a key.
type outboxUniqueFind struct {
	engine.Rows[earlierMessage]
	Key string
}

type earlierMessage struct {
	ID          int64
	MessageID   [16]byte
	EnqueuedAt  int64
	Waits, Runs bool
}

// takesPlace reports whether the message takes the place of one with the key.
func (e *earlierMessage) takesPlace(k *op.NewKey, now int64) bool {
	switch {
	case k.Period > 0:
		return e.EnqueuedAt > now-k.Period
	case k.Unbegun:
		return e.Waits
	}
	return e.Waits || e.Runs
}

// outboxUniqueKnown reports whether a message is stored.
type outboxUniqueKnown struct {
	engine.Rows[existence]
	ID, Carried int64
	MessageID   [16]byte
}

func enqueueUnique(t *txn, o op.OutboxEnqueueUnique, each func(engine.Row) error) error {
	for i := range o.Messages {
		m, k := o.Messages[i], &o.Keys[i]
		earlier, err := takeKey(t, &m, k)
		if err != nil {
			return err
		}
		if earlier != nil {
			err = each(row{m.ID, earlier[:]})
		} else {
			err = enqueueKeyed(t, &m, k)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takeKey takes the key for a message, or returns the id of the one in its place. A message that
// replaces another is due when that was.
func takeKey(t *txn, m *op.NewMessage, k *op.NewKey) (*[16]byte, error) {
	// The first statement writes: in a transaction that has only read another writer could come
	// between.
	if n, err := t.change(outboxUniquePut{keyHolder: holder(t, m.ID, m, k)}); err != nil || n > 0 {
		return nil, err
	}
	known, _, err := one(t, outboxUniqueKnown{ID: m.ID, Carried: m.Carried, MessageID: m.MessageID})
	if err != nil {
		return nil, err
	}
	if known.Found { // by an attempt whose outcome was unknown
		return &m.MessageID, nil
	}
	e, _, err := one(t, outboxUniqueFind{Key: k.Key})
	if err != nil {
		return nil, err
	}
	if e.takesPlace(k, t.now) {
		if !k.Replace || !e.Waits {
			return &e.MessageID, debounce(t, &e, m, k)
		}
		if err := replace(t, &e, m, k); err != nil {
			return nil, err
		}
	}
	return nil, t.do(outboxUniqueTake{keyHolder: holder(t, m.ID, m, k)})
}

func holder(t *txn, id int64, m *op.NewMessage, k *op.NewKey) keyHolder {
	h := keyHolder{Key: k.Key, ID: id, MessageID: m.MessageID}
	if k.Period > 0 {
		until := t.now + k.Period
		h.Until = &until
	}
	return h
}

// debounce makes the earlier message due when the new one would be.
func debounce(t *txn, e *earlierMessage, m *op.NewMessage, k *op.NewKey) error {
	if !k.Debounce || !e.Waits {
		return nil
	}
	_, err := moveDue(t, []int64{e.ID}, t.at(m.DueAt))
	return err
}

// replace cancels the earlier message.
func replace(t *txn, e *earlierMessage, m *op.NewMessage, k *op.NewKey) error {
	taken, err := discardWaiting(t, []int64{e.ID}, "replaced by "+uuid.UUID(m.MessageID).String())
	if err != nil || k.Debounce || len(taken) == 0 || taken[0].At <= atOnce {
		return err
	}
	at := time.UnixMicro(taken[0].At).UTC()
	m.DueAt = &at
	return nil
}

// enqueueKeyed stores a message that has taken its key. It may get another position.
func enqueueKeyed(t *txn, m *op.NewMessage, k *op.NewKey) error {
	id, err := enqueueOneOnce(t, m)
	if err != nil || id == 0 || id == m.ID {
		return err
	}
	return t.do(outboxUniqueTake{keyHolder: holder(t, id, m, k)})
}

// outboxUniqueUsed reports whether there is any key.
type outboxUniqueUsed struct{ engine.Rows[existence] }

type (
	// outboxPurgeUnique deletes the keys of deleted messages whose period is not under way.
	outboxPurgeUnique byRange
	// outboxPurgeUniqueKeep marks the other keys of deleted messages.
	outboxPurgeUniqueKeep byRange
)

// outboxPurgeUniqueOver deletes marked keys whose period is over.
type outboxPurgeUniqueOver struct {
	engine.Changes
	Look int
}

// purgeKeys deletes the keys of deleted messages.
func purgeKeys(t *txn, deleted []span, look int) error {
	used, _, err := one(t, outboxUniqueUsed{})
	if err != nil || !used.Found {
		return err
	}
	for _, s := range deleted {
		end := s.Lo + s.N
		if err := t.do(outboxPurgeUnique{Lo: s.Lo, End: end}, outboxPurgeUniqueKeep{Lo: s.Lo, End: end}); err != nil {
			return err
		}
	}
	return t.do(outboxPurgeUniqueOver{Look: look})
}
