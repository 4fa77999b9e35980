package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/internal/test/testpg"
)

// tenantOf makes a schema with a table that Citus manages, and its first shard, on this node.
func tenantOf(t *testing.T, catalog string) (table string, place func(shard, group int)) {
	t.Helper()
	tenant := schema(t)
	table = tenant + ".orders"
	place = func(shard, group int) {
		t.Helper()
		admin(t, fmt.Sprintf(`DELETE FROM %s.pg_dist_placement WHERE shardid = %d`, catalog, shard),
			fmt.Sprintf(`INSERT INTO %[1]s.pg_dist_shard VALUES ('%[2]s', %[3]d) ON CONFLICT DO NOTHING`, catalog, table, shard),
			fmt.Sprintf(`INSERT INTO %s.pg_dist_placement (shardid, shardstate, groupid) VALUES (%d, %d, %d)`, catalog, shard, map[bool]int{true: 1, false: 4}[group > 0], max(group, -group)))
	}
	admin(t, `CREATE SCHEMA `+tenant, `CREATE TABLE `+table+` (id int)`, `CREATE TABLE `+table+`_1 (id int)`, `CREATE VIEW `+table+`_view AS SELECT * FROM `+table)
	return table, place
}

// D-247: without Citus a table is on the node of its connection; what is no transaction is refused.
func TestOwnerWithoutCitus(t *testing.T) {
	db, name := openFake(t, "pg_catalog")
	enginetest.Must(t, db.Migrate(t.Context()))
	inBoth(t, func(tx any) {
		enginetest.Must(t, postgres.OnOwner(t.Context(), tx, name+".timer"))
		if err := postgres.OnOwner(t.Context(), tx, name+".none"); !errors.Is(err, postgres.ErrOtherNode) {
			t.Errorf("no table: %v", err)
		}
	})
	for _, none := range []any{nil, db.Pool(), pool(t, db), 1} {
		if err := postgres.OnOwner(t.Context(), none, name+".timer"); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("%T: %v", none, err)
		}
	}
}

// inBoth runs f in a transaction of pgx, and in one of database/sql.
func inBoth(t *testing.T, f func(tx any)) {
	t.Helper()
	inEach(t, sql.LevelReadCommitted, func(_ func(string), tx any) { f(tx) })
}

// inEach is inBoth at an isolation level; exec runs a statement in the transaction.
func inEach(t *testing.T, level sql.IsolationLevel, f func(exec func(text string), tx any)) {
	t.Helper()
	db := open(t, testpg.URL(t), postgres.Options{})
	own, err := db.Pool().BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.TxIsoLevel(strings.ToLower(level.String()))})
	enginetest.Must(t, err)
	f(func(text string) {
		t.Helper()
		_, err := own.Exec(t.Context(), text)
		enginetest.Must(t, err)
	}, own)
	enginetest.Must(t, own.Rollback(t.Context()))
	std, err := pool(t, db).BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
	enginetest.Must(t, err)
	defer func() { _ = std.Rollback() }()
	f(func(text string) {
		t.Helper()
		_, err := std.ExecContext(t.Context(), text)
		enginetest.Must(t, err)
	}, std)
}

// levels are those that OnOwner is asked at.
func levels() []sql.IsolationLevel {
	return []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable}
}

// D-247, D-520: OnOwner passes behind a write to the shards of this node, and fails a
// transaction that wrote elsewhere or not yet, at each isolation level.
func TestCitusOwner(t *testing.T) {
	local := func(table string) string { return `INSERT INTO ` + table + `_1 VALUES (1)` }
	none := func(string) string { return `SELECT 1` }
	for _, c := range []struct {
		name  string
		of    []int                     // groups of the table's shards; -n: of a placement that is to be deleted
		does  func(table string) string // what the transaction did before
		asks  string                    // added to the table's name
		fresh bool                      // passes if it sees the placements
		stale bool                      // and if the shards came here after it began
	}{
		{"a write here", []int{2}, local, "", true, true},
		{"a write to another node", []int{5}, none, "", false, false},
		{"a call before the first write", []int{2}, none, "", false, false},
		{"a read for update", []int{2}, func(table string) string { return `SELECT * FROM ` + table + `_1 FOR UPDATE` }, "", false, false},
		{"a placement to be deleted", []int{-2}, none, "", false, false},
		{"shards on two nodes", []int{2, 5}, local, "", false, false},
		{"shards, of which one is to be deleted", []int{2, -2}, local, "", false, false},
		{"two shards here", []int{2, 2}, local, "", true, false},
		{"a view", []int{2}, local, "_view", false, false},
		{"a table of this node alone", nil, none, "", true, true},
	} {
		for _, level := range levels() {
			t.Run(fmt.Sprint(c.name, "/", level), func(t *testing.T) {
				catalog := fakeCitus(t)
				table, place := tenantOf(t, catalog)
				for i, group := range c.of {
					place(i+1, group)
				}
				inEach(t, level, func(exec func(string), tx any) {
					exec(c.does(table))
					wantOwner(t, postgres.OnOwnerIn(t.Context(), tx, table+c.asks, catalog), c.fresh)
				})
				if level == sql.LevelReadCommitted {
					return
				}
				inEach(t, level, func(exec func(string), tx any) {
					for i := range c.of {
						place(i+1, 5)
					}
					exec(`SELECT 1`) // from here on it sees these
					for i, group := range c.of {
						place(i+1, group)
					}
					exec(c.does(table))
					wantOwner(t, postgres.OnOwnerIn(t.Context(), tx, table+c.asks, catalog), c.stale)
				})
			})
		}
	}
}

