package sqlserver

import (
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/sqlserver/internal/tsqltest"
)

// D-824: no statement sorts payloads that it joined to a table variable: how many rows the server takes each row of
// the variable to find decides how much memory it asks for.
func TestPayloadsAreNotSorted(t *testing.T) {
	texts := sentTexts(t, engine.Names{Schema: "pawl"})
	for name, sent := range texts {
		for _, found := range tsqltest.Sorts(parsed(t, name, sent.text)) {
			t.Errorf("%s: %s", name, found)
		}
	}
	const claim = engine.Routines + "/outbox_claim_queue"
	other := strings.ReplaceAll(texts[claim].text, "ORDER BY r.nr, r.at, r.lo, m.id", "ORDER BY m.id")
	if got := tsqltest.Sorts(parsed(t, claim, other)); len(got) != 2 {
		t.Errorf("a claim that is sorted: %q", got)
	}
}

// D-841: a look for what has expired is bounded, or ends at the first: outbox_claimed, which has a row for each run that
// somebody holds, has no index on the end of leases (docs/decisions/0022-sqlserver.md).
func TestLooksForExpiredLeasesAreBounded(t *testing.T) {
	const expired = "locked_until < @now"
	texts := sentTexts(t, engine.Names{Schema: "pawl"})
	for routine, want := range map[string]int{"outbox_reap_runs": 3, "timer_reap": 2} {
		n := 0
		for statement := range strings.SplitSeq(texts[engine.Routines+"/"+routine].text, ";\n") {
			if !strings.Contains(statement, expired) {
				continue
			}
			n++
			bounded := strings.Contains(statement, "SELECT TOP (") || strings.Contains(statement, "IF NOT EXISTS (") || strings.Contains(statement, "FROM @pick p INNER LOOP JOIN")
			if !bounded {
				t.Errorf("%s looks at all leases:\n%s", routine, statement)
			}
		}
		if n != want {
			t.Errorf("%s has %d statements about leases that are over, not %d", routine, n, want)
		}
	}
}

// D-825: each table variable is made in tempdb at every call. What a claim has is what it needs; a text that declares
// more says why here.
func TestTableVariablesAreFew(t *testing.T) {
	const most = 4
	more := map[string]int{
		"outbox_sequence":             7, // what a claim in order of keys sees, locks and takes, and the messages of each
		"outbox_claim_open":           5, // beside the runs, the topics that are limited and their messages
		"outbox_retopic":              5,
		"backlog/messages":            7, // a count, by places
		"backlog/messages (caller's)": 7,
	}
	for name, sent := range sentTexts(t, engine.Names{Schema: "pawl"}) {
		limit := most
		if n := more[strings.TrimPrefix(name, engine.Routines+"/")]; n > 0 {
			limit = n
		}
		got := tsqltest.TableVariables(parsed(t, name, sent.text))
		if len(got) > limit || limit > most && len(got) < limit {
			t.Errorf("%s declares %d table variables, not %d: %q", name, len(got), limit, got)
		}
	}
}
