package pawltest

import (
	"testing"

	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// Enqueued returns the messages that fit all matchers, oldest first. Messages
// count from the commit of their transaction on, whatever became of them: also
// handled and failed ones.
func (d *DB) Enqueued(t testing.TB, matchers ...Matcher) []*outbox.Message {
	t.Helper()
	return bodies(d.look(t, d.sql, messages).fitting(t, matchers))
}

// AssertEnqueued fails the test unless a message that fits was enqueued, and
// returns the first one.
func (d *DB) AssertEnqueued(t testing.TB, matchers ...Matcher) *outbox.Message {
	t.Helper()
	return &d.look(t, d.sql, messages).some(t, matchers).msg
}

// AssertEnqueuedCount fails the test unless exactly n messages that fit were
// enqueued, and returns them.
func (d *DB) AssertEnqueuedCount(t testing.TB, n int, matchers ...Matcher) []*outbox.Message {
	t.Helper()
	return bodies(d.look(t, d.sql, messages).count(t, n, matchers))
}

// AssertNotEnqueued fails the test if a message that fits was enqueued.
func (d *DB) AssertNotEnqueued(t testing.TB, matchers ...Matcher) {
	t.Helper()
	d.look(t, d.sql, messages).count(t, 0, matchers)
}

// EnqueuedTx returns the messages that fit among those that a transaction has
// enqueued itself and not committed yet. tx is a *sql.Tx, a pgx.Tx, what embeds
// one, or the transaction that a handler of the inbox is given.
func (d *DB) EnqueuedTx(t testing.TB, tx any, matchers ...Matcher) []*outbox.Message {
	t.Helper()
	return bodies(d.own(t, tx).fitting(t, matchers))
}

// AssertEnqueuedTx is AssertEnqueued in a transaction; see EnqueuedTx.
func (d *DB) AssertEnqueuedTx(t testing.TB, tx any, matchers ...Matcher) *outbox.Message {
	t.Helper()
	return &d.own(t, tx).some(t, matchers).msg
}

// AssertEnqueuedCountTx is AssertEnqueuedCount in a transaction; see EnqueuedTx.
func (d *DB) AssertEnqueuedCountTx(t testing.TB, tx any, n int, matchers ...Matcher) []*outbox.Message {
	t.Helper()
	return bodies(d.own(t, tx).count(t, n, matchers))
}

// AssertNotEnqueuedTx is AssertNotEnqueued in a transaction; see EnqueuedTx.
func (d *DB) AssertNotEnqueuedTx(t testing.TB, tx any, matchers ...Matcher) {
	t.Helper()
	d.own(t, tx).count(t, 0, matchers)
}

// AssertTimer fails the test unless a timer that fits is scheduled, which means
// neither fired nor cancelled, and returns the one of them that fires first.
func (d *DB) AssertTimer(t testing.TB, matchers ...Matcher) *timer.Timer {
	t.Helper()
	return d.look(t, d.sql, timers).some(t, matchers).timer()
}

// AssertNoTimer fails the test if a timer that fits is scheduled.
func (d *DB) AssertNoTimer(t testing.TB, matchers ...Matcher) {
	t.Helper()
	d.look(t, d.sql, timers).count(t, 0, matchers)
}

// AssertTimerTx is AssertTimer as an open transaction sees it: with what it has
// scheduled, moved and cancelled itself. tx is as for EnqueuedTx.
func (d *DB) AssertTimerTx(t testing.TB, tx any, matchers ...Matcher) *timer.Timer {
	t.Helper()
	return d.look(t, tx, timers).some(t, matchers).timer()
}

// AssertNoTimerTx is AssertNoTimer as an open transaction sees it.
func (d *DB) AssertNoTimerTx(t testing.TB, tx any, matchers ...Matcher) {
	t.Helper()
	d.look(t, tx, timers).count(t, 0, matchers)
}
