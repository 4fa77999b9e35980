package blob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// Files stores each blob in a file below Dir, which it creates. All processes that enqueue or
// handle the messages need the same directory. Set Dir before the first call.
type Files struct {
	Dir string
}

// Put stores a blob. The file has its name only once all data are on disk.
func (f *Files) Put(ctx context.Context, key string, data []byte) error {
	path, err := f.path(key)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, "put-*") // only the owner may read it
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	err = cmp.Or(err, file.Sync())
	err = cmp.Or(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return cmp.Or(syncDir(dir), syncDir(f.Dir))
}

// Get returns a blob.
func (f *Files) Get(ctx context.Context, key string) ([]byte, error) {
	path, err := f.path(key)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	return data, err
}

// Expire deletes blobs that were put more than olderThan ago, and what a crash left of others. It
// returns how many files it deleted.
func (f *Files) Expire(ctx context.Context, olderThan time.Duration) (deleted int, err error) {
	before := time.Now().Add(-olderThan)
	err = filepath.WalkDir(f.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err = cmp.Or(err, ctx.Err()); err != nil || entry.IsDir() {
			return err
		}
		if info, err := entry.Info(); err != nil || !info.ModTime().Before(before) {
			return missing(err)
		}
		if err := os.Remove(path); err != nil {
			return missing(err)
		}
		deleted++
		return nil
	})
	return deleted, missing(err)
}

// path returns the path of a blob. The last characters of a UUID distribute files evenly.
func (f *Files) path(key string) (string, error) {
	if f.Dir == "" {
		return "", errors.New("blob: Files.Dir is empty")
	}
	if len(key) < 2 || !filepath.IsLocal(key) || filepath.Base(key) != key {
		return "", fmt.Errorf("blob: key %q cannot be a file name", key)
	}
	return filepath.Join(f.Dir, key[len(key)-2:], key), nil
}

// missing returns nil for the error of a file that is gone: another process deleted it.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// syncDir makes the names in a directory durable. Windows has no such call.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	return cmp.Or(err, d.Close())
}
