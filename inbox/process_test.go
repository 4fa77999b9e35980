//go:build unix

package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// This test binary is also the process that dies: with a moment in its
// environment it processes a message until then and runs no tests.
const (
	momentVariable = "PAWL_INBOX_MOMENT"
	fileVariable   = "PAWL_INBOX_FILE"
	urlVariable    = "PAWL_INBOX_URL"
	schemaVariable = "PAWL_INBOX_SCHEMA"
)

func TestMain(m *testing.M) {
	if os.Getenv(momentVariable) == "" {
		os.Exit(m.Run())
	}
	if err := dieAt(os.Getenv(momentVariable)); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(1) // it should have died
}

var invoice = inbox.Key{Source: "billing", MessageID: "invoice-7"}

// effectTable is beside pawl's tables.
func effectTable() string {
	if schema := os.Getenv(schemaVariable); schema != "" {
		return schema + ".effects"
	}
	return "effects"
}

func insertEffect(ctx context.Context, tx engine.Tx, table string) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO "+table+" VALUES ('x')")
	return err
}

// dieAt processes the message and is killed at a moment.
func dieAt(moment string) error {
	var db engine.DB
	var err error
	if file := os.Getenv(fileVariable); file != "" {
		db, err = sqlite.Open(file)
	} else {
		db, err = postgres.Open(os.Getenv(urlVariable), postgres.Options{Schema: os.Getenv(schemaVariable)})
	}
	if err != nil {
		return err
	}
	die := func(at string) {
		if at == moment {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	ctx := context.Background()
	in := parts.NewInbox(db, inbox.Options{}, worker.Options{})
	effect := func(ctx context.Context, tx outbox.Tx) error {
		die("before the effect")
		err := insertEffect(ctx, tx, effectTable())
		die("after the effect")
		return err
	}
	if strings.HasPrefix(moment, "queue: ") {
		moment = strings.TrimPrefix(moment, "queue: ")
		in.HandleInboxTx("paid", func(ctx context.Context, tx outbox.Tx, _ *inbox.Message) error { return effect(ctx, tx) })
		in.Use(func(next outbox.Handler) outbox.Handler {
			return func(ctx context.Context, m *outbox.Message) error {
				err := next(ctx, m)
				die("after the commit")
				return err
			}
		})
		return in.Run(ctx)
	}
	err = in.Once(ctx, invoice, effect)
	die("after the commit")
	return errors.Join(errors.New("survived"), err)
}

// place is a database for this process and one that dies.
type place struct {
	dbtest.Database
	env []string
}

func places(t *testing.T) map[string]place {
	path := filepath.Join(t.TempDir(), "inbox.db")
	file := dbtest.SQLiteAt(t, path, sqlite.Options{})
	dbtest.Migrate(t, file)
	server := dbtest.OpenPostgres(t)
	return map[string]place{
		"sqlite": {
			dbtest.Database{DB: file, SQL: file.SQL(), Table: func(name string) string { return name }},
			[]string{fileVariable + "=" + path},
		},
		"postgres": {server, []string{urlVariable + "=" + testpg.URL(t), schemaVariable + "=" + strings.TrimSuffix(server.Table(""), ".")}},
	}
}

// killed runs another process until it has killed itself at a moment.
func (p place) killed(t *testing.T, moment string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(append(os.Environ(), p.env...), momentVariable+"="+moment)
	cmd.Stderr = os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL || ctx.Err() != nil {
		t.Fatalf("%s: the other process ended with %v", moment, err)
	}
}

func (p place) effects(t *testing.T, moment string, want int) {
	t.Helper()
	var got int
	p.Row(t, "SELECT count(*) FROM "+p.Table("effects"), &got)
	if got != want {
		t.Fatalf("killed %s: %d effects, want %d", moment, got, want)
	}
}

// D-51: wherever between the delivery and the confirmation its process is
// killed, a message takes effect exactly once.
func TestKilledAtEveryMoment(t *testing.T) {
	for name, p := range places(t) {
		if _, err := p.SQL.ExecContext(t.Context(), "CREATE TABLE "+p.Table("effects")+" (name text)"); err != nil {
			t.Fatal(err)
		}
		for _, moment := range []string{"before the effect", "after the effect", "after the commit"} {
			t.Run(name+" "+moment, func(t *testing.T) {
				p.killed(t, moment)
				in := parts.NewInbox(p.DB, inbox.Options{}, worker.Options{})
				err := inbox.ErrInProgress // until the server has noticed
				for errors.Is(err, inbox.ErrInProgress) {
					err = in.Once(t.Context(), invoice, func(ctx context.Context, tx outbox.Tx) error { return insertEffect(ctx, tx, p.Table("effects")) })
				}
				if err != nil {
					t.Fatal(err)
				}
				p.effects(t, moment, 1)
				p.reset(t)
			})
			t.Run(name+" from the queue "+moment, func(t *testing.T) {
				in := parts.NewInbox(p.DB, inbox.Options{}, worker.Options{StopWhenEmpty: true})
				if _, err := in.Enqueue(t.Context(), inbox.Message{Key: invoice, Topic: "paid"}); err != nil {
					t.Fatal(err)
				}
				p.killed(t, "queue: "+moment)
				p.expire(t)
				in.HandleInboxTx("paid", func(ctx context.Context, tx outbox.Tx, _ *inbox.Message) error {
					return insertEffect(ctx, tx, p.Table("effects"))
				})
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				dbtest.Until(t, "the message is done", func() bool {
					if err := in.Run(ctx); err != nil {
						t.Fatal(err)
					}
					got, err := in.Get(ctx, invoice)
					return err == nil && got.Status == inbox.Done
				})
				p.effects(t, moment, 1)
				p.reset(t)
			})
		}
	}
}

// expire lets the leases of dead workers run out.
func (p place) expire(t *testing.T) {
	t.Helper()
	if _, err := p.SQL.ExecContext(t.Context(), "UPDATE "+p.Table("outbox_claim")+" SET locked_until = "+p.Ago(time.Second)); err != nil {
		t.Fatal(err)
	}
}

// reset forgets everything.
func (p place) reset(t *testing.T) {
	t.Helper()
	for _, table := range []string{"effects", "inbox", "outbox_message", "outbox_ready", "outbox_claim", "outbox_done", "outbox_exception"} {
		if _, err := p.SQL.ExecContext(t.Context(), "DELETE FROM "+p.Table(table)); err != nil {
			t.Fatal(err)
		}
	}
}
