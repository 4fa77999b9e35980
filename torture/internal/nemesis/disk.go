package nemesis

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// DiskFull is the name of the fault that fills the small disk.
const DiskFull = "disk-full"

// diskFaults fill the disk that the SQLite file or the server's tables are on.
func diskFaults() []Fault {
	return []Fault{
		{Name: DiskFull, Track: Servers, Small: true, Low: 500 * time.Millisecond, High: 4 * time.Second, Do: fillDisk},
	}
}

// errRoom is returned when a full disk harms nobody.
var errRoom = errors.New("the disk is full, and the server finds room on it still")

// fillDisk fills the disk for a while, and gives the room back. On PostgreSQL a statement has to
// fail meanwhile.
func fillDisk(ctx context.Context, w *World, s Step) error {
	if !w.Place.Postgres() {
		return withBallast(ctx, w.Disk, s.Hold, func() {})
	}
	// A server that recovers ends if it finds no room.
	if err := w.insist(ctx, w.answers); err != nil {
		return err
	}
	failed := false
	err := withBallast(ctx, w.Disk, s.Hold, func() { failed = failed || w.findsNoRoom(ctx) })
	if !failed {
		err = errors.Join(err, errRoom)
	}
	if w.Server.PID() == 0 {
		err = errors.Join(err, w.Server.Restart(context.WithoutCancel(ctx), "fast"))
	}
	return errors.Join(err, w.insist(context.WithoutCancel(ctx), w.answers))
}

func (w *World) answers(ctx context.Context) error { return w.Store.SQL.PingContext(ctx) }

// withBallast keeps the file system of a folder full for a time, and does something again and
// again meanwhile, once at least.
func withBallast(ctx context.Context, folder string, hold time.Duration, do func()) error {
	name := filepath.Join(folder, "ballast")
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer os.Remove(name)
	const often = 50 * time.Millisecond
	for end := time.Now().Add(hold); ; {
		fill(ctx, f) // again, too: others remove files
		do()
		if !wait(ctx, min(often, time.Until(end))) || time.Now().After(end) {
			return errors.Join(f.Truncate(0), f.Close())
		}
	}
}

// fill writes until nothing can be written any more.
func fill(ctx context.Context, w io.Writer) {
	const block, smallest = 1 << 20, 512
	for size := block; size >= smallest && ctx.Err() == nil; {
		if _, err := w.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
}

// findsNoRoom reports whether a statement fails for want of room. It makes a table of its own:
// others may have pages that are half empty.
func (w *World) findsNoRoom(ctx context.Context) bool {
	const diskFull = "53100"
	_, err := w.Store.SQL.ExecContext(ctx, w.Store.Text(`CREATE TABLE {s}torture_room AS SELECT repeat('x', 1000) FROM generate_series(1, 1000)`))
	if err == nil {
		_, _ = w.Store.SQL.ExecContext(ctx, w.Store.Text(`DROP TABLE {s}torture_room`)) // if it stays, so does its room
	}
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Code == diskFull
}
