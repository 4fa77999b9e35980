//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/importer"
)

// D-810: any number of kills of the import, beside a program that adds, claims and acks rows as the origin's do, lose no row and
// move none twice, and move none that the program has done.
func TestImportSurvivesKills(t *testing.T) {
	n, kills := 4000, 4
	if os.Getenv("PAWL_LONG") != "" {
		n, kills = 100_000, 12
	}
	onLegacy(t, func(t *testing.T, l *legacy) {
		l.outboxTable()
		l.index("moved", `"ProcessedBy"`) // these are for the test's own counts
		l.index("message", `"MessageId"`)
		l.fill(0, n*3/4)
		var program sync.WaitGroup
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		program.Go(func() { l.insertMore(n*3/4, n) })
		program.Go(func() { l.claimAndAck(ctx, n/5/10) })

		args := []string{"import", "origin", "--json", fmt.Sprintf("--batch=%d", n/200), "--from", l.schema}
		marked := func() int64 { return l.one(`SELECT count(*) FROM dbo."Outbox" WHERE "ProcessedBy" = 'pawl import'`) }
		for i := range kills {
			p := l.process(args...)
			want := int64((n / 2 / kills) * (i + 1))
			eventually(t, fmt.Sprintf("%d rows are moved", want), func() bool { return marked() >= want })
			p.signal(syscall.SIGKILL)
			if code := p.wait(); code != -1 {
				t.Fatalf("the import ended by itself, with exit code %d: %s", code, p.stderr.String())
			}
		}
		stop()
		program.Wait()
		l.exec(`UPDATE dbo."Outbox" SET "Status" = 0, "LockedUntil" = NULL, "OwnerToken" = NULL WHERE "Status" = 1`) // what the program held when it ended
		report := l.moved(exitOK)["Outbox"]
		if report.Waiting != 0 {
			t.Errorf("%+v", report)
		}
		moved, done := marked(), l.one(`SELECT count(*) FROM dbo."Outbox" WHERE "ProcessedBy" = 'program'`)
		stored, distinct, matching := l.one(`SELECT count(*) FROM pawl.outbox`), l.one(`SELECT count(DISTINCT message_id) FROM pawl.outbox`), l.matching()
		if moved+done != int64(n) || moved == 0 || done == 0 || stored != moved || distinct != moved || matching != moved {
			t.Errorf("of %d rows %d are moved, %d done by the program; pawl has %d messages, %d different, %d of rows that were moved", n, moved, done, stored, distinct, matching)
		}
		t.Logf("%d rows: %d moved by %d processes, %d done by the program beside them", n, moved, kills+1, done)
	})
}

// matching counts messages whose row was moved, with the row's payload.
func (l *legacy) matching() int64 {
	if l.mark == "$" {
		return l.one(`SELECT count(*) FROM pawl.outbox m INNER JOIN dbo."Outbox" o ON o."MessageId" = m.message_id WHERE o."ProcessedBy" = 'pawl import' AND o."Payload" = m.payload`)
	}
	return l.one(`SELECT count(*) FROM pawl.outbox m CROSS JOIN dbo."Outbox" o ON o."MessageId" = m.message_id WHERE o."ProcessedBy" = 'pawl import' AND o."Payload" = CAST(m.payload AS TEXT)`)
}

// rows are values of rows of the outbox.
func rows(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		at := time.Unix(int64(1_767_300_000+i), 0).UTC().Format(time.RFC3339)
		fmt.Fprintf(&b, `, ('%s', '%s', 'order.created', '{"n":%d}', '%s', '%s')`, guid(1, i), guid(2, i), i, at, at)
	}
	return b.String()[2:]
}

const insertRows = `INSERT INTO dbo."Outbox" ("Id", "MessageId", "Topic", "Payload", "CreatedAt", "NextAttemptAt") VALUES `

func (l *legacy) fill(from, to int) {
	for ; from < to; from += 500 {
		l.exec(insertRows + rows(from, min(from+500, to)))
	}
}

// insertMore adds rows as programs of the origin do, some in a transaction.
func (l *legacy) insertMore(from, to int) {
	for ; from < to; from += 5 {
		if _, err := l.pool.Exec(l.sql(insertRows + rows(from, min(from+5, to)))); err != nil { //nolint:noctx // all are to be there in the end
			l.t.Errorf("insert: %v", err)
			return
		}
	}
}

// claimAndAck is the origin's worker, which claims so many times: Outbox_Claim and Outbox_Ack.
func (l *legacy) claimAndAck(ctx context.Context, times int) {
	until, skip := "'2096-01-02T03:04:05Z'", " FOR UPDATE SKIP LOCKED"
	if l.mark == "?" {
		skip = ""
	}
	claim := l.sql(`UPDATE dbo."Outbox" SET "Status" = 1, "OwnerToken" = '` + guid(9, 9) + `', "LockedUntil" = ` + until +
		` WHERE "Id" IN (SELECT "Id" FROM dbo."Outbox" WHERE "Status" = 0 ORDER BY "CreatedAt" LIMIT 10` + skip + `)`)
	ack := l.sql(`UPDATE dbo."Outbox" SET "Status" = 2, "IsProcessed" = TRUE, "ProcessedBy" = 'program' WHERE "Status" = 1 AND "OwnerToken" = '` + guid(9, 9) + `'`)
	for ; times > 0 && ctx.Err() == nil; times-- {
		for _, text := range []string{claim, ack} {
			if _, err := l.pool.ExecContext(ctx, text); err != nil && !errors.Is(err, context.Canceled) && ctx.Err() == nil {
				l.t.Errorf("%s: %v", text, err)
				return
			}
		}
	}
}

