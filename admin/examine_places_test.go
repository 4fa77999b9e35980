package admin_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

func TestExamineMessageInNoPlace(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		lo := f.enqueue(3)
		f.exec(fmt.Sprintf("UPDATE {outbox_ready} SET n = 2 WHERE lo = %d", lo))
		wantFinding(t, f.examine(), "places", health.Problem, fmt.Sprintf("messages in no place, which will never be delivered: ids %d", lo+2), "report")
		f.exec(fmt.Sprintf("UPDATE {outbox_ready} SET n = 3 WHERE lo = %d", lo))
		wantOK(t, f.examine(), "places")
	})
}

func TestExamineMessageInTwoPlaces(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		lo := f.enqueue(3)
		f.exec(fmt.Sprintf("INSERT INTO {outbox_exception} (id, status, updated_at) VALUES (%d, 3, {0s})", lo+1))
		wantFinding(t, f.examine(), "places", health.Problem, fmt.Sprintf("messages in several places, which may be delivered again: ids %d", lo+1), "report")
		f.exec(fmt.Sprintf("UPDATE {outbox_exception} SET status = 0 WHERE id = %d", lo+1)) // it was tried before
		wantOK(t, f.examine(), "places")
	})
}

func TestExamineRunWithoutMessages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		lo := f.enqueue(3)
		f.exec(fmt.Sprintf("UPDATE {outbox_ready} SET n = 5 WHERE lo = %d", lo))
		wantFinding(t, f.examine(), "places", health.Problem, fmt.Sprintf("runs without their messages: 2 of run %d", lo), "report")
		f.exec(fmt.Sprintf("UPDATE {outbox_ready} SET n = 3 WHERE lo = %d", lo))
		wantOK(t, f.examine(), "places")
	})
}

// D-328: with Fix the doctor reads all messages, and makes those ready that are in no place, wherever they were lost.
func TestExamineFixesMessagesInNoPlace(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		others := func(n int) {
			_, err := f.box.EnqueueBatch(f.ctx(), slices.Repeat([]outbox.Message{{Topic: "t", Queue: "others"}}, n))
			f.check(err)
		}
		others(5100) // more than a page
		owner := outbox.NewOwnerToken()
		lost := map[string]outbox.Position{}
		for _, place := range []string{"ready", "retried", "claimed"} {
			_, err := f.box.Enqueue(f.ctx(), outbox.Message{Topic: "t"})
			f.check(err)
			msgs, err := f.box.WorkQueue("").Claim(f.ctx(), owner, time.Hour, 1)
			f.check(err)
			lost[place] = msgs[0].Position
		}
		others(300) // more than the sample
		_, err := f.box.Release(f.ctx(), owner, lost["ready"])
		f.check(err)
		_, err = f.box.WorkQueue("").Abandon(f.ctx(), owner, nil, lost["retried"])
		f.check(err)
		f.exec(fmt.Sprintf("DELETE FROM {outbox_ready} WHERE lo IN (%d, %d)", lost["ready"], lost["retried"]))
		f.exec(fmt.Sprintf("DELETE FROM {outbox_claim} WHERE lo = %d", lost["claimed"]))
		wantOK(t, f.examine(), "places")

		fix := engine.ExamineOptions{Fix: true, Timeout: time.Minute}
		wantFinding(t, f.examine(fix), "places", health.Note, fmt.Sprintf("3 messages that were in no place are ready again: ids %d, %d, %d", lost["ready"], lost["retried"], lost["claimed"]), "report")
		wantFinding(t, f.examine(fix), "places", health.OK, "every message is in a place", "")
		msgs, err := f.box.WorkQueue("").Claim(f.ctx(), outbox.NewOwnerToken(), time.Hour, 10)
		f.check(err)
		retries := map[outbox.Position]int{}
		for _, m := range msgs {
			retries[m.Position] = m.RetryCount
		}
		if want := map[outbox.Position]int{lost["ready"]: 0, lost["retried"]: 1, lost["claimed"]: 0}; !maps.Equal(retries, want) {
			t.Errorf("claimed with retries %v, want %v", retries, want)
		}
	})
}

// D-328: what is somewhere stays there, though the doctor saw it nowhere a moment ago.
func TestExamineLeavesMessagesInTheirPlaces(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		owner := outbox.NewOwnerToken()
		place := func(what string, at int64) {
			t.Helper()
			call := engine.Ask(op.DoctorPlace{ID: at, Note: audit.New(f.ctx(), "test").Op()})
			f.check(f.db.DB.Do(f.ctx(), call))
			if call.N != 0 {
				t.Errorf("%s: made ready", what)
			}
			wantOK(t, f.examine(), "places")
		}
		at := f.enqueue(3)
		place("due", at+1)
		place("no message", at+100)
		_, err := f.box.WorkQueue("").Claim(f.ctx(), owner, time.Hour, 3)
		f.check(err)
		place("claimed", at+1)
		_, err = f.box.WorkQueue("").Ack(f.ctx(), owner, outbox.Position(at))
		f.check(err)
		place("done", at)
		_, err = f.box.WorkQueue("").Fail(f.ctx(), owner, nil, outbox.Position(at+1))
		f.check(err)
		place("failed", at+1)
	})
}

// D-328: a message that was to be due later is, and one with an ordering key is in line again.
func TestExamineFixesMessagesInNoPlaceAsTheyWere(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		f.inLine("a1", "a2")
		owner, msgs := f.claimAll()
		_, err := f.box.Release(f.ctx(), owner, msgs[0].Position)
		f.check(err)
		_, err = f.box.Enqueue(f.ctx(), outbox.Message{Topic: "later", Due: time.Now().Add(time.Hour)})
		f.check(err)
		f.exec("DELETE FROM {outbox_ready}")
		wantFinding(t, f.examine(engine.ExamineOptions{Fix: true, Timeout: time.Minute}), "places", health.Note, "3 messages that were in no place are ready again", "")
		f.inOrder("a1", "a2")
		if _, msgs := f.claimAll(); len(msgs) > 0 {
			t.Errorf("claimed %q before it is due", msgs[0].Topic)
		}
	})
}
