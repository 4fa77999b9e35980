package join_test

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// What two sessions do to the same messages and joins, in either order: the
// first does its part and keeps its locks, the second begins and has to wait,
// then the first commits or is rolled back, and the second goes on.
//
// SQLite has one writer at a time. There what cannot be done in a transaction
// of the caller's is simply done first.

// scene is a join with three messages, claimed one by one, and a wait.
type scene struct {
	*fixture
	id     join.ID
	msgs   []outbox.MessageID
	items  []outbox.Position
	owners []outbox.OwnerToken // of the messages and, if it is claimed, the wait
	wait   outbox.MessageID
	at     outbox.Position // of the wait
}

// deed is something that can be done in an open transaction, if the engine
// allows that, or in one of its own.
type deed struct {
	inTx  func(s *scene, tx *sql.Tx) error
	alone func(s *scene) error
	here  bool // SQLite can do it in a caller's transaction as well
}

type outcome struct {
	completed, failed int
	status            join.Status // "": pending
}

// schedule is a join of so many expected steps, the messages that are attached
// before, what has happened to it, and what two sessions do to it then.
type schedule struct {
	expected      int
	members       []int
	before        []deed
	first, second deed
	kept          outcome // when the first commits
	undone        outcome // when it is rolled back
	run           bool    // the messages are claimed together
	claimedWait   bool    // instead of being parked
}

func call(c func(s *scene) *engine.Call) deed {
	return deed{
		inTx:  func(s *scene, tx *sql.Tx) error { return s.db.DoTx(s.ctx(), tx, c(s)) },
		alone: func(s *scene) error { return s.db.Do(s.ctx(), c(s)) },
	}
}

func attach(which ...int) deed {
	return deed{
		inTx:  func(s *scene, tx *sql.Tx) error { return s.AttachTx(s.ctx(), tx, s.id, s.ids(which)...) },
		alone: func(s *scene) error { return s.Attach(s.ctx(), s.id, s.ids(which)...) },
		here:  true,
	}
}

func (s *scene) ids(which []int) []outbox.MessageID {
	ids := make([]outbox.MessageID, len(which))
	for i, k := range which {
		ids[i] = s.msgs[k]
	}
	return ids
}

func (s *scene) places(which []int) []outbox.Position {
	at := make([]outbox.Position, len(which))
	for i, k := range which {
		at[i] = s.items[k]
	}
	return at
}

// settle is outbox_ack and the like, which other programs call in transactions
// of their own.
func settle(function string, alone func(s *scene, owner outbox.OwnerToken, ids []outbox.Position) (int64, error), which []int) deed {
	one := func(n int64, err error) error {
		if err == nil && n != int64(len(which)) {
			err = fmt.Errorf("%s touched %d messages of %d", function, n, len(which))
		}
		return err
	}
	return deed{
		inTx: func(s *scene, tx *sql.Tx) error {
			var n int64
			err := tx.QueryRowContext(s.ctx(), "SELECT "+s.db.Table(function)+"($1, $2)", s.owners[which[0]].String(), s.places(which)).Scan(&n)
			return one(n, err)
		},
		alone: func(s *scene) error { return one(alone(s, s.owners[which[0]], s.places(which))) },
	}
}

func ack(which ...int) deed {
	return settle("outbox_ack", func(s *scene, owner outbox.OwnerToken, ids []outbox.Position) (int64, error) {
		return s.box.WorkQueue("").Ack(s.ctx(), owner, ids...)
	}, which)
}

func fail(which ...int) deed {
	return settle("outbox_fail", func(s *scene, owner outbox.OwnerToken, ids []outbox.Position) (int64, error) {
		return s.box.WorkQueue("").Fail(s.ctx(), owner, errors.New("no"), ids...)
	}, which)
}

func abandon(which ...int) deed {
	return settle("outbox_abandon", func(s *scene, owner outbox.OwnerToken, ids []outbox.Position) (int64, error) {
		return s.box.WorkQueue("").Abandon(s.ctx(), owner, errors.New("again"), ids...)
	}, which)
}

func completed(k int) deed {
	return deed{
		inTx: func(s *scene, tx *sql.Tx) error {
			_, err := s.ReportCompletedTx(s.ctx(), tx, s.id, s.msgs[k])
			return err
		},
		alone: func(s *scene) error {
			_, err := s.ReportCompleted(s.ctx(), s.id, s.msgs[k])
			return err
		},
		here: true,
	}
}

