package join_test

import (
	"context"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// D-208: a step that expires is one that failed, and a follow-up expires as any message.
func TestExpiredSteps(t *testing.T) { dbtest.Each(t, testExpiredSteps) }

func testExpiredSteps(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	soon, later := time.Now().Add(500*time.Millisecond), time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	fan, err := f.FanOut(f.ctx(), join.Spec{}, []outbox.Message{{Topic: "step"}, {Topic: "step", Expires: soon}},
		join.Wait{OnComplete: outbox.Message{Topic: "done"}, OnFail: outbox.Message{Topic: "failed", Expires: later}})
	f.check(err)
	f.db.Pass(time.Until(soon) + time.Millisecond)
	f.drain(map[string]outbox.Handler{"step": func(_ context.Context, m *outbox.Message) error {
		if !m.Expires.IsZero() {
			t.Error("an attempt began")
		}
		return nil
	}})
	f.progress(fan.Join, 1, 1, join.Failed)
	f.sent("done", 0)
	if got := f.sent("failed", 1)[0]; !got.Expires.Equal(later) {
		t.Errorf("the follow-up expires at %v, want %v", got.Expires, later)
	}
}
