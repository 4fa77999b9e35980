package dbtest

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
)

// Bool is a truth value in the engine's SQL.
func (d Database) Bool(v bool) string {
	if d.Engine() == "sqlserver" {
		return map[bool]string{true: "1", false: "0"}[v]
	}
	return fmt.Sprint(v)
}

// IDs is a list of ids as routines of a server take it.
func (d Database) IDs(ids ...int64) string {
	list := strings.Join(strings.Fields(strings.Trim(fmt.Sprint(ids), "[]")), ",")
	if d.Engine() == "sqlserver" {
		return "N'[" + list + "]'"
	}
	return "ARRAY[" + list + "]::bigint[]"
}

// Call is a statement that calls a routine of a server. The arguments are literals.
func (d Database) Call(routine string, args ...string) string {
	list := strings.Join(args, ", ")
	if d.Engine() == "sqlserver" {
		return "EXEC " + d.Table(routine) + " " + list
	}
	return "SELECT " + d.Table(routine) + "(" + list + ")"
}

// User is the name by which a server knows who is connected.
func (d Database) User(t testing.TB) (name string) {
	t.Helper()
	d.Row(t, map[string]string{"postgres": "SELECT current_user", "sqlserver": "SELECT ORIGINAL_LOGIN()"}[d.Engine()], &name)
	return name
}

// Blocks returns a function that reports whether some session of a server waits for a lock
// that a transaction holds.
func (d Database) Blocks(t testing.TB, tx *sql.Tx) (waits func() bool) {
	t.Helper()
	own, waiting := "SELECT pg_backend_pid()", "SELECT count(*) FROM pg_stat_activity WHERE %d = ANY (pg_blocking_pids(pid))"
	if d.Engine() == "sqlserver" {
		own, waiting = "SELECT @@SPID", "SELECT count(*) FROM sys.sysprocesses WHERE blocked = %d AND (lastwaittype LIKE 'LCK%%' OR lastwaittype LIKE 'Lock%%')"
	}
	var session int
	if err := tx.QueryRowContext(t.Context(), own).Scan(&session); err != nil {
		t.Fatal(err)
	}
	return func() bool {
		t.Helper()
		return d.Count(t, fmt.Sprintf(waiting, session)) > 0
	}
}

// Rename gives one of pawl's tables another name.
func (d Database) Rename(t testing.TB, table, to string) {
	t.Helper()
	d.rename(t, "ALTER TABLE "+d.Table(table)+" RENAME TO "+to, d.Table(table), to, "OBJECT")
}

// RenameColumn gives a column of one of pawl's tables another name.
func (d Database) RenameColumn(t testing.TB, table, column, to string) {
	t.Helper()
	d.rename(t, "ALTER TABLE "+d.Table(table)+" RENAME COLUMN "+column+" TO "+to, d.Table(table)+"."+column, to, "COLUMN")
}

func (d Database) rename(t testing.TB, statement, from, to, kind string) {
	t.Helper()
	if d.Engine() == "sqlserver" {
		statement = fmt.Sprintf("EXEC sp_rename N'%s', N'%s', N'%s'", from, to, kind)
	}
	if _, err := d.SQL.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
