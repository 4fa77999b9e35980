package postgres_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/internal/test/testpg"
)

// D-801: a message of the inbox has the same id in SQL and in Go, so that each knows the other's.
func TestDoorInboxMessageID(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	f := openDoor(t, p, connect(t, testpg.URL(t)))
	for _, key := range []inbox.Key{{Source: "bank", MessageID: "1"}, {Source: "bän€", MessageID: "ü"}, {Source: "b", MessageID: strings.Repeat("é", 255)}, {Source: "1/b", MessageID: "x"}} {
		f.is(inbox.MessageIDOf(access.Key{}, key).String(), `pawl.inbox_message_id($1, $2)`, key.Source, key.MessageID)
	}
}

// D-803: a session that took the queue's lock is notified of an enqueue, another one is not given the
// lock meanwhile; without it nobody is notified.
func TestDoorListen(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	f := openDoor(t, p, connect(t, testpg.URL(t)))
	waiter := &doorFixture{t: t, place: p, conn: connect(t, testpg.URL(t))}
	waiter.is("true", `pawl.outbox_listen('q')`)
	f.is("false", `pawl.outbox_listen('q')`)
	f.is("true", `pawl.outbox_listen('other')`)
	f.value(`pawl.outbox_enqueue('t', 'x', queue => 'q')`)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	n, err := waiter.conn.WaitForNotification(ctx)
	if err != nil || n.Payload != "q" {
		t.Fatalf("notified %+v, %v", n, err)
	}
	waiter.is("true", `pawl.outbox_unlisten('q')`)
	f.value(`pawl.outbox_enqueue('t', 'x', queue => 'q')`)
	waiter.is("true", `pawl.outbox_listen('q')`)
	f.value(`pawl.outbox_enqueue('t', 'x', queue => 'q', correlation_id => 'last')`)
	f.value(`SELECT pg_notify('pawl_' || left(md5('pawl.outbox_wake'), 16), 'end')`)
	var got []string
	for len(got) == 0 || got[len(got)-1] != "end" {
		n, err := waiter.conn.WaitForNotification(ctx)
		enginetest.Must(t, err)
		got = append(got, n.Payload)
	}
	if !slices.Equal(got, []string{"q", "end"}) {
		t.Errorf("notified %q; nobody is told while nobody sleeps", got)
	}
}

// D-859: a session that asks for the queue's lock beside an open transaction that enqueues learns that, and
// keeps nothing that would let the next enqueue notify nobody.
func TestDoorListenBesideAnOpenTransaction(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	f := openDoor(t, p, connect(t, testpg.URL(t)))
	waiter := &doorFixture{t: t, place: p, conn: connect(t, testpg.URL(t))}
	tx, err := f.conn.Begin(t.Context())
	enginetest.Must(t, err)
	f.value(`pawl.outbox_enqueue('t', 'x', queue => 'q')`)
	waiter.is("none", `coalesce(pawl.outbox_listen('q')::text, 'none')`)
	enginetest.Must(t, tx.Rollback(t.Context()))
	other := &doorFixture{t: t, place: p, conn: connect(t, testpg.URL(t))}
	other.is("true", `pawl.outbox_listen('q')`)
	waiter.is("false", `pawl.outbox_listen('q')`)
}

// D-802: a redrive of what failed is in the audit trail, with its reason; a timer cancelled by its key, too.
func TestDoorAudited(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	f := openDoor(t, p, connect(t, testpg.URL(t)))
	id := f.position(f.value(`pawl.outbox_enqueue('t', 'x', queue => 'q')`))
	f.is("0", `pawl.outbox_redrive(ARRAY[$1]::bigint[])`, id) // it has not failed
	f.is("1", `SELECT count(*) FROM pawl.outbox_claim(`+ownID+`, 30, 1, 'q')`)
	f.is("1", `pawl.outbox_fail(`+ownID+`, ARRAY[$1]::bigint[], 'no')`, id)
	f.is("1", `pawl.outbox_redrive(ARRAY[$1, $1, NULL, 1]::bigint[], 'was repaired')`, id)
	f.value(`pawl.timer_schedule('t', 'x', now() + interval '1 hour', key => 'k')`)
	f.is("true", `pawl.timer_cancel_key('k')`)
	f.is("false", `pawl.timer_cancel_key('k')`)
	f.is("redrive/messages 1 "+id+"/was repaired,cancel/timer with key k", `SELECT string_agg(concat_ws('/', action, target, reason), ',' ORDER BY at, id) FROM pawl.audit_trail`)
	if err := f.try(`SELECT pawl.outbox_redrive(ARRAY(SELECT generate_series(1, 1001)::bigint))`); err == nil || !strings.Contains(err.Error(), "ids: more than 1000") {
		t.Error(err)
	}
}
