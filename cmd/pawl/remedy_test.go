package main

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/test/testpg"
)

// D-738: a database that cannot be used is one line: which one, why, said once, and what helps.
func TestUnusableDatabaseSaysWhatHelps(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "README.md")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	silent, refusing := answering(t, ""), answering(t, "N")
	for _, c := range []struct {
		name, db string
		code     int
		want     string
	}{
		{"a directory", dir, exitFailure, "cannot open sqlite:" + dir + ": it is a directory; name a file in it, such as " + filepath.Join(dir, "pawl.db")},
		{"a directory's URI", "file:" + dir + "?mode=rwc", exitFailure, "it is a directory; name a file in it, such as"},
		{"a text file", text, exitFailure, "cannot open sqlite:" + text + ": file is not a database (26); name a SQLite file, or a path without a file"},
		{"another scheme", "mysql://u:secret@h/d", exitUsage, `unknown database scheme "mysql": want PATH, `},
		{"no server", "postgres://u:secret@127.0.0.1:1/d", exitFailure, "cannot reach postgres://u:xxxxx@127.0.0.1:1/d: dial tcp 127.0.0.1:1: connect: connection refused; check that the server runs, and its host and port"},
		{"no server of two", "postgres://127.0.0.1:1,127.0.0.1:2/d", exitFailure, ": dial tcp 127.0.0.1:1: connect: connection refused; dial tcp 127.0.0.1:2: connect: connection refused; check"},
		{"no socket", "host=" + dir + " dbname=d", exitFailure, "no such file or directory; check that the server runs"},
		{"no SQL Server", "sqlserver://127.0.0.1:1?database=d", exitFailure, "connection refused; check that the server runs"},
		{"no TLS", "postgres://" + refusing + "/d?sslmode=require", exitFailure, refusing + ": tls error: server refused TLS connection; check sslmode and sslrootcert"},
		{"no TLS, then nothing", "postgres://" + refusing + "/d", exitFailure, "/d: " + refusing + ": failed to receive message: "},
		{"no PostgreSQL", "postgres://" + silent + "/d", exitFailure, "/d: " + silent + ": "},
	} {
		for _, args := range [][]string{{"enqueue", "--topic", "t"}, {"backlog"}} {
			r := command(t.Context(), "x", append(args, "--db", c.db)...)
			if r.code != c.code || !strings.Contains(r.stderr, c.want) || len(lines(r.stderr)) != 1 {
				t.Errorf("%s, %s: %+v; want %d and %q", c.name, args[0], r, c.code, c.want)
			}
			for _, noise := range []string{"secret", "failed to connect", "user=", "dial error"} {
				if strings.Contains(r.stderr, noise) {
					t.Errorf("%s, %s: %q in %s", c.name, args[0], noise, r.stderr)
				}
			}
			if c.name != "no TLS" && strings.Contains(r.stderr, "tls error") {
				t.Errorf("%s, %s: said twice: %s", c.name, args[0], r.stderr)
			}
		}
	}
}

// D-738: PostgreSQL refuses a user or a database.
func TestRefusalByPostgresSaysWhatHelps(t *testing.T) {
	whole, err := url.Parse(testpg.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	base, user := *whole, *whole
	base.Path = "/no_such_base"
	user.User = url.User("no_such_user")
	for want, db := range map[string]string{"create the database, or check its name": base.String(), "check the user, and its password and rights": user.String()} {
		r := command(t.Context(), "", "backlog", "--db", db)
		if r.code != exitFailure || !strings.Contains(r.stderr, "no_such_") || !strings.HasSuffix(r.stderr, "; "+want+"\n") || len(lines(r.stderr)) != 1 {
			t.Errorf("%+v, want %q", r, want)
		}
	}
}

// answering answers the first bytes of every connection, and hangs up.
func answering(t *testing.T, answer string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 8)) // what pgx asks for TLS with
			_, _ = conn.Write([]byte(answer))
			_ = conn.Close()
		}
	}()
	return l.Addr().String()
}
