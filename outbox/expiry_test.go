package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// soon is how long messages of these tests live that are to expire.
const soon = 2 * time.Second

// waitUntil waits until a time has passed.
func (f *fixture) waitUntil(at time.Time) { f.db.Pass(time.Until(at) + time.Millisecond) }

// D-208: a message that expires is stored with the time and delivered with it until then.
func TestExpiryIsStored(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		at := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
		headers := map[string]string{"tenant": "a"}
		id := f.enqueue(outbox.Message{Expires: at, Headers: headers})
		plain := f.enqueue(outbox.Message{Expires: at})
		if len(headers) != 1 {
			t.Errorf("the caller's headers are %q", headers)
		}
		if i := f.get(id); !i.Expires.Equal(at) || len(i.Headers) != 1 || i.Headers["tenant"] != "a" {
			t.Errorf("%+v", i)
		}
		if i := f.get(plain); !i.Expires.Equal(at) || i.Headers != nil {
			t.Errorf("%+v", i)
		}
		_, msgs := f.claimExactly(2)
		for _, m := range msgs {
			if !m.Expires.Equal(at) {
				t.Errorf("%+v", m)
			}
		}
	})
}

// D-208: a message without a time of validity, or with one that another program could not read, is
// refused.
func TestExpiryIsChecked(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		due := time.Now().Add(time.Hour)
		f.refused("expiry")(f.Enqueue(f.ctx(), outbox.Message{Topic: "t", Due: due, Expires: due}))
		f.refused("expiry")(f.Enqueue(f.ctx(), outbox.Message{Topic: "t", Expires: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}))
		f.refused("headers")(f.Enqueue(f.ctx(), outbox.Message{Topic: "t", Headers: map[string]string{"pawl-expires": "tomorrow"}}))
	})
}

// D-208: a worker ends an expired message without an attempt; one that a claim of the program's own
// meets ends as well, and the others are returned.
func TestExpiredMessagesEnd(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		at := time.Now().Add(soon)
		late, fresh := f.enqueue(outbox.Message{Expires: at}), f.enqueue(outbox.Message{Expires: time.Now().Add(time.Hour)})
		f.waitUntil(at)
		_, msgs := f.claimExactly(1)
		if msgs[0].Position != fresh {
			t.Errorf("claimed %d, want %d", msgs[0].Position, fresh)
		}
		i := f.status(late, outbox.Expired)
		if i.RetryCount != 0 || i.LastError != "" || i.ProcessedAt != (time.Time{}) {
			t.Errorf("%+v", i)
		}
		if all, err := f.Operator(access.Key{}).Attempts(f.ctx(), late); err != nil || len(all) != 0 {
			t.Errorf("attempts %+v, %v", all, err)
		}
		f.touched(0)(f.Redrive(f.ctx(), outbox.FailedFilter{}))
		found, err := engine.Collect(f.List(f.ctx(), outbox.ListOptions{Status: outbox.Expired}), 100)
		if err != nil || len(found) != 1 || found[0].Position != late {
			t.Errorf("listed %+v, %v", found, err)
		}
	})
}

// D-208: no attempt of a message begins after its time, a retry neither, and what a worker holds
// is measured again when its turn comes.
func TestNoAttemptAfterExpiry(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, worker.Options{Concurrency: 1, StopWhenEmpty: true, Retry: &worker.RetryPolicy{Delay: func(int) time.Duration { return 0 }}})
		at := time.Now().Add(10 * time.Second) // the first attempt begins before, also on a slow machine
		tried := f.enqueue(outbox.Message{Topic: "t", Expires: at})
		held := f.enqueue(outbox.Message{Topic: "t", Expires: at})
		attempts := 0
		f.Handle("t", func(_ context.Context, m *outbox.Message) error {
			if m.Position == held {
				t.Error("an attempt began")
			}
			attempts++
			<-time.After(time.Until(at))
			return outbox.RetryAfter(0, errors.New("not yet"))
		})
		if err := f.Run(f.ctx()); err != nil {
			t.Fatal(err)
		}
		if attempts != 1 {
			t.Errorf("%d attempts", attempts)
		}
		f.status(held, outbox.Expired)
		if i := f.status(tried, outbox.Expired); i.RetryCount != 1 || i.LastError != "not yet" {
			t.Errorf("%+v", i)
		}
	})
}

// D-208: what waits in a batch until its time has passed is not in the call.
func TestExpiryInBatches(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, worker.Options{StopWhenEmpty: true})
		at := time.Now().Add(300 * time.Millisecond)
		late, fresh := f.enqueue(outbox.Message{Expires: at}), f.enqueue(outbox.Message{})
		var got []outbox.Position
		f.HandleBatch("t", func(_ context.Context, all []*outbox.Message) []error {
			for _, m := range all {
				got = append(got, m.Position)
			}
			return make([]error, len(all))
		}, outbox.BatchOptions{Wait: 500 * time.Millisecond})
		if err := f.Run(f.ctx()); err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || got[0] != fresh {
			t.Errorf("handled %d, want %d", got, fresh)
		}
		f.status(late, outbox.Expired)
	})
}