func wantOwner(t *testing.T, err error, passes bool) {
	t.Helper()
	if passes && err != nil || !passes && !errors.Is(err, postgres.ErrOtherNode) {
		t.Errorf("%v, want that it passes: %v", err, passes)
	}
}

// D-520: a transaction that began before the table moved away is failed: it sees the placement
// of its beginning, and its write went to the other node.
func TestCitusOwnerAfterAMove(t *testing.T) {
	for _, level := range levels() {
		catalog := fakeCitus(t)
		table, place := tenantOf(t, catalog)
		inEach(t, level, func(exec func(string), tx any) {
			place(1, 2)
			exec(`SELECT count(*) FROM ` + catalog + `.pg_dist_placement`)
			place(1, 5)
			wantOwner(t, postgres.OnOwnerIn(t.Context(), tx, table, catalog), false)
		})
	}
}

// D-520: a table that was made after a transaction began is not taken for this node's own.
func TestCitusOwnerOfANewTable(t *testing.T) {
	for _, level := range levels() {
		inEach(t, level, func(exec func(string), tx any) {
			catalog := fakeCitus(t)
			exec(`SELECT 1`)
			table, place := tenantOf(t, catalog)
			place(1, 5)
			wantOwner(t, postgres.OnOwnerIn(t.Context(), tx, table, catalog), false)
		})
	}
}

// D-520: another session's write to the shard does not count, nor one that was rolled back.
func TestCitusOwnerCountsItsOwnWrites(t *testing.T) {
	catalog := fakeCitus(t)
	table, place := tenantOf(t, catalog)
	place(1, 2)
	insert := `INSERT INTO ` + table + `_1 VALUES (1)`
	other, err := open(t, testpg.URL(t), postgres.Options{}).Pool().Begin(t.Context())
	enginetest.Must(t, err)
	defer func() { _ = other.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = other.Exec(t.Context(), insert)
	enginetest.Must(t, err)
	inEach(t, sql.LevelReadCommitted, func(exec func(string), tx any) {
		wantOwner(t, postgres.OnOwnerIn(t.Context(), tx, table, catalog), false)
		exec(`SAVEPOINT s`)
		exec(insert)
		wantOwner(t, postgres.OnOwnerIn(t.Context(), tx, table, catalog), true)
		exec(`ROLLBACK TO SAVEPOINT s`)
		wantOwner(t, postgres.OnOwnerIn(t.Context(), tx, table, catalog), false)
	})
}

// D-247: what OnOwner fails keeps nothing of the transaction, message included; in a
// transaction whose table is here both commit.
func TestOwnerWithAMessage(t *testing.T) {
	catalog := fakeCitus(t)
	db, name := openFake(t, catalog)
	enginetest.Must(t, db.Migrate(t.Context()))
	table, place := tenantOf(t, catalog)
	place(1, 2)
	order := func(insert string) error {
		return pgx.BeginFunc(t.Context(), db.Pool(), func(tx pgx.Tx) error {
			for _, text := range []string{insert, `SELECT ` + name + `.outbox_enqueue('t', 'x')`} {
				if _, err := tx.Exec(t.Context(), text); err != nil {
					return err
				}
			}
			return postgres.OnOwnerIn(t.Context(), tx, table, catalog)
		})
	}
	count := func() (rows, messages int) {
		enginetest.Must(t, db.Pool().QueryRow(t.Context(), `SELECT (SELECT count(*) FROM `+table+`_1), (SELECT count(*) FROM `+name+`.outbox_message)`).Scan(&rows, &messages))
		return rows, messages
	}
	enginetest.Must(t, order(`INSERT INTO `+table+`_1 VALUES (1)`))
	place(1, 5) // the tenant moves, and Citus writes to its new place
	if err := order(`SELECT 1`); !errors.Is(err, postgres.ErrOtherNode) {
		t.Errorf("after the move: %v", err)
	}
	if rows, messages := count(); rows != 1 || messages != 1 {
		t.Errorf("%d rows and %d messages, want one each", rows, messages)
	}
}
