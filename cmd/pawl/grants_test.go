package main

import (
	"context"
	"crypto/rand"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/internal/test/testpg"
)

// login makes a PostgreSQL role without rights and returns its name and address.
func login(t *testing.T) (name, address string) {
	t.Helper()
	name = "Cli-" + strings.ToLower(rand.Text())
	admin := func(statements ...string) {
		conn, err := pgx.Connect(context.Background(), testpg.URL(t))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(context.Background()) }()
		for _, s := range statements {
			if _, err := conn.Exec(context.Background(), s); err != nil {
				t.Error(err)
			}
		}
	}
	admin(`CREATE ROLE "` + name + `" LOGIN PASSWORD 'p'`)
	t.Cleanup(func() { admin(`DROP OWNED BY "`+name+`" CASCADE`, `DROP ROLE "`+name+`"`) })
	u, err := url.Parse(testpg.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(name, "p")
	return name, u.String()
}

// OBX-123, OBX-124: "pawl migrate --grants" makes a producer that enqueues and reads
// nothing, and a viewer that reads.
func TestMigrateGrants(t *testing.T) {
	d := onPostgres(t)
	producer, asProducer := login(t)
	viewer, asViewer := login(t)
	for range 2 {
		out := d.must("", "migrate", "--grants", "producer="+producer, "--grants", "viewer="+viewer)
		if !strings.Contains(out, producer+" has the rights of a producer\n"+viewer+" has the rights of a viewer\n") {
			t.Errorf("said %q", out)
		}
	}
	p := &database{t, []string{"--db=" + asProducer, d.flags[1]}}
	v := &database{t, []string{"--db=" + asViewer, d.flags[1]}}
	p.must("secret\n", "enqueue", "--topic", "t")
	for _, args := range [][]string{{"ls"}, {"pause", "queue", "default"}, {"migrate"}} {
		if r := p.run("", args...); r.code == exitOK || strings.Contains(r.stdout, "secret") || !strings.Contains(r.stderr, "permission denied") {
			t.Errorf("a producer: %v: %+v", args, r)
		}
	}
	if out := v.must("", "ls"); len(lines(out)) != 2 {
		t.Errorf("a viewer sees %q", out)
	}
	if out := v.must("", "backlog"); len(lines(out)) != 2 { // D-217
		t.Errorf("a viewer counts %q", out)
	}
	v.opened(func(s *store) {
		a, err := inspect.ReadActivity(t.Context(), s, inspect.ActivityQuery{})
		if err != nil || len(a.Topics) != 1 || a.Topics[0].Enqueued != 1 {
			t.Errorf("a viewer counts %+v, %v", a, err)
		}
	})
	for _, args := range [][]string{{"pause", "queue", "default"}, {"enqueue", "--topic", "t"}} {
		if r := v.run("x\n", args...); r.code == exitOK || !strings.Contains(r.stderr, "permission denied") {
			t.Errorf("a viewer: %v: %+v", args, r)
		}
	}
}

func TestMigrateGrantsMistakes(t *testing.T) {
	d, lite := onPostgres(t), onSQLite(t)
	for _, c := range []struct {
		d      *database
		grant  string
		code   int
		stderr string
	}{
		{d, "admin=x", exitUsage, "with a role of [producer worker operator viewer migrator]"},
		{d, "viewer", exitUsage, "want ROLE=USER"},
		{d, "viewer=", exitUsage, "want ROLE=USER"},
		{d, "viewer=nobody there", exitFailure, `role "nobody there" does not exist`},
		{d, "viewer=public", exitFailure, "public is everybody"},
		{lite, "viewer=x", exitUsage, "--grants is for servers"},
	} {
		if r := c.d.run("", "migrate", "--grants", c.grant); r.code != c.code || !strings.Contains(r.stderr, c.stderr) {
			t.Errorf("%s: %+v", c.grant, r)
		}
	}
}
