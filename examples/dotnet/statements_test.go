//go:build unix

// Package dotnet is tested: the statements of its program run on PostgreSQL, and so does the program where PAWL_TEST_DOTNET
// says that there is a .NET SDK.
package dotnet_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/postgres"
)

// D-814: what the program sends to PostgreSQL is what the routines take, in the order in which it sends it.
func TestStatements(t *testing.T) {
	ctx, url := t.Context(), migrated(t)
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	of := statements(t)
	if _, err := conn.Exec(ctx, of["PostgresTables"]); err != nil {
		t.Fatal(err)
	}
	one := func(name string, args pgx.NamedArgs) (value any) {
		t.Helper()
		if of[name] == "" {
			t.Fatalf("there is no statement %s", name)
		}
		if err := conn.QueryRow(ctx, of[name], args).Scan(&value); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return value
	}
	owner := "6f9619ff-8b86-4011-b42d-00c04fc964ff"
	for range 2 {
		if number := one("PostgresOrder", pgx.NamedArgs{"cents": 7}); number == nil {
			t.Error("no number")
		}
		one("PostgresEnqueue", pgx.NamedArgs{"payload": `{"number":1}`})
	}
	rows, _ := conn.Query(ctx, of["PostgresClaim"], pgx.NamedArgs{"owner": owner})
	claimed, err := pgx.CollectRows(rows, pgx.RowToMap)
	if err != nil || len(claimed) != 2 || claimed[0]["payload"] != `{"number":1}` || claimed[0]["topic"] != "order.placed" {
		t.Fatalf("claimed %v, %v", claimed, err)
	}
	if _, err := conn.Exec(ctx, of["Invoice"], pgx.NamedArgs{"body": "b"}); err != nil {
		t.Error(err)
	}
	for name, args := range map[string]pgx.NamedArgs{"PostgresAck": {"owner": owner, "id": claimed[0]["id"]}, "PostgresAbandon": {"owner": owner, "id": claimed[1]["id"], "error": "e"}} {
		if held := one(name, args); fmt.Sprint(held) != "1" {
			t.Errorf("%s: %v", name, held)
		}
	}
}

// The program does what its README shows.
func TestProgram(t *testing.T) {
	if os.Getenv("PAWL_TEST_DOTNET") == "" {
		return // no SDK is asked for
	}
	config, err := pgx.ParseConfig(migrated(t))
	if err != nil {
		t.Fatal(err)
	}
	at := fmt.Sprintf("Host=%s;Port=%d;Database=%s;Username=%s;Password=%s", config.Host, config.Port, config.Database, config.User, config.Password)
	out, err := exec.CommandContext(t.Context(), "dotnet", "run", "--", "postgres", at).CombinedOutput()
	want := "order 1\norder 3\ninvoice {\"number\":1,\"cents\":1250}\ninvoice {\"number\":3,\"cents\":4400}\n"
	if err != nil || string(out) != want {
		t.Errorf("%v:\n%s", err, out)
	}
}

func migrated(t *testing.T) string {
	url := testpg.Database(t)
	db, err := postgres.Open(url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	p, err := pawl.New(db, pawl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return url
}

// statements are the constants of the program by name.
func statements(t *testing.T) map[string]string {
	text, err := os.ReadFile("Program.cs")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, m := range regexp.MustCompile(`(?s)const string (\w+) = """(.*?)""";`).FindAllStringSubmatch(string(text), -1) {
		all[m[1]] = strings.TrimSpace(m[2])
	}
	return all
}
