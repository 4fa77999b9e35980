//go:build unix

package pause_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/pause"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// This test binary is also the process that works: with a database in its
// environment it handles messages until it is killed, and runs no tests.
const (
	fileVariable   = "PAWL_PAUSE_FILE"
	urlVariable    = "PAWL_PAUSE_URL"
	schemaVariable = "PAWL_PAUSE_SCHEMA"
)

func TestMain(m *testing.M) {
	if os.Getenv(fileVariable)+os.Getenv(urlVariable) == "" {
		os.Exit(m.Run())
	}
	fmt.Fprintln(os.Stderr, toil())
	os.Exit(1) // it should have been killed
}

func toil() error {
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
	o := parts.NewOutbox(db, worker.Options{Concurrency: 2, BatchSize: 20, Lease: 2 * time.Second})
	o.Handle("p", func(context.Context, *outbox.Message) error {
		time.Sleep(20 * time.Millisecond)
		return nil
	})
	return o.Run(context.Background())
}

// startWorker starts another process, which is killed with the test at the latest.
func startWorker(t *testing.T, env []string) (kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	dead := false
	kill = func() {
		if !dead {
			dead = true
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	t.Cleanup(kill)
	return kill
}

// A process of its own obeys a pause that it was not notified of, and all that it parked
// comes back after it crashed.
func TestPauseObeyedByAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pause.db")
	file := dbtest.SQLiteAt(t, path, sqlite.Options{})
	dbtest.Migrate(t, file)
	server := dbtest.OpenPostgres(t)
	for name, place := range map[string]struct {
		dbtest.Database
		env []string
	}{
		"sqlite":   {dbtest.Database{DB: file, SQL: file.SQL(), Table: func(name string) string { return name }}, []string{fileVariable + "=" + path}},
		"postgres": {server, []string{urlVariable + "=" + testpg.URL(t), schemaVariable + "=" + strings.TrimSuffix(server.Table(""), ".")}},
	} {
		t.Run(name, func(t *testing.T) {
			const n = 2000 // more than it gets through before it looks
			o := parts.NewOutbox(place, worker.Options{})
			if _, err := o.EnqueueBatch(t.Context(), repeated(n)); err != nil {
				t.Fatal(err)
			}
			counts := func() outbox.Counts {
				c, err := o.Count(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
			kill := startWorker(t, place.env)
			dbtest.Until(t, "it works", func() bool { return counts().Done > 0 })
			if ok, err := o.Pauses().Pause(t.Context(), pause.Topic, "p", ""); !ok || err != nil {
				t.Fatal(ok, err)
			}
			dbtest.Until(t, "all else is parked", func() bool { c := counts(); return c.InProgress == 0 && int64(place.Aside(t)) == c.Ready })
			before := counts()
			if before.Ready == 0 {
				t.Fatal("it was through before it looked")
			}
			kill()
			if ok, err := o.Pauses().Resume(t.Context(), pause.Topic, "p"); !ok || err != nil {
				t.Fatal(ok, err)
			}
			dbtest.Until(t, "all are handled, also what the server still claimed for the dead", func() bool {
				rest := parts.NewOutbox(place, worker.Options{StopWhenEmpty: true})
				rest.Handle("p", func(context.Context, *outbox.Message) error { return nil })
				if err := rest.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				return counts().Done == n
			})
			if n := place.Aside(t); n != 0 {
				t.Fatalf("%d still lie aside", n)
			}
		})
	}
}

func repeated(n int) []outbox.Message {
	all := make([]outbox.Message, n)
	for i := range all {
		all[i].Topic = "p"
	}
	return all
}
