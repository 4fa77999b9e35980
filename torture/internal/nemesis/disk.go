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

// The names of the faults that fill small disks.
const (
	DiskFull    = "disk-full"     // that of the SQLite file or the server's tables
	WALDiskFull = "wal-disk-full" // that of the server's write-ahead log: the server ends
)

func diskFaults() []Fault {
	const low, high = 500 * time.Millisecond, 4 * time.Second
	return []Fault{
		{Name: DiskFull, Track: Servers, Small: true, Low: low, High: high, Do: func(ctx context.Context, w *World, s Step) error {
			if !w.Place.Postgres() {
				return withBallast(ctx, w.Disk, s.Hold, func() {})
			}
			return w.fillDisk(ctx, w.Disk, s.Hold, w.findsNoRoom)
		}},
		{Name: WALDiskFull, Engines: Postgres, Track: Servers, Harms: true, Owned: true, WAL: true, Low: low, High: high, Do: func(ctx context.Context, w *World, s Step) error {
			return w.fillDisk(ctx, w.Server.WALDisk(), s.Hold, w.findsNoRoomForWAL)
		}},
	}
}

// errRoom is returned when a full disk harms nobody.
var errRoom = errors.New("the disk is full, and the server finds room on it still")

// fillDisk fills a disk of PostgreSQL's for a while, and gives the room back. A statement has to
// fail meanwhile.
func (w *World) fillDisk(ctx context.Context, folder string, hold time.Duration, fails func(context.Context) bool) error {
	// A server that recovers ends if it finds no room.
	if err := w.insist(ctx, w.answers); err != nil {
		return err
	}
	failed := false
	err := withBallast(ctx, folder, hold, func() { failed = failed || fails(ctx) })
	if !failed {
		err = errors.Join(err, errRoom)
	}
	return errors.Join(err, w.insist(context.WithoutCancel(ctx), w.answers))
}

// answers starts a server that has ended, and returns an error while it does not answer.
func (w *World) answers(ctx context.Context) error {
	if w.Server.PID() == 0 {
		if err := w.Server.Restart(ctx, "fast"); err != nil {
			return err
		}
	}
	return w.Store.SQL.PingContext(ctx)
}

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
	_, err := w.Store.SQL.ExecContext(ctx, w.Store.Text(`CREATE TABLE {s}torture_room AS SELECT repeat('x', 1000) FROM generate_series(1, 1000)`))
	if err == nil {
		_, _ = w.Store.SQL.ExecContext(ctx, w.Store.Text(`DROP TABLE {s}torture_room`)) // if it stays, so does its room
	}
	return noRoom(err)
}

func noRoom(err error) bool {
	const diskFull = "53100"
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Code == diskFull
}

// findsNoRoomForWAL begins new segments of the write-ahead log until there is no room for one, and reports whether
// the server ended then. It takes those that are there first, faster than checkpoints make room.
func (w *World) findsNoRoomForWAL(ctx context.Context) bool {
	const segments = 100
	for range segments {
		_, err := w.Store.SQL.ExecContext(ctx, `SELECT pg_logical_emit_message(false, 'pawl', 'torture'), pg_switch_wal()`)
		if err != nil { // another one may have found it first, and ended all
			return noRoom(err) || w.Store.SQL.PingContext(ctx) != nil
		}
	}
	return false
}
