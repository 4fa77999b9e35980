package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/internal/test/testpg"
)

// levelled makes a role whose transactions begin at an isolation level, and which
// may use a schema with pawl's tables, and returns its connection string.
func levelled(t *testing.T, p *enginetest.Place, level string) string {
	t.Helper()
	name, address := role(t)
	enginetest.Migrated(t, p)
	admin(t, fmt.Sprintf(`ALTER ROLE %q SET default_transaction_isolation = '%s'`, name, level),
		fmt.Sprintf(`GRANT USAGE ON SCHEMA %q TO %q`, p.Names.Schema, name),
		fmt.Sprintf(`GRANT ALL ON ALL TABLES IN SCHEMA %q TO %q`, p.Names.Schema, name),
		fmt.Sprintf(`GRANT ALL ON ALL SEQUENCES IN SCHEMA %q TO %q`, p.Names.Schema, name),
		fmt.Sprintf(`GRANT EXECUTE ON ALL ROUTINES IN SCHEMA %q TO %q`, p.Names.Schema, name))
	return address
}

// TestIsolation is an operation that answers at what isolation level it runs, TestFails one that fails.
type (
	TestIsolation struct{ engine.Rows[level] }
	TestFails     struct{ engine.Changes }
	level         struct{ Level string }
)

// addOperations gives db both.
func addOperations(t *testing.T, db *postgres.DB) {
	t.Helper()
	enginetest.Must(t, postgres.AddOperation(db, TestIsolation{}, "SELECT current_setting('transaction_isolation') AS level"))
	enginetest.Must(t, postgres.AddOperation(db, TestFails{}, "SELECT 1 / (SELECT 0)"))
}

// seen is the isolation level that a call ran at.
func seen(levels *[]string) *engine.Call {
	return engine.Each(TestIsolation{}, func(l *level, unread error) error {
		*levels = append(*levels, l.Level)
		return unread
	})
}

// D-113: pawl's own transactions run at read committed, whatever the role's default
// is, on a pool of its own and on one that it was given, from the first transaction
// of a connection on, and in every mode of sending statements.
func TestOwnTransactionsAreReadCommitted(t *testing.T) {
	for _, level := range []string{"read committed", "repeatable read", "serializable"} {
		for _, mode := range []string{"cache_statement", "exec", "simple_protocol"} {
			t.Run(level+"/"+mode, func(t *testing.T) {
				t.Parallel()
				p := place()(t)
				url := with(levelled(t, p, level), "pool_max_conns=1", "default_query_exec_mode="+mode)
				given, err := pgxpool.New(t.Context(), url)
				enginetest.Must(t, err)
				t.Cleanup(given.Close)
				onGiven, err := postgres.New(given, postgres.Options{Schema: p.Names.Schema})
				enginetest.Must(t, err)
				for _, db := range []*postgres.DB{open(t, url, postgres.Options{Schema: p.Names.Schema}), onGiven} {
					ownLevels(t, db)
					var users string // and yours stay as they were
					enginetest.Must(t, db.Pool().QueryRow(t.Context(), "SHOW transaction_isolation").Scan(&users))
					if users != level {
						t.Errorf("a transaction of the user's is %s, want %s", users, level)
					}
					if n := db.Pool().Stat().NewConnsCount(); n != 1 {
						t.Errorf("%d connections were made, want 1", n)
					}
				}
			})
		}
	}
}

// ownLevels insists on read committed in all that pawl does on a connection.
func ownLevels(t *testing.T, db *postgres.DB) {
	t.Helper()
	addOperations(t, db)
	var got []string
	for range 3 {
		enginetest.Must(t, db.Do(t.Context(), seen(&got)))
		enginetest.Must(t, db.Do(t.Context(), seen(&got), seen(&got)))
		enginetest.Must(t, db.Read(t.Context(), seen(&got)))
		if err := db.Do(t.Context(), seen(&got), engine.Ask(TestFails{})); err == nil {
			t.Error("a division by zero succeeded")
		}
		enginetest.Must(t, db.InTx(t.Context(), func(ctx context.Context, tx engine.Tx) error {
			own, _ := postgres.Pgx(tx)
			var at string
			err := own.QueryRow(ctx, "SHOW transaction_isolation").Scan(&at)
			got = append(got, at)
			return err
		}))
		enginetest.Put(t, db, 1)
	}
	if len(got) != 18 || slices.ContainsFunc(got, func(at string) bool { return at != "read committed" }) {
		t.Errorf("%d transactions ran at %v, want read committed", len(got), slices.Compact(got))
	}
}

