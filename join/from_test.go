package join_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// D-204: handlers learn which joins their message comes from: steps those that count them, a follow-up
// the one that has ended, with what became of each step.
func TestFrom(t *testing.T) { dbtest.Each(t, testFrom) }

func testFrom(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	fan, err := f.FanOut(f.ctx(), join.Spec{GroupingKey: "g"}, []outbox.Message{{Topic: "step"}, {Topic: "fails"}}, join.Wait{
		OnFail: outbox.Message{Topic: "sorry", Headers: map[string]string{"a": "b"}},
	})
	f.check(err)
	other, err := f.Start(f.ctx(), join.Spec{ExpectedSteps: 5})
	f.check(err)
	f.check(f.Attach(f.ctx(), other, fan.Messages[0]))
	_, err = f.box.Enqueue(f.ctx(), outbox.Message{Topic: "plain"})
	f.check(err)
	var mu sync.Mutex
	from := map[string]string{}
	note := func(ctx context.Context, m *outbox.Message) error {
		joins, err := f.From(ctx, m)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for _, j := range joins {
			from[m.Topic] += fmt.Sprint(j.ID == fan.Join, j.ID == other, " ", j.GroupingKey, " ", j.Status, "; ")
		}
		if m.Topic == "sorry" {
			members, err := engine.Collect(f.Members(ctx, joins[0].ID, join.MembersOptions{}), 100)
			for _, member := range members {
				from[m.Topic] += fmt.Sprint(member.Status, " ")
			}
			from[m.Topic] += m.Headers["a"]
			return err
		}
		if m.Topic == "fails" {
			return outbox.Permanent(fmt.Errorf("no"))
		}
		return nil
	}
	f.drain(map[string]outbox.Handler{"step": note, "fails": note, "sorry": note, "plain": note})
	if from["plain"] != "" || !strings.Contains(from["step"], "true false g pending") || !strings.Contains(from["step"], "false true  pending") || from["fails"] == "" {
		t.Errorf("steps come from %q", from)
	}
	if from["sorry"] != "true false g failed; completed failed b" && from["sorry"] != "true false g failed; failed completed b" {
		t.Errorf("the follow-up comes from %q", from["sorry"])
	}
}

// D-205, D-40: a fan-out of nothing sends its follow-up at once, once for a name, in the caller's transaction
// or in one of its own, and leaves no join.
func TestFanOutOfNothing(t *testing.T) { dbtest.Each(t, testFanOutOfNothing) }

func testFanOutOfNothing(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for range 2 {
		fan, err := f.FanOut(f.ctx(), join.Spec{ID: uuid.New()}, nil, usual())
		f.check(err)
		if fan.Join != (join.ID{}) || !fan.Wait.IsZero() || len(fan.Messages) > 0 {
			t.Errorf("%+v", fan)
		}
	}
	id := uuid.New()
	for range 2 {
		_, err := f.FanOut(f.ctx(), join.Spec{ID: id}, nil, usual())
		f.check(err)
	}
	_, err := f.FanOut(f.ctx(), join.Spec{}, nil, join.Wait{OnFail: outbox.Message{Topic: "failed"}})
	f.check(err)
	tx := f.db.Begin(t)
	_, err = f.FanOutTx(f.ctx(), tx, join.Spec{}, nil, usual())
	f.check(err)
	f.check(tx.Rollback())
	f.drain(map[string]outbox.Handler{})
	f.sent("done", 3)
	f.sent("failed", 0)
	f.sent(join.DefaultTopic, 0)
	joins, err := engine.Collect(f.List(f.ctx(), join.ListOptions{}), 100)
	f.check(err)
	if len(joins) != 0 {
		t.Fatalf("left %d joins behind", len(joins))
	}
}

// D-205: a follow-up may be as large as any message, whatever it has to be escaped to.
func TestLargeFollowUp(t *testing.T) { dbtest.Each(t, testLargeFollowUp) }

func testLargeFollowUp(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	quotes, binary := bytes.Repeat([]byte{'"'}, limits.Payload), bytes.Repeat([]byte{0xff}, limits.Payload)
	_, err := f.FanOut(f.ctx(), join.Spec{}, []outbox.Message{{Topic: "step"}}, join.Wait{
		OnComplete: outbox.Message{Topic: "done", Payload: quotes}, OnFail: outbox.Message{Topic: "failed", Payload: binary},
	})
	f.check(err)
	_, err = f.FanOut(f.ctx(), join.Spec{}, []outbox.Message{{Topic: "step"}}, join.Wait{OnComplete: outbox.Message{Topic: "done", Payload: append(quotes, 'x')}})
	f.refused("payload", err)
	done := 0
	f.drain(map[string]outbox.Handler{
		"step": func(context.Context, *outbox.Message) error { return nil },
		"done": func(_ context.Context, m *outbox.Message) error {
			if done++; !bytes.Equal(m.Payload, quotes) {
				t.Errorf("%d bytes came", len(m.Payload))
			}
			return nil
		},
	})
	if done != 1 {
		t.Errorf("%d follow-ups came", done)
	}
}
