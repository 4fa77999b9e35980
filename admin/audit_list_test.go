package admin_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

func (f *fixture) notes(n int) []audit.Entry {
	f.t.Helper()
	for i := range n {
		ctx := admin.WithActor(f.ctx(), []string{"a", "b"}[i%2])
		f.check(f.db.Do(f.ctx(), audit.New(ctx, strconv.Itoa(i)).Call([]string{audit.Fix, audit.Cancel, audit.Pause}[i%3], 1)))
	}
	return f.trail(audit.Options{})[:n]
}

func TestAuditPages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		all := f.notes(23)
		_, err := f.db.SQL.ExecContext(f.ctx(), "UPDATE "+f.db.Table("audit_trail")+" SET at = (SELECT max(x.at) FROM "+f.db.Table("audit_trail")+" x)") // all at once
		f.check(err)
		seen := map[uuid.UUID]bool{}
		for _, limit := range []int{1, 7, 23, 100} {
			clear(seen)
			var filter audit.Options
			for page := f.trail(filter); len(page) > 0; page = f.trail(filter) {
				page = page[:min(limit, len(page))]
				for _, entry := range page {
					if seen[entry.ID] {
						t.Fatalf("%v came twice", entry.ID)
					}
					seen[entry.ID] = true
				}
				filter.After = &page[len(page)-1]
			}
			if len(seen) != 23 {
				t.Fatalf("paged through %d of 23 by %d", len(seen), limit)
			}
		}
		for i, entry := range all {
			if entry.Target != strconv.Itoa(22-i) {
				t.Fatalf("entry %d is %+v: not newest first", i, entry)
			}
		}
	})
}

func TestAuditFilters(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.notes(12)
		for _, c := range []struct {
			filter audit.Options
			want   string
		}{
			{audit.Options{}, "[11 10 9 8 7 6 5 4 3 2 1 0]"},
			{audit.Options{Actor: "a"}, "[10 8 6 4 2 0]"},
			{audit.Options{Action: audit.Cancel}, "[10 7 4 1]"},
			{audit.Options{Actor: "b", Action: audit.Cancel}, "[7 1]"},
			{audit.Options{Actor: "A"}, "[]"},
			{audit.Options{Actor: "%"}, "[]"},
			{audit.Options{Action: "'"}, "[]"},
		} {
			got := []string{}
			for _, entry := range f.trail(c.filter) {
				got = append(got, entry.Target)
			}
			if fmt.Sprint(got) != c.want {
				t.Errorf("%+v found %v, want %s", c.filter, got, c.want)
			}
		}
	})
}

func TestAuditCleanUp(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.notes(6)
		table := f.db.Table("audit_trail")
		for _, change := range []string{"at = " + f.db.Earlier("at", 366*24*time.Hour) + " WHERE target < '3'", "at = " + f.db.Earlier("at", 364*24*time.Hour) + " WHERE target = '4'"} {
			_, err := f.db.SQL.ExecContext(f.ctx(), "UPDATE "+table+" SET "+change)
			f.check(err)
		}
		if n, err := audit.CleanUp(f.ctx(), f.db.DB); n != 3 || err != nil {
			t.Fatalf("forgot %d, want 3: %v", n, err)
		}
		if n, err := audit.CleanUp(f.ctx(), f.db.DB); n != 0 || err != nil {
			t.Fatal(n, err)
		}
		if all := f.trail(audit.Options{}); len(all) != 3 {
			t.Fatalf("left are %+v", all)
		}
		_, err := f.db.SQL.ExecContext(f.ctx(), "UPDATE "+table+" SET at = "+f.db.Earlier("at", 366*24*time.Hour))
		f.check(err)
		f.check(f.Internal(access.Key{}).CleanUp(f.ctx())) // the pawl's
		if all := f.trail(audit.Options{}); len(all) != 0 {
			t.Fatalf("left are %+v", all)
		}
	})
}

func TestAuditConcurrently(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		const n = 300
		f.failed(n)
		var busy sync.WaitGroup
		var sums [4]int64
		for i := range sums {
			w := f
			if i%2 == 1 {
				w = f.another(pawl.Options{})
			}
			busy.Go(func() {
				got, err := w.Outbox.Redrive(admin.WithActor(f.ctx(), strconv.Itoa(i)), outbox.FailedFilter{Topic: "p"})
				if err != nil {
					t.Error(err)
				}
				sums[i] = got.Changed
			})
		}
		busy.Wait()
		var noted int64
		for _, entry := range f.trail(audit.Options{Action: audit.Redrive}) {
			i, err := strconv.Atoi(entry.Actor)
			f.check(err)
			if entry.Count != sums[i] {
				t.Errorf("%d was noted of %d", entry.Count, sums[i])
			}
			noted += entry.Count
		}
		if total := sums[0] + sums[1] + sums[2] + sums[3]; total != n || noted != n {
			t.Fatalf("redrove %v, noted %d, of %d", sums, noted, n)
		}
		f.counts(outbox.Counts{Ready: n})
		f.db.CheckPlaces(t)
	})
}