func failed(k int) deed {
	return deed{
		inTx: func(s *scene, tx *sql.Tx) error {
			_, err := s.ReportFailedTx(s.ctx(), tx, s.id, s.msgs[k])
			return err
		},
		alone: func(s *scene) error {
			_, err := s.ReportFailed(s.ctx(), s.id, s.msgs[k])
			return err
		},
		here: true,
	}
}

func cancelled() deed {
	return deed{
		inTx: func(s *scene, tx *sql.Tx) error {
			_, err := s.CancelTx(s.ctx(), tx, s.id)
			return err
		},
		alone: func(s *scene) error {
			_, err := s.Cancel(s.ctx(), s.id)
			return err
		},
		here: true,
	}
}

// overdue lets the deadline pass; expire is what the deadline's wait then does.
func overdue() deed {
	return deed{alone: func(s *scene) error {
		_, err := s.db.SQL.ExecContext(s.ctx(), "UPDATE "+s.db.Table("outbox_join")+" SET deadline_utc = "+s.db.Ago(time.Hour)+" WHERE status = 0")
		return err
	}}
}

func expire() deed {
	d := call(func(s *scene) *engine.Call {
		return engine.Ask(op.JoinEnd{JoinID: s.id, Status: 2})
	})
	d.here = true
	return d
}

func park() deed {
	return call(func(s *scene) *engine.Call {
		return engine.Ask(op.JoinPark{JoinID: s.id, Owner: s.owners[3], ID: int64(s.at)})
	})
}

func redrive(k int) deed {
	return call(func(s *scene) *engine.Call {
		return enginetest.Redrive([]int64{int64(s.items[k])})
	})
}

func discard(k int) deed {
	return call(func(s *scene) *engine.Call {
		return enginetest.Discard([]int64{int64(s.items[k])}, nil)
	})
}