// D-113: the first transaction on a connection fails: the connection stays, and so
// does what was learned of it.
func TestAFirstTransactionThatFailsKeepsItsConnection(t *testing.T) {
	p := place()(t)
	db := open(t, with(levelled(t, p, "serializable"), "pool_max_conns=1"), postgres.Options{Schema: p.Names.Schema})
	addOperations(t, db)
	for range 3 {
		if err := db.Do(t.Context(), engine.Ask(TestFails{})); err == nil {
			t.Error("a division by zero succeeded")
		}
	}
	enginetest.Put(t, db, 1)
	if n := db.Pool().Stat().NewConnsCount(); n != 1 {
		t.Errorf("%d connections were made, want 1", n)
	}
}

// D-113: the default of a pooled connection is changed while pawl is not using it: a routine
// that refuses the level is called again at the right one.
func TestAnIsolationLevelThatChangesIsNoticed(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	db := open(t, with(testpg.URL(t), "pool_max_conns=1"), postgres.Options{Schema: p.Names.Schema})
	ids := enginetest.Put(t, db, 2)
	owner := enginetest.Token()
	enginetest.Take(t, db, owner, 2)
	_, err := db.Pool().Exec(t.Context(), "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE")
	enginetest.Must(t, err)
	addOperations(t, db)
	var got []string
	ack := enginetest.Ack(owner, enginetest.Span{Lo: ids[0], N: 1})
	enginetest.Must(t, db.Do(t.Context(), ack))
	enginetest.Must(t, db.Do(t.Context(), seen(&got)))
	if ack.N != 1 || !slices.Equal(got, []string{"read committed"}) {
		t.Errorf("acked %d, afterwards at %v", ack.N, got)
	}
}

// D-113: routines that need to see what others committed while they waited refuse
// transactions that do not: in SQL at the call, with what to do about it.
func TestRoutinesThatNeedFreshSnapshotsRefuseOthers(t *testing.T) {
	p := place()(t)
	db := enginetest.Migrated(t, p)
	enginetest.Put(t, db, 1)
	const id = "gen_random_uuid()"
	for _, call := range []string{
		"outbox_enqueue_unique('t', 'x'::text, 'k')", "outbox_set_result(" + id + ", 1, 'x')", "outbox_ack(" + id + ", '{1}')", "outbox_fail(" + id + ", '{1}')", "outbox_join_attach(" + id + ", " + id + ")",
		"outbox_join_report(" + id + ", " + id + ")", "outbox_join_cancel(" + id + ")", "outbox_redrive('{1}')", "outbox_claim(" + id + ", 30)", "outbox_cancel('{1}', NULL)",
		"job_delete('none')", "outbox_purge(interval '1 h', 1)", "outbox_join_purge(interval '1 h', 1)", "outbox_unpark_runs('none', 1)",
	} {
		for _, level := range []sql.IsolationLevel{sql.LevelRepeatableRead, sql.LevelSerializable} {
			tx, err := p.SQL.BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
			enginetest.Must(t, err)
			_, err = tx.ExecContext(t.Context(), p.Names.Render("SELECT pawl."+call))
			enginetest.WantClass(t, postgres.Wrapped(err), engine.ErrIsolation)
			enginetest.Must(t, tx.Rollback())
		}
	}
}

// D-113: the class of a refused transaction is returned, and it is not retried.
func TestRefusedIsolationIsNotRetried(t *testing.T) {
	p := place()(t)
	db := enginetest.Migrated(t, p)
	tx, err := p.Pool(db).BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelSerializable})
	enginetest.Must(t, err)
	defer func() { _ = tx.Rollback() }()
	err = db.DoTx(t.Context(), tx, engine.Ask(op.JoinEnd{JoinID: [16]byte{1}, Status: 3}))
	enginetest.WantClass(t, err, engine.ErrIsolation)
	if engine.Retryable(err) || errors.Is(err, engine.ErrSerialization) {
		t.Errorf("%v is called passing", err)
	}
}
