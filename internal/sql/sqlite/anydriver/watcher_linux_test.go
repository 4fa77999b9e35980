package anydriver_test

import (
	"testing"

	"github.com/bravellian/pawl/internal/enginetest"
	sqlite "github.com/bravellian/pawl/internal/sql/sqlite/anydriver"
	"github.com/bravellian/pawl/outbox"
)

// OBX-100: commits of another process wake a waiter because the system reports them, without a
// poll.
func TestCommitOfAnotherProcessWakesWithoutAPoll(t *testing.T) {
	db, path := migrated(t)
	sqlite.NeverPoll(db)
	s := db.Waiter(enginetest.Queue)
	defer s.Close()
	for range 3 {
		p := start(t, "enqueue", path, "")
		woken := enginetest.Asleep(t, s)
		p.begin()
		enginetest.WantWoken(t, woken)
		p.wait()
	}
}

// OBX-100: so do those of another handle of this process, whose waiters sleep as well.
func TestCommitOfAnotherHandleWakesWithoutAPoll(t *testing.T) {
	db, path := migrated(t)
	other := open(t, path)
	sqlite.NeverPoll(db)
	sqlite.NeverPoll(other)
	s, theirs := db.Waiter(enginetest.Queue), other.Waiter("another")
	defer s.Close()
	defer theirs.Close()
	for range 10 {
		theirsWoken := enginetest.Asleep(t, theirs)
		woken := enginetest.Asleep(t, s)
		enginetest.Put(t, other, 1)
		enginetest.WantWoken(t, woken)
		enginetest.Put(t, db, 1)
		enginetest.WantWoken(t, theirsWoken)
	}
}

// OBX-100: so does the program's own transaction.
func TestTransactionOfTheProgramWakesWithoutAPoll(t *testing.T) {
	db, _ := migrated(t)
	sqlite.NeverPoll(db)
	o := outbox.New(db, outbox.Options{})
	s := db.Waiter(outbox.DefaultQueue)
	defer s.Close()
	for range 10 {
		woken := enginetest.Asleep(t, s)
		tx, err := db.SQL().BeginTx(t.Context(), nil)
		enginetest.Must(t, err)
		_, err = o.EnqueueTx(t.Context(), tx, outbox.Message{Topic: "t", Queue: "another"}) // of which nobody is notified here
		enginetest.Must(t, err)
		enginetest.Must(t, tx.Commit())
		enginetest.WantWoken(t, woken)
	}
}

// OBX-100: where the system does not report writes, the watcher notices that and polls.
func TestPollsWhereNothingIsReported(t *testing.T) {
	db, path := migrated(t)
	other := open(t, path)
	sqlite.WatchAnother(db)
	s := db.Waiter(enginetest.Queue)
	defer s.Close()
	for sqlite.ReliesOnReports(db) {
		woken := enginetest.Asleep(t, s)
		enginetest.Put(t, other, 1)
		enginetest.WantWoken(t, woken)
	}
	woken := enginetest.Asleep(t, s)
	enginetest.Put(t, other, 1)
	enginetest.WantWoken(t, woken)
}
