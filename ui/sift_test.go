package ui_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/timer"
	"github.com/bravellian/pawl/ui"
)

// D-221: a filter that no index serves finds everything, page by page, and nothing twice.
func TestSiftedPages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		const n = 130 // every second one is meant
		for i := range n {
			which := "even"
			if i%2 == 1 {
				which = "odd"
			}
			f.check2(f.Timers.Schedule(f.ctx(), timer.Timer{Topic: which, Due: time.Now().Add(time.Duration(i+1) * time.Minute)}))
			key := inbox.Key{Source: "sifted", MessageID: fmt.Sprint(i)}
			f.check2(f.Inbox.AlreadyProcessed(f.ctx(), key))
			if which == "odd" {
				f.check2(f.Inbox.MarkDead(f.ctx(), key))
			}
			id, err := f.Joins.Start(f.ctx(), join.Spec{GroupingKey: "sifted", ExpectedSteps: 1})
			f.check(err)
			if which == "odd" {
				f.check2(f.Joins.Cancel(f.ctx(), id))
			}
		}
		s := serve(t, ui.Of(f.Pawl), ui.Options{})
		for _, path := range []string{"timers?topic=odd", "inbox?source=sifted&status=" + string(inbox.Dead), "joins?group=sifted&status=" + string(join.Cancelled)} {
			seen, after := map[string]bool{}, ""
			for pages := 1; ; pages++ {
				_, body, _ := get(t, s, "api/v1/"+path+"&after="+url.QueryEscape(after))
				var page struct {
					Items []json.RawMessage
					Next  string
				}
				f.check(json.Unmarshal([]byte(body), &page))
				for _, item := range page.Items {
					seen[string(item)] = true
				}
				if pages == 1 {
					if _, html, _ := get(t, s, path); strings.Count(html, "<tr>") != 51 || !strings.Contains(html, "Next page") {
						t.Errorf("%s: a page of %d rows", path, strings.Count(html, "<tr>")-1)
					}
				}
				if after = page.Next; after == "" || pages > 5 {
					break
				}
			}
			if len(seen) != n/2 {
				t.Errorf("%s: found %d of %d", path, len(seen), n/2)
			}
		}
	})
}

// D-221: where nothing matches a page reads so much, and leads on.
func TestSiftIsBounded(t *testing.T) {
	f := open(t, dbtest.Engine{Name: "sqlite", Open: dbtest.OpenSQLite})
	all := make([]timer.Timer, 12_000)
	for i := range all {
		all[i] = timer.Timer{Topic: "often", Due: time.Now().Add(time.Duration(i+120) * time.Minute)}
	}
	for rest := all; len(rest) > 0; rest = rest[min(len(rest), 1000):] {
		f.check2(f.Timers.ScheduleBatch(f.ctx(), rest[:min(len(rest), 1000)]))
	}
	s := serve(t, ui.Of(f.Pawl), ui.Options{})
	_, body, _ := get(t, s, "timers?topic=none")
	if !strings.Contains(body, "None of those that were read is meant") || !strings.Contains(body, "Read on</a>") {
		t.Errorf("%s", body)
	}
	if _, body, _ := get(t, s, "timers?topic=later"); !strings.Contains(body, "Of the 10\u202f000 that were read") || strings.Contains(body, "None of those") {
		t.Errorf("what is found is not shown: %s", body)
	}
}