// D-208: an expired message is deleted with its attempts once the retention period is over.
func TestExpiredMessagesAreCleanedUp(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, worker.Options{Retention: time.Millisecond})
		id := f.enqueue(outbox.Message{Expires: time.Now().Add(time.Hour)})
		owner, msgs := f.claimExactly(1)
		f.touched(1)(f.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(0, errors.New("once")), msgs[0].Position))
		f.exec("UPDATE " + f.db.Table("outbox_message") + ` SET headers = '{"pawl-expires":"2026-01-01T00:00:00Z"}'`)
		f.claimExactly(0)
		f.status(id, outbox.Expired)
		f.waitUntil(time.Now().Add(10 * time.Millisecond))
		if _, err := f.CleanUp(f.ctx()); err != nil {
			t.Fatal(err)
		}
		if _, err := f.GetByPosition(f.ctx(), id); !errors.Is(err, outbox.ErrNotFound) {
			t.Errorf("%v", err)
		}
		if all, err := f.Operator(access.Key{}).Attempts(f.ctx(), id); err != nil || len(all) != 0 {
			t.Errorf("attempts %+v, %v", all, err)
		}
	})
}

// D-208: SQL sets the time by a header that is checked, and a claim through SQL ends what has
// expired, returning the others.
func TestExpiryInSQL(t *testing.T) { dbtest.Each(t, testExpiryInSQL) }

func testExpiryInSQL(t *testing.T, e dbtest.Engine) {
	if e.Name == "sqlite" {
		testExpiryHeaderOfOthers(t, e) // it has no routines
		return
	}
	f := open(t, e)
	at := time.Now().Add(soon)
	enqueue := func(expires string) error {
		query := `SELECT %soutbox_enqueue('t', 'x', headers => '{"tenant":"a","pawl-expires":"%s"}')`
		if e.Name == "sqlserver" {
			query = `EXEC %soutbox_enqueue @topic = N't', @payload = N'x', @headers = N'{"tenant":"a","pawl-expires":"%s"}'`
		}
		_, err := f.db.SQL.ExecContext(f.ctx(), fmt.Sprintf(query, f.db.Table(""), expires))
		return err
	}
	for _, bad := range []string{"tomorrow", "2026-13-45T00:00:00Z", "2026-11-23", "2026-11-23T10:00:00"} {
		if err := enqueue(bad); err == nil || !strings.Contains(err.Error(), "invalid argument: header pawl-expires") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for _, expires := range []time.Time{at, time.Now().Add(time.Hour)} {
		if err := enqueue(expires.In(time.FixedZone("", 2*3600)).Truncate(time.Microsecond).Format(time.RFC3339Nano)); err != nil {
			t.Fatal(err)
		}
	}
	join := f.enqueue(outbox.Message{Expires: at})
	f.waitUntil(at)
	claim := "SELECT * FROM %soutbox_claim('%s', 60, 100)"
	if e.Name == "sqlserver" {
		claim = "EXEC %soutbox_claim '%s', 60, 100"
	}
	if n := f.rows(fmt.Sprintf(claim, f.db.Table(""), outbox.NewOwnerToken())); n != 1 {
		t.Errorf("claimed %d, want 1", n)
	}
	f.counts(outbox.Counts{InProgress: 1, Expired: 2})
	f.status(join, outbox.Expired)
}

// D-208, D-9: a message whose time cannot be read fails alone.
func testExpiryHeaderOfOthers(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id := f.enqueue(outbox.Message{Headers: map[string]string{"k": "v"}})
	f.exec("UPDATE " + f.db.Table("outbox_message") + ` SET headers = '{"pawl-expires":"tomorrow"}'`)
	f.claimExactly(0)
	if i := f.status(id, outbox.Failed); !strings.Contains(i.LastError, "pawl-expires") {
		t.Errorf("%+v", i)
	}
}

// D-440, D-208: what expires while SQL claims it is not returned.
func TestExpiryDuringAClaimInSQL(t *testing.T) {
	f := open(t, dbtest.Engine{Name: "postgres", Open: dbtest.OpenPostgres})
	at := time.Now().Add(time.Second)
	id := f.enqueue(outbox.Message{Expires: at})
	f.exec(fmt.Sprintf(`CREATE FUNCTION %[1]s() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN PERFORM pg_sleep(1.1); RETURN NEW; END $f$;
		CREATE TRIGGER slow BEFORE INSERT ON %[2]s FOR EACH ROW EXECUTE FUNCTION %[1]s()`, f.db.Table("slow"), f.db.Table("outbox_claim")))
	if n := f.rows(fmt.Sprintf("SELECT * FROM %soutbox_claim('%s', 60, 100)", f.db.Table(""), outbox.NewOwnerToken())); n != 0 {
		t.Errorf("claimed %d messages that had expired", n)
	}
	f.status(id, outbox.Expired)
}
