package join_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// D-323: after a failover that lost commits, another process's messages may have the positions that this
// one has in memory. A wait with an id of the caller's goes to another position then. The end of the join wakes it
// there, and not the message that has its place, which is due tomorrow.
func TestWaitWhosePositionIsTaken(t *testing.T) { dbtest.Each(t, testWaitWhosePositionIsTaken) }

func testWaitWhosePositionIsTaken(t *testing.T, e dbtest.Engine) {
	next := join.Wait{OnComplete: outbox.Message{Topic: "done"}}
	for name, begin := range map[string]func(f *fixture, id join.ID) error{
		"fan-out": func(f *fixture, id join.ID) error {
			_, err := f.FanOut(f.ctx(), join.Spec{ID: id}, []outbox.Message{{Topic: "step"}}, next)
			return err
		},
		"wait": func(f *fixture, id join.ID) error {
			named := next
			named.ID = outbox.MessageID(uuid.New())
			if _, err := f.Start(f.ctx(), join.Spec{ID: id, ExpectedSteps: 1}); err != nil {
				return err
			}
			if err := f.Attach(f.ctx(), id, f.enqueue("step", 1)...); err != nil {
				return err
			}
			f.occupy(4)
			_, err := f.Wait(f.ctx(), id, named)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := open(t, e)
			_, err := f.box.Enqueue(f.ctx(), outbox.Message{Topic: "tomorrow", Due: time.Now().Add(24 * time.Hour)})
			f.check(err)
			f.occupy(4)
			f.check(begin(f, uuid.New()))
			f.handles("done", "step")
		})
	}
}

// D-325: a join counts the messages that were enqueued with it, and not others that have positions which it
// meant to give them, also where only its wait has an id of the caller's.
func TestMembersWhosePositionsAreTaken(t *testing.T) {
	dbtest.Each(t, testMembersWhosePositionsAreTaken)
}

func testMembersWhosePositionsAreTaken(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	_, err := f.box.Enqueue(f.ctx(), outbox.Message{Topic: "tomorrow", Due: time.Now().Add(24 * time.Hour)})
	f.check(err)
	f.occupy(4)
	wait := join.Wait{ID: outbox.MessageID(uuid.New()), OnComplete: outbox.Message{Topic: "done"}}
	fan, err := f.FanOut(f.ctx(), join.Spec{}, []outbox.Message{{Topic: "step"}, {Topic: "step"}}, wait)
	f.check(err)
	members, err := engine.Collect(f.Members(f.ctx(), fan.Join, join.MembersOptions{}), 100)
	f.check(err)
	for _, m := range members {
		if m.Topic != "step" {
			t.Errorf("%+v is a member", m)
		}
	}
	f.handles("done", "step", "step")
}

// handles handles all that is due, and insists on its topics, sorted.
func (f *fixture) handles(want ...string) {
	f.t.Helper()
	var topics []string
	var mu sync.Mutex
	note := func(_ context.Context, m *outbox.Message) error {
		mu.Lock()
		defer mu.Unlock()
		topics = append(topics, m.Topic)
		return nil
	}
	f.drain(map[string]outbox.Handler{"step": note, "done": note, "tomorrow": note})
	if slices.Sort(topics); !slices.Equal(topics, want) {
		f.t.Errorf("handled %q, want %q", topics, want)
	}
}

// occupy puts copies of the message of tomorrow at the positions that follow, as another process
// would. Some are taken already.
func (f *fixture) occupy(n int) {
	f.t.Helper()
	message, ready := f.db.Table("outbox_message"), f.db.Table("outbox_ready")
	var first, last int64
	f.check(f.db.SQL.QueryRowContext(f.ctx(), "SELECT min(id), max(id) FROM "+message).Scan(&first, &last))
	for at := last + 1; at <= last+int64(n); at++ {
		for _, statement := range []string{
			"INSERT INTO " + message + " (id, message_id, created_at, topic, payload, lane, due_at) SELECT %d, message_id, created_at, topic, payload, lane, due_at FROM " + message + " WHERE id = %d",
			"INSERT INTO " + ready + " (lane, at, lo, n) SELECT lane, due_at, %d, 1 FROM " + message + " WHERE id = %d",
		} {
			_, err := f.db.SQL.ExecContext(f.ctx(), fmt.Sprintf(statement, at, first))
			f.check(err)
		}
	}
}
