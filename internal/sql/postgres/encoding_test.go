package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/outbox"
)

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// D-470: in a database of another encoding texts are what they are for every program, what others
// chose is stored whatever its characters, and input that cannot be stored is refused.
func TestEncodings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ encoding, has, lacks string }{{"LATIN1", "é", "日"}, {"EUC_JP", "日", "é😀"}, {"SQL_ASCII", "é", ""}} {
		t.Run(c.encoding, func(t *testing.T) {
			t.Parallel()
			at := testpg.Database(t, "ENCODING '"+c.encoding+"' LOCALE 'C' TEMPLATE template0")
			db, err := postgres.Open(at)
			ok(t, err)
			t.Cleanup(func() { _ = db.Close() })
			ok(t, db.Migrate(t.Context()))
			testEncoding(t, db, at, c.encoding, c.has, c.lacks)
		})
	}
}

func testEncoding(t *testing.T, db *postgres.DB, at, encoding, has, lacks string) {
	p, err := pawl.New(db, pawl.Options{Worker: "w" + lacks, StopWhenEmpty: true})
	ok(t, err)
	var got []string
	failure := outbox.Permanent(errors.New("failed: " + has + lacks + "\x00\xff"))
	p.Handle("x"+has, func(_ context.Context, m *outbox.Message) error {
		got = append(got, m.Topic)
		return failure
	})
	p.Handle("y"+lacks, func(context.Context, *outbox.Message) error { return nil }) // in the list of workers
	other, err := pgx.Connect(t.Context(), testpg.With(at, "client_encoding=UTF8"))
	ok(t, err)
	defer other.Close(context.Background())
	_, err = other.Exec(t.Context(), `SELECT pawl.outbox_enqueue($1::text, '{}'::jsonb)`, "x"+has)
	ok(t, err)
	if lacks != "" {
		if _, err := p.Outbox.EnqueueBatch(t.Context(), []outbox.Message{{Topic: "x" + has}, {Topic: "x" + lacks}}); !errors.Is(err, pawl.ErrInvalid) || !strings.Contains(err.Error(), "encoding") {
			t.Errorf("enqueued what cannot be stored: %v", err)
		}
	}
	ok(t, p.Run(t.Context()))
	if strings.Join(got, " ") != "x"+has {
		t.Errorf("handled %q", got)
	}
	failed, err := engine.Collect(p.Outbox.List(t.Context(), outbox.ListOptions{Status: outbox.Failed}), 100)
	ok(t, err)
	if len(failed) != 1 || failed[0].LastError == "" || strings.Contains(failed[0].LastError, lacks) && lacks != "" {
		t.Errorf("failed are %+v", failed)
	}
	if _, err := p.Admin.Pause(t.Context(), "topic", "x"+has, "why "+lacks); err != nil {
		t.Errorf("pause: %v", err)
	}
	for _, x := range db.Examinations(engine.ExamineLimits{}) {
		if x.Name != "server" {
			continue
		}
		found, err := x.Examine(t.Context())
		if text := fmt.Sprint(found); err != nil || !strings.Contains(text, "server_encoding = "+encoding) {
			t.Errorf("the doctor: %s %v", text, err)
		}
	}
	foreignPool(t, at, encoding)
}

// foreignPool tries pools and transactions of the program that do not say UTF8.
func foreignPool(t *testing.T, at, encoding string) {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), testpg.With(at, "client_encoding="+encoding))
	ok(t, err)
	defer pool.Close()
	on, err := postgres.New(pool)
	ok(t, err)
	defer on.Close()
	refused := func(what string, err error) {
		t.Helper()
		var invalid *engine.InvalidError
		if !errors.As(err, &invalid) || invalid.Field() != "client_encoding" || !strings.Contains(err.Error(), encoding) {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("a pool", on.CheckSchema(t.Context()))
	refused("a migration", on.Migrate(t.Context()))
	p, err := pawl.New(on, pawl.Options{})
	ok(t, err)
	tx, err := pool.Begin(t.Context())
	ok(t, err)
	defer tx.Rollback(context.Background())
	_, err = p.Outbox.EnqueueTx(t.Context(), tx, outbox.Message{Topic: "x"})
	refused("a transaction", err)
}

// D-470: what a server of another encoding has to store of pawl is ASCII.
func TestTextsAreASCII(t *testing.T) {
	t.Parallel()
	n := 0
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".sql") {
			return err
		}
		text, err := os.ReadFile(path)
		n++
		for i, c := range text {
			if c >= 0x80 {
				t.Errorf("%s: byte %d is not ASCII", path, i)
				break
			}
		}
		return err
	})
	if err != nil || n < 100 {
		t.Errorf("%d files, %v", n, err)
	}
}
