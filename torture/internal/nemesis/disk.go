package nemesis

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// diskFaults fill the disk that the SQLite file is on.
func diskFaults() []Fault {
	return []Fault{
		{Name: "disk-full", Engines: SQLite, Track: Servers, Small: true, Low: 500 * time.Millisecond, High: 4 * time.Second, Do: fillDisk},
	}
}

// fillDisk writes until nothing can be written any more, and gives the room back.
func fillDisk(ctx context.Context, w *World, s Step) error {
	name := filepath.Join(w.Disk, "filler")
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer os.Remove(name)
	const block, smallest = 1 << 20, 512
	for size := block; size >= smallest; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
		if ctx.Err() != nil {
			break
		}
	}
	wait(ctx, s.Hold)
	return errors.Join(f.Truncate(0), f.Close())
}