func schedules() map[string]schedule {
	const pending, done, bad, off = join.Pending, join.Completed, join.Failed, join.Cancelled
	one, two := []int{0}, []int{0, 1}
	return map[string]schedule{
		"attach, ack":          {expected: 1, first: attach(0), second: ack(0), kept: outcome{1, 0, done}},
		"ack, attach":          {expected: 1, first: ack(0), second: attach(0), kept: outcome{1, 0, done}},
		"attach, fail":         {expected: 1, first: attach(0), second: fail(0), kept: outcome{0, 1, bad}},
		"fail, attach":         {expected: 1, first: fail(0), second: attach(0), kept: outcome{0, 1, bad}},
		"attach, abandon":      {expected: 1, first: attach(0), second: abandon(0)},
		"abandon, attach":      {expected: 1, first: abandon(0), second: attach(0)},
		"attach, ack of all":   {expected: 3, run: true, first: attach(1), second: ack(0, 1, 2), kept: outcome{1, 0, pending}},
		"ack of all, attach":   {expected: 3, run: true, first: ack(0, 1, 2), second: attach(1), kept: outcome{1, 0, pending}},
		"attach, ack around":   {expected: 3, run: true, first: attach(1), second: ack(0, 2)},
		"ack around, attach":   {expected: 3, run: true, first: ack(0, 2), second: attach(1)},
		"attach all, ack one":  {expected: 3, run: true, first: attach(0, 1, 2), second: ack(2), kept: outcome{1, 0, pending}},
		"ack one, attach all":  {expected: 3, run: true, first: ack(2), second: attach(0, 1, 2), kept: outcome{1, 0, pending}},
		"fail one, attach all": {expected: 3, run: true, first: fail(1), second: attach(0, 1, 2), kept: outcome{0, 1, pending}},

		"ack, ack":            {expected: 2, members: two, first: ack(0), second: ack(1), kept: outcome{2, 0, done}, undone: outcome{1, 0, pending}},
		"ack, fail":           {expected: 2, members: two, first: ack(0), second: fail(1), kept: outcome{1, 1, bad}, undone: outcome{0, 1, pending}},
		"fail, ack":           {expected: 2, members: two, first: fail(0), second: ack(1), kept: outcome{1, 1, bad}, undone: outcome{1, 0, pending}},
		"fail, fail":          {expected: 2, members: two, first: fail(0), second: fail(1), kept: outcome{0, 2, bad}, undone: outcome{0, 1, pending}},
		"one too many, first": {expected: 1, members: two, first: ack(1), second: fail(0), kept: outcome{1, 0, done}, undone: outcome{0, 1, bad}},

		"report failed, ack":     {expected: 1, members: one, first: failed(0), second: ack(0), kept: outcome{0, 1, bad}, undone: outcome{1, 0, done}},
		"ack, report failed":     {expected: 1, members: one, first: ack(0), second: failed(0), kept: outcome{1, 0, done}, undone: outcome{0, 1, bad}},
		"report completed, fail": {expected: 1, members: one, first: completed(0), second: fail(0), kept: outcome{1, 0, done}, undone: outcome{0, 1, bad}},
		"fail, report completed": {expected: 1, members: one, first: fail(0), second: completed(0), kept: outcome{0, 1, bad}, undone: outcome{1, 0, done}},
		"report, report":         {expected: 1, members: one, first: completed(0), second: failed(0), kept: outcome{1, 0, done}, undone: outcome{0, 1, bad}},
		"report, ack of another": {expected: 2, members: two, first: failed(0), second: ack(1), kept: outcome{1, 1, bad}, undone: outcome{1, 0, pending}},
		"report, ack of both":    {expected: 2, members: two, run: true, first: failed(0), second: ack(0, 1), kept: outcome{1, 1, bad}, undone: outcome{2, 0, done}},

		"cancel, ack":    {expected: 1, members: one, first: cancelled(), second: ack(0), kept: outcome{0, 0, off}, undone: outcome{1, 0, done}},
		"ack, cancel":    {expected: 1, members: one, first: ack(0), second: cancelled(), kept: outcome{1, 0, done}, undone: outcome{0, 0, off}},
		"cancel, report": {expected: 1, members: one, first: cancelled(), second: failed(0), kept: outcome{0, 0, off}, undone: outcome{0, 1, bad}},
		"report, cancel": {expected: 1, members: one, first: failed(0), second: cancelled(), kept: outcome{0, 1, bad}, undone: outcome{0, 0, off}},

		"deadline, ack":    {expected: 1, members: one, before: []deed{overdue()}, first: expire(), second: ack(0), kept: outcome{0, 0, bad}, undone: outcome{1, 0, done}},
		"ack, deadline":    {expected: 1, members: one, before: []deed{overdue()}, first: ack(0), second: expire(), kept: outcome{1, 0, done}, undone: outcome{0, 0, bad}},
		"deadline, cancel": {expected: 1, members: one, before: []deed{overdue()}, first: expire(), second: cancelled(), kept: outcome{0, 0, bad}, undone: outcome{0, 0, off}},
		"cancel, deadline": {expected: 1, members: one, before: []deed{overdue()}, first: cancelled(), second: expire(), kept: outcome{0, 0, off}, undone: outcome{0, 0, bad}},

		"redrive, attach": {expected: 2, before: []deed{fail(0)}, first: redrive(0), second: attach(0), undone: outcome{0, 1, pending}},
		"attach, redrive": {expected: 2, before: []deed{fail(0)}, first: attach(0), second: redrive(0)},
		"redrive, ack":    {expected: 2, members: two, before: []deed{fail(0)}, first: redrive(0), second: ack(1), kept: outcome{1, 0, pending}, undone: outcome{1, 1, bad}},
		"ack, redrive":    {expected: 2, members: two, before: []deed{fail(0)}, first: ack(1), second: redrive(0), kept: outcome{1, 1, bad}},
		"redrive, report": {expected: 2, members: one, before: []deed{fail(0)}, first: redrive(0), second: completed(0), kept: outcome{1, 0, pending}, undone: outcome{0, 1, pending}},
		"report, redrive": {expected: 2, members: two, before: []deed{fail(0)}, first: completed(1), second: redrive(0), kept: outcome{1, 1, bad}, undone: outcome{0, 0, pending}},
		"redrive, cancel": {expected: 2, members: one, before: []deed{fail(0)}, first: redrive(0), second: cancelled(), kept: outcome{0, 0, off}, undone: outcome{0, 1, off}},
		"cancel, redrive": {expected: 2, members: one, before: []deed{fail(0)}, first: cancelled(), second: redrive(0), kept: outcome{0, 1, off}, undone: outcome{0, 0, pending}},
		"discard, attach": {expected: 2, before: []deed{fail(0)}, first: discard(0), second: attach(0), kept: outcome{0, 1, pending}, undone: outcome{0, 1, pending}},
		"attach, discard": {expected: 2, before: []deed{fail(0)}, first: attach(0), second: discard(0), kept: outcome{0, 1, pending}},

		"attach, attach":         {expected: 2, first: attach(0), second: attach(0)},
		"attach done, attach":    {expected: 2, before: []deed{ack(0)}, first: attach(0), second: attach(0), kept: outcome{1, 0, pending}, undone: outcome{1, 0, pending}},
		"attach done, ack":       {expected: 2, members: []int{1}, before: []deed{ack(0)}, first: attach(0), second: ack(1), kept: outcome{2, 0, done}, undone: outcome{1, 0, pending}},
		"ack, attach done":       {expected: 2, members: []int{1}, before: []deed{ack(0)}, first: ack(1), second: attach(0), kept: outcome{2, 0, done}, undone: outcome{1, 0, pending}},
		"attach failed, ack":     {expected: 2, members: []int{1}, before: []deed{fail(0)}, first: attach(0), second: ack(1), kept: outcome{1, 1, bad}, undone: outcome{1, 0, pending}},
		"attach done, the last":  {expected: 1, members: []int{1}, before: []deed{ack(0)}, first: attach(0), second: fail(1), kept: outcome{1, 0, done}, undone: outcome{0, 1, bad}},
		"attach done, cancel":    {expected: 2, before: []deed{ack(0)}, first: attach(0), second: cancelled(), kept: outcome{1, 0, off}, undone: outcome{0, 0, off}},
		"cancel, attach done":    {expected: 2, before: []deed{ack(0)}, first: cancelled(), second: attach(0), kept: outcome{0, 0, off}, undone: outcome{1, 0, pending}},
		"attach done, attach it": {expected: 3, before: []deed{ack(0), fail(1)}, first: attach(0), second: attach(0, 1), kept: outcome{1, 1, pending}, undone: outcome{1, 1, pending}},

		"park, ack":      {expected: 1, members: one, claimedWait: true, first: park(), second: ack(0), kept: outcome{1, 0, done}, undone: outcome{1, 0, done}},
		"ack, park":      {expected: 1, members: one, claimedWait: true, first: ack(0), second: park(), kept: outcome{1, 0, done}},
		"park, report":   {expected: 1, members: one, claimedWait: true, first: park(), second: failed(0), kept: outcome{0, 1, bad}, undone: outcome{0, 1, bad}},
		"report, park":   {expected: 1, members: one, claimedWait: true, first: failed(0), second: park(), kept: outcome{0, 1, bad}},
		"park, cancel":   {expected: 1, members: one, claimedWait: true, first: park(), second: cancelled(), kept: outcome{0, 0, off}, undone: outcome{0, 0, off}},
		"cancel, park":   {expected: 1, members: one, claimedWait: true, first: cancelled(), second: park(), kept: outcome{0, 0, off}},
		"deadline, park": {expected: 1, members: one, claimedWait: true, before: []deed{overdue()}, first: expire(), second: park(), kept: outcome{0, 0, bad}},
		"park, deadline": {expected: 1, members: one, claimedWait: true, before: []deed{overdue()}, first: park(), second: expire(), kept: outcome{0, 0, bad}, undone: outcome{0, 0, bad}},
	}
}

