package fleet

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Directory is a discovery of SQLite files: all in dir that match a pattern such as "*.db".
// Their names without the extension are the keys; no character of a name is special.
//
// Users who may write into dir must not reach other files through it: a symbolic link that
// leads out of dir is no store. Neither is a second name of a file that is listed, a
// symbolic or a hard link: it would be two stores. Both are logged.
func Directory(dir, pattern string) Discovery {
	return DiscoveryFunc(func(context.Context) ([]Database, error) {
		home, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return nil, fmt.Errorf("discover databases: %w", err)
		}
		files, err := filepath.Glob(filepath.Join(escape(dir), pattern))
		if err != nil {
			return nil, fmt.Errorf("discover databases: pattern %q: %w", pattern, err)
		}
		return folder{home, map[[2]uint64]string{}, map[string]os.FileInfo{}}.list(files), nil
	})
}

// folder is a directory that is being listed.
type folder struct {
	home  string // without links
	names map[[2]uint64]string
	files map[string]os.FileInfo // where a file has no identity
}

// list returns the files first and then the links to them: a link is never the first name of
// a file.
func (f folder) list(paths []string) []Database {
	var dbs, links []Database
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil || isLog(path) {
			continue
		}
		d := inDirectory(path)
		switch {
		case info.Mode().IsRegular():
			d.refused = f.second(d.Key, info)
			dbs = append(dbs, d)
		case info.Mode()&fs.ModeSymlink != 0:
			links = append(links, d)
		}
	}
	for _, d := range links {
		path := strings.TrimPrefix(d.URL, scheme)
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue // a broken link
		} else if d.refused = f.within(path); d.refused == "" {
			d.refused = f.second(d.Key, info)
		}
		dbs = append(dbs, d)
	}
	return dbs
}

const scheme = "sqlite:"

// inDirectory returns the store of a file, with a path in which no character is special.
func inDirectory(path string) Database {
	name := filepath.Base(path)
	if strings.HasPrefix(path, "file:") || strings.HasPrefix(path, "//") {
		path = "." + string(filepath.Separator) + path
	}
	return Database{Key: strings.TrimSuffix(name, filepath.Ext(name)), URL: scheme + path}
}

// within returns why a link is no store, if it leads out of the directory.
func (f folder) within(path string) string {
	target, err := filepath.EvalSymlinks(path)
	if err == nil {
		target, err = filepath.Rel(f.home, target)
	}
	if err != nil || !filepath.IsLocal(target) {
		return "it is a link that leads out of the directory"
	}
	return ""
}

// second returns why a file is no store, if it is one already by another name.
func (f folder) second(key string, info os.FileInfo) string {
	if id, ok := identityOf(info); ok {
		if first, twice := f.names[id]; twice {
			return sameAs(first)
		}
		f.names[id] = key
		return ""
	}
	for first, other := range f.files {
		if os.SameFile(other, info) {
			return sameAs(first)
		}
	}
	f.files[key] = info
	return ""
}

func sameAs(key string) string { return fmt.Sprintf("it is the same file as that of store %q", key) }

// isLog reports whether a file is one of SQLite's own beside a database.
func isLog(file string) bool {
	return strings.HasSuffix(file, "-wal") || strings.HasSuffix(file, "-shm") || strings.HasSuffix(file, "-journal")
}

// escape quotes the special characters of a pattern in a directory's name.
func escape(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}
