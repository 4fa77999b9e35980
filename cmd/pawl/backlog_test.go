package main

import (
	"encoding/csv"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// D-217: operators count what is in the database, by queue, topic and state.
func TestBacklog(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		d.must("", "migrate")
		if r := d.run("", "backlog"); r != (result{stderr: "no messages\n"}) {
			t.Errorf("none: %+v", r)
		}
		d.must("1\n2\n", "enqueue", "--topic", "t\x1b[2J", "--queue", "q", "--due", "1h")
		d.must("1\n", "enqueue", "--topic", "bad")
		d.run("", "work", "--topic", "bad", "--exec", "false", "--drain", "--quiet", "--max-attempts", "1")
		d.must("1\n2\n3\n", "enqueue", "--topic", "t")
		out := d.must("", "backlog")
		table := regexp.MustCompile(`^QUEUE +TOPIC +STATE +COUNT +OLDEST\ndefault +bad +failed +1\ndefault +t +ready +3 +\d+s\nq +t\\x1b\[2J +scheduled +2\n$`)
		if !table.MatchString(out) {
			t.Errorf("listed:\n%s", out)
		}
		var m amountJSON
		all := lines(d.must("", "backlog", "--json"))
		if len(all) != 3 {
			t.Fatalf("%q", all)
		}
		if decode(t, all[1], &m); m.Queue != "default" || m.Topic != "t" || m.State != "ready" || m.Count != 3 || m.Oldest <= 0 || m.More {
			t.Errorf("%+v", m)
		}
		rows, err := csv.NewReader(strings.NewReader(d.must("", "backlog", "-o", "csv"))).ReadAll()
		if err != nil || len(rows) != 4 || !slices.Equal(rows[1], []string{"default", "bad", "failed", "1", ""}) {
			t.Errorf("%q, %v", rows, err)
		}
	})
}

// D-217: more than was counted is shown as that.
func TestBacklogMore(t *testing.T) {
	l := backlogListing()
	m := amountJSON{}
	m.Queue, m.State, m.Count, m.More = "q", "ready", 9000, true
	if got := l.rows([]amountJSON{m})[1]; !slices.Equal(got, []string{"q", "", "ready", "9000+", ""}) {
		t.Errorf("%q", got)
	}
}

// D-217: of a fleet, each store's messages are counted.
func TestFleetBacklog(t *testing.T) {
	_, d := tenants(t)
	d.must("1\n2\n", "enqueue", "--topic", "t", "--store", "b")
	r := d.run("", "backlog")
	if got := lines(r.stdout); r.code != exitFailure || len(got) != 3 || !strings.HasPrefix(got[0], "STORE  QUEUE ") ||
		!strings.HasPrefix(got[1], "a      default  t      ready  1 ") || !strings.HasPrefix(got[2], "b      default  t      ready  3 ") {
		t.Errorf("%+v", r)
	}
	if out := d.must("", "backlog", "--store", "b", "--json"); !strings.HasPrefix(out, `{"queue":"default","topic":"t","state":"ready","count":3,"oldest":`) {
		t.Errorf("of one store: %s", out)
	}
}
