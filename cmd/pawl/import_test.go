package main

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/bravellian/pawl/cmd/pawl/internal/importer"
)

// legacy is a database with tables of the origin's shape beside pawl's.
type legacy struct {
	*database
	pool   *sql.DB
	schema string // of the origin's tables
	outbox string // pawl's view, which has a prefix on SQLite, where names ignore case
	mark   string // before a parameter's number
}

// onLegacy runs a test on both engines, or one as onEngines does.
func onLegacy(t *testing.T, test func(t *testing.T, l *legacy)) {
	t.Run("sqlite", func(t *testing.T) {
		d := onSQLite(t)
		d.flags = append(d.flags, "--prefix=pawl_")
		test(t, newLegacy(t, d, "main", `"pawl_outbox"`, "?"))
	})
	if testing.Short() {
		return
	}
	t.Run("postgres", func(t *testing.T) {
		d := onPostgres(t)
		schema := strings.TrimPrefix(d.flags[1], "--schema=")
		test(t, newLegacy(t, d, schema+"_dbo", `"`+schema+`"."outbox"`, "$"))
	})
}

func newLegacy(t *testing.T, d *database, schema, outbox, mark string) *legacy {
	d.must("", "migrate")
	l := &legacy{database: d, schema: schema, outbox: outbox, mark: mark}
	driver, at := "sqlite", strings.TrimPrefix(d.flags[0], "--db=sqlite:")+"?_txlock=immediate&_pragma=busy_timeout(30000)"
	if mark == "$" {
		driver, at = "pgx", strings.TrimPrefix(d.flags[0], "--db=")
	}
	var err error
	if l.pool, err = sql.Open(driver, at); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.pool.Close() })
	if mark == "$" {
		l.exec(`CREATE SCHEMA "` + schema + `"`)
		t.Cleanup(func() { l.exec(`DROP SCHEMA "` + schema + `" CASCADE`) })
	}
	return l
}

// exec runs statements in which dbo. stands for the schema, and @1 for an argument.
func (l *legacy) exec(text string, args ...any) {
	l.t.Helper()
	if _, err := l.pool.Exec(l.sql(text), args...); err != nil { //nolint:noctx // also when the test's context has ended
		l.t.Fatalf("%s: %v", text, err)
	}
}

func (l *legacy) sql(text string) string {
	return strings.NewReplacer("dbo.", `"`+l.schema+`".`, "@", l.mark, "pawl.outbox", l.outbox).Replace(text)
}

// one reads a number.
func (l *legacy) one(text string) (n int64) {
	l.t.Helper()
	if err := l.pool.QueryRowContext(l.t.Context(), l.sql(text)).Scan(&n); err != nil {
		l.t.Fatalf("%s: %v", text, err)
	}
	return n
}

