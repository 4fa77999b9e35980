package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bravellian/pawl/sqlserver/internal/tdstest"
)

// server is one that says what it is, and keeps the statements that it gets.
type server struct {
	*tdstest.Server
	mu   sync.Mutex
	told []string
}

func newServer(t *testing.T, number string, edition int, product string) *server {
	s := &server{}
	s.Server = tdstest.New(t, func(r *tdstest.Request) tdstest.Answer {
		if r.Kind != tdstest.Batch {
			return tdstest.Answer{}
		}
		if strings.Contains(r.SQL, "SERVERPROPERTY") {
			text := tdstest.NVarChar(200)
			return tdstest.Answered(tdstest.Rows([]tdstest.Column{{Name: "a", Type: text}, {Name: "b", Type: tdstest.Int}, {Name: "c", Type: text}, {Name: "d", Type: tdstest.Bit}, {Name: "e", Type: text}},
				[]any{number, edition, product, true, "Turkish_CI_AS"}))
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.told = append(s.told, r.SQL)
		return tdstest.Answer{}
	})
	return s
}

// D-821: the command finds the database of a setting, and what the server says of itself.
func TestCommandFindsTheDatabase(t *testing.T) {
	s := newServer(t, "16.0.4105.2", 3, "Microsoft SQL Server 2022 (RTM)")
	t.Setenv(variable, s.URL())
	file := filepath.Join(t.TempDir(), "env")
	code := run(t.Context(), []string{"-setting", "turkish", "--", "sh", "-c", `printf '%s\n' "$PAWL_TEST_SQLSERVER" "$PAWL_TEST_SQLSERVER_IS" >"$0"; exit 3`, file})
	text, err := os.ReadFile(file)
	if code != 3 || err != nil || !strings.Contains(string(text), "database=pawl_test_turkish") || !strings.HasSuffix(string(text), "\n2022 | READ_COMMITTED_SNAPSHOT on, Turkish_CI_AS\n") {
		t.Errorf("exit code %d, %q, %v", code, text, err)
	}
	told := strings.Join(s.told, "\n")
	for _, want := range []string{"CREATE DATABASE pawl_test_turkish COLLATE Turkish_CI_AS", "ALTER DATABASE pawl_test_turkish SET READ_COMMITTED_SNAPSHOT ON"} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not in %s", want, told)
		}
	}
}

// A named database is taken as it is: nothing is created on it, or set.
func TestDatabaseIsTakenAsItIs(t *testing.T) {
	s := newServer(t, "12.0.2000.8", 5, "Microsoft SQL Azure (RTM)")
	t.Setenv(variable, s.URL())
	if code := run(t.Context(), []string{"--", "sh", "-c", `test "$PAWL_TEST_SQLSERVER" = "$0" && test "$PAWL_TEST_SQLSERVER_IS" = "Azure SQL | READ_COMMITTED_SNAPSHOT on, Turkish_CI_AS"`, s.URL()}); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if len(s.told) > 0 {
		t.Errorf("%q", s.told)
	}
}

// D-821: what only acts as SQL Server is not called by a year.
func TestVersions(t *testing.T) {
	const own = "Microsoft SQL Server"
	for _, c := range []struct {
		number  string
		edition int
		product string
		want    string
	}{
		{"14.0.1", 3, own, "2017"}, {"15.0.1", 2, own, "2019"}, {"17.0.1", 3, own, "2025"}, {"12.0.2000.8", 8, own, "Azure SQL"}, {"18.0", 3, own, "version 18"},
		{"12.0.2000.8", 3, "Babelfish for PostgreSQL with SQL Server Compatibility", "an emulator"}, {"16.0", 3, own + " by Babelfish", "an emulator"}, {"16.0", 3, "", "an emulator"},
	} {
		if got := versionOf(c.number, c.edition, c.product); got != c.want {
			t.Errorf("%s, %d, %s: %q, want %q", c.number, c.edition, c.product, got, c.want)
		}
	}
}

// Without a server and without an engine for containers nothing runs.
func TestNoServer(t *testing.T) {
	t.Setenv(variable, "")
	t.Setenv("PATH", t.TempDir())
	if _, err := prepared(t.Context(), "2022", "", []string{"true"}); err != errNoServer {
		t.Error(err)
	}
	if code := run(t.Context(), []string{"-setting", "no-such", "--", "true"}); code != exitUsage {
		t.Errorf("exit code %d", code)
	}
	if code := run(t.Context(), nil); code != exitUsage {
		t.Errorf("exit code %d", code)
	}
}

// The container is the maker's, gets its password by the environment, and is removed.
func TestContainer(t *testing.T) {
	s := newServer(t, "14.0.1", 3, "Microsoft SQL Server 2017")
	dir := t.TempDir()
	docker := `#!/bin/sh
echo "$@" >>` + dir + `/calls
case "$1" in
run) echo "$MSSQL_SA_PASSWORD" >` + dir + `/password; echo 0123 ;;
port) echo ` + strings.Split(strings.Split(s.URL(), "@")[1], "?")[0] + ` ;;
esac
`
	if err := os.WriteFile(filepath.Join(dir, "docker"), []byte(docker), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv(variable, "")
	t.Setenv(imageVariable, "makers.example/mssql/server")
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if code := run(t.Context(), []string{"-version", "2017", "--", "sh", "-c", `case "$PAWL_TEST_SQLSERVER" in *database=pawl_test_rcsi_on*) exit 0;; esac; exit 1`}); code != 0 {
		t.Errorf("exit code %d", code)
	}
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	password, passwordErr := os.ReadFile(filepath.Join(dir, "password"))
	if err != nil || passwordErr != nil || len(password) < 20 || strings.Contains(string(calls), strings.TrimSpace(string(password))) {
		t.Fatalf("%v %v: %q in %s", err, passwordErr, password, calls)
	}
	for _, want := range []string{"makers.example/mssql/server:2017-latest", "--publish 127.0.0.1::1433", "rm --force 0123"} {
		if !strings.Contains(string(calls), want) {
			t.Errorf("%q is not in %s", want, calls)
		}
	}
}
