package pawltest

import (
	"testing"

	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// Enqueued returns the messages that fit all matchers, oldest first. Messages
// count from the commit of their transaction on, whatever became of them: also
// handled and failed ones. With In they are those that a transaction has enqueued itself and not
// committed yet.
func (d *DB) Enqueued(t testing.TB, matchers ...Matcher) []*outbox.Message {
	t.Helper()
	return bodies(d.messages(t, matchers).fitting(t, matchers))
}

// AssertEnqueued fails the test unless a message that fits was enqueued, and
// returns the first one.
func (d *DB) AssertEnqueued(t testing.TB, matchers ...Matcher) *outbox.Message {
	t.Helper()
	return &d.messages(t, matchers).some(t, matchers).msg
}

// AssertNotEnqueued fails the test if a message that fits was enqueued.
func (d *DB) AssertNotEnqueued(t testing.TB, matchers ...Matcher) {
	t.Helper()
	d.messages(t, matchers).none(t, matchers)
}

// AssertTimer fails the test unless a timer that fits is scheduled, which means
// neither fired nor cancelled, and returns the one of them that fires first. With In it is as an open
// transaction sees it: with what it has scheduled, moved and cancelled itself.
func (d *DB) AssertTimer(t testing.TB, matchers ...Matcher) *timer.Timer {
	t.Helper()
	return d.timers(t, matchers).some(t, matchers).timer()
}

// AssertNoTimer fails the test if a timer that fits is scheduled.
func (d *DB) AssertNoTimer(t testing.TB, matchers ...Matcher) {
	t.Helper()
	d.timers(t, matchers).none(t, matchers)
}
