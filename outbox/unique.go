package outbox

import (
	"cmp"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
)

// UniqueScope is how long a message takes the place of later ones with its unique key.
type UniqueScope int

const (
	// WhileNotDone is as long as the earlier message waits, runs, or waits for another attempt.
	WhileNotDone UniqueScope = iota
	// WhileNotBegun is as long as no worker holds the earlier message: one that waits for another
	// attempt counts, one that runs does not. Its next attempt begins after the transaction of the
	// enqueue has ended, so that its handler sees what that transaction wrote.
	WhileNotBegun
)

// UniqueOptions say when an earlier message takes the place of one with the same unique key, and
// what becomes of it then. The scope is that of the enqueue that asks, whatever the earlier one's
// was. The zero value is WhileNotDone.
type UniqueOptions struct {
	// Scope is how long an earlier message takes the place of this one.
	Scope UniqueScope
	// Period, if positive, replaces Scope: an earlier message takes the place of this one if it was
	// enqueued less than Period ago, by the database's clock, whatever became of it. At least a
	// microsecond. The database remembers the key for the Period of the earlier message, and at
	// least as long as that is kept (see Options.Retention).
	Period time.Duration
	// Replace cancels the earlier message instead, if it waits, as Cancel does: its state is
	// Discarded, and its LastError names this message, which takes its place and is due when it was
	// due. Due is ignored without Debounce.
	Replace bool
	// Debounce makes the earlier message, if it waits, due when this one is: at Due or, without it,
	// now. With Replace this message takes its place and is due at its own Due.
	Debounce bool
	// Duplicate, if not nil, is set when the enqueue returns without an error: whether an earlier
	// message took the place of this one, whose payload is not stored then. Each message needs
	// one of its own.
	Duplicate *bool
}

// checkUnique returns an error for a key or options that cannot be meant, and for a key together with
// an id of the caller's. An id that o made repeats an enqueue whose outcome was unknown. o may be nil.
func (m *Message) checkUnique(o *Outbox) error {
	if m.UniqueKey == "" {
		if m.Unique != nil {
			return engine.Invalid("unique key", "none, but options for one")
		}
		return nil
	}
	if err := engine.CheckText("unique key", m.UniqueKey, limits.UniqueKey, true); err != nil {
		return err
	}
	u := m.unique()
	switch {
	case u.Period < 0:
		return engine.Invalid("unique key", "negative period")
	case u.Period > 0 && u.Period < time.Microsecond:
		return engine.Invalid("unique key", "period shorter than a microsecond")
	case u.Scope != WhileNotDone && u.Scope != WhileNotBegun:
		return engine.Invalid("unique key", "unknown scope %d", u.Scope)
	case !m.ID.IsZero() && (o == nil || !o.made(m.ID)):
		return engine.Invalid("unique key", "together with a message id: use one of them")
	}
	return nil
}

func (m *Message) unique() UniqueOptions {
	if m.Unique == nil {
		return UniqueOptions{}
	}
	return *m.Unique
}

// refuseUnique returns an error for messages that a component stores itself or whose positions it
// needs: it could not take an earlier message in place of one.
func refuseUnique(msgs ...Message) error {
	for i := range msgs {
		if msgs[i].UniqueKey != "" || msgs[i].Unique != nil {
			return engine.Invalid("unique key", "not for messages of joins: only Enqueue and its variants take one")
		}
	}
	return nil
}

func (en *entry) keyed() bool { return en.msg.UniqueKey != "" }

// splitKeyed separates the entries with unique keys. They are in the order of their keys, and of
// the call where they have the same one: so no two enqueues wait for each other's keys. The others
// are in the order of their positions.
func splitKeyed(entries []*entry) (plain, keyed []*entry) {
	plain = make([]*entry, 0, len(entries))
	for _, en := range entries {
		if en.msg.UniqueKey == "" {
			plain = append(plain, en)
		} else {
			keyed = append(keyed, en)
		}
	}
	slices.SortFunc(plain, func(a, b *entry) int { return cmp.Compare(a.id, b.id) })
	slices.SortStableFunc(keyed, func(a, b *entry) int { return cmp.Compare(a.msg.UniqueKey, b.msg.UniqueKey) })
	return plain, keyed
}

// uniqueCall returns the call that writes entries with unique keys, and records which of them are
// duplicates. One that is stored already is this call's own, of an attempt whose outcome was
// unknown.
func uniqueCall(entries []*entry, generation int64) *engine.Call {
	byID := make(map[int64]*entry, len(entries))
	for _, en := range entries {
		byID[en.id] = en
	}
	write := op.OutboxEnqueueUnique{Messages: newMessages(entries), Keys: newKeys(entries), Queues: queuesOf(entries)}
	c := engine.Each(write, func(row *op.OutboxEarlier, unread error) error {
		if en := byID[row.ID]; en != nil && MessageID(row.MessageID) != en.mid {
			en.earlier = row.MessageID
		}
		return unread
	})
	c.Reset = func() {
		for _, en := range entries {
			en.earlier = MessageID{}
		}
	}
	c.Generation = generation
	return c
}

func newKeys(entries []*entry) []op.NewKey {
	keys := make([]op.NewKey, len(entries))
	for i, en := range entries {
		u := en.msg.unique()
		keys[i] = op.NewKey{
			Nr: i, ID: en.id, Key: en.msg.UniqueKey, Unbegun: u.Scope == WhileNotBegun, Period: u.Period.Microseconds(),
			Replace: u.Replace, Debounce: u.Debounce,
		}
	}
	return keys
}
