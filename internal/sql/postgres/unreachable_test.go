package postgres

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bravellian/pawl/internal/engine"
)

// D-708: pgx looks for a host once for each of its attempts; the error says it once, and what helps.
func TestHostThatIsNotFoundIsSaidOnce(t *testing.T) {
	config, err := pgconn.ParseConfig("postgres://u:secret@db.example/d")
	if err != nil {
		t.Fatal(err)
	}
	config.LookupFunc = func(context.Context, string) ([]string, error) {
		return nil, &net.DNSError{Err: "no such host", Name: "db.example", IsNotFound: true}
	}
	_, err = pgconn.ConnectConfig(t.Context(), config)
	for class, want := range map[error]string{
		engine.ErrUnreachable: "lookup db.example: no such host; check the name of the host",
		engine.ErrTimeout:     "lookup db.example: no such host",
	} {
		got := notReached(err, class)
		if host := (*net.DNSError)(nil); got.Error() != want || !errors.As(got, &host) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// D-708: a server that is not there is one line for every program: why, once, and what helps.
func TestNotReachedIsOneLine(t *testing.T) {
	for url, want := range map[string]string{
		"postgres://u:secret@127.0.0.1:1/d":   "outbox/counts: database unreachable, it takes no connections: dial tcp 127.0.0.1:1: connect: connection refused; check that the server runs, and its host and port",
		"postgres://127.0.0.1:1,127.0.0.1:2/": ": dial tcp 127.0.0.1:1: connect: connection refused; dial tcp 127.0.0.1:2: connect: connection refused; check",
		"mysql://u:secret@h/d":                "cannot parse the connection string: want postgres://",
	} {
		db, err := Open(url)
		if err == nil {
			_, err = db.acquire(t.Context(), "outbox/counts")
			_ = db.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
