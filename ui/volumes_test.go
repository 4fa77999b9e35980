package ui_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/postgres"
	"github.com/bravellian/pawl/sqlite"
	"github.com/bravellian/pawl/ui"
)

const (
	maxBytes      = 200_000 // of a page
	maxStatements = 40      // for a page that nobody looked at before; one that failures are on takes one more for 10 000 of them
)

// maxBuffers bounds what the largest statement of a page reads: of topics and queues a part, of failures and messages 10 000 rows,
// each of which takes several buffers.
func maxBuffers(path string) int {
	switch page, _, _ := strings.Cut(path, "?"); page {
	case "failed", "topic", "queue":
		return 90_000
	case "messages":
		return 250_000
	}
	return 2000
}

// D-659: with 1 000 000 messages of 5 000 topics that fail in 10 000 ways no page has more than 200 kB, and what each
// reads is bounded: statements, and the buffers of each.
func TestVolumesOfMessages(t *testing.T) {
	db := dbtest.OpenPostgres(t)
	a := &asked{DB: db.DB}
	p, err := pawl.New(a, pawl.Options{Logger: quiet()})
	f := &fixture{Pawl: p, t: t, db: db}
	f.check(err)
	const lane = "4828129222919567135, " // that of the queue "default"
	for _, text := range []string{
		"outbox_message (id, message_id, supplied, lane, created_at, topic, payload) SELECT i, gen_random_uuid(), true, " + lane + "now() - (1000000 - i) * interval '10 milliseconds', 'topic-with-a-rather-long-name-' || i % 5000, 'x' FROM generate_series(1, 1000000) i",
		"outbox_done (lo, n, processed_at, owner) SELECT i, 1, now(), gen_random_uuid() FROM generate_series(1, 500000) i WHERE i % 33 > 0",
		"outbox_exception (id, status, last_error, fingerprint, updated_at) SELECT i, 3, 'refused “' || i || '”', 'refused by partner ' || i / 33 % 10000, now() FROM generate_series(1, 1000000) i WHERE i % 33 = 0",
		"outbox_ready (lane, at, lo, n) SELECT " + lane + "now() - (1000000 - i) * interval '10 milliseconds', i, 1 FROM generate_series(500001, 999000) i WHERE i % 33 > 0",
		"outbox_claim (lo, n, lane, at, retry, owner, locked_until) SELECT i, 1, " + lane + "now(), 0, gen_random_uuid(), now() + interval '1 hour' FROM generate_series(999001, 1000000) i WHERE i % 33 > 0",
	} {
		f.check2(db.SQL.ExecContext(f.ctx(), "INSERT INTO "+db.Table("")+text))
	}
	for _, name := range []string{"message", "done", "exception", "ready", "claim"} {
		f.check2(db.SQL.ExecContext(f.ctx(), "VACUUM ANALYZE "+db.Table("outbox_"+name)))
	}
	failed := f.newestFailed()
	for _, path := range []string{
		"", "problems", "messages", "messages?status=failed", "messages?status=ready&topic=topic-with-a-rather-long-name-7", "messages?topic=none", "messages/" + failed, "failed", "failed?topic=topic-with-a-rather-long-name-33",
		"failed?error=none", "topics", "topics?sort=-Waiting", "topic?name=topic-with-a-rather-long-name-33", "queue?name=default", "find?q=topic-with-a-rather-long-name-4999", "bulk", "joins", "inbox", "timers", "jobs", "leases", "workers", "audit",
	} {
		s := serve(t, ui.Of(p), ui.Options{}) // nobody looked at it before
		a.all = nil
		status, body, _ := get(t, s, path)
		all := a.all
		most, largest := 0, ""
		for _, o := range all {
			if n := buffers(t, db, o); n > most {
				most, largest = n, engine.NameOf(o)
			}
		}
		if status >= http.StatusBadRequest || len(body) > maxBytes || len(all) > maxStatements || most > maxBuffers(path) {
			t.Errorf("%s: %d, %d bytes, %d statements, of which the largest reads %d buffers: %s", path, status, len(body), len(all), most, largest)
		} else {
			t.Logf("%s: %d bytes, %d statements, of which the largest reads %d buffers: %s", path, len(body), len(all), most, largest)
		}
	}
}

// newestFailed is the position of a message that failed.
func (f *fixture) newestFailed() string {
	f.t.Helper()
	for m, err := range f.Outbox.List(f.ctx(), outbox.ListOptions{Status: outbox.Failed}) {
		f.check(err)
		return fmt.Sprint(int64(m.Position))
	}
	f.t.Fatal("none failed")
	return ""
}

// D-659: of a fleet of 12 stores that answer, and of one of 1 000 that do not, no page has more than 200 kB.
func TestVolumesOfStores(t *testing.T) {
	for _, n := range []int{12, 1000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			dir := t.TempDir()
			var all []fleet.Database
			for i := range n {
				url := "postgres://u@127.0.0.1:1/none" // nobody listens
				if n == 12 {
					url = "sqlite:" + filepath.Join(dir, fmt.Sprint(i, ".db"))
				}
				all = append(all, fleet.Database{Key: fmt.Sprintf("tenant-with-a-name-%04d", i), URL: url})
			}
			f, err := fleet.New(fleet.Static(all...), fleet.Options{Engines: map[string]fleet.Opener{"sqlite": sqlite.OpenURL, "postgres": postgres.OpenURL}, Pawl: pawl.Options{Logger: quiet(), EnableSchemaDeployment: true}})
			if err == nil {
				err = f.Refresh(t.Context())
			}
			if err == nil && n == 12 {
				err = f.MigrateAll(t.Context(), "")
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = f.Close() })
			s := serve(t, ui.OfFleet(f), ui.Options{})
			for _, path := range []string{"", "stores", "problems", "messages", "failed", "topics", "bulk", "joins", "inbox", "timers", "jobs", "leases", "workers", "audit", "find?q=x", "messages?store=tenant-with-a-name-0003"} {
				if _, body, _ := get(t, s, path); len(body) > maxBytes || !strings.Contains(body, "tenant-with-a-name-0003") {
					t.Errorf("%s: %d bytes", path, len(body))
				} else {
					t.Logf("%s: %d bytes", path, len(body))
				}
			}
		})
	}
}