// D-30, D-31, D-33, D-34, D-36, D-38, D-39: whichever comes first counts, and
// what comes second sees it: no step is lost or counted twice, and the wait
// fires once.
func TestTwoSessions(t *testing.T) { dbtest.Each(t, testTwoSessions) }

func testTwoSessions(t *testing.T, e dbtest.Engine) {
	// They mostly wait for locks, a few databases at a time.
	const places = 4
	free := make(chan dbtest.Database, places)
	for range places {
		free <- e.Open(t)
	}
	play := func(name string, s schedule, commit bool) {
		t.Run(name, func(of *testing.T) {
			of.Parallel()
			db := <-free
			defer func() {
				if of.Failed() {
					db = e.Open(t) // what is left over is not the next one's
				}
				free <- db
			}()
			s.play(of, db, commit)
		})
	}
	for name, s := range schedules() {
		play(name+", commit", s, true)
		if e.Name == "postgres" || s.first.here {
			play(name+", rollback", s, false)
		}
	}
}

func (s *schedule) play(t *testing.T, db dbtest.Database, commit bool) {
	sc := s.scene(on(t, db, db.DB, join.Options{}))
	for _, d := range s.before {
		sc.check(d.alone(sc))
	}
	if db.Engine() == "postgres" || s.first.here {
		tx := db.Begin(t)
		defer tx.Rollback()
		sc.check(s.first.inTx(sc, tx))
		end := tx.Rollback
		if commit {
			end = tx.Commit
		}
		sc.overlap(func() error { return s.second.alone(sc) }, end)
	} else {
		sc.check(s.first.alone(sc))
		sc.check(s.second.alone(sc))
	}
	want := s.undone
	if commit {
		want = s.kept
	}
	want.status = cmp.Or(want.status, join.Pending)
	sc.progress(sc.id, want.completed, want.failed, want.status)
	sc.finish(want)
}

