package sqlserver_test

import (
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/sqlserver/internal/tdstest"
)

// emptySchema answers a database without pawl's tables, whose migrations succeed; but fails what
// is of a kind, or contains a text with an underscore.
func emptySchema(failing string, failure tdstest.Answer) tdstest.Handler {
	return func(r *tdstest.Request) tdstest.Answer {
		switch {
		case string(r.Kind) == failing, strings.Contains(failing, "_") && strings.Contains(r.SQL, failing):
			return failure
		case strings.HasPrefix(r.SQL, "SELECT version"):
			return tdstest.Answered(tdstest.Rows(columnsOf("version name checksum lowest applied_at")))
		case strings.HasPrefix(r.SQL, "SELECT kind"):
			return tdstest.Answered(tdstest.Rows(columnsOf("kind name checksum")))
		}
		return tdstest.Answer{}
	}
}

func columnsOf(names string) (all []tdstest.Column) {
	for name := range strings.FieldsSeq(names) {
		all = append(all, tdstest.Column{Name: name, Type: tdstest.NVarCharMax})
	}
	return all
}

// D-100: a migration is one transaction, which takes the lock of migrations first; its
// batches are sent one by one, and none contains GO. Types are committed before (D-500).
func TestMigrationOnTheWire(t *testing.T) {
	w := onWire(t, emptySchema("", tdstest.Answer{}))
	enginetest.Must(t, w.Migrate(t.Context()))
	all := w.requests()
	if kinds := w.kinds(); !strings.HasPrefix(kinds, "begin ") || !strings.HasSuffix(kinds, " commit") || strings.Count(kinds, "begin") != 2 || strings.Contains(kinds, "rollback") {
		t.Errorf("asked %q", kinds)
	}
	var texts []string
	for _, r := range all {
		texts = append(texts, r.SQL)
		for line := range strings.Lines(r.SQL) {
			if strings.EqualFold(strings.TrimSpace(line), "GO") {
				t.Errorf("a batch with GO: %s", r)
			}
		}
		if r.Kind != tdstest.Begin && r.Transaction == 0 {
			t.Errorf("outside of the transaction: %s", r)
		}
	}
	inOrder(t, strings.Join(texts, "\n"), "SET XACT_ABORT ON", "sp_getapplock", "SCHEMA_ID(", "CREATE TYPE", "SET XACT_ABORT ON", "sp_getapplock", "SET LOCK_TIMEOUT 5000", "pawl_schema", "SELECT version",
		"CREATE TABLE", "outbox_message", "INSERT INTO", "pawl_schema", "CREATE PROCEDURE", "INSERT INTO", "pawl_object", "SET LOCK_TIMEOUT -1", "XACT_ABORT OFF")
}

// D-100: a migration that fails half-way is rolled back as a whole; whether it was
// committed is unknown only when the commit was under way.
func TestFailedMigrationOnTheWire(t *testing.T) {
	aborted := tdstest.Failed(2714, "There is already an object named 'x' in the database.")
	ended := aborted
	ended.Transaction = tdstest.RolledBack
	for name, c := range map[string]struct {
		at      string
		failure tdstest.Answer
		class   error
		end     string
		typed   bool // the types were made before
	}{
		"an error in the schema":            {`outbox_message" (`, aborted, nil, "rollback", true},
		"one that undid the transaction":    {`outbox_message" (`, ended, nil, "batch", true},
		"an error in a routine":             {"outbox_claim_queue", aborted, nil, "rollback", true},
		"the lock is not to be had":         {"sp_getapplock", tdstest.Failed(51222, "the lock of migrations was not to be had"), nil, "rollback", false},
		"an error in the types":             {"timer_list", aborted, nil, "rollback", false},
		"a table is locked":                 {`outbox_message" (`, tdstest.Failed(1222, "Lock request time out period exceeded."), engine.ErrBusy, "rollback", true},
		"the connection is cut in between":  {"outbox_claim_queue", tdstest.Dropped(tdstest.Before), engine.ErrConnLost, "batch", true},
		"the connection is cut at the end":  {"commit", tdstest.Dropped(tdstest.Before), engine.ErrCommitUnknown, "commit", false},
		"the commit fails":                  {"commit", tdstest.Failed(3960, "Snapshot isolation transaction aborted."), engine.ErrSerialization, "commit", false},
		"the right to create is missing":    {"SCHEMA_ID", tdstest.Failed(262, "CREATE SCHEMA permission denied."), nil, "rollback", false},
		"the transaction could not be made": {"begin", tdstest.Failed(3906, "the database is read-only."), engine.ErrReadOnly, "begin", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := onWire(t, emptySchema(c.at, c.failure))
			err := w.Migrate(t.Context())
			if c.class != nil {
				enginetest.WantClass(t, err, c.class)
			} else if err == nil || engine.Retryable(err) {
				t.Error(err)
			}
			kinds, commits := w.kinds(), 0
			if c.typed {
				commits = 1
			}
			if !strings.HasSuffix(kinds, c.end) || c.end != "commit" && strings.Count(kinds, "commit") != commits {
				t.Errorf("asked %q", kinds)
			}
		})
	}
}

