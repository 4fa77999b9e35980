package pawltest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/pawltest"
	"github.com/bravellian/pawl/postgres"
)

// A server that cannot be reached fails the test, and says which without the password.
func TestPostgresThatIsNotThere(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"postgres://user:hunter2@127.0.0.1:1/db", "postgres://user:hunter2@127.0.0.1:nonsense/db"} {
		text := failure(t, func(t testing.TB) {
			pawltest.Postgres(t, url)
			t.Errorf("it went on")
		})
		if !strings.Contains(text, "pawltest: ") || strings.Contains(text, "hunter2") || strings.Contains(text, "went on") {
			t.Errorf("%s", text)
		}
	}
	fails(t, func(t testing.TB) { pawltest.Postgres(t, "postgres://user@127.0.0.1:1/db") }, "no PostgreSQL to test against", "host 127.0.0.1, port 1", `database "db"`)
}

// Nothing of a test stays on the server.
func TestPostgresSchemasAreDropped(t *testing.T) {
	t.Parallel()
	var schema string
	text := failure(t, func(t testing.TB) {
		d := onPostgres(t)
		check(t, postgres.Pool(d.DB()).QueryRow(t.Context(), "SELECT current_schema()").Scan(&schema))
		_, err := postgres.Pool(d.DB()).Exec(t.Context(), "CREATE TABLE orders (number integer); INSERT INTO orders VALUES (7)")
		check(t, err)
		var number int
		check(t, d.SQL().QueryRowContext(t.Context(), "SELECT number FROM "+schema+".orders").Scan(&number))
		if n := schemas(t, schema); number != 7 || n != 2 {
			t.Errorf("there are %d schemas, with %d", n, number)
		}
	})
	if n := schemas(t, schema); text != "" || n != 0 || !strings.HasPrefix(schema, "pawltest_") {
		t.Errorf("%d schemas like %s stay; %s", n, schema, text)
	}
}

// schemas counts those whose name begins so.
func schemas(t testing.TB, name string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), testpg.URL(t))
	check(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	check(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_namespace WHERE starts_with(nspname, $1)", name).Scan(&n))
	return n
}

// What is wrong with the options fails the test as well.
func TestWrongOptions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open opener) {
		fails(t, func(t testing.TB) { open(t, pawltest.Options{Prefix: "a-b"}) }, "pawltest:", "prefix")
	})
}

// Two tests see nothing of each other, and pawl's options arrive.
func TestOptionsAndIsolation(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open opener) {
		small := open(t, pawltest.Options{Pawl: pawl.Options{MaxPayload: 3}})
		other := open(t)
		if _, err := small.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "mail", Payload: []byte("long")}); err == nil {
			t.Error("the options did not arrive")
		}
		enqueue(t, other, "mail", "long")
		small.AssertNotEnqueued(t)
		other.AssertEnqueued(t)
	})
}

// A test that fails with a transaction open ends all the same, and on a server it
// learns what stays there because of that.
func TestTransactionsLeftOpen(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open opener) {
		ended := make(chan string, 1)
		var begun []func(bool) error
		go func() {
			ended <- failure(t, func(t testing.TB) {
				d := open(t)
				_, err := d.SQL().ExecContext(t.Context(), "CREATE TABLE orders (number INTEGER)")
				check(t, err)
				for _, begin := range transactions(t, d) {
					tx, look, end := begin()
					begun = append(begun, end)
					_, err := tx.ExecContext(context.Background(), "SELECT * FROM orders")
					check(t, err)
					if postgres.Pool(d.DB()) == nil || len(begun) == 3 {
						d.AssertEnqueued(t, pawltest.In(look))
					}
				}
			})
		}()
		select {
		case text := <-ended:
			if !strings.Contains(text, "no message was enqueued in this transaction") || len(begun) > 1 && !strings.Contains(text, "stays on the server: has the test left a transaction open?") {
				t.Errorf("failed with %s", text)
			}
		case <-time.After(time.Minute):
			t.Fatal("it does not end")
		}
		for _, end := range begun {
			_ = end(false)
		}
	})
}
