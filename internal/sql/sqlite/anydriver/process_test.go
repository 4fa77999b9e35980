package anydriver_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	sqlite "github.com/bravellian/pawl/internal/sql/sqlite/anydriver"
	"github.com/bravellian/pawl/internal/test/enginetest"
)

// This test binary is also the other processes: started with a part to play in
// its environment, it plays that and runs no tests.
const partVariable, fileVariable, nameVariable = "PAWL_SQLITE_PART", "PAWL_SQLITE_FILE", "PAWL_SQLITE_NAME"

func TestMain(m *testing.M) {
	parts := map[string]func(path string) error{"migrate": migratePart, "enqueue": enqueuePart, "compete": competePart, "begin": beginPart}
	part, played := parts[os.Getenv(partVariable)]
	if !played {
		os.Exit(m.Run())
	}
	if err := part(os.Getenv(fileVariable)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// process is another process that plays a part on a file. It waits for a line
// on its input before it begins.
type process struct {
	t   testing.TB
	cmd *exec.Cmd
	in  interface{ Write([]byte) (int, error) }
	out *bufio.Reader
}

func start(t testing.TB, part, path, name string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), partVariable+"="+part, fileVariable+"="+path, nameVariable+"="+name)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	enginetest.Must(t, err)
	out, err := cmd.StdoutPipe()
	enginetest.Must(t, err)
	enginetest.Must(t, cmd.Start())
	p := &process{t, cmd, in, bufio.NewReader(out)}
	p.expect("ready")
	return p
}

func (p *process) begin() {
	p.t.Helper()
	_, err := p.in.Write([]byte("begin\n"))
	enginetest.Must(p.t, err)
}

func (p *process) expect(line string) {
	p.t.Helper()
	got, err := p.out.ReadString('\n')
	if err != nil || got != line+"\n" {
		p.t.Fatalf("the other process said %q (%v), want %q", got, err, line)
	}
}

func (p *process) wait() {
	p.t.Helper()
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("the other process: %v", err)
	}
}

// ready is the other end of start and begin.
func ready() error {
	fmt.Println("ready")
	_, err := bufio.NewReader(os.Stdin).ReadString('\n')
	return err
}

func migratePart(path string) error {
	if err := ready(); err != nil {
		return err
	}
	db, err := sqlite.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(db.Migrate(context.Background()), db.CheckSchema(context.Background()), db.Close())
}

// D-100: eight processes that open a new file and migrate it at once all succeed.
func TestProcessesThatMigrateTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	var all []*process
	for i := range 8 {
		all = append(all, start(t, "migrate", path, strconv.Itoa(i)))
	}
	for _, p := range all {
		p.begin()
	}
	for _, p := range all {
		p.wait()
	}
	db := open(t, path)
	enginetest.Must(t, db.CheckSchema(t.Context()))
	enginetest.LiveOnce(t, db)
}

func enqueuePart(path string) error {
	db, err := sqlite.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	lo, err := db.ReserveIDs(context.Background(), nil, 1)
	if err != nil {
		return err
	}
	if err := ready(); err != nil {
		return err
	}
	return db.Do(context.Background(), enginetest.Enqueue([]int64{lo}, nil))
}

// beginPart makes a table in a log of its own.
func beginPart(path string) error {
	db, err := sqlite.Open(path)
	if err != nil {
		return err
	}
	_, err = db.SQL().Exec("CREATE TABLE theirs (x)")
	return errors.Join(err, ready(), db.Close())
}

// OBX-100: a commit of another process wakes a waiter of this one.
func TestCommitOfAnotherProcessWakes(t *testing.T) {
	db, path := migrated(t)
	p := start(t, "enqueue", path, "")
	s := db.Waiter(enginetest.Queue)
	defer s.Close()
	woken := enginetest.Asleep(t, s)
	p.begin()
	enginetest.WantWoken(t, woken)
	p.wait()
	if c := enginetest.Count(t, db); c.Ready != 1 {
		t.Errorf("%+v", c)
	}
}

const (
	rounds = 4
	// turns is how many transactions each process makes in a round. One that
	// is done goes on until the other is done as well, so that there is always
	// competition; it may make this many before it calls that starvation.
	turns      = 40
	starvation = 12 * turns
)

// competePart enqueues, claims and acks in competition with another process.
func competePart(path string) error {
	ctx, name := context.Background(), os.Getenv(nameVariable)
	db, err := sqlite.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if err := ready(); err != nil {
		return err
	}
	for round := range rounds {
		for mine := 1; ; mine++ {
			if err := turn(ctx, db); err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
			over, err := progress(ctx, db, name, round)
			if err != nil {
				return fmt.Errorf("round %d: progress: %w", round, err)
			}
			if over {
				break
			}
			if mine > starvation {
				return fmt.Errorf("round %d: the other process starves", round)
			}
		}
	}
	return nil
}

func turn(ctx context.Context, db *sqlite.DB) error {
	lo, err := db.ReserveIDs(ctx, nil, 2)
	if err != nil {
		return err
	}
	if err := db.Do(ctx, enginetest.Enqueue(enginetest.IDs(lo, 2), nil)); err != nil {
		return err
	}
	owner := enginetest.Token()
	var got []enginetest.Message
	if err := db.Do(ctx, enginetest.Claim(owner, time.Hour, 2, &got)); err != nil {
		return err
	}
	var acked int64
	for _, m := range got {
		ack := enginetest.Ack(owner, enginetest.Span{Lo: m.ID, N: 1})
		if err := db.Do(ctx, ack); err != nil {
			return err
		}
		acked += ack.N
	}
	if acked != int64(len(got)) {
		return fmt.Errorf("acked %d of %d", acked, len(got))
	}
	return nil
}

// progress records a transaction and reports whether both processes have made theirs in this round.
func progress(ctx context.Context, db *sqlite.DB, name string, round int) (over bool, err error) {
	tx, err := db.SQL().BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "UPDATE progress SET n = n + 1 WHERE name = ? AND round = ?", name, round); err != nil {
		return false, err
	}
	var behind int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM progress WHERE round = ? AND n < ?", round, turns).Scan(&behind); err != nil {
		return false, err
	}
	return behind == 0, tx.Commit()
}

// OBX-098, OBX-100, OBX-101: two processes on one file both make progress all
// the time, and no message is lost or with both of them.
func TestTwoProcessesShareTheFile(t *testing.T) {
	p := file(t)
	db := enginetest.Migrated(t, p).(*sqlite.DB)
	enginetest.Exec(t, p, "CREATE TABLE progress (name TEXT, round INTEGER, n INTEGER, PRIMARY KEY (name, round))")
	var path string
	enginetest.Must(t, db.SQL().QueryRow("SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&path))
	var both []*process
	for _, name := range []string{"a", "b"} {
		for round := range rounds {
			enginetest.Exec(t, p, "INSERT INTO progress VALUES (?, ?, 0)", name, round)
		}
		both = append(both, start(t, "compete", path, name))
	}
	for _, p := range both {
		p.begin()
	}
	for _, p := range both {
		p.wait()
	}
	made := enginetest.Number(t, p, "SELECT sum(n) FROM progress")
	c := enginetest.Count(t, db)
	if c.Sum() != 2*made || c.Claimed != 0 {
		t.Errorf("%d turns of two messages each left %+v", made, c)
	}
	if done := enginetest.Number(t, p, "SELECT count(*) FROM (SELECT lo FROM pawl.outbox_done GROUP BY lo HAVING count(*) > 1)"); done != 0 {
		t.Errorf("%d messages were done twice", done)
	}
	enginetest.CheckPlaces(t, p)
}
