package anydriver_test

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	sqlite "github.com/bravellian/pawl/internal/sql/sqlite/anydriver"
	"github.com/bravellian/pawl/internal/test/enginetest"
)

// OBX-122: where commits have to be polled for, an idle process does so 20 times a second,
// however many waiters it has.
func TestWaitersShareTheirPolls(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	synctest.Test(t, func(t *testing.T) {
		var counts counting
		db, err := sqlite.OpenWith(counts.connect, path)
		enginetest.Must(t, err)
		defer func() { _ = db.Close() }()
		enginetest.Must(t, db.Migrate(t.Context()))
		for range 5 {
			s := db.Waiter(enginetest.Queue)
			_, err := s.Subscribe(t.Context())
			enginetest.Must(t, err)
			go func() {
				defer s.Close()
				s.Sleep(t.Context(), time.Minute)
			}()
		}
		time.Sleep(30 * time.Second)
		if n := counts.queried.count("data_version"); n < 500 || n > 650 {
			t.Errorf("%d polls in 30 s", n)
		}
		time.Sleep(time.Minute)
		before := counts.queried.count("data_version")
		time.Sleep(time.Minute)
		if n := counts.queried.count("data_version"); n != before {
			t.Errorf("%d polls while nobody sleeps", n-before)
		}
	})
}

// OBX-122: a commit that pawl's writer made wakes only those whom it concerns.
func TestOwnCommitsWakeNobodyElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	synctest.Test(t, func(t *testing.T) {
		db, err := sqlite.Open(path)
		enginetest.Must(t, err)
		defer func() { _ = db.Close() }()
		enginetest.Must(t, db.Migrate(t.Context()))
		s := db.Waiter("another")
		defer s.Close()
		_, err = s.Subscribe(t.Context())
		enginetest.Must(t, err)
		go func() {
			time.Sleep(time.Second)
			ids := enginetest.Put(t, db, 2)
			time.Sleep(time.Second)
			var got []enginetest.Message
			owner := enginetest.Token()
			enginetest.Do(t, db, enginetest.Claim(owner, time.Hour, 2, &got))
			enginetest.Do(t, db, enginetest.Ack(owner, enginetest.Span{Lo: ids[0], N: 2}))
		}()
		if s.Sleep(t.Context(), 10*time.Second) {
			t.Error("woken")
		}
	})
}