// answerBlocks answers blocks of ids, from the first one on.
func answerBlocks(first int) tdstest.Handler {
	return func(r *tdstest.Request) tdstest.Answer {
		if !strings.Contains(r.SQL, "outbox_next_block") {
			return tdstest.Answer{}
		}
		columns := append([]tdstest.Column{{Name: "block", Type: tdstest.BigInt}}, tdstest.Column{Name: "mark", Type: tdstest.NVarCharMax},
			tdstest.Column{Name: "number", Type: tdstest.BigInt}, tdstest.Column{Name: "written", Type: tdstest.BigInt})
		first++
		return tdstest.Answered(tdstest.Rows(columns, []any{first - 1, "mark", 1, nil}))
	}
}

// Ids come from blocks, one round trip for each; a caller's transaction whose pool has no
// connection to spare draws its own.
func TestBlocksOnTheWire(t *testing.T) {
	w := onWire(t, answerBlocks(7))
	for i := range 3 {
		lo, err := w.ReserveIDs(t.Context(), nil, 10)
		enginetest.Must(t, err)
		if want := int64(7*engine.BlockSize + 10*i); lo != want {
			t.Errorf("ids from %d, want %d", lo, want)
		}
	}
	if w.kinds() != "batch" || w.server.Cancellations() != 0 {
		t.Errorf("asked %q, %d cancellations", w.kinds(), w.server.Cancellations())
	}
	w = onWire(t, func(r *tdstest.Request) tdstest.Answer {
		if r.Kind == tdstest.Batch {
			return tdstest.Answered(tdstest.Rows([]tdstest.Column{{Name: "block", Type: tdstest.BigInt}}, []any{9}))
		}
		return tdstest.Answer{}
	})
	tx, err := w.pool.BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	lo, err := w.ReserveIDs(t.Context(), tx, 4)
	if err != nil || lo != 9*engine.BlockSize {
		t.Errorf("ids from %d, %v", lo, err)
	}
	if r := w.requests(); w.kinds() != "begin batch" || !strings.Contains(r[1].SQL, "NEXT VALUE FOR") || r[1].Transaction == 0 {
		t.Errorf("asked %q", w.kinds())
	}
	enginetest.Must(t, tx.Rollback())
}

// D-4: blocks are asked for again when that failed for a passing reason, and no commit is
// unknown where there is none of the caller's.
func TestBlocksFailOnTheWire(t *testing.T) {
	failures, blocks := 2, answerBlocks(1)
	w := onWire(t, func(r *tdstest.Request) tdstest.Answer {
		if failures--; failures >= 0 {
			return tdstest.Failed(1205, "deadlock victim")
		}
		return blocks(r)
	})
	_, err := w.ReserveIDs(t.Context(), nil, 1)
	enginetest.Must(t, err)
	w = onWire(t, always(tdstest.Dropped(tdstest.Before)))
	_, err = w.ReserveIDs(t.Context(), nil, 1)
	enginetest.WantClass(t, err, engine.ErrConnLost)
}

// Another mark over a new connection is another history: what was remembered is dropped.
func TestAnotherGenerationOnTheWire(t *testing.T) {
	w := onWire(t, answerBlocks(7))
	_, err := w.ReserveIDs(t.Context(), nil, 1)
	enginetest.Must(t, err)
	before := w.Generation()
	w.setMark("another")
	w.server.Cut()
	enginetest.Until(t, "the generation is another", func() bool {
		_ = w.do(extend()) // the first one finds the connection cut
		return w.Generation() != before
	})
	prepared := extend()
	prepared.Generation = before
	w.now(always(changes(1)))
	enginetest.WantClass(t, w.do(prepared), engine.ErrGeneration)
	if n := w.HistoryChanges(); n != 1 {
		t.Errorf("%d changes", n)
	}
}
