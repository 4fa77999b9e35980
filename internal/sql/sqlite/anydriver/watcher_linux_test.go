package anydriver_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bravellian/pawl/internal/enginekit/filewatch"
	sqlite "github.com/bravellian/pawl/internal/sql/sqlite/anydriver"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
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

// OBX-100: a commit that was under way when the watch was armed wakes a waiter, without a report
// and long before it polls.
func TestCommitUnderWayWakesWithoutAPoll(t *testing.T) {
	db, path := migrated(t)
	other := open(t, path)
	sqlite.NeverPoll(db)
	s := db.Waiter(enginetest.Queue)
	defer s.Close()
	for range 3 {
		woken := enginetest.Asleep(t, s)
		sqlite.LoseReport(db)
		enginetest.Put(t, other, 1)
		enginetest.WantWoken(t, woken)
	}
}

// OBX-100: so does the program's own transaction.
func TestTransactionOfTheProgramWakesWithoutAPoll(t *testing.T) {
	db, _ := migrated(t)
	sqlite.NeverPoll(db)
	o := parts.NewOutbox(db, worker.Options{})
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

// OBX-122: pawl's own writes are not taken for another's, which would have the watcher check for a
// commit that does not come: a message of an idle worker took three times the processor time.
func TestOwnWritesAreNotReported(t *testing.T) {
	db, _ := migrated(t)
	s := db.Waiter(enginetest.Queue)
	defer s.Close()
	marker := filepath.Join(t.TempDir(), "marker")
	enginetest.Must(t, os.WriteFile(marker, nil, 0o600))
	passed := make(chan struct{}, 1)
	last := filewatch.New(func() { passed <- struct{}{} })
	defer last.Close()
	for range 10 {
		_, err := s.Subscribe(t.Context())
		enginetest.Must(t, err)
		enginetest.Put(t, db, 1)
		if !last.Arm(marker) {
			t.Fatal("cannot watch")
		}
		enginetest.Must(t, os.WriteFile(marker, []byte("x"), 0o600))
		<-passed // reports come in the order of the writes
		if sqlite.Reported(db) {
			t.Fatal("a commit of another is expected")
		}
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