// Rows of a table of one's own become messages as the mapping says, in the order that is asked for.
func TestImportTable(t *testing.T) {
	onLegacy(t, func(t *testing.T, l *legacy) {
		l.exec(l.types(`CREATE TABLE dbo.outbox_events (id INTEGER PRIMARY KEY, event_id UNIQUEIDENTIFIER NULL, event_type VARCHAR(300) NULL, data TEXT NULL, status VARCHAR(20) NOT NULL, "odd ""name" TEXT NULL, at DATETIMEOFFSET NULL, seq INTEGER NOT NULL)`))
		for i, set := range []string{"'pending', 'a'", "'retry', 'a'", "'pending', NULL", "'done', NULL", "'pending', NULL", "'pending', NULL"} {
			l.exec(`INSERT INTO dbo.outbox_events (id, event_id, event_type, data, seq, status, "odd ""name") VALUES (@1, @2, @3, @4, @5, `+set+`)`, i+1, guid(7, i), "t", fmt.Sprint(i), 10-i)
		}
		l.exec(`UPDATE dbo.outbox_events SET event_type = NULL WHERE id = 5`)
		l.exec(`UPDATE dbo.outbox_events SET data = NULL WHERE id = 6`)
		table := "--from=" + l.schema + ".outbox_events"
		args := []string{"import", "table", table, `--map=topic=event_type, payload=data,key=EventID,ordering_key=odd "name,due=at`, "--pending=status=pending|retry", "--order=seq", "--json"}
		run := func(code int, more ...string) (r importer.Report) {
			t.Helper()
			got := l.run("", append(args[:len(args):len(args)], more...)...)
			if got.code != code {
				t.Fatalf("%v: %+v", more, got)
			}
			if got.stdout != "" {
				decode(t, got.stdout, &r)
			}
			return r
		}
		run(exitFailure, "--moved=status=pending") // they would wait for ever
		if n := l.one(`SELECT count(*) FROM pawl.outbox`); n != 0 {
			t.Errorf("%d messages of rows that still wait", n)
		}
		if r := run(exitFailure, "--moved=status=moved", "--moved=at=now()"); r.Moved != 3 || r.Refused != 2 || len(r.Rows) != 2 {
			t.Errorf("%+v", r)
		}
		if got := l.must("", "ls", "--json"); len(lines(got)) != 3 || !strings.Contains(lines(got)[0], guid(7, 0)) || !strings.Contains(lines(got)[2], guid(7, 2)) {
			t.Errorf("in order: %s", got)
		}
		if got := l.must("", "show", "--json", guid(7, 1)); !strings.Contains(got, `"ordering_key":"a"`) {
			t.Errorf("%s", got)
		}
		if n := l.one(`SELECT count(*) FROM dbo.outbox_events WHERE status = 'moved' AND at IS NOT NULL`); n != 3 {
			t.Errorf("%d are marked", n)
		}
		// Ids that are no UUIDs, a text for all, rows without a mark.
		args = []string{"import", "table", table, "--map=topic='a,b',payload=status", "--pending=status=moved", "--json"}
		if r := run(exitOK, "--delete"); r.Moved != 3 || l.one(`SELECT count(*) FROM dbo.outbox_events`) != 3 || len(lines(l.must("", "ls", "--json", "--topic=a,b"))) != 3 {
			t.Errorf("%+v", r)
		}
	})
}

// What is wrong with a command line changes nothing, and is said by the field.
func TestImportMistakes(t *testing.T) {
	onLegacy(t, func(t *testing.T, l *legacy) {
		l.exec(`CREATE TABLE dbo.events (id INTEGER PRIMARY KEY, data TEXT, status TEXT)`)
		l.exec(`INSERT INTO dbo.events VALUES (1, 'a', 'pending'), (2, 'b', 'pending')`)
		from, good := "--from="+l.schema+".events", "--map=topic='t',payload=data"
		for want, args := range map[string][]string{
			"no such table":           {"table", "--from=" + l.schema + ".nothing", good, "--pending=status=pending", "--delete"},
			"in the schema \"other\"": {"origin", "--from=other"},
			"no column \"x\\\"; --\"": {"table", from, `--map=topic='t',payload=x"; --`, "--pending=status=pending", "--delete"},
			"map: want a topic":       {"table", from, "--map=payload=data", "--pending=status=pending", "--delete"},
			"map: want FIELD=COLUMN":  {"table", from, "--map=topic='t',payload=data,colour=data", "--pending=status=pending", "--delete"},
			"pending: want COLUMN":    {"table", from, good, "--pending=status", "--delete"},
			"moved: say what":         {"table", from, good, "--pending=status=pending"},
			"moved: want COLUMN":      {"table", from, good, "--pending=status=pending", "--moved=status"},
			"batch: more than 1000":   {"table", from, good, "--pending=status=pending", "--delete", "--batch=1001"},
			"it identifies 2 rows":    {"table", from, "--map=topic='t',payload=data,id=status,key=id", "--pending=status=pending", "--delete", "--batch=1"},
		} {
			r := l.run("", append([]string{"import"}, args...)...)
			if r.code == exitOK || !strings.Contains(r.stderr, want) {
				t.Errorf("%v: %+v, want %q", args, r, want)
			}
		}
		if rows, messages := l.one(`SELECT count(*) FROM dbo.events`), l.one(`SELECT count(*) FROM pawl.outbox`); rows != 2 || messages != 0 {
			t.Errorf("%d rows, %d messages", rows, messages)
		}
	})
}
