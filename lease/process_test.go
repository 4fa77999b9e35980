//go:build unix

package lease_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/lease"
)

// This test binary is also the process that is stopped: with a database in its
// environment it holds a lease there and runs no tests.
const fileVariable, urlVariable, schemaVariable = "PAWL_LEASE_FILE", "PAWL_LEASE_URL", "PAWL_LEASE_SCHEMA"

func TestMain(m *testing.M) {
	var db engine.DB
	var pool pooled
	var err error
	switch {
	case os.Getenv(fileVariable) != "":
		var file *sqlite.DB
		file, err = sqlite.Open(os.Getenv(fileVariable))
		if err == nil {
			db, pool = file, file.SQL()
		}
	case os.Getenv(urlVariable) != "":
		var server *postgres.DB
		server, err = postgres.Open(os.Getenv(urlVariable), postgres.Options{Schema: os.Getenv(schemaVariable)})
		if err == nil {
			db, pool = server, stdlib.OpenDBFromPool(server.Pool())
		}
	default:
		waitTogether()
		os.Exit(m.Run())
	}
	if err == nil {
		err = holdPart(db, pool)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// waitTogether lets more tests run at once than there are processors: most of
// them wait for a lease to end.
func waitTogether() {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("8")
	}
}

// holdPart holds a lease, and makes a guarded write for every line it is told.
func holdPart(db engine.DB, pool pooled) error {
	ctx := context.Background()
	l, err := parts.NewLeases(db, "stopped", nil).Acquire(ctx, "n", lease.Options{Duration: 8 * time.Second}) // a busy machine may stop it, too
	if err != nil {
		return err
	}
	fmt.Println("token", l.Token())
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		err := guarded(ctx, pool, l, os.Getenv("PAWL_LEASE_TABLE"))
		switch {
		case err == nil:
			fmt.Println("written")
		case errors.Is(err, lease.ErrLost) && errors.Is(context.Cause(l.Context()), lease.ErrLost):
			fmt.Println("lost")
		default:
			return err
		}
	}
	return nil
}

// child is the process that holds the lease.
type child struct {
	t   *testing.T
	cmd *exec.Cmd
	in  interface{ Write([]byte) (int, error) }
	out *bufio.Reader
}

func startChild(t *testing.T, env ...string) *child {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // also ends one that is stopped
		_ = cmd.Wait()
	})
	return &child{t, cmd, in, bufio.NewReader(out)}
}

func (c *child) line() string {
	c.t.Helper()
	s, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Fatalf("the other process: %v", err)
	}
	return strings.TrimSpace(s)
}

func (c *child) write() string {
	c.t.Helper()
	if _, err := c.in.Write([]byte("write\n")); err != nil {
		c.t.Fatal(err)
	}
	return c.line()
}

func (c *child) signal(s syscall.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
}

// D-64, D-60: a process that was stopped for longer than its lease goes on as if
// nothing had happened, and its write is refused. That of the new holder is not.
func TestStoppedProcessOnSQLite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	db := dbtest.SQLiteAt(t, path, sqlite.Options{})
	dbtest.Migrate(t, db)
	stopped(t, db, db.SQL(), "effects", fileVariable+"="+path)
}

// D-64, D-60: the same on PostgreSQL.
func TestStoppedProcessOnPostgres(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenPostgres(t)
	schema := strings.TrimSuffix(d.Table(""), ".")
	stopped(t, d.DB, d.SQL, d.Table("effects"), urlVariable+"="+testpg.URL(t), schemaVariable+"="+schema)
}

func stopped(t *testing.T, db engine.DB, pool pooled, table string, env ...string) {
	if _, err := pool.ExecContext(t.Context(), "CREATE TABLE "+table+" (token BIGINT NOT NULL)"); err != nil {
		t.Fatal(err)
	}
	c := startChild(t, append(env, "PAWL_LEASE_TABLE="+table)...)
	token, _ := strings.CutPrefix(c.line(), "token ")
	first, err := strconv.ParseInt(token, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.write(); got != "written" {
		t.Fatalf("the first holder's write was %s", got)
	}
	c.signal(syscall.SIGSTOP)
	l, err := parts.NewLeases(db, "", nil).AcquireWait(t.Context(), "n", lease.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close(context.Background())
	if l.Token() != first+1 {
		t.Fatalf("token %d after %d", l.Token(), first)
	}
	if err := guarded(t.Context(), pool, l, table); err != nil {
		t.Fatal(err)
	}
	c.signal(syscall.SIGCONT)
	if got := c.write(); got != "lost" {
		t.Fatalf("the stopped holder's write was %s", got)
	}
	if err := guarded(t.Context(), pool, l, table); err != nil {
		t.Fatal(err)
	}
}