// overlap begins something that has to wait until end was called.
func (f *fixture) overlap(second, end func() error) {
	f.t.Helper()
	done := make(chan error, 1)
	go func() { done <- second() }()
	if f.db.Engine() == "postgres" {
		dbtest.Until(f.t, "the second waits for a lock", func() bool { return f.waiting() > 0 || len(done) > 0 })
		if len(done) > 0 {
			f.t.Error("the second did not wait")
		}
	}
	f.check(end())
	f.check(<-done)
}

// waiting is how many sessions wait for locks in this database.
func (f *fixture) waiting() (n int) {
	f.t.Helper()
	schema := strings.TrimSuffix(f.db.Table(""), ".")
	f.db.Row(f.t, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%"+schema+"%'", &n)
	return n
}

func (s *schedule) scene(f *fixture) *scene {
	f.t.Helper()
	sc := &scene{fixture: f, id: f.start(s.expected)}
	sc.wait = f.wait(sc.id, named(sc.id))
	sc.at = f.find(sc.wait).Position
	var waitOwner outbox.OwnerToken
	if s.claimedWait {
		waitOwner, _ = f.claim(1)
	} else {
		f.drain(nil)
	}
	sc.msgs, sc.items = f.enqueue("step", 3), make([]outbox.Position, 3)
	sc.owners = make([]outbox.OwnerToken, 3)
	n := 1
	if s.run {
		n = 3
	}
	for range 3 / n {
		owner, items := f.claim(n)
		for i, m := range sc.msgs {
			if at, mine := items[m]; mine {
				sc.items[i], sc.owners[i] = at, owner
			}
		}
	}
	sc.owners = append(sc.owners, waitOwner)
	f.check(f.Attach(f.ctx(), sc.id, sc.ids(s.members)...))
	return sc
}

// named is a wait whose messages say whose they are, and lie where nobody looks.
func named(id join.ID) join.Wait {
	return join.Wait{
		OnComplete: outbox.Message{Topic: "done " + id.String(), Queue: "sink"},
		OnFail:     outbox.Message{Topic: "failed " + id.String(), Queue: "sink"},
	}
}

// firedOnce insists on the one message of a wait made by named, or on none.
func (f *fixture) firedOnce(id join.ID, status join.Status) {
	f.t.Helper()
	want := map[string]int{}
	switch status {
	case join.Completed:
		want["done "] = 1
	case join.Failed:
		want["failed "] = 1
	}
	for _, topic := range []string{"done ", "failed "} {
		f.sent(topic+id.String(), want[topic])
	}
}

// finish has everything that is left end, by which a join that is still pending
// ends too, and insists on exactly one message sent, or none if it was cancelled.
func (s *scene) finish(was outcome) {
	s.t.Helper()
	s.check(s.Attach(s.ctx(), s.id, s.msgs...))
	if s.owners[3] != (outbox.OwnerToken{}) {
		_, err := s.box.Release(s.ctx(), s.owners[3], s.at)
		s.check(err)
	}
	for _, owner := range s.owners[:3] {
		_, err := s.box.WorkQueue("").Ack(s.ctx(), owner, s.items...)
		s.check(err)
	}
	s.makeDue()
	s.drain(map[string]outbox.Handler{"step": succeed})
	j, err := s.Get(s.ctx(), s.id)
	s.check(err)
	if was.status != join.Pending {
		s.progress(s.id, was.completed, was.failed, was.status)
	} else if j.CompletedSteps+j.FailedSteps != j.ExpectedSteps {
		s.t.Fatalf("all is done and the join is %+v", j)
	}
	s.progress(s.id, j.CompletedSteps, j.FailedSteps, j.Status)
	s.firedOnce(s.id, j.Status)
	if got := s.find(s.wait); got.Status != outbox.Done || got.RetryCount != 0 {
		s.t.Fatalf("the wait is %v after %d retries", got.Status, got.RetryCount)
	}
}

// makeDue makes due what waits for another attempt, but not what is parked.
func (f *fixture) makeDue() {
	f.t.Helper()
	_, err := f.db.SQL.ExecContext(f.ctx(), "UPDATE "+f.db.Table("outbox_ready")+" SET at = "+f.db.Ago(time.Second)+" WHERE at < "+f.db.Ago(-24*time.Hour)+" AND retry > 0")
	f.check(err)
}

// lapse ends every lease.
func (f *fixture) lapse() {
	f.t.Helper()
	_, err := f.db.SQL.ExecContext(f.ctx(), "UPDATE "+f.db.Table("outbox_claim")+" SET locked_until = "+f.db.Ago(time.Second))
	f.check(err)
}
