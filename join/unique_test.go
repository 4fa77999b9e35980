package join_test

import (
	"errors"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// D-212: steps and follow-ups have no unique keys: a join needs the messages themselves.
func TestUniqueSteps(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		plain, keyed := outbox.Message{Topic: "t"}, outbox.Message{Topic: "t", UniqueKey: "k"}
		_, step := f.FanOut(f.ctx(), join.Spec{}, []outbox.Message{keyed}, join.Wait{OnComplete: plain})
		_, next := f.FanOut(f.ctx(), join.Spec{}, []outbox.Message{plain}, join.Wait{OnComplete: keyed})
		_, failed := f.FanOut(f.ctx(), join.Spec{}, []outbox.Message{plain}, join.Wait{OnComplete: plain, OnFail: keyed})
		for what, err := range map[string]error{"step": step, "follow-up": next, "follow-up of a failure": failed} {
			var invalid *engine.InvalidError
			if !errors.As(err, &invalid) {
				t.Errorf("%s: %v", what, err)
			}
		}
		f.sent("t", 0)
	})
}
