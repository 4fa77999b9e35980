package pawltest_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	impl "github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/pawltest"
	"github.com/bravellian/pawl/postgres"
)

// each runs a test on every engine, side by side.
func each(t *testing.T, test func(t *testing.T, open opener)) {
	t.Helper()
	for name, open := range engines() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open)
		})
	}
}

func onPostgres(t testing.TB, opts ...pawltest.Options) *pawltest.DB {
	t.Helper()
	return pawltest.Postgres(t, testpg.With(testpg.URL(t), "pool_max_conns=5"), opts...)
}

// fake is a test that notes its failures instead of failing.
type fake struct {
	testing.TB
	mu       sync.Mutex
	text     strings.Builder
	cleanups []func()
}

func (f *fake) Helper() {}

func (f *fake) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fmt.Fprintf(&f.text, format+"\n", args...)
}
func (f *fake) Error(args ...any)                 { f.Errorf("%s", fmt.Sprint(args...)) }
func (f *fake) Fatalf(format string, args ...any) { f.Errorf(format, args...); f.FailNow() }
func (f *fake) Fatal(args ...any)                 { f.Error(args...); f.FailNow() }
func (f *fake) FailNow()                          { runtime.Goexit() }
func (f *fake) Cleanup(fn func())                 { f.cleanups = append(f.cleanups, fn) }

// failure runs a test of its own, to its end, and returns how it failed; "" if it
// passed.
func failure(t testing.TB, test func(t testing.TB)) string {
	f := &fake{TB: t}
	f.run(test)
	return f.text.String()
}

func (f *fake) run(test func(t testing.TB)) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		test(f)
	}()
	<-ended
	for i := len(f.cleanups) - 1; i >= 0; i-- {
		f.cleanups[i]()
	}
}

// run runs an example's test, and prints how it ends.
func run(test func(t testing.TB)) {
	dir, err := os.MkdirTemp("", "pawltest")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	f := &fake{TB: bare{dir: dir}}
	f.run(test)
	if text := f.text.String(); text != "" {
		fmt.Println("FAIL:", text)
		return
	}
	fmt.Println("PASS")
}

// bare is what examples have for a test: all that pawltest needs of one.
type bare struct {
	testing.TB
	dir string
}

func (b bare) TempDir() string          { return b.dir }
func (b bare) Context() context.Context { return context.Background() }
func (b bare) Output() io.Writer        { return io.Discard }

// fails insists on a failure whose text has all parts.
func fails(t testing.TB, test func(t testing.TB), parts ...string) {
	t.Helper()
	text := failure(t, test)
	if text == "" {
		t.Errorf("it passed, want a failure with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("the failure lacks %q:\n%s", part, text)
		}
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// enqueue puts a message into the outbox.
func enqueue(t testing.TB, d *pawltest.DB, topic, payload string) outbox.MessageID {
	t.Helper()
	id, err := d.Outbox.Enqueue(t.Context(), outbox.Message{Topic: topic, Payload: []byte(payload)})
	check(t, err)
	return id
}

// transactions are the ways in which a program can have one open: as pawl takes
// it, as the assertions take it, and its end.
func transactions(t testing.TB, d *pawltest.DB) map[string]func() (tx engine.Tx, look any, end func(commit bool) error) {
	ways := map[string]func() (engine.Tx, any, func(bool) error){
		"database/sql": func() (engine.Tx, any, func(bool) error) {
			tx, err := d.SQL().BeginTx(t.Context(), nil)
			check(t, err)
			return tx, tx, func(commit bool) error {
				if commit {
					return tx.Commit()
				}
				return tx.Rollback()
			}
		},
	}
	if postgres.Pool(d.DB()) == nil {
		return ways
	}
	for name, wrapped := range map[string]bool{"pgx": false, "pgx as pawl has it": true} {
		ways[name] = func() (engine.Tx, any, func(bool) error) {
			tx, err := postgres.Pool(d.DB()).Begin(t.Context())
			check(t, err)
			end := func(commit bool) error {
				if commit {
					return tx.Commit(context.Background())
				}
				return tx.Rollback(context.Background())
			}
			if wrapped {
				return impl.Tx(tx), impl.Tx(tx), end
			}
			return impl.Tx(tx), tx, end
		}
	}
	return ways
}
