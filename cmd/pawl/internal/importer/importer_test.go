package importer

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the statements for SQL Server")

// describedTables are the origin's, as SQL Server describes them.
func describedTables() tables {
	describe := func(name, columns string) *table {
		t := &table{schema: "dbo", name: name}
		for c := range strings.FieldsSeq(columns) {
			var column column
			column.name, column.kind, _ = strings.Cut(c, ":")
			t.columns = append(t.columns, column)
		}
		return t
	}
	return tables{
		describe("JobRuns", "Id:uniqueidentifier JobId:uniqueidentifier ScheduledTime:datetimeoffset Status:nvarchar EndTime:datetimeoffset StatusCode:tinyint LockedUntil:datetime2 OwnerToken:uniqueidentifier"),
		describe("Jobs", "Id:uniqueidentifier Topic:nvarchar Payload:nvarchar"),
		describe("Outbox", "Id:uniqueidentifier Topic:nvarchar Payload:nvarchar CreatedAt:datetimeoffset Status:tinyint LockedUntil:datetime2 OwnerToken:uniqueidentifier IsProcessed:bit ProcessedAt:datetimeoffset ProcessedBy:nvarchar NextAttemptAt:datetimeoffset MessageId:uniqueidentifier CorrelationId:nvarchar DueTimeUtc:datetimeoffset"),
		describe("OutboxJoin", "JoinId:uniqueidentifier Status:tinyint"),
		describe("OutboxJoinMember", "JoinId:uniqueidentifier OutboxMessageId:uniqueidentifier"),
		describe("Timers", "Id:uniqueidentifier DueTime:datetimeoffset Payload:nvarchar Topic:nvarchar CorrelationId:nvarchar Status:nvarchar ProcessedAt:datetimeoffset"),
		describe("odd]name", "id:int sent_at:datetime2 body:nvarchar"),
	}
}

// What SQL Server is sent is a file, which the module of the engine parses as T-SQL: no server has run it.
func TestStatementsForSQLServer(t *testing.T) {
	d := dialectOf("sqlserver")
	plans, err := Origin{Schema: "dbo"}.of(d, describedTables())
	if err != nil {
		t.Fatal(err)
	}
	own, err := Table{Map: "topic='t',payload=body", Pending: []string{"sent_at=|2026-01-02"}, Moved: []string{"sent_at=now()"}}.of(d, describedTables(), "odd]name")
	if err != nil {
		t.Fatal(err)
	}
	text := d.text("columns") + ";\nGO\n"
	for _, p := range append(plans, own...) {
		settle, args := p.settle([]any{1, 2})
		still, more := p.still([]any{1, 2})
		if len(args) != 2 || len(more) != 2+strings.Count(p.waiting.text, "@p") {
			t.Errorf("%s: arguments %v and %v", p.name, args, more)
		}
		for _, phase := range p.phases {
			text += p.pick(phase, 10, 500) + ";\nGO\n"
		}
		text += strings.Join([]string{p.peek(), settle, still, p.tally()}, ";\nGO\n") + ";\nGO\n"
	}
	const file = "testdata/sqlserver.sql"
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || string(want) != text {
		t.Errorf("%s is not what is sent: go test -run TestStatements -update (%v)", file, err)
	}
}

// Times are read in the forms that tables on SQLite have for them.
func TestTimes(t *testing.T) {
	want := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, v := range []any{
		want, "2026-01-02T03:04:05Z", "2026-01-02 03:04:05", "2026-01-02 04:04:05 +01:00", "2026-01-02 04:04:05.0000000 +01:00", []byte("2026-01-02T03:04:05.000"), "2026-01-02 05:04:05+02",
		want.Unix(), want.UnixMilli(), want.UnixMicro(),
	} {
		if got, err := timeOf(v); err != nil || !got.Equal(want) {
			t.Errorf("%v is %v, %v", v, got, err)
		}
	}
	for _, v := range []any{"soon", 1.5, "2026-13-01"} {
		if got, err := timeOf(v); err == nil {
			t.Errorf("%v is %v", v, got)
		}
	}
	if got, err := timeOf(nil); err != nil || !got.IsZero() {
		t.Errorf("null is %v, %v", got, err)
	}
}

// A list is split at its commas outside of texts.
func TestSplit(t *testing.T) {
	for list, want := range map[string]string{"": "[]", "a=b, c=d": `["a=b" "c=d"]`, "t='a,b',p=c": `["t='a,b'" "p=c"]`} {
		if got := fmt.Sprintf("%q", split(list)); got != want {
			t.Errorf("%q is %s, want %s", list, got, want)
		}
	}
}
