package join_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// D-526: a join does not wait for a wait of its own: it would never end. Another join's wait is a step
// like others.
func TestOwnWait(t *testing.T) { dbtest.Each(t, testOwnWait) }

func testOwnWait(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, other := f.start(1), f.start(1)
	after := join.Wait{OnComplete: outbox.Message{Topic: "after"}}
	made, err := f.Wait(f.ctx(), id, after)
	if err != nil {
		t.Fatal(err)
	}
	after.ID = outbox.MessageID(uuid.New())
	supplied, err := f.Wait(f.ctx(), id, after)
	if err != nil {
		t.Fatal(err)
	}
	step := f.enqueue("t", 1)[0]
	f.refused("messages[0]", f.Attach(f.ctx(), id, made))
	f.refused("messages[1]", f.Attach(f.ctx(), id, step, supplied))
	if n := len(f.memberIDs(id)); n != 0 {
		t.Fatalf("%d members", n)
	}
	tx := f.db.Begin(t)
	f.refused("messages[0]", f.AttachTx(f.ctx(), tx, id, made, step))
	_ = tx.Rollback()
	if err := f.Attach(f.ctx(), other, made, step); err != nil {
		t.Fatal(err)
	}
}