// moved is what the command reports, by table.
func (l *legacy) moved(code int, args ...string) map[string]importer.Report {
	l.t.Helper()
	r := l.run("", append([]string{"import", "origin", "--json", "--from", l.schema}, args...)...)
	if r.code != code {
		l.t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	all := map[string]importer.Report{}
	for _, line := range lines(r.stdout) {
		var report importer.Report
		decode(l.t, line, &report)
		all[report.Table] = report
	}
	return all
}

// outboxTable is the origin's, with the types that each engine has for its own.
func (l *legacy) outboxTable() {
	l.exec(l.types(`CREATE TABLE dbo."Outbox" ("Id" UNIQUEIDENTIFIER PRIMARY KEY, "Topic" VARCHAR(255) NOT NULL, "Payload" TEXT NOT NULL, "CreatedAt" DATETIMEOFFSET NOT NULL,
		"Status" SMALLINT NOT NULL DEFAULT 0, "LockedUntil" DATETIME2 NULL, "OwnerToken" UNIQUEIDENTIFIER NULL, "IsProcessed" BIT NOT NULL DEFAULT FALSE, "ProcessedAt" DATETIMEOFFSET NULL, "ProcessedBy" VARCHAR(100) NULL,
		"RetryCount" INT NOT NULL DEFAULT 0, "LastError" TEXT NULL, "NextAttemptAt" DATETIMEOFFSET NOT NULL, "MessageId" UNIQUEIDENTIFIER NOT NULL, "CorrelationId" VARCHAR(255) NULL, "DueTimeUtc" DATETIMEOFFSET NULL)`))
	l.index("IX_Outbox_WorkQueue", `"Status", "CreatedAt"`)
}

// index makes an index of the outbox, whose schema SQLite wants before the index.
func (l *legacy) index(name, columns string) {
	if l.mark == "?" {
		l.exec(`CREATE INDEX main."` + name + `" ON "Outbox" (` + columns + `)`)
	} else {
		l.exec(`CREATE INDEX "` + name + `" ON dbo."Outbox" (` + columns + `)`)
	}
}

func (l *legacy) types(text string) string {
	if l.mark == "?" {
		return text
	}
	return strings.NewReplacer("DATETIMEOFFSET", "TIMESTAMPTZ", "DATETIME2", "TIMESTAMP", "UNIQUEIDENTIFIER", "UUID", "BIT", "BOOLEAN").Replace(text)
}

// guid is the nth id of a kind.
func guid(kind, n int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", kind, n) }

// message adds a row to the outbox.
func (l *legacy) message(n int, set string) {
	l.exec(`INSERT INTO dbo."Outbox" ("Id", "MessageId", "Topic", "Payload", "CreatedAt", "NextAttemptAt", "CorrelationId") VALUES (@1, @2, 'order.created', @3, '2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z', 'c')`,
		guid(1, n), guid(2, n), fmt.Sprintf(`{"n":%d}`, n))
	if set != "" {
		l.exec(`UPDATE dbo."Outbox" SET `+set+` WHERE "Id" = @1`, guid(1, n))
	}
}

// D-811, D-812: what waits in the origin's tables is moved with its ids, times and correlation; what does not, or cannot, stays.
func TestImportOrigin(t *testing.T) {
	onLegacy(t, func(t *testing.T, l *legacy) {
		l.outboxTable()
		l.exec(l.types(`CREATE TABLE dbo."OutboxJoin" ("JoinId" UNIQUEIDENTIFIER PRIMARY KEY, "Status" SMALLINT NOT NULL)`))
		l.exec(l.types(`CREATE TABLE dbo."OutboxJoinMember" ("JoinId" UNIQUEIDENTIFIER NOT NULL, "OutboxMessageId" UNIQUEIDENTIFIER NOT NULL, PRIMARY KEY ("JoinId", "OutboxMessageId"))`))
		l.exec(l.types(`CREATE TABLE dbo."Timers" ("Id" UNIQUEIDENTIFIER PRIMARY KEY, "DueTime" DATETIMEOFFSET NOT NULL, "Payload" TEXT NOT NULL, "Topic" VARCHAR(255) NOT NULL, "CorrelationId" VARCHAR(255) NULL,
			"StatusCode" SMALLINT NOT NULL DEFAULT 0, "LockedUntil" DATETIME2 NULL, "OwnerToken" UNIQUEIDENTIFIER NULL, "Status" VARCHAR(20) NOT NULL DEFAULT 'Pending', "CreatedAt" DATETIMEOFFSET NULL, "ProcessedAt" DATETIMEOFFSET NULL)`))
		l.exec(l.types(`CREATE TABLE dbo."Jobs" ("Id" UNIQUEIDENTIFIER PRIMARY KEY, "Topic" VARCHAR(255) NOT NULL, "Payload" TEXT NULL)`))
		l.exec(l.types(`CREATE TABLE dbo."JobRuns" ("Id" UNIQUEIDENTIFIER PRIMARY KEY, "JobId" UNIQUEIDENTIFIER NOT NULL, "ScheduledTime" DATETIMEOFFSET NOT NULL, "Status" VARCHAR(20) NOT NULL DEFAULT 'Pending', "EndTime" DATETIMEOFFSET NULL)`))

		l.message(1, "")
		l.message(2, `"Status" = 1, "LockedUntil" = '2026-01-02T03:04:05Z'`) // its lease has expired
		l.message(3, `"Status" = 1, "LockedUntil" = '2096-01-02T03:04:05Z'`)
		l.message(4, `"Status" = 2, "IsProcessed" = TRUE`)
		l.message(5, `"Status" = 3`)
		l.message(6, `"Topic" = ''`)
		l.message(7, `"Payload" = '`+strings.Repeat("x", 2000)+`'`)
		l.message(8, "") // of a join
		l.message(9, `"Topic" = 'join.wait'`)
		l.message(10, `"DueTimeUtc" = '2096-01-02T03:04:05Z'`)
		l.message(11, `"NextAttemptAt" = '2096-01-02T03:04:06Z', "RetryCount" = 1`)
		l.message(12, `"MessageId" = '`+guid(2, 1)+`'`) // the id of another
		l.exec(`INSERT INTO dbo."OutboxJoin" VALUES (@1, 0), (@2, 1)`, guid(3, 1), guid(3, 2))
		l.exec(`INSERT INTO dbo."OutboxJoinMember" VALUES (@1, @2), (@3, @4)`, guid(3, 1), guid(2, 8), guid(3, 2), guid(2, 1))
		l.exec(`INSERT INTO dbo."Timers" ("Id", "DueTime", "Payload", "Topic", "CorrelationId") VALUES (@1, '2096-01-02T03:04:05Z', 'p', 'remind', 'c')`, guid(4, 1))
		l.exec(`INSERT INTO dbo."Timers" ("Id", "DueTime", "Payload", "Topic", "StatusCode") VALUES (@1, '2026-01-02T03:04:05Z', 'p', 'remind', 2)`, guid(4, 2))
		l.exec(`INSERT INTO dbo."Jobs" VALUES (@1, 'cleanup', NULL)`, guid(5, 1))
		l.exec(`INSERT INTO dbo."JobRuns" ("Id", "JobId", "ScheduledTime", "Status") VALUES (@1, @2, '2096-01-02T03:04:05Z', 'Pending'), (@3, @2, '2026-01-02T03:04:05Z', 'Succeeded')`, guid(6, 1), guid(5, 1), guid(6, 2))

		dry := l.moved(exitFailure, "--dry-run", "--max-payload=1000")
		if o := dry["Outbox"]; o.Moved != 4 || o.Refused != 3 || !strings.Contains(fmt.Sprint(o.Rows), "another message has it") || l.one(`SELECT count(*) FROM dbo."Outbox" WHERE "ProcessedBy" IS NOT NULL`) != 0 {
			t.Errorf("a dry run: %+v", dry)
		}
		if got := l.must("", "ls", "--json"); strings.Contains(got, guid(2, 1)) {
			t.Errorf("a dry run stored messages: %s", got)
		}
		all := l.moved(exitFailure, "--max-payload=1000", "--batch=2")
		o := all["Outbox"]
		if o.Moved != 4 || o.Refused != 3 || o.Waiting != 3 || fmt.Sprint(o.Others) != "map[done:5 failed:1 in joins:2 in progress:1]" {
			t.Errorf("%+v", o)
		}
		if reasons := fmt.Sprint(o.Rows); !strings.Contains(reasons, "topic: empty") || !strings.Contains(reasons, "more than 1000 bytes") || !strings.Contains(reasons, guid(1, 12)+" ") || !strings.Contains(reasons, "another message has it") {
			t.Errorf("refused: %s", reasons)
		}
		if all["Timers"].Moved != 1 || all["JobRuns"].Moved != 1 {
			t.Errorf("%+v", all)
		}
		for id, want := range map[string]string{
			guid(2, 1): `"topic":"order.created"`, guid(2, 2): `"correlation_id":"c"`, guid(2, 10): "2096-01-02T03:04:05Z", guid(2, 11): "2096-01-02T03:04:06Z", guid(6, 1): `"topic":"cleanup"`,
		} {
			if got := l.must("", "show", "--json", id); !strings.Contains(got, want) {
				t.Errorf("%s: %s, want %s", id, got, want)
			}
		}
		if got := l.must("", "timers", "ls", "--json"); !strings.Contains(got, guid(4, 1)) || !strings.Contains(got, "2096-01-02T03:04:05Z") {
			t.Errorf("timers: %s", got)
		}
		if n := l.one(`SELECT count(*) FROM dbo."Outbox" WHERE "ProcessedBy" = 'pawl import' AND "Status" = 2 AND "ProcessedAt" IS NOT NULL AND "OwnerToken" IS NULL AND "LockedUntil" IS NULL`); n != 4 {
			t.Errorf("%d rows are marked", n)
		}
		if again := l.moved(exitFailure, "--max-payload=1000"); again["Outbox"].Moved != 0 || again["Timers"].Moved != 0 || again["JobRuns"].Moved != 0 {
			t.Errorf("again: %+v", again)
		}
		if claimed := l.moved(exitFailure, "--max-payload=1000", "--claimed"); claimed["Outbox"].Moved != 1 {
			t.Errorf("what is claimed: %+v", claimed)
		}
	})
}
